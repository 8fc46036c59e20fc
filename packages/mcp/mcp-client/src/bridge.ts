/**
 * Owns the composition of one server: supervisor, discovery, registry and execution wired together over one spec. The
 * only place that knows all steps; it decides nothing the steps decide.
 */
import { createLogin } from './bridge-login.ts'
import type { Login, LoginHost } from './bridge-login.ts'
import { statusOf } from './bridge-status.ts'
import { defineTool } from './bridge-tool.ts'
import { createTrust } from './bridge-trust.ts'
import type { Trust } from './bridge-trust.ts'
import { settledOrAborted } from './bridge-wait.ts'
import type { Clock } from './clock.ts'
import { openSession } from './connection/session.ts'
import { reasonOf } from './connection/narration.ts'
import { createSupervisor } from './connection/supervisor.ts'
import type { Snapshot, Supervisor } from './connection/supervisor.ts'
import type { Trace, TraceEvent } from './connection/trace.ts'
import { EMPTY_CATALOG, createCatalog, itemOf, linesOf } from './discovery/catalog.ts'
import { flaggedLine } from './discovery/hidden.ts'
import type { PinFile } from './discovery/pin-file.ts'
import { createReader } from './discovery/reader.ts'
import type { Reader } from './discovery/reader.ts'
import { fromForeign } from './foreign.ts'
import { isMcpError, messageOf } from './errors.ts'
import type { McpError } from './errors.ts'
import type { DefinitionContext } from './execution/definition.ts'
import { createGate } from './execution/gate.ts'
import { createGlobs } from './globs.ts'
import { eraMemoryOf } from './memory.ts'
import type { Memory } from './memory.ts'
import type { HostServices } from './projection/host.ts'
import { createPublisher } from './registry/tools.ts'
import type { Register } from './registry/tools.ts'
import { createBudget } from './schema/budget.ts'
import { createCallRecord } from './status-calls.ts'
import { hostOf, transportOf } from './status-target.ts'
import { safeLine } from './text.ts'
import type {
  CallObserver,
  CallSettled,
  Catalog,
  CatalogEntry,
  DefinitionBytes,
  Exposure,
  OfferedTool,
  ServerSpec,
  ServerState,
  ServerStatus,
  Session,
  SessionDiagnostics,
} from './types.ts'

export { openPins } from './bridge-trust.ts'
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
  /** How the tools are offered, now that their size is known. Without it: as the row says, and direct for `auto`. */
  allot?(bytes: DefinitionBytes): Exposure
  /** What is pinned of this server. Without it nothing is compared. */
  readonly pins?: PinFile | undefined
  /** Where credentials are kept. Without it a server that asks for a login gets the row's headers and nothing else. */
  readonly login?: LoginHost | undefined
  /** The caller is the person whose word counts, at a command line: nobody else is asked. */
  readonly isUnreviewed?: boolean
  /** A call ended. */
  settled?(call: CallSettled): void
  /** What goes around each call, and into its request; `undefined` while nobody watches. */
  observer?(): CallObserver | undefined
}

