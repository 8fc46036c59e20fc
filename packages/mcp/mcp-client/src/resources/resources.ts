/**
 * Owns the resources of one server as the agent uses them: what the two tools do, and what is watched over all sessions
 * of the row.
 */
import { nearest } from '../distance.ts'
import { McpError, isMcpError } from '../errors.ts'
import { publicToolName } from '../naming.ts'
import { cleanLine, safeLine } from '../text.ts'
import type { CallOptions, CatalogEntry, JsonObject, ServerSpec, Session } from '../types.ts'
import { toCallResult } from './contents.ts'
import { LIST, READ, resourceEntries } from './entries.ts'
import type { Offer } from './entries.ts'
import { pageOf, readListing } from './listing.ts'
import type { Listing } from './listing.ts'
import { MAX_WATCHED, Watches } from './watches.ts'

const MAX_URI_CHARS = 2_048
const MAX_GAP_CHARS = 300
/** Resource not found: of the legacy revisions, and the general one that took its place. */
const NOT_FOUND = -32_002
const INVALID_PARAMS = -32_602

export interface Resources {
  /** The tools of ours for a server that offers this much; none where it has no resources. */
  entries(offer: Offer | undefined): readonly CatalogEntry[]
  /** A session stands: what is watched is watched there too, and may have changed meanwhile. */
  opened(session: Session): void
  updated(uri: string): void
  /** What the agent is to know of changed resources at its next step; empty where nothing is. */
  newsFor(agent: object | undefined): string
  /** The public name of the tool that reads. */
  readonly readerName: string
}

export function createResources(spec: Pick<ServerSpec, 'serverName' | 'limits' | 'redact'>): Resources {
  const { serverName, limits } = spec
  const readerName = publicToolName(serverName, READ)
  const watches = new Watches()
  /** Of the session that was listed last: the next pages, and near misses. */
  const listings = new WeakMap<Session, Listing>()

  async function list(session: Session, args: JsonObject, options: CallOptions): Promise<JsonObject> {
    const [query, cursor] = [stringOf(args['query']), stringOf(args['cursor'])]
    const known = cursor === '' ? undefined : listings.get(session)
    const listing = known ?? (await readListing(session, limits, options))
    listings.set(session, listing)
    const content = listing.gaps.map((gap) => ({
      type: 'text',
      text: `[${safeLine(gap, spec.redact, MAX_GAP_CHARS)}]`,
    }))
    return { content, structuredContent: pageOf(listing, { query, cursor }) }
  }

  async function read(session: Session, args: JsonObject, options: CallOptions): Promise<JsonObject> {
    const uri = stringOf(args['uri'])
    if (uri.length > MAX_URI_CHARS) throw refused(`The URI is longer than ${MAX_URI_CHARS} characters`)
    const isListed = listings.get(session)?.resources.some((item) => item['uri'] === uri) === true
    if (!isListed && /\{[^{}]*\}/.test(uri)) {
      throw refused(
        `${quoted(uri)} is a template: put values in the place of the {parameters}. Nothing was sent`,
      )
    }
    const agent = options.caller?.agent
    // Before the read: a change between the two would be lost, and one in the middle of the read is news.
    const watch = await watching(session, uri, args['watch'], agent)
    const hadNews = agent !== undefined && watches.read(uri, agent)
    try {
      return toCallResult(await session.request('resources/read', { uri }, options), watch.notes)
    } catch (error) {
      if (hadNews) watches.updated(uri, agent)
      if (watch.isNew) void unwatch(session, uri, agent as object)
      throw isNotFound(error) ? notFound(uri, listings.get(session), error) : error
    }
  }

  interface Watching {
    /** What the agent should know. */
    readonly notes: readonly string[]
    /** It began with this read. */
    readonly isNew: boolean
  }

  /** Begins or ends watching, as the agent said. */
  async function watching(
    session: Session,
    uri: string,
    wish: unknown,
    agent: object | undefined,
  ): Promise<Watching> {
    const saying = (...notes: readonly string[]): Watching => ({ notes, isNew: false })
    if (agent === undefined) return wish === true ? saying('[not watched: nobody could be told]') : saying()
    if (wish === false) await unwatch(session, uri, agent)
    if (wish !== true) return saying()
    const added = watches.add(uri, agent)
    if (added === 'full')
      return saying(`[not watched: ${MAX_WATCHED} resources of this server are watched already]`)
    if (await session.watchResources(watches.uris()))
      return { notes: ['[watched: you are told when it changes]'], isNew: added === 'added' }
    watches.delete(uri, agent)
    return saying('[the server did not agree to tell when it changes]')
  }

  async function unwatch(session: Session, uri: string, agent: object): Promise<void> {
    if (watches.delete(uri, agent)) await session.watchResources(watches.uris())
  }

  function notFound(uri: string, listing: Listing | undefined, cause: unknown): McpError {
    const known = (listing?.resources ?? []).map((item) => String(item['uri']))
    const near = nearest(uri, known)
    const meant = near === undefined ? '' : ` Did you mean ${quoted(near)}?`
    return refused(
      `MCP server "${serverName}" has no resource ${quoted(uri)}.${meant} ` +
        `${publicToolName(serverName, LIST)} shows what there is`,
      cause,
    )
  }

  function refused(words: string, cause?: unknown): McpError {
    return new McpError(spec.redact(words), {
      code: 'MCP_REQUEST_REJECTED',
      server: serverName,
      stage: 'execution',
      cause,
    })
  }

  return {
    readerName,
    entries: (offer) => (offer === undefined ? [] : resourceEntries(serverName, offer, { list, read })),
    opened(session) {
      const uris = watches.uris()
      if (uris.length === 0) return
      for (const uri of uris) watches.updated(uri)
      void session.watchResources(uris)
    },
    updated: (uri) => watches.updated(uri),
    newsFor(agent) {
      const uris = watches.newsFor(agent)
      if (uris.length === 0) return ''
      return [
        `Resources of the MCP server "${serverName}" that changed since you read them (${readerName} shows them as they are now):`,
        ...uris.map((uri) => `- ${spec.redact(uri)}`),
      ].join('\n')
    },
  }
}

function isNotFound(error: unknown): boolean {
  /* v8 ignore next -- a session rejects with nothing else */
  if (!isMcpError(error)) return false
  const { rpcCode } = error.data
  return (
    rpcCode === NOT_FOUND || (rpcCode === INVALID_PARAMS && /not found|unknown|no such/i.test(error.message))
  )
}

function quoted(uri: string): string {
  return JSON.stringify(cleanLine(uri, 300))
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
