/** Owns what the host enforces for structuredContent: its own subset, and only ever wider than the server's schema. */
import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'
import { fit, fitPlain } from './fit.ts'
import type { Rewrite } from './run.ts'
import { shape } from './shape.ts'

/**
 * The host's enforced subset for a tool's structuredContent. `schema` is absent where nothing of the server's schema
 * can be expressed: any value then. Every value that the server's schema allows is allowed by it.
 */
export function normalizeOutput(schema: unknown): {
  readonly schema?: JsonSchemaNode
  readonly rewrites: readonly Rewrite[]
} {
  const fitted =
    fitPlain('output', schema) ??
    fit('output', schema, (run, source) => shape({ run, place: undefined, depth: 0, nesting: 0 }, [source]))
  if (fitted === undefined) return { rewrites: [] }
  const { node, rewrites } = fitted
  return node.type === undefined && node.oneOf === undefined ? { rewrites } : { schema: node, rewrites }
}
