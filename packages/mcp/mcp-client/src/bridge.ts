/**
 * Owns the composition of one server: supervisor, discovery, registry and execution wired together over one spec. The
 * only place that knows all steps; it decides nothing the steps decide.
 */
import type { Clock } from './clock.ts'
import { openSession } from './connection/session.ts'
import { reasonOf } from './connection/narration.ts'
import { createSupervisor } from './connection/supervisor.ts'
import type { Snapshot, Supervisor } from './connection/supervisor.ts'
import type { Trace } from './connection/trace.ts'
import { EMPTY_CATALOG, createCatalog, itemOf, linesOf } from './discovery/catalog.ts'
import { createReader } from './discovery/reader.ts'
import type { Reader } from './discovery/reader.ts'
import { fromForeign } from './foreign.ts'
import { isMcpError } from './errors.ts'
import type { McpError } from './errors.ts'
import { createDefinition } from './execution/definition.ts'
import type { DefinitionContext } from './execution/definition.ts'
import { createGate } from './execution/gate.ts'
import { eraMemoryOf } from './memory.ts'
import type { Memory } from './memory.ts'
import type { HostServices } from './projection/host.ts'
import { createPublisher } from './registry/tools.ts'
import type { Defined, Register } from './registry/tools.ts'
import { toOffer } from './schema/offer.ts'
import { cleanLine } from './text.ts'
import type { Catalog, CatalogEntry, ServerSpec, ServerState, ServerStatus, Session } from './types.ts'

export type { Trace, TraceEvent } from './connection/trace.ts'

export interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  /** Redacted and clean; without the server's label. */
  readonly text: string
}

export interface BridgeHost {
  readonly register: Register
  readonly services: HostServices
  readonly memory: Memory
  readonly clock: Clock
  readonly version: string
  /** Sees every try and message of the connection. */
  readonly trace?: Trace | undefined
  say(line: Line): void
  /** The state or the catalog changed; `status()` tells what it is now. */
  changed?(change: 'state' | 'catalog'): void
}

export interface Bridge {
  /** Start the server, or serve what is remembered of a lazy one. Settles with the first attempt's error, if any. */
  start(): Promise<McpError | undefined>
  status(): ServerStatus
  restart(): void
  /** Unregister everything for good, at once; the connection may still be closing. */
  withdraw(): void
  /** Withdraw, close and settle within the close bound. All callers share the promise. */
  dispose(): Promise<void>
}

/** States that no attempt of our own leaves. */
const RESTING: ReadonlySet<ServerState> = new Set(['idle', 'needs-auth', 'failed', 'stopped'])

