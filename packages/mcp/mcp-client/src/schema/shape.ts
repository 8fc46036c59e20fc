/**
 * Owns the rewriting itself: everything that applies at one place becomes one node of the host's subset, with what
 * the subset cannot say put into its description. Pure; depth, nodes and steps are bounded by the run.
 */
import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'
import { alternativesOf } from './alternatives.ts'
import { joinBranches } from './branches.ts'
import { TYPES } from './keywords.ts'
import type { Hint, TypeName } from './keywords.ts'
import type { Source } from './layers.ts'
import { spend } from './layers.ts'
import { outline } from './outline.ts'
import { hasBraces, isSafeValue, isVisible, quoted, withHints } from './prose.ts'
import { put, tidyValue } from './record.ts'
import { below, child, isSpent, note, titleOf } from './run.ts'
import type { Site } from './run.ts'
import { shapeValues } from './values.ts'
import type { Draft } from './values.ts'
import { look } from './view.ts'
import type { View } from './view.ts'

/** The node for all schemas that apply at one place; `undefined` where nothing can be valid. */
export function shape(site: Site, sources: readonly Source[]): JsonSchemaNode | undefined {
  const { run, place } = site
  if (isSpent(run)) return {}
  const view = look(run, sources, place)
  const node = view.never ? undefined : shapeView(site, view)
  if (node === undefined) note(run, place, '', 'contradiction')
  return node
}

/** The root of an input schema is an object whatever it says. */
export function shapeRoot(site: Site, view: View): JsonSchemaNode {
  return annotated(site, view, shapeObject(site, view))
}

function shapeView(site: Site, view: View): JsonSchemaNode | undefined {
  if (view.values !== undefined) return finished(site, view, shapeValues(site, view, view.values))
  if (view.unions.length > 0 && !isStructured(view)) return finished(site, view, shapeUnion(site, view))
  const types = typesOf(site, view)
  if (types.length === 0) return view.types === undefined ? finished(site, view, { node: {} }) : undefined
  const parts = types.map((type) => shapeType(site, view, type))
  const joined = joinBranches(
    parts.map((part) => part.node),
    site.run.profile,
    site.run.bounds,
  )
  return finished(site, view, { node: joined.node, hints: parts.flatMap((part) => part.hints ?? []) })
}

/** An object or a list with an inside of its own takes its alternatives into itself. */
function isStructured(view: View): boolean {
  return hasMembers(view) || view.items.length > 0 || view.tuple !== undefined
}

function hasMembers(view: View): boolean {
  return view.properties.size > 0 || view.required.size > 0
}

function typesOf({ run, place }: Site, view: View): TypeName[] {
  const types = new Set(view.types)
  if (types.size === 0 && run.profile === 'input') {
    if (hasMembers(view)) types.add('object')
    else if (isStructured(view)) types.add('array')
  }
  if (types.size > 0 && view.nullable) types.add('null')
  if (types.has('number')) types.delete('integer')
  if (types.size > 1) note(run, place, view.nullable ? 'nullable' : 'type', 'type-list')
  return TYPES.filter((type) => types.has(type))
}

function shapeType(site: Site, view: View, type: TypeName): Draft & { readonly node: JsonSchemaNode } {
  const { run, place, depth } = site
  spend(run.nodes)
  const isInner = depth >= run.bounds.depth && (type === 'object' || type === 'array')
  if (isInner && hasInside(view)) {
    note(run, place, type, 'too-deep')
    return {
      node: type === 'array' && run.profile === 'input' ? { type, items: {} } : { type },
      hints: ['its inner form is not shown'],
    }
  }
  if (type === 'object') return shapeObject(site, view)
  if (type === 'array') return shapeArray(site, view)
  return { node: { type } }
}

function hasInside(view: View): boolean {
  return isStructured(view) || view.extras.size > 0
}

