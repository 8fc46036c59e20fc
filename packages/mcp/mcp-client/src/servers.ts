/**
 * Owns `ctx.mcpServers`: what plugins and panels may see of all MCP servers of an app, and the events that tell them
 * when to look again. Snapshots and one verb, never a client.
 */
import type { Context } from '@deepseek-ai/cordis'
import { SYSTEM_CLOCK } from './clock.ts'
import type { Clock } from './clock.ts'
import { hubOf } from './hub.ts'
import type { Hub } from './hub.ts'
import { residentBytes } from './status-memory.ts'
import type { CallSettled, ServerHandle, ServerState, ServerStatus } from './types.ts'

/** How long `restart` waits for the new attempt, in milliseconds. */
export const RESTART_WAIT_MS = 30_000
/** States in which an attempt has settled; `idle` waits for its first call. */
const SETTLED: ReadonlySet<ServerState> = new Set([
  'idle',
  'ready',
  'backoff',
  'needs-auth',
  'failed',
  'stopped',
])

export interface RestartOptions {
  /** Gives up the waiting, not the restart. */
  readonly signal?: AbortSignal
  /** Default: 30 s. */
  readonly waitMs?: number
}

export type RestartOutcome =
  /** The new attempt settled; its state says how. */
  | { readonly kind: 'settled'; readonly status: ServerStatus }
  /** It has not settled yet and goes on. */
  | { readonly kind: 'pending'; readonly status: ServerStatus }
  /** No row has a server of this name, or its row ended meanwhile. */
  | { readonly kind: 'unknown'; readonly known: readonly string[] }

/** The service. Every value is a frozen snapshot: redacted, clean, and never changed afterwards. */
export interface McpServers {
  /** All servers, by name. */
  list(): readonly ServerStatus[]
  get(serverName: string): ServerStatus | undefined
  /** Close the connection and connect again with a fresh budget of attempts. Never rejects. */
  restart(serverName: string, options?: RestartOptions): Promise<RestartOutcome>
}

declare module '@deepseek-ai/cordis' {
  interface Context {
    /** Status of all MCP servers; mounted while at least one row of the MCP client is. */
    mcpServers: McpServers
  }
  interface Events {
    /**
     * The state of a server changed, or its row came.
     * @mode emit
     */
    'mcp/status'(status: ServerStatus): void
    /**
     * A row with its server is gone.
     * @mode emit
     */
    'mcp/left'(serverName: string): void
    /**
     * The tools of a server changed.
     * @mode emit
     */
    'mcp/catalog-changed'(status: ServerStatus): void
    /**
     * A call of an MCP tool ended.
     * @mode emit
     */
    'mcp/call-settled'(call: CallSettled): void
  }
}

/** The companion that provides the service. */
export const SERVERS = {
  name: 'mcp-client-servers',
  async apply(ctx: Context): Promise<void> {
    const hub = hubOf(ctx.root)
    const tell = createTeller(ctx)
    ctx.effect(
      () =>
        hub.watch((server, change) => {
          if (change === 'left') return tell('mcp/left', () => server.serverName)
          tell(change === 'catalog' ? 'mcp/catalog-changed' : 'mcp/status', () => snapshotOf(server))
        }),
      'mcp-client.servers.watch',
    )
    ctx.effect(
      () => hub.watchCalls((call) => tell('mcp/call-settled', () => frozen(call))),
      'mcp-client.servers.calls',
    )
    ctx.provide('mcpServers', createServers(hub, SYSTEM_CLOCK))
  },
} as const

