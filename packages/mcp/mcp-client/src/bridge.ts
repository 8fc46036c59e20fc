/**
 * Owns the composition of one server: supervisor, discovery, registry and execution wired together over one spec. The
 * only place that knows all steps; it decides nothing the steps decide.
 */
import { createBeyond } from './bridge-beyond.ts'
import { createCallSupport } from './bridge-calls.ts'
import { createLogin } from './bridge-login.ts'
import { statusOf } from './bridge-status.ts'
import { defineTool } from './bridge-tool.ts'
import { createTrust } from './bridge-trust.ts'
import type { Bridge, BridgeHost } from './bridge-types.ts'
import { openSession } from './connection/open-session.ts'
import { reasonOf } from './connection/narration.ts'
import { createSupervisor } from './connection/supervisor.ts'
import type { Snapshot, Supervisor } from './connection/supervisor.ts'
import type { TraceEvent } from './connection/trace.ts'
import { EMPTY_CATALOG, createCatalog, itemOf, linesOf } from './discovery/catalog.ts'
import { flaggedLine } from './discovery/hidden.ts'
import { createReader } from './discovery/reader.ts'
import type { Reader } from './discovery/reader.ts'
import { fromForeign } from './foreign.ts'
import { messageOf } from './errors.ts'
import type { McpError } from './errors.ts'
import type { DefinitionContext } from './execution/definition.ts'
import { createGate } from './execution/gate.ts'
import { createGlobs } from './globs.ts'
import { eraMemoryOf } from './memory.ts'
import { createPublisher } from './registry/tools.ts'
import { createBudget } from './schema/budget.ts'
import { createCallRecord } from './status-calls.ts'
import { hostOf, transportOf } from './status-target.ts'
import { safeLine } from './text.ts'
import type { Catalog, DefinitionBytes, Exposure, ServerSpec, SessionDiagnostics } from './types.ts'

export type { Bridge, BridgeHost, Line } from './bridge-types.ts'
export { openPins } from './bridge-trust.ts'
export type { Trace, TraceEvent } from './connection/trace.ts'

/** Wire one server up. Nothing is started. */
export function createBridge(spec: ServerSpec, host: BridgeHost): Bridge {
  let catalog: Catalog = EMPTY_CATALOG
  let refused: Catalog['quarantined'] = []
  /** The last list of this session as it was read. */
  let listed: Catalog | undefined
  /** What was said of the last list. */
  let told: readonly string[] = []
  let since = Date.now()
  let listedAt: number | undefined
  let transport = transportOf(spec.target)
  /** Of the last process or connection, also after its end: that is when it is asked for. */
  let diagnostics: () => SessionDiagnostics = () => ({})
  let isWithdrawn = false
  let disposal: Promise<void> | undefined

  const support = createCallSupport({
    spec,
    supervisor: () => supervisor,
    offers: (entry) => catalog.entries.some(({ digest }) => digest === entry.digest),
    beforeCall: (session, agent) => beyond.beforeCall(session, agent),
    isWithdrawn: () => isWithdrawn,
    touch: () => reader.touch(),
  })
  const calls: DefinitionContext = {
    spec,
    host: host.services,
    log: host.services.log,
    gate: createGate(spec.limits.concurrency),
    session: () => supervisor.session(),
    reason: () => reasonOf(supervisor.snapshot(), since),
    onUnknownTool: () => reader.request(),
    sessionAgain: support.sessionAgain,
    meta: () => host.observer?.()?.meta(),
    checkAgain: (entry) => trust.checkAgain(entry),
    ask: (request, asking) => beyond.ask(request, asking),
    linkReader: () => beyond.linkReader(),
    onProgress: (callId, words) => record.progress(callId, words),
  }
  const beyond = createBeyond({
    spec,
    host: host.beyond,
    services: host.services,
    clock: host.clock,
    session: calls.session,
    offers: (publicName) => publisher.find(publicName) !== undefined,
    withholdsInstructions: () => trust.withholdsInstructions(),
    promptsTaken(prompts) {
      if (spec.startup.mode === 'lazy') host.memory.update({ prompts })
    },
    prepare: support.prepare,
    reason: calls.reason,
    failed: support.failed,
    say: host.say,
  })
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
      defineTool(entry, calls, { ...support, watch: record.watch, check: trust.check, budget }),
    isAlwaysDirect: createGlobs(spec.tools.alwaysDirect),
    shown: (rawName) => safeLine(rawName, spec.redact, 80),
  })
  const reader: Reader = createReader({
    spec,
    clock: host.clock,
    selection: trust.selection,
    current: () => supervisor.session(),
    adopt: relist,
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
        inbound: beyond.inbound,
        events: {
          ...beyond.events,
          onDown,
          onToolsChanged: () => reader.request(),
          onNote: (level, text) => host.say({ level, text }),
        },
      }).then((session) => {
        diagnostics = () => session.diagnostics()
        return session
      }),
    sync(session, signal) {
      listed = undefined
      beyond.listing(session.facts)
      return reader.first(session, signal)
    },
    withdraw,
    changed,
    say: host.say,
  })

  function noted(event: TraceEvent): void {
    if (event.kind === 'try') transport = event.attempt.transport
    if (event.kind === 'ended') diagnostics = () => event.diagnostics
    host.trace?.(event)
  }

  /** A list that says what the last one of this session said has its very catalog: nothing is looked at again. */
  function relist(next: Catalog): void {
    if (next === listed) listedAt = Date.now()
    else adopt(next)
    listed = next
  }

  function adopt(next: Catalog): void {
    /* v8 ignore next -- a list that comes in the turn in which its row ends */
    if (isWithdrawn) return
    const admitted = trust.admit(next, beyond.ownEntries(next.entries), beyond.words())
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
      host.memory.update({
        catalog: {
          items: next.entries.map(itemOf),
          at: Date.now(),
          resources: beyond.offer(),
          instructions: beyond.said(),
        },
      })
    }
    beyond.judged()
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
    support.changed()
    login.entered(state.name)
    if (state.name === 'ready') {
      reader.ready()
      beyond.ready()
    }
    // Another login may see other tools.
    if (state.name === 'needs-auth') host.memory.update({ catalog: undefined, prompts: undefined })
    host.changed?.('state')
  }

  function withdraw(): void {
    publisher.withdraw()
    beyond.withdraw()
    trust.clear()
    catalog = EMPTY_CATALOG
    listed = undefined
    listedAt = undefined
    refused = []
    host.changed?.('catalog')
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
    await Promise.all([supervisor.stop(), reader.close(), beyond.close()])
    withdraw()
    await Promise.all([host.memory.flush(), trust.close(), login.close()])
  }

  return {
    async start() {
      const { catalog: remembered, prompts } = spec.startup.mode === 'lazy' ? host.memory.read() : {}
      if (remembered !== undefined) {
        beyond.remembered({ ...remembered, prompts })
        return serveRemembered(remembered.items)
      }
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
        beyond: beyond.status(),
        tools: { ...publisher.report(), ...trust.status() },
      })
    },
    state: () => supervisor.snapshot().state.name,
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
