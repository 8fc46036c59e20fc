/**
 * Owns the joining of alternative nodes into the host's one form, `oneOf`. For a model any list of alternatives will
 * do; for an enforced schema exactly one may match, so alternatives that overlap become their common type. Pure.
 */
import type { JsonSchemaNode, JsonSchemaScalar, JsonSchemaType } from '@deepseek-ai/dsh-tools'
import type { Profile } from './run.ts'

/** Alternatives as one node; `undefined` where there is none. `isWidened` says that some were given up. */
export function joinBranches(
  branches: readonly JsonSchemaNode[],
  profile: Profile,
): { readonly node: JsonSchemaNode | undefined; readonly isWidened: boolean } {
  const flat = branches.flatMap((branch) => (isBareUnion(branch, profile) ? (branch.oneOf ?? []) : [branch]))
  // What takes anything takes the rest as well.
  if (flat.some((branch) => branch.type === undefined && branch.oneOf === undefined)) return { node: {}, isWidened: flat.length > 1 }
  const distinct = absorbIntegers(joinEnums(unique(flat)))
  const kept = profile === 'output' ? widen(distinct) : distinct
  const [first] = kept
  if (first === undefined) return { node: undefined, isWidened: false }
  return { node: kept.length === 1 ? first : { oneOf: kept }, isWidened: kept !== distinct }
}

function isBareUnion(node: JsonSchemaNode, profile: Profile): boolean {
  return node.oneOf !== undefined && (profile === 'output' || Object.keys(node).length === 1)
}

function unique(nodes: readonly JsonSchemaNode[]): JsonSchemaNode[] {
  return [...new Map(nodes.map((node) => [JSON.stringify(node), node])).values()]
}

/** `"a"` or `"b"` is one enum; the description of a single value is kept as `"a": text`. */
function joinEnums(nodes: readonly JsonSchemaNode[]): JsonSchemaNode[] {
  const joined = new Map<JsonSchemaType, { values: Set<JsonSchemaScalar>; texts: string[] }>()
  const enums = nodes.filter(isEnum)
  if (enums.length < 2) return [...nodes]
  const result: JsonSchemaNode[] = []
  for (const node of nodes) {
    if (!isEnum(node)) {
      result.push(node)
      continue
    }
    const type = node.type as JsonSchemaType
    const group = joined.get(type) ?? { values: new Set(), texts: [] }
    for (const value of node.enum ?? []) group.values.add(value)
    if (node.description !== undefined) {
      group.texts.push(`${(node.enum ?? []).map((value) => JSON.stringify(value)).join(', ')}: ${node.description}`)
    }
    if (!joined.has(type)) {
      joined.set(type, group)
      result.push({ type })
    }
  }
  return result.map((node) => {
    const group = Object.keys(node).length === 1 && node.type !== undefined ? joined.get(node.type) : undefined
    if (group === undefined) return node
    joined.delete(node.type as JsonSchemaType)
    const text = group.texts.join('; ')
    return { type: node.type as JsonSchemaType, ...(text === '' ? {} : { description: text }), enum: [...group.values] }
  })
}

function isEnum(node: JsonSchemaNode): boolean {
  return node.enum !== undefined && node.default === undefined && node.examples === undefined
}

/** Every integer is a number. */
function absorbIntegers(nodes: JsonSchemaNode[]): JsonSchemaNode[] {
  const hasNumber = nodes.some((node) => node.type === 'number' && node.enum === undefined)
  return hasNumber ? nodes.filter((node) => node.type !== 'integer' || node.description !== undefined) : nodes
}

/** Replace what could match together by its common type. The same list where nothing overlaps. */
function widen(nodes: JsonSchemaNode[]): JsonSchemaNode[] {
  const overlapping = new Set<JsonSchemaType>()
  for (const [index, left] of nodes.entries()) {
    for (const right of nodes.slice(index + 1)) {
      if (classOf(left) === classOf(right) && !areDisjoint(left, right)) overlapping.add(classOf(left))
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
  if (left.enum !== undefined && right.enum !== undefined) return !left.enum.some((value) => right.enum?.includes(value))
  if (left.type !== 'object' || right.type !== 'object') return false
  return (left.required ?? []).some((name) => {
    const [one, other] = [left.properties?.[name], right.properties?.[name]]
    return one?.enum !== undefined && other?.enum !== undefined && right.required?.includes(name) && areDisjoint(one, other)
  })
}
