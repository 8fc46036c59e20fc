/**
 * Owns the reading of what a server lists: resources and templates, each item alone, and the pages that the model turns.
 * The server's own pages are read to their end, within the limits of the row.
 */
import { walkPages } from '../discovery/pages.ts'
import type { Walk } from '../discovery/pages.ts'
import { isMcpError } from '../errors.ts'
import type { McpError } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import { cleanLine } from '../text.ts'
import type { JsonObject, JsonValue, RequestOptions, ServerSpec, Session } from '../types.ts'

/** Items of one page for the model. */
export const PAGE_ITEMS = 50
/** Items of each kind that are kept of a server. */
const MAX_ITEMS = 10_000
const MAX_URI_CHARS = 2_048
const MAX_NAME_CHARS = 256
const MAX_ABOUT_CHARS = 400
const METHOD_NOT_FOUND = -32_601

export interface Listing {
  readonly resources: readonly JsonObject[]
  readonly templates: readonly JsonObject[]
  /** Why something may be missing, in words of ours and of the server; empty where nothing is. */
  readonly gaps: readonly string[]
}

/** What was read of one list. */
interface Part {
  readonly items: readonly unknown[]
  readonly gaps: readonly string[]
  readonly refusal?: McpError
}

type Limits = Pick<ServerSpec['limits'], 'pages' | 'messageBytes'>

/**
 * Read both lists. A list that the server refuses, or that is none, costs itself where the other one has items.
 * Rejects as the session does; a server without templates has none.
 */
export async function readListing(
  session: Session,
  limits: Limits,
  options: RequestOptions,
): Promise<Listing> {
  const pages = { pages: limits.pages, items: MAX_ITEMS, chars: limits.messageBytes }
  const read = (method: 'resources/list' | 'resources/templates/list', key: string): Promise<Part> =>
    walkPages(key, pages, (cursor) =>
      session.request(method, cursor === undefined ? {} : { cursor }, options),
    ).then((walk) => partOf(key, walk), refusedPart)
  const [resources, templates] = await Promise.all([
    read('resources/list', 'resources'),
    read('resources/templates/list', 'resourceTemplates'),
  ])
  const refusal = resources.refusal ?? templates.refusal
  if (refusal !== undefined && resources.items.length + templates.items.length === 0) throw refusal
  return {
    resources: resources.items.flatMap((item) => itemOf(item, 'uri')),
    templates: templates.items.flatMap((item) => itemOf(item, 'uriTemplate')),
    gaps: [
      ...resources.gaps.map((gap) => `resources may be missing: ${gap}`),
      ...templates.gaps.map((gap) => `templates may be missing: ${gap}`),
    ],
  }
}

function partOf(key: string, { items, fault, warnings }: Walk): Part {
  if (fault !== undefined) return { items: [], gaps: [fault] }
  // The cap on items is ours: the row has no key for it.
  return { items, gaps: warnings.map((warning) => warning.replace(` (limits.${key})`, '')) }
}

/** What the server itself said no to. Many servers have only one of the two lists. */
function refusedPart(error: unknown): Part {
  if (!isMcpError(error) || error.code !== 'MCP_REQUEST_REJECTED') throw error
  if (error.data['rpcCode'] === METHOD_NOT_FOUND) return { items: [], gaps: [] }
  return { items: [], gaps: [error.message], refusal: error }
}

/** One page of those that have all words of the query. An odd cursor is the first page. */
export function pageOf(
  { resources, templates }: Omit<Listing, 'gaps'>,
  { query, cursor }: { readonly query: string; readonly cursor: string },
): JsonObject {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const isWanted = (item: JsonObject): boolean => {
    const all = Object.values(item).join('\n').toLowerCase()
    return words.every((word) => all.includes(word))
  }
  // Templates first: there are few, and they are what a model would not guess.
  const found = [
    ...templates.filter(isWanted).map((item) => ({ kind: 'templates' as const, item })),
    ...resources.filter(isWanted).map((item) => ({ kind: 'resources' as const, item })),
  ]
  const start = /^\d{1,6}$/.test(cursor) ? Number(cursor) : 0
  const page = found.slice(start, start + PAGE_ITEMS)
  const of = (kind: 'templates' | 'resources'): JsonValue[] =>
    page.filter((entry) => entry.kind === kind).map(({ item }) => item)
  const next = start + page.length
  return {
    resources: of('resources'),
    templates: of('templates'),
    ...(next < found.length ? { nextCursor: String(next) } : {}),
  }
}

/** What a model may know of one item; nothing where it has no URI of a sane length. */
function itemOf(item: unknown, key: 'uri' | 'uriTemplate'): JsonObject[] {
  if (!isJsonObject(item)) return []
  const uri = item[key]
  if (typeof uri !== 'string' || uri === '' || uri.length > MAX_URI_CHARS) return []
  const { name, size } = item
  return [
    {
      // Byte for byte: it is sent back. The projection cleans what is shown.
      [key]: uri,
      name:
        typeof name === 'string' && name !== ''
          ? cleanLine(name, MAX_NAME_CHARS)
          : cleanLine(uri, MAX_NAME_CHARS),
      ...line(item, 'title', MAX_NAME_CHARS),
      ...line(item, 'description', MAX_ABOUT_CHARS),
      ...line(item, 'mimeType', MAX_NAME_CHARS),
      ...(typeof size === 'number' ? { size } : {}),
    },
  ]
}

function line(item: JsonObject, key: string, maxChars: number): JsonObject {
  const value = item[key]
  return typeof value === 'string' && value !== '' ? { [key]: cleanLine(value, maxChars) } : {}
}
