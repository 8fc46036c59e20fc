/** Owns the tests of the supervisor: the machine's effects on time that is ours and on sessions made by hand. */
import { describe, expect, it } from 'vitest'
import type { State } from '../../src/connection/machine.ts'
import { CLOSE_TIMEOUT_MS } from '../../src/connection/narration.ts'
import { createSupervisor } from '../../src/connection/supervisor.ts'
import type { Snapshot } from '../../src/connection/supervisor.ts'
import { McpError } from '../../src/errors.ts'
import type { McpErrorCode } from '../../src/errors.ts'
import type { ReconnectPolicy, Session } from '../../src/types.ts'
import { FakeClock, settled } from './fake-clock.ts'

const POLICY: ReconnectPolicy = { enabled: true, initialDelayMs: 500, maxDelayMs: 30_000, maxAttempts: 10 }
const ATTEMPT_MS = 20_000

function failure(code: McpErrorCode, text: string = code): McpError {
  return new McpError(text, { code, server: 'demo', stage: 'connect' })
}

interface Opening {
  readonly generation: number
  readonly signal: AbortSignal
  readonly onDown: (reason: McpError) => void
  readonly resolve: (session: Session) => void
  readonly reject: (error: unknown) => void
}

interface Syncing {
  readonly session: Session
  readonly signal: AbortSignal
  readonly resolve: (problem?: McpError) => void
  readonly reject: (error: unknown) => void
}

interface Setup {
  readonly policy?: Partial<ReconnectPolicy>
  /** A polite server: what it holds is let go at an abort. */
  readonly polite?: boolean
}

function setup({ policy = {}, polite = true }: Setup = {}) {
  const clock = new FakeClock()
  const openings: Opening[] = []
  const syncings: Syncing[] = []
  const said: string[] = []
  const states: State['name'][] = []
  const closes: { generation: number; resolve: () => void; reject: (error: unknown) => void }[] = []
  const seen = { withdrawals: 0, closeAtOnce: true }
  let latest: Snapshot | undefined

  const obey = (signal: AbortSignal, reject: (error: unknown) => void): void => {
    if (polite) signal.addEventListener('abort', () => reject(signal.reason))
  }
  const supervisor = createSupervisor({
    serverName: 'demo',
    policy: { ...POLICY, ...policy },
    attemptTimeoutMs: ATTEMPT_MS,
    clock,
    open(generation, signal, onDown) {
      const { promise, resolve, reject } = Promise.withResolvers<Session>()
      openings.push({ generation, signal, onDown, resolve, reject })
      obey(signal, reject)
      return promise
    },
    sync(session, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<McpError | undefined>()
      syncings.push({ session, signal, resolve, reject })
      obey(signal, reject)
      return promise
    },
    withdraw: () => void (seen.withdrawals += 1),
    changed(snapshot) {
      latest = snapshot
      states.push(snapshot.state.name)
    },
    say: ({ level, text }) => said.push(`${level}: ${text}`),
  })

  function makeSession(generation: number): Session {
    let closing: Promise<void> | undefined
    return {
      generation,
      facts: { era: 'legacy', revision: '2025-11-25', capabilities: {} },
      listTools: () => Promise.reject(new Error('not here')),
      callTool: () => Promise.reject(new Error('not here')),
      diagnostics: () => ({}),
      request: () => Promise.reject(new Error('not here')),
      watchResources: () => Promise.resolve(false),
      rootsChanged: () => Promise.resolve(),
      hearsChanges: () => true,
      close() {
        const { promise, resolve, reject } = Promise.withResolvers<void>()
        closes.push({ generation, resolve, reject })
        if (seen.closeAtOnce) resolve()
        closing ??= promise
        return closing
      },
    }
  }
  const last = <T>(list: readonly T[]): T => list.at(-1) as T

  return {
    supervisor,
    clock,
    openings,
    syncings,
    closes,
    said,
    states,
    seen,
    latest: () => latest,
    state: () => supervisor.snapshot().state.name,
    opening: () => last(openings),
    syncing: () => last(syncings),
    /** The latest opening succeeds. */
    async opened(): Promise<Session> {
      await settled()
      const session = makeSession(last(openings).generation)
      last(openings).resolve(session)
      await settled()
      return session
    },
    async ready(): Promise<Session> {
      const session = await this.opened()
      last(syncings).resolve()
      await settled()
      return session
    },
    /** The latest opening fails. */
    async refused(error: unknown = failure('MCP_CONNECTION_CLOSED', 'it died')): Promise<void> {
      await settled()
      last(openings).reject(error)
      await settled()
    },
  }
}

