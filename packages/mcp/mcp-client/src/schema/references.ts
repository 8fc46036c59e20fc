/**
 * Owns the meaning of `$ref` inside one schema document: pointers, anchors and embedded `$id` resources. Nothing is
 * ever fetched: what is not in the document is foreign. Pure; each document is indexed once, at its first need.
 */
import { isRecord, own } from './record.ts'
import type { Dict } from './record.ts'

/** Where a reference leads. `base` is the resource that references inside the target are relative to. */
export type Target =
  | { readonly kind: 'found'; readonly schema: unknown; readonly base: Dict }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'missing' }

export interface References {
  /** The root of the document; an empty object where it is not an object. */
  readonly root: Dict
  resolve(ref: string, base: Dict): Target
}

interface Index {
  readonly anchors: ReadonlyMap<string, Target>
  readonly resources: ReadonlyMap<string, Dict>
}

const FOREIGN: Target = { kind: 'foreign' }
const MISSING: Target = { kind: 'missing' }
/** Values that may be indexed: a hostile document costs no more. */
const MAX_INDEXED = 50_000
/** Keywords whose value is data, not schema. */
const DATA = new Set(['enum', 'const', 'default', 'examples', 'example'])

/** Make a document's references resolvable. */
export function referencesOf(document: unknown): References {
  const root = isRecord(document) ? document : {}
  let index: Index | undefined
  const indexed = (): Index => (index ??= indexOf(root))
  return {
    root,
    resolve: (ref, base) => {
      const hash = ref.indexOf('#')
      const uri = hash < 0 ? ref : ref.slice(0, hash)
      const fragment = hash < 0 ? '' : ref.slice(hash + 1)
      const resource =
        uri === '' ? base : (indexed().resources.get(uri) ?? indexed().resources.get(absolute(uri, base)))
      if (resource === undefined) return FOREIGN
      if (fragment === '') return { kind: 'found', schema: resource, base: resource }
      if (!fragment.startsWith('/')) return indexed().anchors.get(fragment) ?? MISSING
      const found = follow(fragment, resource)
      // Embedded ids are often decoration: authors count their pointers from the top of the document.
      return found === MISSING && resource !== root && uri === '' ? follow(fragment, root) : found
    },
  }
}

/** The base for what lies inside `schema`: itself where it is a resource of its own. */
export function baseWithin(schema: Dict, base: Dict): Dict {
  const id = idOf(schema)
  return id === undefined || id.startsWith('#') ? base : schema
}

function idOf(schema: Dict): string | undefined {
  const id = own(schema, '$id') ?? own(schema, 'id')
  return typeof id === 'string' ? id : undefined
}

function follow(pointer: string, resource: Dict): Target {
  let at: unknown = resource
  let base = resource
  for (const raw of pointer.slice(1).split('/')) {
    const key = unescapePointer(raw)
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return MISSING
    at = (at as Dict)[key]
    if (isRecord(at)) base = baseWithin(at, base)
  }
  return { kind: 'found', schema: at, base }
}

function unescapePointer(segment: string): string {
  let text = segment
  try {
    text = decodeURIComponent(segment)
  } catch {
    // A stray percent sign is a percent sign.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** A relative reference seen from its resource; an empty text, which is no resource, where that makes no URL. */
function absolute(uri: string, base: Dict): string {
  return URL.parse(uri, idOf(base))?.href ?? ''
}

function indexOf(root: Dict): Index {
  const anchors = new Map<string, Target>()
  const resources = new Map<string, Dict>()
  const queue: { value: unknown; base: Dict }[] = [{ value: root, base: root }]
  for (let at = 0; at < queue.length && at < MAX_INDEXED; at += 1) {
    const { value, base: outer } = queue[at] as { value: unknown; base: Dict }
    if (Array.isArray(value)) {
      for (const item of value) queue.push({ value: item, base: outer })
      continue
    }
    if (!isRecord(value)) continue
    const base = baseWithin(value, outer)
    const id = idOf(value)
    if (id !== undefined && base === value) {
      const name = id.replace(/#$/, '')
      for (const known of [name, absolute(name, outer)]) {
        if (known !== '' && !resources.has(known)) resources.set(known, value)
      }
    }
    const names = [
      own(value, '$anchor'),
      own(value, '$dynamicAnchor'),
      id?.startsWith('#') ? id.slice(1) : undefined,
    ]
    for (const name of names) {
      if (typeof name === 'string' && !anchors.has(name))
        anchors.set(name, { kind: 'found', schema: value, base })
    }
    // Sorted, so that a server that shuffles its keys gets the same answer for a name given twice.
    for (const key of Object.keys(value).toSorted())
      if (!DATA.has(key)) queue.push({ value: value[key], base })
  }
  return { anchors, resources }
}
