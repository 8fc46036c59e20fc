/**
 * Owns the live session and the timers of one server, and does what the machine's effects say. The only actor of the
 * connection step: it opens, syncs, closes and withdraws through the functions it is given.
 */
import type { Clock } from '../clock.ts'
import { McpError, isMcpError, messageOf } from '../errors.ts'
import type { Generation, ReconnectPolicy, Session } from '../types.ts'
import { INITIAL, transition } from './machine.ts'
import type { Effect, Event, Machine, State } from './machine.ts'
import { CLOSE_TIMEOUT_MS, narrate } from './narration.ts'
import type { Line } from './narration.ts'

export interface SupervisorOptions {
  readonly serverName: string
  readonly policy: ReconnectPolicy
  /** Wall of one connect-and-discover attempt, in milliseconds. */
  readonly attemptTimeoutMs: number
  readonly clock: Clock
  /** Acquire a session. On abort it rejects after it has released what it held. */
  open(generation: Generation, signal: AbortSignal, onDown: (reason: McpError) => void): Promise<Session>
  /**
   * First discovery of a session. Rejects with McpError when the connection cannot be used; resolves to the problem
   * when the connection is good and the list is not: nothing is respawned for a bad list.
   */
  sync(session: Session, signal: AbortSignal): Promise<McpError | undefined>
  withdraw(): void
  /** Called after every change of state. */
  changed(snapshot: Snapshot): void
  say(line: Line): void
}

export interface Snapshot {
  readonly state: State
  readonly attempt: number
  readonly lastError?: McpError
}

export interface Supervisor {
  start(): void
  restart(): void
  /** There are new credentials: a server that waits for authorization is tried again. */
  authorized(): void
  /** Reaches `stopped`; settles within the close bound. All callers share the promise. */
  stop(): Promise<void>
  snapshot(): Snapshot
  /** The session that can take calls, or `undefined` while there is none. */
  session(): Session | undefined
  /** Settles when the first attempt has: with its error, or nothing. */
  readonly firstAttempt: Promise<McpError | undefined>
  /** A live session found itself broken by a call or a list. Stale generations are ignored. */
  broke(generation: Generation, error: McpError): void
}

interface Live {
  readonly generation: Generation
  readonly controller: AbortController
  readonly opening: Promise<Session | undefined>
  cancelDeadline: () => void
  session?: Session
  /** The attempt failed and could not confirm the end of what it had started. */
  unclosed?: McpError
}