describe('the first attempt', () => {
  it('opens, syncs and is ready; nothing is left armed', async () => {
    const t = setup()
    expect(t.supervisor.snapshot()).toEqual({ state: { name: 'idle' }, attempt: 0 })
    expect(t.openings).toHaveLength(0)
    t.supervisor.start()
    t.supervisor.start()
    expect(t.supervisor.session()).toBeUndefined()
    await t.opened()
    // Not for calls before its tools are there.
    expect(t.state()).toBe('syncing')
    expect(t.supervisor.session()).toBeUndefined()
    const { session } = t.syncing()
    t.syncing().resolve()
    await settled()
    expect(t.openings).toHaveLength(1)
    expect(t.states).toEqual(['connecting', 'syncing', 'ready'])
    expect(t.supervisor.session()).toBe(session)
    expect(await t.supervisor.firstAttempt).toBeUndefined()
    expect(t.clock.pending()).toEqual([])
    expect(t.said).toEqual([])
  })

  it('ends with the error of a connection that fails, and goes on trying', async () => {
    const t = setup()
    t.supervisor.start()
    const error = failure('MCP_CONNECTION_CLOSED', 'it died')
    await t.refused(error)
    expect(await t.supervisor.firstAttempt).toBe(error)
    expect(t.supervisor.snapshot()).toEqual({
      state: { name: 'backoff', delayMs: 500 },
      attempt: 1,
      lastError: error,
    })
    expect(t.said).toEqual(['warn: connection failed; retrying in 500ms (attempt 1/10): it died'])
  })

  it('ends with the problem of a bad list while the connection is kept', async () => {
    const t = setup()
    t.supervisor.start()
    const session = await t.opened()
    const problem = failure('MCP_LIST_INVALID')
    t.syncing().resolve(problem)
    await settled()
    expect(await t.supervisor.firstAttempt).toBe(problem)
    expect(t.supervisor.session()).toBe(session)
    expect(t.state()).toBe('ready')
  })

  it('ends with the error of a list that proves the connection useless', async () => {
    const t = setup()
    t.supervisor.start()
    await t.opened()
    t.syncing().reject(failure('MCP_LIST_FAILED', 'no list'))
    await settled()
    expect((await t.supervisor.firstAttempt)?.code).toBe('MCP_LIST_FAILED')
    expect(t.closes).toHaveLength(1)
    expect(t.state()).toBe('backoff')
  })

  it('makes an error of ours out of a foreign one', async () => {
    const t = setup()
    t.supervisor.start()
    const foreign = new TypeError('surprise')
    await t.refused(foreign)
    const error = await t.supervisor.firstAttempt
    expect(error).toMatchObject({ code: 'MCP_CONNECTION_CLOSED', message: 'surprise', cause: foreign })
  })

  it('sees an end that is reported while the connection is being opened', async () => {
    const t = setup()
    t.supervisor.start()
    await settled()
    t.opening().onDown(failure('MCP_CONNECTION_CLOSED', 'exit code 3'))
    await settled()
    expect(t.state()).toBe('backoff')
    expect(t.opening().signal.aborted).toBe(true)
  })
})

