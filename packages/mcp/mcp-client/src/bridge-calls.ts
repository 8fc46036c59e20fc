/**
 * Owns what surrounds the calls of one server: a server that sleeps is woken, an outage may be waited out, and a call
 * that the server wants authorized tells about the connection.
 */
import { settledOrAborted } from './bridge-wait.ts'
import type { Supervisor } from './connection/supervisor.ts'
import { isMcpError } from './errors.ts'
import type { Agent, CatalogEntry, ServerSpec, ServerState, Session } from './types.ts'

/** States that no attempt of our own leaves. */
const RESTING: ReadonlySet<ServerState> = new Set(['idle', 'needs-auth', 'failed', 'stopped'])

export interface CallSupportOptions {
  readonly spec: Pick<ServerSpec, 'startup'>
  supervisor(): Supervisor
  /** Whether this very tool is offered now. */
  offers(entry: CatalogEntry): boolean
  /** The row ends: nothing is woken any more. */
  isWithdrawn(): boolean
  /** What comes between a live session and a call of this agent. Never rejects. */
  beforeCall(session: Session | undefined, agent: Agent | undefined): Promise<void> | undefined
  /** A call is about to be made: the list may be out of date. */
  touch(): void
}

export interface CallSupport {
  /** The state changed: whoever waits looks again. */
  changed(): void
  /** A call to a server that sleeps starts it and waits; the attempt's own wall bounds the wait. */
  wake(signal: AbortSignal): Promise<void>
  /** What comes before each call: a server that is awake, and a list that is not out of date for the next one. */
  prepare(signal: AbortSignal, agent?: Agent): Promise<Session | undefined>
  /** Waits out an outage; see CallContext. */
  sessionAgain(entry: CatalogEntry, signal: AbortSignal): Promise<Session | undefined>
  failed(session: Session | undefined, error: unknown): void
}

export function createCallSupport(options: CallSupportOptions): CallSupport {
  const { spec } = options
  let nextChange = Promise.withResolvers<void>()

  async function wake(signal: AbortSignal): Promise<void> {
    const supervisor = options.supervisor()
    if (spec.startup.mode !== 'lazy' || supervisor.session() !== undefined || options.isWithdrawn()) return
    supervisor.start()
    await settledOrAborted(supervisor.firstAttempt, signal)
  }

  return {
    changed() {
      nextChange.resolve()
      nextChange = Promise.withResolvers()
    },
    wake,
    async prepare(signal, agent) {
      await wake(signal)
      options.touch()
      const session = options.supervisor().session()
      const told = options.beforeCall(session, agent)
      // Mostly nothing is to be told, and then not a turn is spent on it.
      if (told !== undefined) await told
      return session
    },
    /** A tool whose definition came back another is another tool. */
    async sessionAgain(entry, signal) {
      const supervisor = options.supervisor()
      while (!signal.aborted && !RESTING.has(supervisor.snapshot().state.name)) {
        const session = supervisor.session()
        if (session !== undefined) return options.offers(entry) ? session : undefined
        await settledOrAborted(nextChange.promise, signal)
      }
      return undefined
    },
    /** A call that the server wants authorized tells about the connection, not about the tool. */
    failed(session, error) {
      if (session === undefined || !isMcpError(error) || error.disposition !== 'auth') return
      options.supervisor().broke(session.generation, error)
    },
  }
}
