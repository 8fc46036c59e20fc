/**
 * Owns the flattening of an object with alternatives into one object: what any alternative may take is a property,
 * what all of them need is required, and which belong together is told in words. Providers refuse a union at the
 * root, and a model follows one list of properties better than five. Pure.
 */
import type { Source } from './layers.ts'
import { memberText } from './outline.ts'
import { safeText } from './prose.ts'
import { child, note } from './run.ts'
import type { Place, Site } from './run.ts'
import { look } from './view.ts'
import type { Union, View } from './view.ts'

/** The members of one object, its alternatives included. */
export interface Members {
  /** For each property its alternatives, each a set of schemas that apply together. */
  readonly members: Map<string, Source[][]>
  readonly required: Set<string>
  readonly hints: string[]
  readonly closed: boolean
}

const MAX_ALTERNATIVES = 64
const MAX_NESTING = 4
const MAX_TOLD = 12

/** The members of an object, with the alternatives of its unions taken in. */
export function alternativesOf(site: Site, view: View): Members {
  const members = new Map<string, Source[][]>()
  const required = new Set(view.required)
  const hints: string[] = []
  let { closed } = view
  for (const [name, sources] of view.properties) members.set(name, [sources])
  // For an enforced schema a property of one alternative says nothing about the same name in another.
  const unions = site.run.profile === 'input' ? view.unions : []
  for (const union of unions) {
    const branches = branchesOf(site, union, site.place, 0)
    const [first] = branches
    if (first === undefined) continue
    note(site.run, site.place, union.keyword, 'alternatives-told')
    for (const branch of branches) {
      for (const [name, sources] of branch.properties) {
        if (view.properties.has(name)) continue
        const known = members.get(name)
        if (known === undefined) members.set(name, [sources])
        else known.push(sources)
      }
    }
    for (const name of first.required) {
      if (branches.every((branch) => branch.required.has(name))) required.add(name)
    }
    closed ||= branches.every((branch) => branch.closed)
    hints.push(toldOf(site, view, union, branches))
  }
  for (const [name, sources] of view.extras) if (!members.has(name)) members.set(name, [sources])
  for (const branch of view.required) if (!members.has(branch)) members.set(branch, [[]])
  return { members, required, hints, closed }
}

/** The alternatives that an object can be, those of nested unions one by one. */
function branchesOf(site: Site, union: Union, place: Place | undefined, nesting: number): View[] {
  const views: View[] = []
  for (const [index, branch] of union.branches.entries()) {
    if (views.length >= MAX_ALTERNATIVES) break
    const at = child(child(place, union.keyword), String(index))
    const view = look(site.run, [branch], at)
    if (view.never || (view.types !== undefined && !view.types.has('object'))) {
      note(site.run, at, '', 'branch-dropped')
      continue
    }
    const [nested] = view.unions
    const inner =
      nested === undefined || nesting >= MAX_NESTING ? [] : branchesOf(site, nested, at, nesting + 1)
    views.push(...(inner.length === 0 ? [view] : inner.map((other) => bothOf(view, other))))
  }
  return views.slice(0, MAX_ALTERNATIVES)
}

function bothOf(outer: View, inner: View): View {
  const properties = new Map(outer.properties)
  for (const [name, sources] of inner.properties)
    properties.set(name, [...(properties.get(name) ?? []), ...sources])
  return {
    ...inner,
    properties,
    required: new Set([...outer.required, ...inner.required]),
    closed: outer.closed || inner.closed,
    title: inner.title === '' ? outer.title : inner.title,
  }
}

/** `exactly one of these: 1) content; 2) source_url, mime_type?`. */
function toldOf(site: Site, view: View, union: Union, branches: readonly View[]): string {
  const words = branches.slice(0, MAX_TOLD).map((branch, index) => {
    const title = branch.title === '' ? '' : `${branch.title}: `
    const names = namesOf(site, view, branch)
    return safeText(`${index + 1}) ${title}${names.length === 0 ? 'nothing more' : names.join(', ')}`, 240)
  })
  if (branches.length > MAX_TOLD) words.push(`${branches.length - MAX_TOLD} more`)
  const lead = union.keyword === 'oneOf' ? 'exactly one of these' : 'one of these'
  return `${lead}, "?" marks what may be left out: ${words.join('; ')}`
}

/** What a branch adds: its own properties, what it makes required, and the values that mark it. */
function namesOf({ run, place }: Site, view: View, branch: View): string[] {
  const required = [...branch.required].toSorted()
  const optional = [...branch.properties.keys()].filter((name) => !branch.required.has(name)).toSorted()
  return [...required, ...optional].flatMap((name) => {
    const values = look(run, branch.properties.get(name) ?? [], child(place, name)).values ?? []
    const isKnown = view.properties.has(name) && !branch.required.has(name) && values.length !== 1
    return isKnown ? [] : [memberText(name, branch.required.has(name), values)]
  })
}
