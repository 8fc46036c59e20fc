/** Errors on the way to a server, waits and backoff. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs } from '../../src/connection/http-backoff.ts'
import { isCut, isUnreached, stageOf, unanswered } from '../../src/connection/http-failure.ts'
import { OwnedClock, bounded, orAbort, pause } from '../../src/connection/http-wait.ts'
import { ManualClock } from '../wire/http-server.ts'

const coded = (code: unknown, more = {}) => Object.assign(new Error('x'), { code }, more)

describe('what went wrong', () => {
  it.each([
    [coded('ECONNREFUSED'), 'unreached'],
    [coded('ENOTFOUND'), 'unreached'],
    [coded('UND_ERR_CONNECT_TIMEOUT'), 'unreached'],
    [coded('ERR_SSL_WRONG_VERSION_NUMBER'), 'unreached'],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'unreached'],
    [coded('ETIMEDOUT', { syscall: 'connect' }), 'unreached'],
    [coded('ETIMEDOUT', { syscall: 'read' }), 'cut'],
    [coded('ECONNRESET'), 'cut'],
    [coded('UND_ERR_SOCKET'), 'cut'],
    [coded('HPE_INVALID_CONSTANT'), 'cut'],
    [Object.assign(new Error('x'), { name: 'HTTPParserError' }), 'cut'],
    [coded('UND_ERR_INVALID_ARG'), 'neither'],
    [coded('MCP_HTTP_REJECTED'), 'neither'],
    [coded(7), 'neither'],
    [new Error('x'), 'neither'],
    ['ECONNREFUSED', 'neither'],
  ])('%s is %s', (error, expected) => {
    expect(isUnreached(error) ? 'unreached' : isCut(error) ? 'cut' : 'neither').toBe(expected)
  })

  it('is unknown for a call alone', () => {
    const at = { server: 's', how: 'cut' }
    expect(unanswered({ ...at, method: 'tools/call' })).toMatchObject({
      code: 'MCP_OUTCOME_UNKNOWN',
      stage: 'execution',
    })
    expect(unanswered({ ...at, method: 'tools/list' })).toMatchObject({
      code: 'MCP_CONNECTION_CLOSED',
      stage: 'discovery',
    })
    expect(['initialize', 'server/discover'].map(stageOf)).toEqual(['connect', 'connect'])
  })
})

describe('backoffMs', () => {
  it('has a floor and a ceiling for any server and any number of attempts', () => {
    const options = fc.record({
      attempt: fc.nat(10_000),
      retryMs: fc.option(fc.nat(), { nil: undefined }),
      random: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    fc.assert(
      fc.property(options, ({ attempt, retryMs, random }) => {
        const delayMs = backoffMs({ attempt, retryMs, random: () => random })
        expect(delayMs).toBeGreaterThanOrEqual(100)
        expect(delayMs).toBeLessThanOrEqual(66_000)
      }),
    )
  })

  it('is the time of the server exactly, at first', () => {
    expect(backoffMs({ attempt: 0, retryMs: 500, random: () => 1 })).toBe(500)
  })
})

describe('waiting', () => {
  const { signal } = new AbortController()

  it('leaves no timer and no listener', async () => {
    const clock = new ManualClock()
    const controller = new AbortController()
    const waiting = pause(50, controller.signal, clock)
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    expect(clock.armed()).toBe(0)
    await expect(pause(50, controller.signal, clock)).rejects.toThrow('enough')
    const done = pause(50, signal, clock)
    await clock.fire(50)
    await done
  })

  it('passes an outcome on, or the abort before it', async () => {
    expect(await orAbort(Promise.resolve(1), signal)).toBe(1)
    await expect(orAbort(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
    await expect(orAbort(new Promise(() => undefined), AbortSignal.abort(new Error('gone')))).rejects.toThrow(
      'gone',
    )
  })

  it('is bounded by time and by a lifetime', async () => {
    const clock = new ManualClock()
    const bound = { timeoutMs: 9, error: () => new Error('late'), clock }
    const until = (inner: AbortSignal) => orAbort(new Promise<void>(() => undefined), inner)
    const late = bounded({ ...bound, lifetime: signal }, until)
    const rejected = expect(late).rejects.toThrow('late')
    await clock.fire(9)
    await rejected
    await expect(
      bounded({ ...bound, lifetime: AbortSignal.abort(new Error('over')) }, until),
    ).rejects.toThrow('over')
    const life = new AbortController()
    const ended = bounded({ ...bound, lifetime: life.signal }, until)
    life.abort(new Error('end'))
    await expect(ended).rejects.toThrow('end')
    expect(clock.armed()).toBe(0)
  })

  it('takes the timers of a connection with it', async () => {
    const clock = new ManualClock()
    const owned = new OwnedClock(clock)
    let fired = 0
    owned.after(1, () => (fired += 1))
    const cancel = owned.after(2, () => (fired += 1))
    owned.after(3, () => (fired += 1))
    await clock.fire(1)
    cancel()
    expect([fired, clock.armed(), owned.now()]).toEqual([1, 1, 1])
    owned.close()
    owned.close()
    owned.after(4, () => (fired += 1))()
    expect([fired, clock.armed()]).toEqual([1, 0])
  })
})