/** Create the supervisor of one server. Nothing is opened before `start()`. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { policy, clock, serverName } = options
  let machine: Machine = INITIAL
  let live: Live | undefined
  let lastError: McpError | undefined
  let disarm: (() => void) | undefined
  const first = Promise.withResolvers<McpError | undefined>()
  const stopped = Promise.withResolvers<void>()

  const snapshot = (): Snapshot => ({
    state: machine.state,
    attempt: machine.failures,
    ...(lastError === undefined ? {} : { lastError }),
  })

  function dispatch(event: Event, failure?: McpError): void {
    const before = machine
    const step = transition(machine, event, policy, clock.now())
    machine = step.machine
    if (failure !== undefined && machine !== before) lastError = failure
    if (machine.state.name === 'ready') lastError = undefined
    const line = narrate(before, machine, policy, failure?.message)
    if (line !== undefined) options.say(line)
    for (const effect of step.effects) perform(effect)
    if (machine.state !== before.state) options.changed(snapshot())
    // Not by an attempt that a restart replaced: the outcome is the new one's.
    if (event.type === 'broke' && machine !== before) first.resolve(failure)
    if (machine.state.name === 'stopped') {
      first.resolve(
        new McpError('the server was stopped', { code: 'MCP_ABORTED', server: serverName, stage: 'connect' }),
      )
      stopped.resolve()
    }
  }

  function perform(effect: Effect): void {
    switch (effect.type) {
      case 'open':
        return attempt(effect.generation)
      case 'close':
        return void close(effect.generation)
      case 'arm':
        disarm = clock.after(effect.delayMs, () => dispatch({ type: 'delay-elapsed' }))
        return
      case 'disarm':
        return disarm?.()
      case 'withdraw':
        return options.withdraw()
    }
  }

  function attempt(generation: Generation): void {
    const controller = new AbortController()
    const cancelDeadline = clock.after(options.attemptTimeoutMs, () => {
      const failure = timedOut()
      controller.abort(failure)
      // Not left to the attempt: one that does not let go at the abort would be waited for without end.
      breakDown(generation, failure)
    })
    // One turn later, so that an end reported at once finds the attempt live.
    const opening = Promise.resolve().then(() => run(generation, controller.signal))
    live = { generation, controller, opening, cancelDeadline }
  }

  async function run(generation: Generation, signal: AbortSignal): Promise<Session | undefined> {
    let session: Session | undefined
    try {
      signal.throwIfAborted()
      session = await options.open(generation, signal, (reason) => breakDown(generation, reason))
      if (live?.generation === generation) live.session = session
      dispatch({ type: 'opened', generation })
      const problem = await options.sync(session, signal)
      if (machine.state.name === 'syncing' && machine.lastGeneration === generation) first.resolve(problem)
      dispatch({ type: 'synced', generation })
    } catch (error) {
      const failure = asMcpError(error, serverName)
      if (failure.code === 'MCP_CLOSE_TIMEOUT' && live?.generation === generation) live.unclosed = failure
      breakDown(generation, signal.aborted && isMcpError(signal.reason) ? signal.reason : failure)
    }
    if (live?.generation === generation) live.cancelDeadline()
    return session
  }

  function breakDown(generation: Generation, error: McpError): void {
    // Wider access is a login away: a connection that breaks at this waits for one.
    const disposition = error.data['awaitsLogin'] === true ? 'auth' : error.disposition
    const broke = disposition === 'auth' || disposition === 'fatal' ? disposition : 'retry'
    dispatch({ type: 'broke', generation, disposition: broke }, error)
  }

  async function close(generation: Generation): Promise<void> {
    const closing = live
    /* v8 ignore next 3 -- the machine closes only what it opened: held by its own test */
    if (closing === undefined || closing.generation !== generation) {
      throw new Error(`close of generation ${generation} that is not live`)
    }
    closing.cancelDeadline()
    closing.controller.abort(aborted())
    const cancel = clock.after(CLOSE_TIMEOUT_MS, () => dispatch({ type: 'close-timed-out', generation }))
    const session = closing.session ?? (await closing.opening)
    const unclosed =
      (await session?.close().then(
        () => undefined,
        (error: unknown) => asMcpError(error, serverName),
      )) ?? closing.unclosed
    cancel()
    if (live === closing) live = undefined
    if (unclosed === undefined) dispatch({ type: 'closed', generation })
    // Where the time was over before, this is a repetition, which the machine ignores.
    else dispatch({ type: 'close-timed-out', generation }, unclosed)
  }

  const timedOut = (): McpError =>
    new McpError(
      `no answer within ${options.attemptTimeoutMs} ms (startup.timeoutMs) while ` +
        (machine.state.name === 'syncing' ? 'listing the tools' : 'connecting'),
      { code: 'MCP_CONNECT_TIMEOUT', server: serverName, stage: 'connect' },
    )
  const aborted = (): McpError =>
    new McpError('the connection was closed', { code: 'MCP_ABORTED', server: serverName, stage: 'connect' })

  return {
    start: () => dispatch({ type: 'start' }),
    restart: () => dispatch({ type: 'restart' }),
    authorized: () => dispatch({ type: 'authorized' }),
    stop() {
      dispatch({ type: 'stop' })
      return stopped.promise
    },
    snapshot,
    session: () => (machine.state.name === 'ready' ? live?.session : undefined),
    firstAttempt: first.promise,
    broke: breakDown,
  }
}

function asMcpError(error: unknown, server: string): McpError {
  return isMcpError(error)
    ? error
    : new McpError(messageOf(error), {
        code: 'MCP_CONNECTION_CLOSED',
        server,
        stage: 'connect',
        cause: error,
      })
}
