/** Owns the making of a catalog from listed items: selection, duplicates, order, quarantine. No I/O. */
import { McpError } from '../errors.ts'
import { isSameJson } from '../json.ts'
import { cleanLine } from '../text.ts'
import type { Catalog, CatalogEntry, DeniedTool, JsonObject, Quarantined, ServerSpec } from '../types.ts'
import type { Walk } from './pages.ts'
import { parseTool } from './parse.ts'
import type { Selection } from './selection.ts'

export const EMPTY_CATALOG: Catalog = Object.freeze({
  entries: [],
  denied: [],
  quarantined: [],
  warnings: [],
})

type Listed = Pick<Walk, 'items' | 'warnings'>

/** A list with more broken tools than this is a broken list: the rest is counted. */
const MAX_TOLD = 10

/**
 * Make the catalog of one server. What the row does not take is set apart first: it spoils nothing for the rest.
 * @param selection default: every tool is taken
 * @throws McpError MCP_LIST_INVALID when a raw name is listed twice and the row does not say `keep-first`
 */
export function createCatalog(
  spec: { readonly serverName: string; readonly tools: Pick<ServerSpec['tools'], 'duplicates'> },
  walk: Listed,
  selection?: Selection,
): Catalog {
  const found = new Map<string, CatalogEntry>()
  const denied = new Map<string, DeniedTool>()
  const quarantined: Quarantined[] = []
  for (const [position, item] of walk.items.entries()) {
    const parsed = parseTool(spec.serverName, item, position)
    if (!parsed.ok) {
      quarantined.push(parsed.quarantined)
      continue
    }
    const { rawName, publicName } = parsed.entry
    const rule = selection?.ruleAgainst(rawName)
    if (rule !== undefined) denied.set(rawName, { rawName, publicName, rule })
    else if (!found.has(rawName)) found.set(rawName, parsed.entry)
    else if (spec.tools.duplicates === 'reject') throw duplicate(spec.serverName, rawName)
    else
      quarantined.push({
        name: cleanLine(rawName, 80),
        reason: 'listed more than once; the first entry is kept',
      })
  }
  // By raw name and not by list order: a server that shuffles its list must not change the request.
  const entries = unshared([...found.values()].toSorted(byRawName), quarantined)
  return Object.freeze({
    entries: Object.freeze(entries),
    denied: Object.freeze([...denied.values()].toSorted(byRawName)),
    quarantined: Object.freeze(quarantined),
    warnings: Object.freeze([
      ...walk.warnings,
      ...(selection?.unused([...found.keys(), ...denied.keys()]) ?? []),
    ]),
  })
}

/**
 * Makes the catalogs of one server, as {@link createCatalog} does. A list that says what the last one said has the very
 * same catalog: most re-reads find nothing new, and putting every definition into canonical order is what a list costs.
 */
export function catalogMaker(
  spec: Parameters<typeof createCatalog>[0],
  selection?: Selection,
): (walk: Listed) => Catalog {
  let last: { readonly walk: Listed; readonly catalog: Catalog } | undefined
  return ({ items, warnings }) => {
    if (last !== undefined && isSameJson(last.walk, { items, warnings })) return last.catalog
    const walk = { items, warnings }
    last = { walk, catalog: createCatalog(spec, walk, selection) }
    return last.catalog
  }
}

/**
 * The first entry of each public name. A server may name a tool as our cut and hashed form of another one: that costs
 * this one tool, whatever the order of the list.
 */
function unshared(entries: readonly CatalogEntry[], quarantined: Quarantined[]): CatalogEntry[] {
  const owners = new Map<string, string>()
  return entries.filter(({ rawName, publicName }) => {
    const owner = owners.get(publicName)
    if (owner === undefined) {
      owners.set(publicName, rawName)
      return true
    }
    const reason = `its public name ${publicName} is that of the tool "${cleanLine(owner, 80)}"`
    quarantined.push({ name: cleanLine(rawName, 80), reason })
    return false
  })
}

/** What the operator is told of a list: its warnings, and the first tools that are left out. Bounded, whatever came. */
export function linesOf(warnings: readonly string[], quarantined: readonly Quarantined[]): string[] {
  const shown = quarantined.slice(0, MAX_TOLD)
  const rest = quarantined.length - shown.length
  return [
    ...warnings,
    ...shown.map(({ name, reason }) => `tool ${JSON.stringify(name)} is left out: ${reason}`),
    ...(rest === 0 ? [] : [`${rest} more tools are left out; the status has them all`]),
  ]
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

interface Named {
  readonly rawName: string
}

function byRawName(a: Named, b: Named): number {
  return a.rawName < b.rawName ? -1 : 1
}

function duplicate(server: string, rawName: string): McpError {
  return new McpError(
    `server listed tool "${cleanLine(rawName, 80)}" more than once — invalid tool list; ` +
      'set tools.duplicates: keep-first to use the first entry',
    { code: 'MCP_LIST_INVALID', server, stage: 'discovery', data: { tool: rawName } },
  )
}
