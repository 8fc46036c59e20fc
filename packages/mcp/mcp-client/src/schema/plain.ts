/**
 * Owns the short way for plain schemas: one type at each place, no references, no alternatives, nothing to repair. Most
 * tools have such a schema, and the long way through layers and views takes ten times as long for the same node. What is
 * not plain is left to the long way; where both can go, they give the same, byte for byte. Pure, bounded.
 */
import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'
import { TOLD, TYPES } from './keywords.ts'
import type { TypeName } from './keywords.ts'
import { withHints } from './prose.ts'
import { isRecord, put, tidyValue } from './record.ts'
import type { Dict } from './record.ts'
import { child, note, titleOf } from './run.ts'
import type { Place, Run } from './run.ts'

/** Far below the bounds of a run: nothing has to be counted there any more. */
const MAX_DEPTH = 7
const MAX_NODES = 200
const MAX_CHARS = 8_000
const MAX_ENUM = 100
const MAX_PRESET_CHARS = 100

/** A name, or a value, that is shown as it is. */
const PLAIN_NAME = /^[\w.$-]{1,64}$/
const PLAIN_VALUE = /^[ -z|~]*$/

/** Keywords that say nothing where there is no reference. */
const SILENT = new Set(['$schema', '$id', 'id', '$defs', 'definitions', '$comment'])
/** Keywords told in words that hold no schema, in the order in which they are told. */
const PLACES: ReadonlyMap<string, number> = new Map(
  [
    'minimum',
    'exclusiveMinimum',
    'maximum',
    'exclusiveMaximum',
    'multipleOf',
    'minLength',
    'maxLength',
    'pattern',
    'format',
    'contentEncoding',
    'contentMediaType',
    'minItems',
    'maxItems',
    'uniqueItems',
    'minProperties',
    'maxProperties',
    'deprecated',
    'readOnly',
  ].map((keyword, place) => [keyword, place]),
)
const IS_TYPE: ReadonlySet<unknown> = new Set(TYPES)

/** What is left of the bounds of one schema. */
interface Left {
  nodes: number
  chars: number
}

/** The members of one plain place. */
interface Reading {
  type: TypeName | undefined
  description: string
  title: string
  preset: unknown
  properties: Dict | undefined
  required: readonly string[] | undefined
  isClosed: boolean
  items: Dict | undefined
  values: readonly string[] | undefined
  /** Keywords to be told in words. */
  worded: string[] | undefined
}

/** The node of a plain schema, with its notes in the run; `undefined`, and no note, for one that is not plain. */
export function shapePlain(run: Run, schema: unknown): JsonSchemaNode | undefined {
  const before = run.rewrites.length
  const node = shapeAt({ run, left: { nodes: MAX_NODES, chars: MAX_CHARS } }, schema, undefined, 0)
  if (node === undefined) run.rewrites.length = before
  return node
}

interface Way {
  readonly run: Run
  readonly left: Left
}

function shapeAt(
  way: Way,
  schema: unknown,
  place: Place | undefined,
  depth: number,
): JsonSchemaNode | undefined {
  const { run, left } = way
  left.nodes -= 1
  if (!isRecord(schema) || depth > MAX_DEPTH || left.nodes < 0) return undefined
  const reading = read(schema, left)
  if (reading?.type === undefined) return undefined
  const { type, values, preset } = reading
  const description = reading.description === '' ? titleOf(reading.title, place) : reading.description
  const text =
    reading.worded === undefined && description === ''
      ? ''
      : wordsOf(run, schema, { description, worded: reading.worded ?? [], place })
  left.chars -= text.length
  const node: JsonSchemaNode = text === '' ? { type } : { type, description: text }
  if (type === 'object') {
    if (!addMembers(way, node, reading, { place, depth })) return undefined
  } else if (type === 'array') {
    const { items } = reading
    if (items !== undefined) {
      const inner = shapeAt(way, items, child(place, 'items'), depth + 1)
      if (inner === undefined) return undefined
      node.items = inner
    } else if (run.profile === 'input') node.items = {}
  }
  if (values !== undefined) {
    if (type !== 'string') return undefined
    node.enum = [...new Set(values)]
  }
  if (preset !== undefined) node.default = preset as NonNullable<JsonSchemaNode['default']>
  return left.chars < 0 ? undefined : node
}