describe('the wall of an attempt', () => {
  it('ends a connect that takes too long', async () => {
    const t = setup()
    t.supervisor.start()
    await t.clock.advance(ATTEMPT_MS - 1)
    expect(t.state()).toBe('connecting')
    await t.clock.advance(1)
    expect(t.state()).toBe('backoff')
    expect(await t.supervisor.firstAttempt).toMatchObject({
      code: 'MCP_CONNECT_TIMEOUT',
      message: 'no answer within 20000 ms (startup.timeoutMs) while connecting',
    })
    expect((t.opening().signal.reason as McpError).code).toBe('MCP_CONNECT_TIMEOUT')
  })

  it('counts the listing too, and says that it was that', async () => {
    const t = setup()
    t.supervisor.start()
    await t.clock.advance(ATTEMPT_MS - 5)
    await t.opened()
    await t.clock.advance(5)
    expect(t.closes).toHaveLength(1)
    expect((await t.supervisor.firstAttempt)?.message).toMatch(/while listing the tools$/)
  })

  it('holds also for an attempt that does not let go', async () => {
    const t = setup({ polite: false })
    t.supervisor.start()
    await t.clock.advance(ATTEMPT_MS)
    expect(t.state()).toBe('closing')
    expect((await t.supervisor.firstAttempt)?.code).toBe('MCP_CONNECT_TIMEOUT')
    await t.clock.advance(CLOSE_TIMEOUT_MS)
    expect(t.supervisor.snapshot().state).toEqual({ name: 'failed', reason: 'unclosed', unclosed: 1 })
  })
})

