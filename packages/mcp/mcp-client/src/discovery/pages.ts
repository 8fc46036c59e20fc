/**
 * Owns the walk over the pages of a list: bounded in pages and items, safe against repeats; time is bounded by the
 * caller's signal. It knows nothing of what the items are.
 */
import type { JsonObject } from '../types.ts'

export interface PageLimits {
  readonly pages: number
  readonly items: number
}

export interface Walk {
  readonly items: readonly unknown[]
  /** Why the walk ended early, for the operator. */
  readonly warnings: readonly string[]
}

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
  for (let page = 1; page <= limits.pages; page++) {
    const result = await fetchPage(cursor)
    const found = result[key]
    if (!Array.isArray(found)) return { items, warnings: [`page ${page} has no ${key} array`] }
    for (const item of found) {
      if (items.length === limits.items) {
        return { items, warnings: [`the list was cut at ${limits.items} ${key} (limits.${key})`] }
      }
      items.push(item)
    }
    const end = endOf(result['nextCursor'], page, cursors)
    if (end.over) return { items, warnings: end.warnings }
    cursor = end.cursor
    cursors.add(cursor)
  }
  return { items, warnings: [`the list was cut after ${limits.pages} pages (limits.pages)`] }
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
