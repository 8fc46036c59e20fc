/**
 * Owns what the model is given of one tool as a whole: its description, its arguments and its results. What must be
 * said of the arguments as a whole goes into the tool's description, since Code Mode does not show the description at
 * the root of a schema. Pure.
 */
import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'
import type { CatalogEntry, JsonObject } from '../types.ts'
import { normalizeInput } from './normalize.ts'
import { normalizeOutput } from './output.ts'
import { safeText } from './prose.ts'
import type { Rewrite } from './run.ts'

/** Longest description of one tool that the model is given, in UTF-8 bytes; notes on its arguments come on top. */
const MAX_DESCRIPTION_BYTES = 16 * 1024

export type Offer =
  | {
      readonly ok: true
      readonly description: string
      /** Without a description at its root. */
      readonly parameters: JsonObject
      /** For structuredContent; absent where anything is allowed. */
      readonly outputSchema: JsonSchemaNode | undefined
      /** Of both schemas; the paths of the output schema begin with `output:`. */
      readonly rewrites: readonly Rewrite[]
    }
  /** The tool cannot be expressed; the reason is for the operator. */
  | { readonly ok: false; readonly reason: string }

/** What the model is given of one tool. */
export function toOffer(entry: Pick<CatalogEntry, 'description' | 'inputSchema' | 'outputSchema'>): Offer {
  const input = normalizeInput(entry.inputSchema)
  if (!input.ok) return input
  const output = entry.outputSchema === undefined ? { rewrites: [] } : normalizeOutput(entry.outputSchema)
  const { description: notes, ...parameters } = input.schema
  return {
    ok: true,
    description: joined(safeText(entry.description, MAX_DESCRIPTION_BYTES), String(notes ?? '')),
    parameters,
    outputSchema: output.schema,
    rewrites: [
      ...input.rewrites,
      ...output.rewrites.map((rewrite) => ({ ...rewrite, path: `output:${rewrite.path}` })),
    ],
  }
}

/** Generators put the same text at both places; a tool says it once. */
function joined(text: string, notes: string): string {
  if (notes === '' || text.includes(notes)) return text
  return text === '' ? notes : `${text}\n\n${notes}`
}