export interface Bridge extends Pick<Trust, 'review' | 'approve' | 'pins'>, Pick<Login, 'logout'> {
  /** Start the server, or serve what is remembered of a lazy one. Settles with the first attempt's error, if any. */
  start(): Promise<McpError | undefined>
  status(): ServerStatus
  /** By public name; the same array while nothing changed. */
  offered(): readonly OfferedTool[]
  find(publicName: string): OfferedTool | undefined
  /** Register a tool of search until the returned function is called. Throws what the registry does. */
  lend(publicName: string): () => void
  /** Offer the tools the other way. */
  expose(exposure: Exposure): void
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
  let listedAt: number | undefined
  let transport = transportOf(spec.target)
  /** Of the last process or connection, also after its end: that is when it is asked for. */
  let diagnostics: () => SessionDiagnostics = () => ({})
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
    meta: () => host.observer?.()?.meta(),
    checkAgain: (entry) => trust.checkAgain(entry),
  }
  const { pins, clock, say, isUnreviewed } = host
  const trust = createTrust({ spec, pins, clock, say, adopt, isUnreviewed })
  const record = createCallRecord({
    serverName: spec.serverName,
    clock: host.clock,
    observer: () => host.observer?.(),
    settled: (call) => host.settled?.(call),
    about() {
      const revision = supervisor.session()?.facts.revision
      return { transport, ...hostOf(spec.target), ...(revision === undefined ? {} : { revision }) }
    },
  })
  const login = createLogin({
    spec,
    host: host.login,
    clock,
    say,
    onAuthorized: () => supervisor.authorized(),
  })
  const budget = createBudget(() => host.clock.now())
  const publisher = createPublisher({
    serverName: spec.serverName,
    register: host.register,
    define: (entry) =>
      defineTool(entry, calls, { prepare, failed, watch: record.watch, check: trust.check, budget }),
    isAlwaysDirect: createGlobs(spec.tools.alwaysDirect),
    shown: (rawName) => safeLine(rawName, spec.redact, 80),
  })
  const reader: Reader = createReader({
    spec,
    clock: host.clock,
    selection: trust.selection,
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
        authorizer: login.authorizer,
        trace: noted,
        events: {
          onDown,
          onToolsChanged: () => reader.request(),
          onNote: (level, text) => host.say({ level, text }),
        },
      }).then((session) => {
        diagnostics = () => session.diagnostics()
        return session
      }),
    sync: (session, signal) => reader.first(session, signal),
    withdraw,
    changed,
    say: host.say,
  })

  function noted(event: TraceEvent): void {
    if (event.kind === 'try') transport = event.attempt.transport
    if (event.kind === 'ended') diagnostics = () => event.diagnostics
    host.trace?.(event)
  }

  function adopt(next: Catalog): void {
    /* v8 ignore next -- a list that comes in the turn in which its row ends */
    if (isWithdrawn) return
    const admitted = trust.admit(next)
    const published = publisher.publish(admitted.entries, allot)
    catalog = admitted
    listedAt = Date.now()
    refused = published.quarantined
    const flagged = flaggedLine(publisher.report().flagged)
    const warnings = flagged === undefined ? next.warnings : [...next.warnings, flagged]
    const lines = linesOf(warnings, [...next.quarantined, ...refused])
    // What the last list said too is no news: a server may change its list every few seconds.
    for (const text of lines) if (!told.includes(text)) host.say({ level: 'warn', text })
    told = lines
    if (spec.startup.mode === 'lazy') {
      host.memory.update({ catalog: { items: next.entries.map(itemOf), at: Date.now() } })
    }
    host.changed?.('catalog')
  }

  function allot(bytes: DefinitionBytes): Exposure {
    const { total, fixed } = host.memory.read().bytes ?? {}
    if (total !== bytes.total || fixed !== bytes.fixed) host.memory.update({ bytes })
    return host.allot?.(bytes) ?? (spec.tools.exposure === 'search' ? 'search' : 'direct')
  }

  function expose(exposure: Exposure): void {
    try {
      publisher.expose(exposure)
    } catch (error) {
      host.say({ level: 'error', text: messageOf(error) })
    }
    host.changed?.('catalog')
  }

  function changed({ state }: Snapshot): void {
    since = Date.now()
    nextChange.resolve()
    nextChange = Promise.withResolvers()
    login.entered(state.name)
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
    trust.clear()
    catalog = EMPTY_CATALOG
    listedAt = undefined
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
      adopt(createCatalog(spec, { items, warnings: [] }, trust.selection))
      return undefined
    } catch (error) {
      return fromForeign(error, { server: spec.serverName, stage: 'discovery', redact: spec.redact })
    }
  }

  async function end(): Promise<void> {
    await Promise.all([supervisor.stop(), reader.close()])
    withdraw()
    await Promise.all([host.memory.flush(), trust.close(), login.close()])
  }

  return {
    async start() {
      const remembered = spec.startup.mode === 'lazy' ? host.memory.read().catalog : undefined
      if (remembered !== undefined) return serveRemembered(remembered.items)
      supervisor.start()
      return supervisor.firstAttempt
    },
    status() {
      return statusOf(spec, {
        snapshot: supervisor.snapshot(),
        session: supervisor.session(),
        diagnostics: diagnostics(),
        problem: reader.problem(),
        transport,
        since,
        listedAt,
        calls: record.totals(),
        link: login.link(),
        quarantined: [...catalog.quarantined, ...refused],
        tools: { ...publisher.report(), ...trust.status() },
      })
    },
    logout: login.logout,
    review: trust.review,
    approve: trust.approve,
    pins: trust.pins,
    offered: publisher.offered,
    find: publisher.find,
    lend: publisher.lend,
    expose,
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