/** Read one place; `undefined` for anything that is not plain. */
function read(schema: Dict, left: Left): Reading | undefined {
  const reading: Reading = {
    type: undefined,
    description: '',
    title: '',
    preset: undefined,
    properties: undefined,
    required: undefined,
    isClosed: false,
    items: undefined,
    values: undefined,
    worded: undefined,
  }
  for (const key of Object.keys(schema)) if (!take(reading, key, schema[key], left)) return undefined
  const isObject = reading.type === 'object'
  // Members of what is no object, and items of what is no list, are a matter for the long way.
  if (!isObject && (reading.properties ?? reading.required) !== undefined) return undefined
  if (!isObject && reading.isClosed) return undefined
  if (reading.type !== 'array' && reading.items !== undefined) return undefined
  return reading
}

/** One keyword; false where it is not plain. */
function take(reading: Reading, key: string, value: unknown, left: Left): boolean {
  switch (key) {
    case 'type':
      reading.type = IS_TYPE.has(value) ? (value as TypeName) : undefined
      return reading.type !== undefined
    case 'description':
    case 'title':
      if (typeof value !== 'string') return false
      reading[key] = value
      return true
    case 'default':
      reading.preset = presetOf(value)
      return reading.preset !== undefined
    case 'enum':
      reading.values = isPlainList(value, left) ? value : undefined
      return reading.values !== undefined
    case 'properties':
      reading.properties = isRecord(value) ? value : undefined
      return reading.properties !== undefined
    case 'required':
      reading.required = isNameList(value) ? value : undefined
      return reading.required !== undefined
    case 'additionalProperties':
      reading.isClosed = value === false
      return typeof value === 'boolean'
    case 'items':
      // Items of any kind are no more than a list.
      reading.items = isRecord(value) && Object.keys(value).length > 0 ? value : undefined
      return isRecord(value)
    default:
      if (!PLACES.has(key)) return SILENT.has(key)
      if (reading.worded === undefined) reading.worded = [key]
      else reading.worded.push(key)
      return true
  }
}

function addMembers(
  way: Way,
  node: JsonSchemaNode,
  { properties = {}, required = [], isClosed }: Reading,
  { place, depth }: { readonly place: Place | undefined; readonly depth: number },
): boolean {
  const names = Object.keys(properties).toSorted()
  const shaped: Record<string, JsonSchemaNode> = {}
  for (const name of names) {
    if (!PLAIN_NAME.test(name) || name === '__proto__') return false
    const inner = shapeAt(way, properties[name], child(place, name), depth + 1)
    if (inner === undefined) return false
    shaped[name] = inner
    way.left.chars -= 2 * name.length
  }
  const needed = [...new Set(required)].toSorted()
  for (const name of needed) if (!Object.hasOwn(shaped, name)) return false
  if (names.length > 0) {
    const first = new Set(needed)
    const ordered: Record<string, JsonSchemaNode> = {}
    for (const name of needed) put(ordered, name, shaped[name] as JsonSchemaNode)
    for (const name of names) if (!first.has(name)) ordered[name] = shaped[name] as JsonSchemaNode
    node.properties = ordered
  }
  if (needed.length > 0) node.required = needed
  if (isClosed) node.additionalProperties = false
  return true
}

interface Words {
  readonly description: string
  readonly worded: readonly string[]
  readonly place: Place | undefined
}

/** The description, with what the keywords say in words. */
function wordsOf(run: Run, schema: Dict, { description, worded, place }: Words): string {
  const told: string[] = []
  for (const keyword of worded.length > 1 ? worded.toSorted(byPlace) : worded) {
    const hint = TOLD[keyword]?.(schema[keyword], { schema, base: schema, chain: undefined })
    if (hint === undefined) continue
    told.push(hint.join(''))
    note(run, place, keyword, 'told')
  }
  return withHints(description, told, run.bounds.textBytes)
}

function byPlace(a: string, b: string): number {
  return Number(PLACES.get(a)) - Number(PLACES.get(b))
}

/** A default that is shown as it is; `undefined` is one that is not. */
function presetOf(value: unknown): unknown {
  if (typeof value === 'boolean' || value === null) return value
  if (typeof value === 'string') {
    return value.length <= MAX_PRESET_CHARS && PLAIN_VALUE.test(value) ? value : undefined
  }
  const tidy = tidyValue(value)
  return tidy !== undefined && JSON.stringify(tidy).length <= MAX_PRESET_CHARS ? tidy : undefined
}

function isPlainList(value: unknown, left: Left): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ENUM) return false
  for (const item of value) {
    if (typeof item !== 'string' || !PLAIN_VALUE.test(item)) return false
    left.chars -= item.length
  }
  return true
}

function isNameList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= MAX_NODES && value.every((name) => typeof name === 'string')
}
