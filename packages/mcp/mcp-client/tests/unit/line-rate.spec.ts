/** Owns the tests of how many lines a server may cost. */
import { describe, expect, it } from 'vitest'
import { limitLines } from '../../src/line-rate.ts'
import { FakeClock } from './fake-clock.ts'

describe('lines of one server', () => {
  it('are passed on, then a few, with a count of the rest; each level has its own share', async () => {
    const clock = new FakeClock()
    const said: string[] = []
    const say = limitLines<'debug' | 'error'>(clock, ({ level, text }) => said.push(`${level}: ${text}`))
    for (let at = 0; at < 1_000; at += 1) say({ level: 'debug', text: String(at) })
    expect(said).toHaveLength(100)
    expect(said[99]).toBe('debug: 99')
    say({ level: 'error', text: 'it broke' })
    expect(said[100]).toBe('error: it broke')
    await clock.advance(5_000)
    say({ level: 'debug', text: 'again' })
    say({ level: 'debug', text: 'and again' })
    expect(said.slice(101)).toEqual(['debug: again (900 more lines of this level were left out)'])
    await clock.advance(3_600_000)
    for (let at = 0; at < 1_000; at += 1) say({ level: 'debug', text: 'x' })
    expect(said).toHaveLength(202)
  })
})