function shapeObject(site: Site, view: View): Draft & { readonly node: JsonSchemaNode } {
  const { run } = site
  const { members, required, hints, closed } = alternativesOf(site, view)
  const shaped = new Map<string, JsonSchemaNode>()
  let isClosed = closed
  for (const name of [...members.keys(), ...required].toSorted()) {
    if (shaped.has(name)) continue
    const inner = below(site, name)
    if (!isSafeValue(name)) {
      note(run, inner.place, '', 'unsafe-text')
      hints.push(unsafeName(name, required.has(name)))
      isClosed = false
      continue
    }
    const groups = members.get(name) ?? [[]]
    const property = shapeAny(inner, groups)
    if (property === undefined) required.delete(name)
    else shaped.set(name, property)
  }
  const needed = [...required].filter((name) => shaped.has(name)).toSorted()
  const order = [...needed, ...[...shaped.keys()].filter((name) => !required.has(name))]
  const properties: Record<string, JsonSchemaNode> = {}
  for (const name of order) put(properties, name, shaped.get(name) as JsonSchemaNode)
  const node: JsonSchemaNode = { type: 'object' }
  if (order.length > 0) node.properties = properties
  if (needed.length > 0) node.required = needed
  if (isClosed) node.additionalProperties = false
  return { node, hints }
}

function unsafeName(name: string, isRequired: boolean): string {
  const what = isRequired ? 'a required property' : 'a property'
  if (!isVisible(name) || !hasBraces(name)) return `${what} has a name with hidden characters and is left out`
  return `${what} is named ${quoted(name, 80)}, its braces without the spaces`
}

/** The node for alternatives of which each is a set of schemas that apply together. */
function shapeAny(site: Site, groups: readonly (readonly Source[])[]): JsonSchemaNode | undefined {
  const [only] = groups
  if (groups.length === 1 && only !== undefined) return shape(site, only)
  const nodes = groups.map((group) => shape(site, group)).filter((node) => node !== undefined)
  return joinBranches(nodes, site.run.profile, site.run.bounds).node
}

function shapeArray(site: Site, view: View): Draft & { readonly node: JsonSchemaNode } {
  const { run } = site
  const inner = below(site, 'items')
  const hints = view.unions.map((union) => `one of: ${outlines(site, union.branches).join(' or ')}`)
  let items = view.items.length > 0 ? shape(inner, view.items) : undefined
  if (view.items.length > 0 && items === undefined) hints.push('no items')
  if (view.tuple !== undefined && view.items.length === 0) items = shapeTuple(inner, view.tuple, hints)
  const node: JsonSchemaNode = { type: 'array' }
  // Endpoints want items of every list; the host needs none where anything may be in it.
  if (run.profile === 'input') node.items = items ?? {}
  else if (items !== undefined && Object.keys(items).length > 0) node.items = items
  return { node, hints }
}

const MAX_PLACES = 8
const MAX_NESTING = 6

function shapeTuple(
  site: Site,
  tuple: NonNullable<View['tuple']>,
  hints: string[],
): JsonSchemaNode | undefined {
  const { run } = site
  const places = tuple.places.map((place) => shape(site, [place]) ?? {})
  const rest = (tuple.rest?.schema ?? false) === false ? undefined : shape(site, [tuple.rest as Source])
  const isEndless = tuple.rest === undefined || rest !== undefined
  const words = places.slice(0, MAX_PLACES).map(outline)
  if (places.length > MAX_PLACES) words.push(`${places.length - MAX_PLACES} more`)
  if (rest !== undefined) words.push(`then any number of ${outline(rest)}`)
  hints.push(`items in this order: ${words.join(', ')}${isEndless ? '' : ', and no more'}`)
  // What may follow an open tuple is anything; a model is better served by the places that are described.
  if (tuple.rest === undefined && run.profile === 'output') return undefined
  return joinBranches(rest === undefined ? places : [...places, rest], run.profile, run.bounds).node
}

