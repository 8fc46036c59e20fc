/**
 * MCP client of the DeepSeek Harness: one row in cordis.yml is one MCP server, whose tools become native tools of the
 * agent as `mcp__<serverName>__<tool>`. Owns the row's life in the host; what it runs is in bridge.ts.
 *
 * @module @deepseek-ai/dsh-mcp-client
 */
import type { Context } from '@deepseek-ai/cordis'
import { dshHomePath } from '@deepseek-ai/dsh-home-paths'
import { scopeOf } from '@deepseek-ai/dsh-scope'
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import { createBridge, openPins } from './bridge.ts'
import type { Bridge, Line } from './bridge.ts'
import { sharedSafe } from './bridge-safe.ts'
import type { CredentialService, Safe } from './bridge-safe.ts'
import { SYSTEM_CLOCK } from './clock.ts'
import { mountCompanions } from './companions.ts'
import type { Companions } from './companions.ts'
import { Config, resolveConfig } from './config.ts'
import { McpError } from './errors.ts'
import { reviewCalls } from './host-approvals.ts'
import { beyondHost } from './host-beyond.ts'
import { hostServices } from './host-services.ts'
import { hubOf } from './hub.ts'
import { limitLines } from './line-rate.ts'
import { openMemory } from './memory.ts'
import { reserveName } from './reservation.ts'
import { watchRow } from './row.ts'
import type { Row } from './row.ts'
import { allotmentOf } from './search/allotment.ts'
import type { Party } from './search/allotment.ts'
import { SERVERS } from './servers.ts'
import { safeLine } from './text.ts'
import type { ServerHandle, ServerSpec, ServerState } from './types.ts'
import { VERSION } from './version.ts'

export { Config }
export type { McpServers, RestartOptions, RestartOutcome } from './servers.ts'
export type {
  CallSettled,
  CallTotals,
  FlaggedTool,
  Quarantined,
  RewrittenTool,
  ServerState,
  ServerStatus,
  SessionFacts,
} from './types.ts'

/** Plugin name in the loader's diagnostics. */
export const name = 'mcp-client'
/** Services this plugin cannot do without. */
export const inject = ['tools']

/** What lives once beside all rows. */
const COMPANIONS: Companions = {
  first: [SERVERS],
  load: async () => (await import('./all-companions.ts')).LATER_COMPANIONS,
}

/** Longest line for the operator, in characters. */
const MAX_LINE_CHARS = 16_384
/** States that only a reload leaves. */
const UNHEALTHY: ReadonlySet<ServerState> = new Set(['failed', 'needs-auth', 'stopped'])

/**
 * Load one row: start its server and publish its tools. Returns when the first tool list is there, when startup.waitMs
 * is over, or when the row is edited or disposed, whichever comes first.
 *
 * Stays `async`: cordis takes a plain function for a constructor and would not wait for its promise.
 * @throws McpError MCP_CONFIG_INVALID, MCP_SERVER_NAME_TAKEN; with failOnStartupError what the first attempt failed of
 */
export async function apply(ctx: Context, config: Config): Promise<void> {
  const { spec, warnings } = resolveConfig(config)
  for (const warning of warnings) ctx.logger.warn(warning)
  const freeName = reserveName(ctx.root, spec.serverName)
  ctx.effect(() => freeName, 'mcp-client.serverName')
  const companions = mountCompanions(ctx.root, COMPANIONS)
  ctx.effect(() => companions.release, 'mcp-client.companions')

  let bridge: Bridge | undefined
  let leave: (() => void) | undefined
  const row = watchRow(ctx, {
    clock: SYSTEM_CLOCK,
    onDisposed() {
      // Name and tools are free at once: a mended row loads even while this server still closes.
      freeName()
      leave?.()
      bridge?.withdraw()
      void bridge?.dispose()
    },
    isHealthy: () => bridge !== undefined && !UNHEALTHY.has(bridge.state()),
  })
  const opened = await openServer(ctx, spec)
  bridge = opened.bridge
  if (ctx.fiber.uid === null) return
  reviewCalls(ctx, bridge.review)
  leave = enrol(ctx, opened)
  ctx.effect(() => leave as () => void, 'mcp-client.hub')
  ctx.effect(() => () => bridge.dispose(), 'mcp-client.connection')
  const started = waitFor(bridge, spec, row)
  // After the start: the process of the server comes up while they are loaded.
  const [outcome] = await Promise.all([started, companions.complete()])
  row.settle()
  if (outcome.kind === 'up') return
  const { failure } = outcome
  if (spec.failOnStartupError && !row.isEdited()) {
    const words = `mcp-client(${spec.serverName}): initial connection or tool synchronization failed`
    // The reason stands in the message, too: not every host prints causes.
    throw new McpError(`${words}: ${failure.message}`, {
      code: failure.code,
      server: spec.serverName,
      stage: failure.stage,
      cause: failure,
    })
  }
  if (outcome.kind === 'late') {
    ctx.logger.warn(
      `mcp-client(${spec.serverName}): ${failure.message}; it goes on connecting in the background`,
    )
  }
}