describe('an outage', () => {
  it('is retried with doubled delays until the budget is used up, in the words of the contract', async () => {
    const t = setup()
    t.supervisor.start()
    const session = await t.ready()
    t.opening().onDown(failure('MCP_CONNECTION_CLOSED', 'it died'))
    await settled()
    expect(t.closes).toHaveLength(1)
    expect(t.supervisor.session()).toBeUndefined()
    expect(session.generation).toBe(1)
    const delays: number[] = []
    for (let attempt = 1; attempt <= 10; attempt++) {
      const [delay = 0] = t.clock.pending()
      delays.push(delay)
      await t.clock.advance(delay - 1)
      expect(t.openings).toHaveLength(attempt)
      await t.clock.advance(1)
      expect(t.openings).toHaveLength(attempt + 1)
      await t.refused()
    }
    expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000, 30000])
    expect(t.said[0]).toBe('warn: connection lost; reconnecting in 500ms (attempt 1/10): it died')
    expect(t.said[9]).toBe('warn: connection failed; retrying in 30000ms (attempt 10/10): it died')
    expect(t.said[10]).toBe(
      'error: giving up after 10 consecutive failed reconnect attempts — tools unregistered; reload the plugin or ' +
        'restart the Host to reconnect: it died',
    )
    expect(t.said).toHaveLength(11)
    expect(t.supervisor.snapshot().state).toEqual({ name: 'failed', reason: 'exhausted' })
    expect(t.seen.withdrawals).toBe(1)
    expect(t.clock.pending()).toEqual([])
  })

  it('ends with a line, and is forgotten after an uptime of maxDelayMs only', async () => {
    const t = setup()
    t.supervisor.start()
    await t.ready()
    t.opening().onDown(failure('MCP_CONNECTION_CLOSED', 'it died'))
    await t.clock.advance(500)
    await t.ready()
    expect(t.said.at(-1)).toBe('info: reconnected and re-synced tools (attempt 1/10)')
    expect(t.supervisor.snapshot().lastError).toBeUndefined()
    await t.clock.advance(29_999)
    t.opening().onDown(failure('MCP_CONNECTION_CLOSED', 'again'))
    await settled()
    expect(t.said.at(-1)).toBe('warn: connection lost; reconnecting in 1000ms (attempt 2/10): again')
    await t.clock.advance(1_000)
    await t.ready()
    await t.clock.advance(30_000)
    t.opening().onDown(failure('MCP_CONNECTION_CLOSED', 'much later'))
    await settled()
    expect(t.said.at(-1)).toBe('warn: connection lost; reconnecting in 500ms (attempt 1/10): much later')
    expect(t.seen.withdrawals).toBe(0)
  })

  it('is believed of the live generation only, and once', async () => {
    const t = setup()
    t.supervisor.start()
    await t.ready()
    const first = t.opening()
    first.onDown(failure('MCP_CONNECTION_CLOSED', 'it died'))
    first.onDown(failure('MCP_CONNECTION_CLOSED', 'it died twice'))
    await t.clock.advance(500)
    await t.ready()
    first.onDown(failure('MCP_CONNECTION_CLOSED', 'an old story'))
    t.supervisor.broke(1, failure('MCP_SESSION_LOST', 'an old story'))
    await settled()
    expect(t.state()).toBe('ready')
    expect(t.said.filter((line) => /twice|old story/.test(line))).toEqual([])
    t.supervisor.broke(2, failure('MCP_SESSION_LOST', 'a call found out'))
    await settled()
    expect(t.state()).toBe('backoff')
    expect(t.supervisor.snapshot().lastError?.message).toBe('a call found out')
  })

  it('with reconnect off keeps the tools and says so', async () => {
    const t = setup({ policy: { enabled: false } })
    t.supervisor.start()
    await t.ready()
    t.opening().onDown(failure('MCP_CONNECTION_CLOSED', 'it died'))
    await settled()
    expect(t.supervisor.snapshot().state).toEqual({ name: 'failed', reason: 'reconnect-disabled' })
    expect(t.seen.withdrawals).toBe(0)
    expect(t.said).toEqual([
      'error: connection lost and reconnect is disabled — registered tools will fail until an HMR reload or Host ' +
        'restart: it died',
    ])
  })

  it('with reconnect off keeps the tools through a restart that fails, and says so', async () => {
    const t = setup({ policy: { enabled: false } })
    t.supervisor.start()
    await t.ready()
    t.opening().onDown(failure('MCP_CONNECTION_CLOSED', 'it died'))
    await settled()
    t.supervisor.restart()
    await t.refused()
    expect(t.seen.withdrawals).toBe(0)
    expect(t.said.at(-1)).toBe(
      'error: connection failed and reconnect is disabled — registered tools will fail until an HMR reload or Host ' +
        'restart: it died',
    )
  })

  it('with reconnect off at the first attempt has no tools to keep', async () => {
    const t = setup({ policy: { enabled: false } })
    t.supervisor.start()
    await t.refused()
    expect(t.said[0]).toMatch(
      /^error: connection failed and reconnect is disabled — no tools were registered/,
    )
  })

  it.each([
    ['MCP_SPAWN_FAILED', { name: 'failed', reason: 'fatal' }, /^error: connection failed for good/],
    [
      'MCP_AUTH_REQUIRED',
      { name: 'needs-auth' },
      /^error: the server asks for authorization; its tools are withdrawn/,
    ],
    ['MCP_REQUEST_REJECTED', { name: 'backoff', delayMs: 500 }, /^warn: connection failed; retrying/],
  ] as const)('of %s goes where its class says', async (code, state, words) => {
    const t = setup()
    t.supervisor.start()
    await t.refused(failure(code))
    expect(t.supervisor.snapshot().state).toEqual(state)
    expect(t.said).toHaveLength(1)
    expect(t.said[0]).toMatch(words)
    expect(t.seen.withdrawals).toBe(state.name === 'backoff' ? 0 : 1)
  })
})

