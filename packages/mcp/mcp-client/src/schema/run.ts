/**
 * Owns the bookkeeping of one rewriting: what may still be spent, where we are, and which rewrites were made and why.
 */
import { cleanLine } from '../text.ts'
import type { Meter } from './layers.ts'
import type { References } from './references.ts'

/** Why something of a server's schema was not passed on as it is. */
export type RewriteReason =
  /** The root was made an object with properties. */
  | 'root-object'
  /** A local reference was replaced by what it names. */
  | 'reference-inlined'
  /** A reference into another document: never fetched, so anything is allowed there. */
  | 'reference-foreign'
  /** A reference to nothing: anything is allowed there. */
  | 'reference-missing'
  /** A shape that contains itself was cut at its second occurrence. */
  | 'recursion-cut'
  /** `allOf` became one schema. */
  | 'all-merged'
  /** `anyOf` or `oneOf` beside other keywords became one object whose alternatives are told in words. */
  | 'alternatives-told'
  /** `anyOf` became `oneOf`, or branches were joined. */
  | 'union-rewritten'
  /** A branch that no call can satisfy was left out. */
  | 'branch-dropped'
  /** Branches that could both match became their common type. */
  | 'union-widened'
  /** A list of types or `nullable` became `oneOf`. */
  | 'type-list'
  /** The type was left out by the server and follows from other keywords. */
  | 'type-inferred'
  /** The type is none of JSON Schema's. */
  | 'type-unknown'
  /** `const` became a one-value `enum`. */
  | 'const-as-enum'
  /** An `enum` was split by type, or its structured values are told in words. */
  | 'enum-split'
  /** A tuple became a list. */
  | 'tuple-as-list'
  /** `true` or `false` in place of a schema. */
  | 'boolean-schema'
  /** The keyword is told in the description. */
  | 'told'
  /** The keyword's value is not what JSON Schema says it is. */
  | 'malformed'
  /** Nothing can be valid there. */
  | 'contradiction'
  /** A name or a value has hidden characters or template braces. */
  | 'unsafe-text'
  /** A default or an example is too large, or holds text that must not reach a prompt. */
  | 'annotation-dropped'
  /** The form below is not shown. */
  | 'too-deep'
  /** The whole schema was shortened to fit. */
  | 'too-large'

/** One deviation from the server's schema, for status and doctor. */
export interface Rewrite {
  /** Where, such as `/properties/filter/anyOf`; clean and capped. */
  readonly path: string
  readonly keyword: string
  readonly reason: RewriteReason
}

/** `input` is advice to a model and may be narrower; `output` is enforced and may only be wider. */
export type Profile = 'input' | 'output'

/** What one attempt may produce. */
export interface Bounds {
  /** Levels of nesting that are shown. */
  readonly depth: number
  /** UTF-8 bytes of one description. */
  readonly textBytes: number
  /** Values of one enum that are listed. */
  readonly values: number
}

/** A place in the schema, innermost first; turned to text only for a rewrite. */
export interface Place {
  readonly key: string
  readonly up: Place | undefined
}

export interface Run {
  readonly profile: Profile
  readonly references: References
  readonly bounds: Bounds
  /** Places looked at. */
  readonly meter: Meter
  /** Typed nodes written. */
  readonly nodes: Meter
  readonly rewrites: Rewrite[]
}

/** One place of the schema on its way to a node. */
export interface Site {
  readonly run: Run
  readonly place: Place | undefined
  /** Levels of objects and lists above. */
  readonly depth: number
  /** Unions and conditions inside each other at this one level. */
  readonly nesting: number
}

const MAX_REWRITES = 100
const MAX_STEPS = 15_000
const MAX_NODES = 5_000
const MAX_SEGMENTS = 8

export function startRun(profile: Profile, references: References, bounds: Bounds): Run {
  return { profile, references, bounds, meter: { left: MAX_STEPS }, nodes: { left: MAX_NODES }, rewrites: [] }
}

/** True once the schema has proved too large for these bounds: the result is to be thrown away. */
export function isSpent(run: Run): boolean {
  return run.meter.left < 0 || run.nodes.left < 0
}

/** The site of a property or of the items. */
export function below({ run, place, depth }: Site, key: string): Site {
  return { run, place: child(place, key), depth: depth + 1, nesting: 0 }
}

export function child(up: Place | undefined, key: string): Place {
  return { key, up }
}

/** What a title says that the name does not: generators title a property with its own name. */
export function titleOf(title: string, place: Place | undefined): string {
  if (place === undefined || title === '') return ''
  return plainWord(title.slice(0, 200)) === plainWord(place.key) ? '' : title
}

function plainWord(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

/** Remember a rewrite; the first hundred are enough for anyone. */
export function note(run: Run, place: Place | undefined, keyword: string, reason: RewriteReason): void {
  if (run.rewrites.length >= MAX_REWRITES) return
  const rewrite = { path: pathOf(place), keyword: cleanLine(keyword, 64), reason }
  const isKnown = run.rewrites.some(
    (other) => other.path === rewrite.path && other.keyword === rewrite.keyword && other.reason === reason,
  )
  if (!isKnown) run.rewrites.push(rewrite)
}

function pathOf(place: Place | undefined): string {
  const segments: string[] = []
  for (let at = place; at !== undefined; at = at.up) segments.unshift(cleanLine(at.key, 64))
  const shown = segments.length > MAX_SEGMENTS ? ['…', ...segments.slice(-MAX_SEGMENTS)] : segments
  return shown.length === 0 ? '/' : `/${shown.join('/')}`
}