/** Wire one server up. Nothing is started. */
export function createBridge(spec: ServerSpec, host: BridgeHost): Bridge {
  let catalog: Catalog = EMPTY_CATALOG
  let refused: Catalog['quarantined'] = []
  /** What was said of the last list. */
  let told: readonly string[] = []
  let since = Date.now()
  let isWithdrawn = false
  let nextChange = Promise.withResolvers<void>()
  let disposal: Promise<void> | undefined

  const calls: DefinitionContext = {
    spec,
    host: host.services,
    log: host.services.log,
    gate: createGate(spec.limits.concurrency),
    session: () => supervisor.session(),
    reason: () => reasonOf(supervisor.snapshot(), since),
    onUnknownTool: () => reader.request(),
    sessionAgain,
  }
  const publisher = createPublisher(spec.serverName, host.register, (entry) =>
    define(entry, calls, { prepare, failed }),
  )
  const reader: Reader = createReader({
    spec,
    clock: host.clock,
    current: () => supervisor.session(),
    adopt,
    say: host.say,
  })
  const supervisor: Supervisor = createSupervisor({
    serverName: spec.serverName,
    policy: spec.reconnect,
    attemptTimeoutMs: spec.startup.timeoutMs,
    clock: host.clock,
    open: (generation, signal, onDown) =>
      openSession(spec, {
        generation,
        signal,
        clock: host.clock,
        clientVersion: host.version,
        era: eraMemoryOf(host.memory),
        trace: host.trace,
        events: {
          onDown,
          onToolsChanged: () => reader.request(),
          onNote: (level, text) => host.say({ level, text }),
        },
      }),
    sync: (session, signal) => reader.first(session, signal),
    withdraw,
    changed,
    say: host.say,
  })

  function adopt(next: Catalog): void {
    /* v8 ignore next -- a list that comes in the turn in which its row ends */
    if (isWithdrawn) return
    const published = publisher.publish(next.entries)
    catalog = next
    refused = published.quarantined
    const lines = linesOf(next.warnings, [...next.quarantined, ...refused])
    // What the last list said too is no news: a server may change its list every few seconds.
    for (const text of lines) if (!told.includes(text)) host.say({ level: 'warn', text })
    told = lines
    if (spec.startup.mode === 'lazy') {
      host.memory.update({ catalog: { items: next.entries.map(itemOf), at: Date.now() } })
    }
    host.changed?.('catalog')
  }

  function changed({ state }: Snapshot): void {
    since = Date.now()
    nextChange.resolve()
    nextChange = Promise.withResolvers()
    if (state.name === 'ready') reader.ready()
    // Another login may see other tools.
    if (state.name === 'needs-auth') host.memory.update({ catalog: undefined })
    host.changed?.('state')
  }

  /** Waits out an outage. A tool whose definition came back another is another tool. */
  async function sessionAgain(entry: CatalogEntry, signal: AbortSignal): Promise<Session | undefined> {
    while (!signal.aborted && !RESTING.has(supervisor.snapshot().state.name)) {
      const session = supervisor.session()
      if (session !== undefined)
        return catalog.entries.some(({ digest }) => digest === entry.digest) ? session : undefined
      await settledOrAborted(nextChange.promise, signal)
    }
    return undefined
  }

  function withdraw(): void {
    publisher.withdraw()
    catalog = EMPTY_CATALOG
    refused = []
    host.changed?.('catalog')
  }

  /** What comes before each call: a server that is awake, and a list that is not out of date for the next one. */
  async function prepare(signal: AbortSignal): Promise<Session | undefined> {
    await wake(signal)
    reader.touch()
    return supervisor.session()
  }

  /** A call that the server wants authorized tells about the connection, not about the tool. */
  function failed(session: Session | undefined, error: unknown): void {
    if (session === undefined || !isMcpError(error) || error.disposition !== 'auth') return
    supervisor.broke(session.generation, error)
  }

  /** A call to a server that sleeps starts it and waits; the attempt's own wall bounds the wait. */
  async function wake(signal: AbortSignal): Promise<void> {
    if (spec.startup.mode !== 'lazy' || supervisor.session() !== undefined || isWithdrawn) return
    supervisor.start()
    await settledOrAborted(supervisor.firstAttempt, signal)
  }

  function serveRemembered(items: readonly unknown[]): McpError | undefined {
    try {
      adopt(createCatalog(spec, { items, warnings: [] }))
      return undefined
    } catch (error) {
      return fromForeign(error, { server: spec.serverName, stage: 'discovery', redact: spec.redact })
    }
  }

  async function end(): Promise<void> {
    await Promise.all([supervisor.stop(), reader.close()])
    withdraw()
    await host.memory.flush()
  }

  return {
    async start() {
      const remembered = spec.startup.mode === 'lazy' ? host.memory.read().catalog : undefined
      if (remembered !== undefined) return serveRemembered(remembered.items)
      supervisor.start()
      return supervisor.firstAttempt
    },
    status() {
      const { state, attempt, lastError = reader.problem() } = supervisor.snapshot()
      const session = supervisor.session()
      const { pid, stderrTail } = session?.diagnostics() ?? {}
      return {
        serverName: spec.serverName,
        state: state.name,
        since,
        attempt,
        ...(state.name === 'backoff' ? { nextRetryAt: since + state.delayMs } : {}),
        ...(lastError === undefined
          ? {}
          : { lastError: { code: lastError.code, message: spec.redact(lastError.message) } }),
        ...(session === undefined ? {} : { facts: session.facts }),
        ...(pid === undefined ? {} : { pid }),
        ...(stderrTail === undefined ? {} : { stderrTail }),
        tools: {
          registered: publisher.count(),
          // A server chooses the names of its tools.
          quarantined: [...catalog.quarantined, ...refused].map(({ name, reason }) => ({
            name: spec.redact(name),
            reason: spec.redact(reason),
          })),
          rewritten: publisher.rewritten(),
        },
      }
    },
    restart: supervisor.restart,
    withdraw() {
      isWithdrawn = true
      withdraw()
    },
    dispose() {
      isWithdrawn = true
      disposal ??= end()
      return disposal
    },
  }
}

/** What surrounds each call of a tool. */
interface CallHooks {
  prepare(signal: AbortSignal): Promise<Session | undefined>
  failed(session: Session | undefined, error: unknown): void
}

function define(entry: CatalogEntry, context: DefinitionContext, hooks: CallHooks): Defined {
  const offer = toOffer(entry)
  if (!offer.ok)
    return { ok: false, quarantined: { name: cleanLine(entry.rawName, 80), reason: offer.reason } }
  const shown = { ...entry, description: offer.description }
  const definition = createDefinition(shown, offer.parameters, offer.outputSchema, context)
  return {
    ok: true,
    rewrites: offer.rewrites,
    definition: {
      ...definition,
      async execute(args, exec) {
        const session = await hooks.prepare(exec.signal)
        try {
          return await definition.execute(args, exec)
        } catch (error) {
          hooks.failed(session, error)
          throw error
        }
      },
    },
  }
}

/** Waits for the work, or until the caller gives up; leaves no listener behind. */
async function settledOrAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const given = Promise.withResolvers<void>()
  const giveUp = (): void => given.resolve()
  signal.addEventListener('abort', giveUp, { once: true })
  /* v8 ignore next -- the registry refuses a call that is aborted already */
  if (signal.aborted) giveUp()
  await Promise.race([work, given.promise])
  signal.removeEventListener('abort', giveUp)
}
