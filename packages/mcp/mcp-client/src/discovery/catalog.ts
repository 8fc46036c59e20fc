/** Owns the making of a catalog from listed items: duplicates, order, quarantine. Pure. */
import { McpError } from '../errors.ts'
import { cleanLine } from '../text.ts'
import type { Catalog, CatalogEntry, JsonObject, Quarantined, ServerSpec } from '../types.ts'
import type { Walk } from './pages.ts'
import { parseTool } from './parse.ts'

export const EMPTY_CATALOG: Catalog = Object.freeze({ entries: [], quarantined: [], warnings: [] })

/**
 * Make the catalog of one server.
 * @throws McpError MCP_LIST_INVALID when a raw name is listed twice and the row does not say `keep-first`
 */
export function createCatalog(spec: Pick<ServerSpec, 'serverName' | 'tools'>, walk: Walk): Catalog {
  const entries = new Map<string, CatalogEntry>()
  const quarantined: Quarantined[] = []
  for (const [position, item] of walk.items.entries()) {
    const parsed = parseTool(spec.serverName, item, position)
    if (!parsed.ok) {
      quarantined.push(parsed.quarantined)
      continue
    }
    const { rawName } = parsed.entry
    if (!entries.has(rawName)) entries.set(rawName, parsed.entry)
    else if (spec.tools.duplicates === 'reject') throw duplicate(spec.serverName, rawName)
    else
      quarantined.push({
        name: cleanLine(rawName, 80),
        reason: 'listed more than once; the first entry is kept',
      })
  }
  return Object.freeze({
    // By raw name and not by list order: a server that shuffles its list must not change the request.
    entries: Object.freeze([...entries.values()].toSorted(byRawName)),
    quarantined: Object.freeze(quarantined),
    warnings: Object.freeze([...walk.warnings]),
  })
}

/** An entry as a server would list it; `createCatalog` reads it back. */
export function itemOf(entry: CatalogEntry): JsonObject {
  return {
    name: entry.rawName,
    ...(entry.title === undefined ? {} : { title: entry.title }),
    description: entry.description,
    inputSchema: entry.inputSchema,
    ...(entry.outputSchema === undefined ? {} : { outputSchema: entry.outputSchema }),
    annotations: { ...entry.annotations },
    ...(entry.taskRequired ? { execution: { taskSupport: 'required' } } : {}),
  }
}

function byRawName(a: CatalogEntry, b: CatalogEntry): number {
  return a.rawName < b.rawName ? -1 : 1
}

function duplicate(server: string, rawName: string): McpError {
  return new McpError(
    `server listed tool "${cleanLine(rawName, 80)}" more than once — invalid tool list; ` +
      'set tools.duplicates: keep-first to use the first entry',
    { code: 'MCP_LIST_INVALID', server, stage: 'discovery', data: { tool: rawName } },
  )
}
