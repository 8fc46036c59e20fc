/**
 * Owns what the model is given for a tool's arguments: the DeepSeek provider profile. It is the host's own subset, so
 * that Code Mode has types for it, with an object at the root, so that a function-calling endpoint takes it. Pure,
 * deterministic whatever order a server writes its keys in, idempotent, bounded in depth, size and time.
 */
import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'
import type { JsonObject } from '../types.ts'
import { fit, fitPlain, MAX_SCHEMA_BYTES } from './fit.ts'
import { isRecord, own } from './record.ts'
import { note } from './run.ts'
import type { Rewrite } from './run.ts'
import { shapeRoot } from './shape.ts'
import { look } from './view.ts'

export type { Rewrite, RewriteReason } from './run.ts'
export { normalizeOutput } from './output.ts'
export { safeText } from './prose.ts'

export type Normalized =
  | {
      readonly ok: true
      readonly schema: JsonObject
      readonly rewrites: readonly Rewrite[]
    }
  /** The tool cannot be expressed; the reason is for the operator. */
  | { readonly ok: false; readonly reason: string }

/**
 * What the model is given for a tool's arguments. Missing, `null`, `true` and `{}` are an object without arguments.
 * Not `ok` where no object can be valid, or where even the names of the arguments are too many.
 */
export function normalizeInput(schema: unknown): Normalized {
  if (schema === false) return { ok: false, reason: 'the input schema allows no arguments at all' }
  const document = schema === undefined || schema === null || schema === true ? {} : schema
  if (!isRecord(document)) {
    return {
      ok: false,
      reason: `the input schema is ${Array.isArray(document) ? 'an array' : `a ${typeof document}`}`,
    }
  }
  let reason = ''
  const plain = own(document, 'type') === 'object' ? fitPlain('input', document) : undefined
  if (plain !== undefined) return { ok: true, schema: asRoot(plain.node), rewrites: plain.rewrites }
  const fitted = fit('input', document, (run, source) => {
    const view = look(run, [source], undefined)
    if (view.never || (view.types !== undefined && !view.types.has('object'))) {
      reason = 'the input schema does not take an object'
      return undefined
    }
    if (view.types?.size !== 1 || own(document, 'type') !== 'object')
      note(run, undefined, 'type', 'root-object')
    // An enum of whole argument objects is no list that a model could pick from.
    const { values: _values, ...rest } = view
    const root = { ...rest, types: new Set(['object'] as const), nullable: false }
    return asRoot(shapeRoot({ run, place: undefined, depth: 0, nesting: 0 }, root))
  })
  if (fitted !== undefined) return { ok: true, schema: fitted.node as JsonObject, rewrites: fitted.rewrites }
  return {
    ok: false,
    reason: reason === '' ? `the input schema does not fit into ${MAX_SCHEMA_BYTES} bytes` : reason,
  }
}

/** An object with its properties told, even where there are none. */
function asRoot(node: JsonSchemaNode): JsonSchemaNode & JsonObject {
  const { type: _type, description, properties = {}, ...others } = node
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties,
    ...others,
  } as JsonSchemaNode & JsonObject
}
