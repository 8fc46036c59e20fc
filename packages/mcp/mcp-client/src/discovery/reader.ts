/**
 * Owns the reading of one server's list over its sessions: the first read of each session, re-reads after changes, and
 * what becomes of a list that is bad. The last good catalog stays until a better one is there.
 */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import { McpError, isMcpError } from '../errors.ts'
import { fromForeign } from '../foreign.ts'
import type { Catalog, ServerSpec, Session } from '../types.ts'
import { EMPTY_CATALOG, catalogMaker } from './catalog.ts'
import { withoutBadHeaders } from './headers.ts'
import { walkPages } from './pages.ts'
import type { Walk } from './pages.ts'
import type { Selection } from './selection.ts'
import { createRefresher } from './sync.ts'
import type { Refresher } from './sync.ts'

/** From this many tools on, a list is long. */
const LONG_LIST = 1_000

export interface ReaderOptions {
  readonly spec: ServerSpec
  readonly clock: Clock
  /** Default: every tool is taken. */
  readonly selection?: Selection
  /** The session that takes calls; a list of any other is thrown away. */
  readonly current: () => Session | undefined
  /** Take a catalog over. Throws McpError MCP_NAME_CONFLICT. */
  readonly adopt: (catalog: Catalog) => void
  readonly say: (line: { readonly level: 'debug' | 'info' | 'error'; readonly text: string }) => void
}

export interface Reader {
  /**
   * First read of a session. Rejects when the connection is of no use; resolves to the problem when only the list is
   * bad: nothing is started again for that.
   */
  first(session: Session, signal: AbortSignal): Promise<McpError | undefined>
  /** The list may have changed. Many asks become few reads. */
  request(): void
  /** The list is about to be used: one that has outlived what its server said is read again in the background. */
  touch(): void
  /** The session of the first read takes calls now: a change seen meanwhile is read. */
  ready(): void
  /** Why the last list was not taken over, if it was not. */
  problem(): McpError | undefined
  close(): Promise<void>
}

/** A list is not read more often for its age alone than this, in milliseconds. */
export const MIN_FRESH_MS = 1_000

export function createReader(options: ReaderOptions): Reader {
  const { spec, clock } = options
  const way: Way = { spec, catalogOf: catalogMaker(spec, options.selection) }
  let refresher: Refresher | undefined
  let isStale = false
  let isClosed = false
  let problem: McpError | undefined
  /** How long the last list stays fresh, and when that ends by our clock; 0 and never where nothing is known. */
  let freshMs = 0
  let expiresAt = Number.POSITIVE_INFINITY
  /** Why the next read comes. */
  let cause: 'change' | 'age' = 'age'

  async function first(session: Session, signal: AbortSignal): Promise<McpError | undefined> {
    await refresher?.close()
    refresher = isClosed ? undefined : createRefresher(clock, () => again(session))
    isStale = false
    cause = 'age'
    try {
      const found = await discover(way, session, signal)
      // The connection may have ended while the last page was under way: nothing of it is published any more.
      signal.throwIfAborted()
      take(found)
    } catch (error) {
      const failure = refuse(error)
      if (failure.code !== 'MCP_LIST_INVALID' && failure.code !== 'MCP_NAME_CONFLICT') throw failure
      options.say({ level: 'error', text: failure.message })
      return failure
    }
    return undefined
  }

  async function again(session: Session): Promise<void> {
    if (options.current() !== session) return
    if (cause === 'change') options.say({ level: 'info', text: 'tool list changed, re-syncing' })
    else options.say({ level: 'debug', text: `the tool list is older than ${freshMs} ms, re-syncing` })
    cause = 'age'
    const limit = new AbortController()
    const cancel = clock.after(spec.startup.timeoutMs, () => limit.abort(timedOut(spec)))
    try {
      const found = await discover(way, session, limit.signal)
      if (options.current() === session) take(found)
    } catch (error) {
      const failure = refuse(error)
      if (!isClosed) options.say({ level: 'error', text: `tool re-sync failed: ${failure.message}` })
    } finally {
      cancel()
    }
  }

  function take(found: Found): void {
    options.adopt(found.catalog)
    problem = undefined
    freshMs = found.freshMs
    renew()
  }

  /** From now on, as long as the list at hand was said to be fresh. */
  function renew(): void {
    expiresAt = freshMs === 0 ? Number.POSITIVE_INFINITY : clock.now() + Math.max(freshMs, MIN_FRESH_MS)
  }

  function refuse(error: unknown): McpError {
    problem = fromForeign(error, { server: spec.serverName, stage: 'discovery', redact: spec.redact })
    return problem
  }

  return {
    first,
    request() {
      cause = 'change'
      if (options.current() === undefined) isStale = true
      else refresher?.request()
    },
    touch() {
      const session = options.current()
      if (session === undefined || clock.now() < expiresAt || session.hearsChanges()) return
      // A read that fails is tried again after as long as the list was good for, not by every call.
      renew()
      refresher?.request()
    },
    ready() {
      if (isStale) refresher?.request()
      isStale = false
    },
    problem: () => problem,
    async close() {
      isClosed = true
      await refresher?.close()
    },
  }
}

interface Found {
  readonly catalog: Catalog
  /** How long it stays fresh, in milliseconds; 0 is unknown. */
  readonly freshMs: number
}

const NOTHING: Found = { catalog: EMPTY_CATALOG, freshMs: 0 }

/** From a session to a catalog. */
interface Way {
  readonly spec: ServerSpec
  readonly catalogOf: (walk: Walk) => Catalog
}

async function discover({ spec, catalogOf }: Way, session: Session, signal: AbortSignal): Promise<Found> {
  const { tools, pages, messageBytes } = spec.limits
  // A server without tools need not know the method; one that announced them has failed.
  const isUnannounced = session.facts.capabilities['tools'] === undefined
  try {
    const walk = await walkPages('tools', { pages, items: tools, chars: messageBytes }, (cursor) =>
      session.listTools(cursor, signal),
    )
    if (walk.fault !== undefined) {
      if (isUnannounced && walk.items.length === 0) return NOTHING
      throw invalid(spec, walk.fault)
    }
    // The legacy era has no such word: a member of that name there is something else.
    const freshMs = session.facts.era === 'modern' ? walk.freshMs : 0
    const catalog = catalogOf(walk)
    // Reading and registering a very long list would together hold the event loop too long: registering waits a turn.
    if (catalog.entries.length > LONG_LIST) await setImmediate()
    return { catalog: mirrorsHeaders(spec, session) ? withoutBadHeaders(catalog) : catalog, freshMs }
  } catch (error) {
    if (isUnannounced && isMcpError(error) && error.code === 'MCP_REQUEST_REJECTED') return NOTHING
    throw error
  }
}

/** Whether arguments go into HTTP headers too, where a tool asks for it. */
function mirrorsHeaders(spec: ServerSpec, session: Session): boolean {
  return spec.target.kind === 'http' && session.facts.era === 'modern'
}

function invalid(spec: ServerSpec, fault: string): McpError {
  return new McpError(`invalid tool list: ${fault}`, {
    code: 'MCP_LIST_INVALID',
    server: spec.serverName,
    stage: 'discovery',
  })
}

function timedOut(spec: ServerSpec): McpError {
  return new McpError(`no tool list within ${spec.startup.timeoutMs} ms (startup.timeoutMs)`, {
    code: 'MCP_LIST_FAILED',
    server: spec.serverName,
    stage: 'discovery',
  })
}