/** One server of a row, before it starts. */
interface OpenedServer {
  readonly bridge: Bridge
  readonly handle: ServerHandle
  readonly party: Party
}

/** Let what looks at all servers know of this one. Returns how it leaves; that may be done more than once. */
function enrol(ctx: Context, { handle, party }: OpenedServer): () => void {
  const endParty = allotmentOf(ctx.root).enrol(party)
  const endHandle = hubOf(ctx.root).enrol(handle)
  return () => {
    endHandle()
    endParty()
  }
}

async function openServer(ctx: Context, spec: ServerSpec): Promise<OpenedServer> {
  const { logger } = ctx
  const hub = hubOf(ctx.root)
  // What made a line has redacted and cleaned it; once more here, where all of them leave.
  const say = limitLines(SYSTEM_CLOCK, ({ level, text }: Line): void =>
    logger[level](`mcp-client(${spec.serverName}): ${safeLine(text, spec.redact, MAX_LINE_CHARS)}`),
  )
  // Held in a variable: each read of a service through ctx costs a proxy and a stack capture.
  const { tools } = ctx
  const register = (definition: ToolDefinition): (() => void) => tools.register(definition)
  const files = {
    folder: dshHomePath('mcp-client'),
    note: (text: string): void => say({ level: 'warn', text }),
  }
  // Before the wait: the row may have ended after it, and takes nothing up then.
  const beyond = beyondHost(ctx)
  const [memory, pins] = await Promise.all([openMemory(spec, files), openPins(spec, files)])
  const bridge = createBridge(spec, {
    register,
    services: hostServices(ctx, (level, text) => say({ level, text })),
    memory,
    pins,
    beyond,
    login: { folder: files.folder, safe: safeFor(ctx, spec, files) },
    clock: SYSTEM_CLOCK,
    version: VERSION,
    say,
    changed: (change) => hub.changed(handle, change),
    settled: (call) => hub.settled(call),
    observer: () => hub.observer(),
    allot: (bytes) => allotmentOf(ctx.root).measure(spec.serverName, bytes),
  })
  const handle: ServerHandle = {
    serverName: spec.serverName,
    tools: spec.tools,
    scope: scopeOf(ctx),
    status: () => bridge.status(),
    state: () => bridge.state(),
    restart: () => bridge.restart(),
    approve: (tool) => bridge.approve(tool ?? '*'),
    pins: () => bridge.pins(),
    offered: () => bridge.offered(),
    find: (publicName) => bridge.find(publicName),
    lend: (publicName) => bridge.lend(publicName),
    register,
  }
  const party: Party = {
    serverName: spec.serverName,
    tools: spec.tools,
    remembered: memory.read().bytes,
    expose: (exposure) => bridge.expose(exposure),
    say: (text) => say({ level: 'info', text }),
  }
  return { bridge, handle, party }
}

/** The host's own store of credentials where one is mounted; looked for each time, since it may come later. */
function safeFor(
  ctx: Context,
  spec: ServerSpec,
  files: { readonly folder: string; note(text: string): void },
): Safe {
  const service = (): CredentialService | undefined => ctx.get('credentials') as CredentialService | undefined
  return sharedSafe(spec, { ...files, clock: SYSTEM_CLOCK, service, prefersService: true })
}

type Outcome =
  /** Connected, or the row is ending and nobody asks any more. */
  | { readonly kind: 'up' }
  | { readonly kind: 'failed'; readonly failure: McpError }
  /** startup.waitMs is over and the first attempt is still under way. */
  | { readonly kind: 'late'; readonly failure: McpError }

async function waitFor(bridge: Bridge, spec: ServerSpec, row: Row): Promise<Outcome> {
  const late = Promise.withResolvers<Outcome>()
  const cancel = SYSTEM_CLOCK.after(spec.startup.waitMs, () =>
    late.resolve({ kind: 'late', failure: tooLate(spec) }),
  )
  const first = bridge
    .start()
    .then((failure): Outcome => (failure === undefined ? { kind: 'up' } : { kind: 'failed', failure }))
  const outcome = await Promise.race([first, late.promise, row.ended.then((): Outcome => ({ kind: 'up' }))])
  cancel()
  return outcome
}

function tooLate(spec: ServerSpec): McpError {
  return new McpError(`not connected within ${spec.startup.waitMs} ms (startup.waitMs)`, {
    code: 'MCP_CONNECT_TIMEOUT',
    server: spec.serverName,
    stage: 'connect',
  })
}
