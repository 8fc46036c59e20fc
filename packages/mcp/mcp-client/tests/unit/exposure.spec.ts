/** Owns the tests of the choice between request and search: examples, and what holds for any servers. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allocate, requestBytes } from '../../src/registry/exposure.ts'
import type { Share } from '../../src/registry/exposure.ts'
import type { Exposure } from '../../src/types.ts'

const share = (serverName: string, total: number, over: Partial<Share> = {}): Share => ({
  serverName,
  wanted: 'auto',
  budgetBytes: 100,
  total,
  fixed: 0,
  ...over,
})

const chosen = (...shares: Share[]): Record<string, Exposure> => Object.fromEntries(allocate(shares))

describe('auto', () => {
  it('is direct up to the budget, to the byte', () => {
    expect(chosen(share('a', 60), share('b', 40))).toEqual({ a: 'direct', b: 'direct' })
    expect(chosen(share('a', 60), share('b', 41))).toEqual({ a: 'search', b: 'direct' })
  })

  it('sends the largest first, and no more than it must', () => {
    expect(chosen(share('a', 30), share('b', 90), share('c', 50), share('d', 45))).toEqual({
      a: 'direct',
      b: 'search',
      c: 'search',
      d: 'direct',
    })
  })

  it('takes the first by name of two that are as large', () => {
    expect(chosen(share('b', 60), share('a', 60))).toEqual({ a: 'search', b: 'direct' })
    expect(chosen(share('a', 60), share('b', 60))).toEqual({ a: 'search', b: 'direct' })
  })

  it('obeys rows that say it, and counts what they take', () => {
    expect(
      chosen(
        share('big', 500, { wanted: 'direct' }),
        share('small', 1),
        share('gone', 1, { wanted: 'search' }),
      ),
    ).toEqual({ big: 'direct', small: 'search', gone: 'search' })
  })

  it('counts tools that are always direct, and does not send away a server that has no others', () => {
    expect(chosen(share('a', 90, { fixed: 50 }), share('b', 45))).toEqual({ a: 'direct', b: 'search' })
    expect(chosen(share('a', 150, { fixed: 150 }))).toEqual({ a: 'direct' })
  })

  it('keeps what was settled, on both sides of the budget', () => {
    expect(chosen(share('a', 500, { settled: 'direct' }), share('b', 10))).toEqual({
      a: 'direct',
      b: 'search',
    })
    expect(chosen(share('a', 1, { settled: 'search' }))).toEqual({ a: 'search' })
    expect(chosen(share('a', 1, { settled: 'search', wanted: 'direct' }))).toEqual({ a: 'direct' })
  })

  it('measures each server by its own budget', () => {
    expect(chosen(share('a', 90, { budgetBytes: 1000 }), share('b', 80))).toEqual({
      a: 'direct',
      b: 'search',
    })
  })
})

const exposure = fc.constantFrom<Exposure>('direct', 'search')
const shares = (budgetBytes: fc.Arbitrary<number>): fc.Arbitrary<Share[]> =>
  fc.uniqueArray(
    fc
      .record({
        serverName: fc.string({ minLength: 1, maxLength: 3 }),
        wanted: fc.oneof({ weight: 3, arbitrary: fc.constant('auto' as const) }, exposure),
        budgetBytes,
        fixed: fc.nat(30),
        more: fc.nat(100),
        settled: fc.option(exposure, { nil: undefined, freq: 3 }),
      })
      .map(({ fixed, more, ...rest }): Share => ({ ...rest, fixed, total: fixed + more })),
    { selector: ({ serverName }) => serverName, maxLength: 8 },
  )

const isOpen = ({ wanted, settled, total, fixed }: Share): boolean =>
  wanted === 'auto' && settled === undefined && total > fixed

describe('of any servers', () => {
  it('the order in which they come does not matter', () => {
    fc.assert(
      fc.property(
        shares(fc.nat(300)).chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
        ),
        ([all, shuffled]) => {
          expect(Object.fromEntries(allocate(shuffled))).toEqual(Object.fromEntries(allocate(all)))
        },
      ),
    )
  })

  it('a direct one by choice sees its budget kept, and what is said or settled is obeyed', () => {
    fc.assert(
      fc.property(shares(fc.nat(300)), (all) => {
        const result = allocate(all)
        const total = requestBytes(all, result)
        for (const one of all) {
          const got = result.get(one.serverName)
          if (one.wanted !== 'auto') expect(got).toBe(one.wanted)
          else if (one.settled !== undefined) expect(got).toBe(one.settled)
          else if (isOpen(one) && got === 'direct') expect(total).toBeLessThanOrEqual(one.budgetBytes)
        }
      }),
    )
  })

  it('with one budget, none that went was smaller than one that stays, and the last that went had to', () => {
    fc.assert(
      fc.property(
        fc.nat(300).chain((budget) => fc.tuple(fc.constant(budget), shares(fc.constant(budget)))),
        ([budget, all]) => {
          const result = allocate(all)
          const size = ({ total, fixed }: Share): number => total - fixed
          const open = all.filter(isOpen)
          const stay = open.filter(({ serverName }) => result.get(serverName) === 'direct').map(size)
          const went = open.filter(({ serverName }) => result.get(serverName) === 'search')
          const smallest = Math.min(...went.map(size))
          for (const one of stay) expect(one).toBeLessThanOrEqual(smallest)
          if (went.length > 0) expect(requestBytes(all, result) + smallest).toBeGreaterThan(budget)
        },
      ),
    )
  })
})
