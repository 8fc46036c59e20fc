/**
 * Owns the joining of alternative nodes into the host's one form, `oneOf`. For a model any list of alternatives will
 * do; for an enforced schema exactly one may match, so alternatives that overlap become their common type. Pure.
 */
import type { JsonSchemaNode, JsonSchemaScalar, JsonSchemaType } from '@deepseek-ai/dsh-tools'
import { quoted, safeText, withHints } from './prose.ts'
import type { Bounds, Profile } from './run.ts'

/** Alternatives as one node; `undefined` where there is none. `isWidened` says that some were given up. */
export function joinBranches(
  branches: readonly JsonSchemaNode[],
  profile: Profile,
  bounds: Bounds,
): { readonly node: JsonSchemaNode | undefined; readonly isWidened: boolean } {
  if (branches.length === 1) return { node: branches[0], isWidened: false }
  const flat = branches.flatMap((branch) => alternativesIn(branch, profile))
  // What takes anything takes the rest as well.
  if (flat.some(isUntyped)) return { node: {}, isWidened: flat.length > 1 }
  const distinct = absorbIntegers(unique(joinEnums(unique(flat), bounds)))
  const kept = profile === 'output' ? widen(distinct) : joinScalars(distinct, bounds)
  const [first] = kept
  if (first === undefined) return { node: undefined, isWidened: false }
  return {
    node: kept.length === 1 ? first : { oneOf: kept },
    isWidened: profile === 'output' && kept !== distinct,
  }
}

function isUntyped(node: JsonSchemaNode): boolean {
  return node.type === undefined && node.oneOf === undefined
}

/** A union among alternatives is more of them, unless it has a text of its own that a model should read. */
function alternativesIn(node: JsonSchemaNode, profile: Profile): readonly JsonSchemaNode[] {
  const { oneOf } = node
  return oneOf !== undefined && (profile === 'output' || Object.keys(node).length === 1) ? oneOf : [node]
}

function unique(nodes: readonly JsonSchemaNode[]): JsonSchemaNode[] {
  return [...new Map(nodes.map((node) => [JSON.stringify(node), node])).values()]
}

/** Listed values always come with their type. */
type EnumNode = JsonSchemaNode & { readonly type: JsonSchemaType; readonly enum: JsonSchemaScalar[] }

interface EnumGroup {
  readonly type: JsonSchemaType
  readonly values: Set<JsonSchemaScalar>
  readonly texts: string[]
}

/** `"a"` or `"b"` is one enum; the description of a single value is kept as `"a": text`. */
function joinEnums(nodes: readonly JsonSchemaNode[], bounds: Bounds): JsonSchemaNode[] {
  if (nodes.filter(isEnum).length < 2) return [...nodes]
  const groups = new Map<JsonSchemaType, EnumGroup>()
  const result: (JsonSchemaNode | EnumGroup)[] = []
  for (const node of nodes) {
    if (!isEnum(node)) {
      result.push(node)
      continue
    }
    const { type } = node
    let group = groups.get(type)
    if (group === undefined) {
      group = { type, values: new Set(), texts: [] }
      groups.set(type, group)
      result.push(group)
    }
    for (const value of node.enum) group.values.add(value)
    if (node.description === undefined) continue
    group.texts.push(`${node.enum.map((value) => quoted(value, 48)).join(', ')}: ${node.description}`)
  }
  return result.map((entry) => ('values' in entry ? enumOf(entry, bounds) : entry))
}

function enumOf({ type, values, texts }: EnumGroup, bounds: Bounds): JsonSchemaNode {
  const isOpen = values.size > bounds.values || (type === 'boolean' && values.size === 2)
  const text = withHints(
    '',
    values.size > bounds.values ? [`one of ${values.size} values`] : texts,
    bounds.textBytes,
  )
  return { type, ...(text === '' ? {} : { description: text }), ...(isOpen ? {} : { enum: [...values] }) }
}

function isEnum(node: JsonSchemaNode): node is EnumNode {
  return node.enum !== undefined && node.default === undefined && node.examples === undefined
}

/** Every integer is a number. */
function absorbIntegers(nodes: JsonSchemaNode[]): JsonSchemaNode[] {
  const hasNumber = nodes.some((node) => node.type === 'number' && node.enum === undefined)
  return hasNumber ? nodes.filter((node) => node.type !== 'integer' || node.description !== undefined) : nodes
}

/** Two kinds of string are one string whose description tells both. */
function joinScalars(nodes: readonly JsonSchemaNode[], bounds: Bounds): JsonSchemaNode[] {
  const isPlain = (node: JsonSchemaNode): boolean =>
    node.enum === undefined && node.type !== 'object' && node.type !== 'array' && node.oneOf === undefined
  const result: JsonSchemaNode[] = []
  for (const node of nodes) {
    const at = isPlain(node) ? result.findIndex((other) => isPlain(other) && other.type === node.type) : -1
    const known = result[at]
    if (known === undefined) {
      result.push(node)
      continue
    }
    const texts = [known.description, node.description].filter((text) => text !== undefined)
    const text = safeText([...new Set(texts)].join(' or '), bounds.textBytes)
    const { type, description: _told, ...rest } = { ...node, ...known }
    result[at] = { type: type as JsonSchemaType, ...(text === '' ? {} : { description: text }), ...rest }
  }
  return result
}

/** Comparing each with each is for short lists; of a long one what has the same type counts as overlapping. */
const MAX_COMPARED = 64

/** Replace what could match together by its common type. The same list where nothing overlaps. */
function widen(nodes: JsonSchemaNode[]): JsonSchemaNode[] {
  const overlapping = new Set<JsonSchemaType>()
  const isLong = nodes.length > MAX_COMPARED
  for (const [index, left] of nodes.entries()) {
    for (const right of nodes.slice(index + 1)) {
      if (classOf(left) === classOf(right) && (isLong || !areDisjoint(left, right)))
        overlapping.add(classOf(left))
    }
  }
  if (overlapping.size === 0) return nodes
  const rest = nodes.filter((node) => !overlapping.has(classOf(node)))
  return [...rest, ...[...overlapping].map((type) => ({ type }))]
}

function classOf(node: JsonSchemaNode): JsonSchemaType {
  return node.type === 'integer' ? 'number' : (node.type as JsonSchemaType)
}

/** True where no value of their common type fits both. */
function areDisjoint(left: JsonSchemaNode, right: JsonSchemaNode): boolean {
  if (left.enum !== undefined && right.enum !== undefined)
    return !left.enum.some((value) => right.enum?.includes(value))
  if (left.type !== 'object' || right.type !== 'object') return false
  return (left.required ?? []).some((name) => {
    const [one, other] = [left.properties?.[name], right.properties?.[name]]
    return (
      one?.enum !== undefined &&
      other?.enum !== undefined &&
      right.required?.includes(name) &&
      areDisjoint(one, other)
    )
  })
}