describe('a close', () => {
  it('that hangs fails the server, opens nothing beside it, and heals when it comes after all', async () => {
    const t = setup()
    t.seen.closeAtOnce = false
    t.supervisor.start()
    await t.ready()
    t.opening().onDown(failure('MCP_CONNECTION_CLOSED', 'it died'))
    await t.clock.advance(CLOSE_TIMEOUT_MS - 1)
    expect(t.state()).toBe('closing')
    expect(t.supervisor.session()).toBeUndefined()
    await t.clock.advance(1)
    expect(t.supervisor.snapshot().state).toEqual({ name: 'failed', reason: 'unclosed', unclosed: 1 })
    expect(t.seen.withdrawals).toBe(1)
    expect(t.said.at(-1)).toBe(
      'error: failed generation did not close within 5000ms — reconnect stopped to avoid overlapping server ' +
        'processes; reload the plugin or restart the Host to retry',
    )
    t.supervisor.restart()
    await settled()
    expect(t.openings).toHaveLength(1)
    const words = t.said.length
    t.closes[0]?.resolve()
    await settled()
    expect(t.supervisor.snapshot().state).toEqual({ name: 'failed', reason: 'unclosed' })
    expect(t.said).toHaveLength(words)
    t.supervisor.restart()
    await t.ready()
    expect(t.opening().generation).toBe(2)
    expect(t.state()).toBe('ready')
  })

  it('that fails is a generation of which nobody knows the end', async () => {
    const t = setup()
    t.seen.closeAtOnce = false
    t.supervisor.start()
    await t.ready()
    t.opening().onDown(failure('MCP_CONNECTION_CLOSED'))
    await settled()
    t.closes[0]?.reject(failure('MCP_CLOSE_TIMEOUT', 'the process does not end'))
    await settled()
    expect(t.supervisor.snapshot()).toMatchObject({
      state: { name: 'failed', reason: 'unclosed', unclosed: 1 },
      lastError: { message: 'the process does not end' },
    })
    expect(t.clock.pending()).toEqual([])
  })

  it('of an attempt that could not end its process: no second one beside it', async () => {
    const t = setup()
    t.supervisor.start()
    await t.refused(failure('MCP_CLOSE_TIMEOUT', 'the process does not end'))
    expect(t.supervisor.snapshot().state).toEqual({ name: 'failed', reason: 'unclosed', unclosed: 1 })
    const late = setup({ polite: false })
    late.supervisor.start()
    await settled()
    late.supervisor.restart()
    await late.refused(failure('MCP_CLOSE_TIMEOUT', 'the process does not end'))
    expect(late.openings).toHaveLength(1)
    expect(late.supervisor.snapshot().state).toMatchObject({ unclosed: 1 })
    expect(late.clock.pending()).toEqual([])
  })

  it('that fails after its time changes nothing any more', async () => {
    const t = setup()
    t.seen.closeAtOnce = false
    t.supervisor.start()
    await t.ready()
    t.opening().onDown(failure('MCP_CONNECTION_CLOSED'))
    await t.clock.advance(CLOSE_TIMEOUT_MS)
    const { length } = t.states
    t.closes[0]?.reject(new Error('still there'))
    await settled()
    expect(t.states).toHaveLength(length)
    expect(t.supervisor.snapshot().state).toMatchObject({ unclosed: 1 })
  })

  it('of a session that opens too late is done all the same', async () => {
    const t = setup({ polite: false })
    t.supervisor.start()
    await settled()
    t.supervisor.restart()
    await t.clock.advance(1_000)
    expect(t.openings).toHaveLength(1)
    await t.opened()
    // The late session is still asked for its tools, under a signal that is over.
    expect(t.syncing().signal.aborted).toBe(true)
    t.syncing().reject(t.syncing().signal.reason)
    await settled()
    expect(t.closes.map(({ generation }) => generation)).toEqual([1])
    expect(t.openings.map(({ generation }) => generation)).toEqual([1, 2])
    await t.ready()
    expect(t.supervisor.session()?.generation).toBe(2)
  })
})

describe('restart', () => {
  it('replaces a ready session only after its end', async () => {
    const t = setup()
    t.seen.closeAtOnce = false
    t.supervisor.start()
    await t.ready()
    t.supervisor.restart()
    await settled()
    expect(t.openings).toHaveLength(1)
    t.closes[0]?.resolve()
    await t.ready()
    expect(t.openings).toHaveLength(2)
    expect(t.seen.withdrawals).toBe(0)
    expect(t.said).toEqual([])
  })

  it('does not wait for the rest of a delay', async () => {
    const t = setup()
    t.supervisor.start()
    await t.refused()
    expect(t.clock.pending()).toEqual([500])
    t.supervisor.restart()
    await settled()
    expect(t.openings).toHaveLength(2)
    expect(t.clock.pending()).toEqual([ATTEMPT_MS])
    expect(t.supervisor.snapshot().attempt).toBe(0)
  })

  it('starts a server that was never started', async () => {
    const t = setup()
    t.supervisor.restart()
    await t.ready()
    expect(t.state()).toBe('ready')
  })
})