export function createServers(hub: Hub, clock: Clock): McpServers {
  return Object.freeze({
    list: () => Object.freeze(hub.servers().map(snapshotOf)),
    get(serverName: string) {
      const server = hub.get(serverName)
      return server === undefined ? undefined : snapshotOf(server)
    },
    async restart(serverName: string, { signal, waitMs = RESTART_WAIT_MS }: RestartOptions = {}) {
      const server = hub.get(serverName)
      if (server !== undefined) {
        server.restart()
        await attemptSettled(server, { hub, clock, signal, waitMs })
      }
      const now = hub.get(serverName)
      if (now === undefined) return frozen({ kind: 'unknown' as const, known: hub.servers().map(nameOf) })
      const status = snapshotOf(now)
      return Object.freeze({
        kind: SETTLED.has(status.state) ? ('settled' as const) : ('pending' as const),
        status,
      })
    },
  })
}

const nameOf = ({ serverName }: ServerHandle): string => serverName

interface Waiting {
  readonly hub: Hub
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  readonly waitMs: number
}

/** Waits until the attempt settled, its server left, the time is over or the caller gave up. */
async function attemptSettled(server: ServerHandle, { hub, clock, signal, waitMs }: Waiting): Promise<void> {
  const done = Promise.withResolvers<void>()
  const look = (): void => {
    if (hub.get(server.serverName) !== server || SETTLED.has(server.state())) done.resolve()
  }
  const giveUp = (): void => done.resolve()
  const unwatch = hub.watch(look)
  const cancel = clock.after(waitMs, giveUp)
  signal?.addEventListener('abort', giveUp, { once: true })
  if (signal?.aborted === true) giveUp()
  look()
  await done.promise
  signal?.removeEventListener('abort', giveUp)
  cancel()
  unwatch()
}

/** What a handle says now, with the memory of its process. */
export function snapshotOf(server: ServerHandle): ServerStatus {
  const status = server.status()
  const rssBytes = status.pid === undefined ? undefined : residentBytes(status.pid)
  const { offered, ...tools } = status.tools
  return Object.freeze({
    ...frozen({ ...status, tools: undefined, ...(rssBytes === undefined ? {} : { rssBytes }) }),
    tools: Object.freeze({ ...frozen(tools), offered: frozenOnce(offered) }),
  })
}

const copies = new WeakMap<object, unknown>()

/** For what stays the same object while nothing changes: thousands of tools are copied once. */
function frozenOnce<T extends object>(value: T): T {
  const copy = copies.get(value) ?? frozen(value)
  copies.set(value, copy)
  return copy as T
}

/** A copy in depth that nobody can change. Status is plain data without circles. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  const copy: unknown = Array.isArray(value)
    ? value.map(frozen)
    : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, frozen(member)]))
  return Object.freeze(copy) as T
}

type Told = 'mcp/status' | 'mcp/left' | 'mcp/catalog-changed' | 'mcp/call-settled'

/** What the events of a host have inside: not promised, so it may be missing. */
interface Listened {
  readonly _hooks?: Readonly<Record<string, readonly unknown[] | undefined>>
}

/**
 * Tells events in order, a turn after they happened: no listener runs inside a change of state. One that throws costs
 * nobody else his event. What is told is made at once, and only where somebody listens: thousands of tools are not
 * copied for nobody.
 */
function createTeller(ctx: Context): (name: Told, payloadOf: () => unknown) => void {
  // Read once: each look at a service of a context goes through the proxies of the host.
  const { _hooks: hooks } = ctx.events as Listened
  return (name, payloadOf) => {
    // A host that keeps its listeners elsewhere counts as one in which somebody listens.
    if (hooks !== undefined && (hooks[name]?.length ?? 0) === 0) return
    const payload = payloadOf()
    queueMicrotask(() => {
      if (ctx.fiber.uid === null) return
      for (const listener of ctx.events.dispatch('emit', [name, payload])) {
        try {
          const returned: unknown = listener(payload)
          if (returned instanceof Promise) returned.catch((error: unknown) => complain(ctx, name, error))
        } catch (error) {
          complain(ctx, name, error)
        }
      }
    })
  }
}

function complain(ctx: Context, name: Told, error: unknown): void {
  ctx.logger.warn(`a listener of ${name} failed: ${error instanceof Error ? error.message : String(error)}`)
}
