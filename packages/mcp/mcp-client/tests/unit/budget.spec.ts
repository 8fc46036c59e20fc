/** Owns the tests of the time that the schemas of one server may take. */
import { describe, expect, it } from 'vitest'
import { createBudget } from '../../src/schema/budget.ts'

/** A budget whose clock moves by hand. */
function open() {
  const time = { ms: 1_000 }
  const budget = createBudget(() => time.ms)
  const take = (ms: number): string | undefined =>
    budget.spend(() => {
      time.ms += ms
      return 'done'
    })
  return { time, budget, take }
}

describe('the time for schemas', () => {
  it('is enough for any number of honest tools', () => {
    const { take } = open()
    for (let at = 0; at < 100_000; at += 1) expect(take(1)).toBe('done')
  })

  it('ends the costly ones, and does not even begin them then', () => {
    const { take } = open()
    let done = 0
    for (let at = 0; at < 1_000; at += 1) if (take(52) !== undefined) done += 1
    expect(done).toBeGreaterThanOrEqual(60)
    expect(done).toBeLessThan(70)
  })

  it('comes back with time, slowly', () => {
    const { take, time } = open()
    expect(take(10_000)).toBe('done')
    expect(take(1)).toBeUndefined()
    time.ms += 1_000
    expect(take(1)).toBeUndefined()
    time.ms += 400_000
    expect(take(10_000)).toBe('done')
    expect(take(1)).toBeUndefined()
  })

  it('counts work that fails, too', () => {
    const { budget, take, time } = open()
    const fail = (): never => {
      time.ms += 10_000
      throw new Error('odd')
    }
    expect(() => budget.spend(fail)).toThrow('odd')
    expect(take(1)).toBeUndefined()
  })
})