describe('stop', () => {
  type Harness = ReturnType<typeof setup>
  it.each<[string, (t: Harness) => Promise<void>, number]>([
    ['idle', async () => {}, 0],
    ['connecting', async (t) => t.supervisor.start(), 0],
    [
      'connecting, well under way',
      async (t) => {
        t.supervisor.start()
        await settled()
      },
      0,
    ],
    [
      'syncing',
      async (t) => {
        t.supervisor.start()
        await t.opened()
      },
      1,
    ],
    [
      'ready',
      async (t) => {
        t.supervisor.start()
        await t.ready()
      },
      1,
    ],
    [
      'backoff',
      async (t) => {
        t.supervisor.start()
        await t.refused()
      },
      0,
    ],
    [
      'needs-auth',
      async (t) => {
        t.supervisor.start()
        await t.refused(failure('MCP_AUTH_REQUIRED'))
      },
      0,
    ],
    [
      'failed',
      async (t) => {
        t.supervisor.start()
        await t.refused(failure('MCP_SPAWN_FAILED'))
      },
      0,
    ],
  ])('in %s ends at once, with everything withdrawn and nothing armed', async (_state, reach, closes) => {
    const t = setup()
    await reach(t)
    await t.supervisor.stop()
    expect(t.state()).toBe('stopped')
    expect(t.latest()?.state.name).toBe('stopped')
    expect(t.seen.withdrawals).toBeGreaterThan(0)
    expect(t.closes).toHaveLength(closes)
    expect(t.clock.pending()).toEqual([])
    expect(t.supervisor.session()).toBeUndefined()
    t.supervisor.start()
    t.supervisor.restart()
    await settled()
    expect(t.state()).toBe('stopped')
    expect(t.openings.length).toBeLessThanOrEqual(1)
  })

  it('is one promise for all, and settles within the bound of a close that hangs', async () => {
    const t = setup()
    t.seen.closeAtOnce = false
    t.supervisor.start()
    await t.ready()
    const stop = t.supervisor.stop()
    expect(t.supervisor.stop()).toBe(stop)
    let isOver = false
    void stop.then(() => (isOver = true))
    await t.clock.advance(CLOSE_TIMEOUT_MS - 1)
    expect(isOver).toBe(false)
    await t.clock.advance(1)
    expect(isOver).toBe(true)
    t.closes[0]?.resolve()
    await settled()
    expect(t.state()).toBe('stopped')
  })

  it('settles within the bound also when an attempt does not let go', async () => {
    const t = setup({ polite: false })
    t.supervisor.start()
    await settled()
    const stop = t.supervisor.stop()
    await t.clock.advance(CLOSE_TIMEOUT_MS)
    await stop
    expect(t.state()).toBe('stopped')
    // A session that comes after that is closed, and its end is no news.
    await t.opened()
    t.syncing().reject(t.syncing().signal.reason)
    await settled()
    expect(t.closes).toHaveLength(1)
    expect(t.state()).toBe('stopped')
  })

  it('overtakes a restart, and settles the first attempt of a server that never had one', async () => {
    const t = setup()
    t.seen.closeAtOnce = false
    t.supervisor.start()
    await t.ready()
    t.supervisor.restart()
    const stop = t.supervisor.stop()
    t.closes[0]?.resolve()
    await stop
    expect(t.openings).toHaveLength(1)

    const idle = setup()
    await idle.supervisor.stop()
    expect(await idle.supervisor.firstAttempt).toMatchObject({
      code: 'MCP_ABORTED',
      message: 'the server was stopped',
    })
  })

  it('before the first attempt has begun opens nothing', async () => {
    const t = setup()
    t.supervisor.start()
    await t.supervisor.stop()
    expect(t.openings).toHaveLength(0)
    expect((await t.supervisor.firstAttempt)?.code).toBe('MCP_ABORTED')
  })
})
