/** Owns the tests of the time of one call, as far as a person is waited for in it. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { McpError } from '../../src/errors.ts'
import { createDeadline } from '../../src/execution/deadline.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

function open(silenceMs: number, wallMs: number) {
  const ends: string[] = []
  const deadline = createDeadline({
    caller: new AbortController().signal,
    silenceMs,
    wallMs,
    toError(ending) {
      ends.push(ending)
      return new McpError(ending, { code: 'MCP_CALL_TIMEOUT', server: 's', stage: 'execution' })
    },
  })
  deadline.touch()
  return { deadline, ends }
}

describe('a person who is waited for', () => {
  it('stops the limit on silence, which begins anew afterwards', () => {
    const { deadline, ends } = open(100, 10_000)
    vi.advanceTimersByTime(90)
    const release = deadline.hold()
    vi.advanceTimersByTime(5_000)
    expect(ends).toEqual([])
    release()
    vi.advanceTimersByTime(99)
    expect(ends).toEqual([])
    vi.advanceTimersByTime(110)
    expect(ends).toEqual(['silence'])
  })

  it('stops it until the last of several is done, each counted once', () => {
    const { deadline, ends } = open(100, 10_000)
    const [one, two] = [deadline.hold(), deadline.hold()]
    one()
    one()
    vi.advanceTimersByTime(5_000)
    expect(ends).toEqual([])
    two()
    vi.advanceTimersByTime(250)
    expect(ends).toEqual(['silence'])
  })

  it('does not stop the wall', () => {
    const { deadline, ends } = open(100, 1_000)
    deadline.hold()
    vi.advanceTimersByTime(1_100)
    expect(ends).toEqual(['wall'])
  })
})