function shapeUnion(site: Site, view: View): Draft {
  const { run, place, depth, nesting } = site
  const [union, ...others] = view.unions as [View['unions'][number], ...View['unions']]
  const at = child(place, union.keyword)
  if (nesting >= MAX_NESTING) {
    note(run, place, union.keyword, 'too-deep')
    return { node: {}, hints: ['its alternatives are not shown'] }
  }
  note(run, place, union.keyword, 'union-rewritten')
  // The branch must also be what stands beside the union.
  const beside: Source[] =
    view.types === undefined
      ? []
      : [{ schema: { type: [...view.types] }, base: run.references.root, chain: undefined }]
  const nodes: JsonSchemaNode[] = []
  for (const [index, branch] of union.branches.entries()) {
    const inner = { run, place: child(at, String(index)), depth, nesting: nesting + 1 }
    const node = shape(inner, [branch, ...beside])
    if (node === undefined) note(run, inner.place, '', 'branch-dropped')
    else nodes.push(node)
  }
  if (view.nullable && nodes.length > 0) nodes.push({ type: 'null' })
  const { node, isWidened } = joinBranches(nodes, run.profile, run.bounds)
  const hints = others.map((other) => `also one of: ${outlines(site, other.branches).join(' or ')}`)
  if (isWidened) {
    note(run, place, union.keyword, 'union-widened')
    hints.unshift(`one of: ${nodes.slice(0, MAX_PLACES).map(outline).join(' or ')}`)
  }
  return { node, hints }
}

/** How some schemas are put into words: two levels of them. */
function outlines(site: Site, sources: readonly Source[]): string[] {
  const { place } = site
  if (site.nesting >= MAX_NESTING) return ['more']
  // Words enforce nothing, whatever the node is for.
  const run = { ...site.run, profile: 'input' as const }
  const depth = Math.max(site.depth, run.bounds.depth - 1)
  const nesting = site.nesting + 1
  return sources.slice(0, MAX_PLACES).map((source) => {
    const node = shape({ run, place, depth, nesting }, [source])
    return node === undefined ? 'nothing' : outline(node)
  })
}

function finished(site: Site, view: View, draft: Draft): JsonSchemaNode | undefined {
  const { node } = draft
  return node === undefined ? undefined : annotated(site, view, { ...draft, node })
}

/** Put the annotations on: one description with everything told, and a default the model may rely on. */
function annotated(site: Site, view: View, draft: Draft & { readonly node: JsonSchemaNode }): JsonSchemaNode {
  const { run, place } = site
  const { type, description, default: preset, examples, ...rest } = draft.node
  const told = [...view.hints.map((hint) => worded(site, hint)), ...(draft.hints ?? [])]
  const own = view.description === '' ? titleOf(view.title, place) : view.description
  const texts = [own, description ?? ''].filter(
    (text, index, all) => text !== '' && all.indexOf(text) === index,
  )
  const text = withHints(texts.join(' '), told, run.bounds.textBytes)
  const node: JsonSchemaNode = {
    ...(type === undefined ? {} : { type }),
    ...(text === '' ? {} : { description: text }),
    ...rest,
  }
  annotate(site, node, { default: preset, examples, ...view.annotations })
  return node
}

function worded(site: Site, hint: Hint): string {
  return hint.map((part) => (typeof part === 'string' ? part : outlines(site, [part]).join(''))).join('')
}

const MAX_ANNOTATION_CHARS = 512

/** A default or an example that does not fit is left out: it only helps. */
function annotate({ run, place }: Site, node: JsonSchemaNode, values: View['annotations']): void {
  for (const keyword of ['default', 'examples'] as const) {
    if (values[keyword] === undefined) continue
    const value = tidyValue(values[keyword])
    const isFitting = value !== undefined && JSON.stringify(value).length <= MAX_ANNOTATION_CHARS
    if (isFitting) node[keyword] = value
    else note(run, place, keyword, 'annotation-dropped')
  }
}
