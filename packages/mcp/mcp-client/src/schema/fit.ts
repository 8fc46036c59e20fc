/**
 * Owns the shrinking of a schema into its bounds: from everything to little, the first that fits is taken, so that a
 * large schema loses evenly and not only at its end. Pure.
 */
import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'
import { linkTo } from './layers.ts'
import type { Source } from './layers.ts'
import { shapePlain } from './plain.ts'
import { referencesOf } from './references.ts'
import { isSpent, note, startRun } from './run.ts'
import type { Bounds, Profile, Rewrite, Run } from './run.ts'

/** UTF-8 bytes of one tool's schema. */
export const MAX_SCHEMA_BYTES = 64 * 1024

const FULL: Bounds = { depth: 32, textBytes: 2_048, values: 1_000 }
const LADDER: readonly Bounds[] = [
  FULL,
  { depth: 32, textBytes: 400, values: 200 },
  { depth: 12, textBytes: 400, values: 100 },
  { depth: 8, textBytes: 240, values: 50 },
  { depth: 6, textBytes: 240, values: 50 },
  { depth: 4, textBytes: 160, values: 20 },
  { depth: 3, textBytes: 120, values: 20 },
  { depth: 2, textBytes: 120, values: 20 },
  { depth: 1, textBytes: 80, values: 8 },
  { depth: 1, textBytes: 0, values: 0 },
]

type Shaping = (run: Run, source: Source) => JsonSchemaNode | undefined

/** A node that fits, and what was rewritten for it. */
export interface Fitted {
  readonly node: JsonSchemaNode
  readonly rewrites: readonly Rewrite[]
}

const NOWHERE = referencesOf({})

/** The node of a plain schema, which fits always; `undefined` for one that is not plain. */
export function fitPlain(profile: Profile, document: unknown): Fitted | undefined {
  const run = startRun(profile, NOWHERE, FULL)
  const node = shapePlain(run, document)
  return node === undefined ? undefined : { node, rewrites: run.rewrites }
}

/** The fullest node that fits; `undefined` where shaping finds none, or where even the least is too large. */
export function fit(profile: Profile, document: unknown, shaping: Shaping): Fitted | undefined {
  const references = referencesOf(document)
  const source: Source = { schema: document, base: references.root, chain: linkTo(document) }
  let deepest = Number.POSITIVE_INFINITY
  for (const [rung, bounds] of LADDER.entries()) {
    if (bounds.depth > deepest) continue
    const run = startRun(profile, references, bounds)
    if (rung > 0) note(run, undefined, '', 'too-large')
    const node = shaping(run, source)
    // Too many places at one depth are too many with shorter texts too; halving ends a bomb in five attempts.
    if (isSpent(run)) deepest = bounds.depth / 2
    else if (node === undefined) return undefined
    else if (Buffer.byteLength(JSON.stringify(node)) <= MAX_SCHEMA_BYTES)
      return { node, rewrites: run.rewrites }
  }
  return undefined
}
