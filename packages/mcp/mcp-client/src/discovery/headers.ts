/**
 * Owns the check of `x-mcp-header`, by which a server of revision 2026-07-28 has arguments mirrored into HTTP headers. A
 * client on HTTP must leave a tool out whose annotations break the rules, and keep all others. Pure.
 */
import { cleanLine } from '../text.ts'
import type { Catalog, CatalogEntry, JsonObject, JsonValue, Quarantined } from '../types.ts'

const ANNOTATION = 'x-mcp-header'
/** A field name of HTTP (RFC 9110, token). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: ReadonlySet<JsonValue | undefined> = new Set(['string', 'integer', 'boolean'])
const MAX_SHOWN_CHARS = 80

/** Keywords that hold schemas, `properties` aside: what is annotated below them cannot be found in the arguments. */
const SCHEMAS = new Set(
  (
    'items prefixItems contains additionalItems additionalProperties unevaluatedItems unevaluatedProperties ' +
    'propertyNames allOf anyOf oneOf not if then else contentSchema'
  ).split(' '),
)
const MAPS_OF_SCHEMAS = new Set(
  'patternProperties dependentSchemas dependencies $defs definitions'.split(' '),
)

/** The catalog without the tools that a client on HTTP must not offer. */
export function withoutBadHeaders(catalog: Catalog): Catalog {
  const entries: CatalogEntry[] = []
  const quarantined: Quarantined[] = []
  for (const entry of catalog.entries) {
    const reason = headerFault(entry.inputSchema)
    if (reason === undefined) entries.push(entry)
    else quarantined.push({ name: cleanLine(entry.rawName, MAX_SHOWN_CHARS), reason })
  }
  if (quarantined.length === 0) return catalog
  return Object.freeze({
    ...catalog,
    entries: Object.freeze(entries),
    quarantined: Object.freeze([...catalog.quarantined, ...quarantined]),
  })
}

interface Place {
  readonly schema: JsonValue
  /** Property names from the root. */
  readonly path: readonly string[]
  /** Whether it describes one argument, which a chain of `properties` alone leads to. */
  readonly isArgument: boolean
  readonly isReachable: boolean
}

/** What breaks the rules in a schema, as one clean clause; `undefined` where nothing does. Iterative: schemas may be deep. */
export function headerFault(inputSchema: JsonObject): string | undefined {
  const names = new Set<string>()
  const pending: Place[] = [{ schema: inputSchema, path: [], isArgument: false, isReachable: true }]
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { schema } = place
    if (!isObject(schema)) continue
    if (Object.hasOwn(schema, ANNOTATION)) {
      const fault = annotationFault(schema, place, names)
      if (fault !== undefined) return `${ANNOTATION} ${fault}`
    }
    for (const inner of placesIn(schema, place)) pending.push(inner)
  }
  return undefined
}

function annotationFault(schema: JsonObject, place: Place, names: Set<string>): string | undefined {
  const name = schema[ANNOTATION]
  const where = shown(place.path.join('.'))
  if (!place.isArgument) return `stands where no single argument is described (${where})`
  if (typeof name !== 'string' || !TOKEN.test(name)) return `of ${where} is no name of an HTTP header`
  if (!TYPES.has(schema['type'])) return `of ${where} needs the type string, integer or boolean`
  const lower = name.toLowerCase()
  if (names.has(lower)) return `names ${shown(name)} twice`
  names.add(lower)
  return undefined
}

function* placesIn(schema: JsonObject, { path, isReachable }: Place): Iterable<Place> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties' && isObject(value)) {
      for (const [name, inner] of Object.entries(value)) {
        yield { schema: inner, path: [...path, name], isArgument: isReachable, isReachable }
      }
    } else {
      for (const inner of schemasUnder(keyword, value)) {
        yield { schema: inner, path, isArgument: false, isReachable: false }
      }
    }
  }
}

function schemasUnder(keyword: string, value: JsonValue): readonly JsonValue[] {
  if (SCHEMAS.has(keyword)) return Array.isArray(value) ? value : [value]
  return MAPS_OF_SCHEMAS.has(keyword) && isObject(value) ? Object.values(value) : []
}

function shown(text: string): string {
  return JSON.stringify(cleanLine(text, MAX_SHOWN_CHARS))
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
