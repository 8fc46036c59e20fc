/**
 * Owns the flattening of one place of a schema: `$ref` followed and `allOf` joined give the layers that all apply
 * there. Used by the rewriting and by the checking of arguments alike. Pure, iterative, bounded by the caller's meter.
 */
import { isRecord, own } from './record.ts'
import type { Dict } from './record.ts'
import { baseWithin } from './references.ts'
import type { References } from './references.ts'

/** The references that were followed on the way to a place, innermost first. */
export interface Chain {
  readonly target: unknown
  readonly up: Chain | undefined
  readonly length: number
}

/** A schema as found in the document, with what its references are relative to. */
export interface Source {
  readonly schema: unknown
  readonly base: Dict
  readonly chain: Chain | undefined
}

/** A source that is an object. */
export interface Layer extends Source {
  readonly schema: Dict
}

/** What was met on the way that a reader may want to know. */
export type Finding =
  | { readonly kind: 'inlined' | 'foreign' | 'missing' | 'merged' | 'malformed' | 'boolean' }
  | { readonly kind: 'recursive'; readonly target: unknown; readonly ref: string }

export interface Expansion {
  readonly layers: readonly Layer[]
  readonly findings: readonly Finding[]
  /** Nothing can be valid here: a `false` schema is among the layers. */
  readonly never: boolean
}

/** Counts work down; `spent` once it is used up. What follows then is not to be trusted as complete. */
export interface Meter {
  left: number
}

/** True while work is left; takes one unit. */
export function spend(meter: Meter): boolean {
  meter.left -= 1
  return meter.left >= 0
}

/** References inside references that are followed: honest schemas need a handful. */
const MAX_CHAIN = 64

export function linkTo(target: unknown, up?: Chain): Chain {
  return { target, up, length: (up?.length ?? 0) + 1 }
}

/** Everything that applies at one place, in document order. */
export function expand(sources: readonly Source[], references: References, meter: Meter): Expansion {
  const queue: Source[] = [...sources]
  const layers: Layer[] = []
  const findings: Finding[] = []
  let never = false
  for (let at = 0; at < queue.length && spend(meter); at += 1) {
    const source = queue[at] as Source
    const { schema, chain } = source
    if (!isRecord(schema)) {
      if (typeof schema === 'boolean') findings.push({ kind: 'boolean' })
      else if (schema !== undefined && schema !== null) findings.push({ kind: 'malformed' })
      if (schema === false) never = true
      continue
    }
    const base = baseWithin(schema, source.base)
    const ref = referenceOf(schema)
    // Before 2019-09 a reference replaces its siblings; texts beside it were meant all the same.
    layers.push({
      schema: ref !== undefined && isEarly(references.root) ? textsOf(schema) : schema,
      base,
      chain,
    })
    if (ref !== undefined) {
      const target = references.resolve(ref, base)
      if (target.kind !== 'found') findings.push({ kind: target.kind })
      else if (isAmong(target.schema, chain) || (chain?.length ?? 0) >= MAX_CHAIN)
        findings.push({ kind: 'recursive', target: target.schema, ref })
      else {
        findings.push({ kind: 'inlined' })
        queue.push({ schema: target.schema, base: target.base, chain: linkTo(target.schema, chain) })
      }
      if (isEarly(references.root)) continue
    }
    const members = own(schema, 'allOf')
    if (Array.isArray(members) && members.length > 0) {
      findings.push({ kind: 'merged' })
      for (const member of members) queue.push({ schema: member, base, chain })
    }
  }
  return { layers, findings, never }
}

/** A child of a layer. */
export function within(layer: Layer, schema: unknown): Source {
  return { schema, base: layer.base, chain: layer.chain }
}

function referenceOf(schema: Dict): string | undefined {
  for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) {
    const ref = own(schema, keyword)
    if (typeof ref === 'string') return ref
  }
  return undefined
}

function isEarly(root: Dict): boolean {
  const dialect = own(root, '$schema')
  return typeof dialect === 'string' && /draft-0[3-7]/.test(dialect)
}

function textsOf(schema: Dict): Dict {
  const texts: Record<string, unknown> = {}
  for (const key of ['title', 'description', 'default', 'examples']) {
    if (Object.hasOwn(schema, key)) texts[key] = schema[key]
  }
  return texts
}

function isAmong(target: unknown, chain: Chain | undefined): boolean {
  for (let at = chain; at !== undefined; at = at.up) if (at.target === target) return true
  return false
}
