/**
 * Owns the walk over the pages of a list: bounded in pages, items and size, safe against repeats; time is bounded by the
 * caller's signal. It knows nothing of what the items are.
 */
import type { JsonObject } from '../types.ts'

export interface PageLimits {
  readonly pages: number
  readonly items: number
  /** Rough size of all items together, in characters. */
  readonly chars: number
}

export interface Walk {
  readonly items: readonly unknown[]
  /** Why the walk ended early, for the operator. */
  readonly warnings: readonly string[]
  /** Why this is no list at all: nothing of it may be used. */
  readonly fault?: string
  /** How long the list stays fresh by the server's word, in milliseconds: the shortest of the pages; 0 is unknown. */
  readonly freshMs: number
}

/** No list is taken for fresh longer, in milliseconds. */
export const MAX_FRESH_MS = 24 * 60 * 60 * 1_000

/**
 * Read pages until the list ends or a cap is hit; what was found is kept either way.
 * @param key member of a page that holds the items, such as `tools`
 * @param fetchPage reads one page; its rejection is passed on
 */
export async function walkPages(
  key: string,
  limits: PageLimits,
  fetchPage: (cursor: string | undefined) => Promise<JsonObject>,
): Promise<Walk> {
  const items: unknown[] = []
  const cursors = new Set<string>()
  let cursor: string | undefined
  let chars = 0
  let freshMs = MAX_FRESH_MS
  const ended = (...warnings: readonly string[]): Walk => ({ items, warnings, freshMs })
  for (let page = 1; page <= limits.pages; page++) {
    const result = await fetchPage(cursor)
    freshMs = Math.min(freshMs, freshnessOf(result['ttlMs']))
    const found = result[key]
    if (!Array.isArray(found)) return { ...ended(), fault: `page ${page} has no ${key} array` }
    for (const item of found) {
      if (items.length === limits.items) {
        return ended(`the list was cut at ${limits.items} ${key} (limits.${key})`)
      }
      chars += weigh(item, limits.chars)
      if (chars > limits.chars)
        return ended(`the list was cut at ${limits.chars} bytes (limits.messageBytes)`)
      items.push(item)
    }
    const end = endOf(result['nextCursor'], page, cursors)
    if (end.over) return ended(...end.warnings)
    cursor = end.cursor
    cursors.add(cursor)
  }
  return ended(`the list was cut after ${limits.pages} pages (limits.pages)`)
}

/** Milliseconds within bounds; what is no duration is unknown. */
function freshnessOf(ttlMs: unknown): number {
  return typeof ttlMs === 'number' && ttlMs > 0 ? Math.min(ttlMs, MAX_FRESH_MS) : 0
}

/** Rough size of a JSON value in characters, counted up to `enough`. Iterative: a server chooses the nesting. */
function weigh(root: unknown, enough: number): number {
  let chars = 0
  const pending: unknown[] = [root]
  while (pending.length > 0 && chars <= enough) {
    const value = pending.pop()
    chars += typeof value === 'string' ? value.length : 4
    if (typeof value !== 'object' || value === null) continue
    for (const key of Object.keys(value)) {
      const member = (value as Record<string, unknown>)[key]
      chars += key.length
      // Most members are texts, which need no place in the line.
      if (typeof member === 'string') chars += member.length
      else pending.push(member)
    }
  }
  return chars
}

type End =
  | { readonly over: true; readonly warnings: readonly string[] }
  | { readonly over: false; readonly cursor: string }

function endOf(next: unknown, page: number, cursors: ReadonlySet<string>): End {
  if (next === undefined || next === null) return { over: true, warnings: [] }
  if (typeof next !== 'string')
    return { over: true, warnings: [`page ${page} has a nextCursor that is no string`] }
  if (cursors.has(next))
    return { over: true, warnings: [`page ${page} repeats a cursor: the list ends there`] }
  return { over: false, cursor: next }
}
