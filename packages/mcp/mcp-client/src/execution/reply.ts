/**
 * Owns the reading of one raw tools/call result: untrusted JSON in, the canonical value or a named fault out. What is
 * plain is repaired; what is not is an error of its own call alone. Pure, but for repairs in the value itself.
 */
import { validateJsonSchemaValue } from '@deepseek-ai/dsh-tools'
import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'
import { jsonText } from '../json.ts'
import type { CanonicalResult } from '../projection/result.ts'
import type { JsonObject, JsonValue } from '../types.ts'

/** Nesting that a result may have. Deeper JSON overflows the stack of the hosts it passes through. */
export const MAX_DEPTH = 512

export type Reply =
  | { readonly kind: 'success'; readonly value: CanonicalResult }
  /** The tool ran and says that it failed. */
  | { readonly kind: 'failure'; readonly value: CanonicalResult }
  | { readonly kind: 'unsupported' | 'invalid'; readonly reason: string }

/** Read a raw result. Takes ownership of it: numbers that are no lossless JSON are repaired in place. */
export function readReply(raw: JsonObject, outputSchema: JsonSchemaNode | undefined): Reply {
  const { resultType } = raw
  if (resultType !== undefined && resultType !== 'complete') {
    return { kind: 'unsupported', reason: resultTypeFault(resultType) }
  }
  if (!repairJson(raw)) return { kind: 'invalid', reason: `a result nested deeper than ${MAX_DEPTH} levels` }
  const content = readContent(raw)
  if (content === undefined)
    return { kind: 'invalid', reason: 'a result whose content is no list of content blocks' }
  const structured = raw['structuredContent']
  if (raw['isError'] === true)
    return { kind: 'failure', value: withStructured(content, structured, undefined) }
  return { kind: 'success', value: withStructured(content, structured, outputSchema) }
}

/**
 * The registry enforces the declared schema on what it is handed, so what does not fit goes under another name:
 * Code Mode's type stays true and nothing is lost.
 */
function withStructured(
  content: JsonValue[],
  structured: JsonValue | undefined,
  schema: JsonSchemaNode | undefined,
): CanonicalResult {
  if (structured === undefined) return { content }
  const fits = schema === undefined || validateJsonSchemaValue(schema, structured).length === 0
  return fits ? { content, structuredContent: structured } : { content, invalidStructuredContent: structured }
}

function readContent(raw: JsonObject): JsonValue[] | undefined {
  const { content } = raw
  if (Array.isArray(content)) return content
  if (typeof content === 'string') return [textBlock(content)]
  if (content === undefined || content === null) {
    // Revision 2024-10-07 had `toolResult` in its place.
    if (raw['toolResult'] !== undefined) return [textBlock(JSON.stringify(raw['toolResult']))]
    return raw['structuredContent'] === undefined ? [textBlock('(no output)')] : []
  }
  return typeof content === 'object' && typeof content['type'] === 'string' ? [content] : undefined
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text }
}

function resultTypeFault(resultType: JsonValue): string {
  return resultType === 'input_required'
    ? 'further input, which this client did not offer to give'
    : `a result of the unknown type ${jsonText(resultType).slice(0, 64)}`
}

/**
 * Make a parsed value lossless JSON, as the registry demands: `-0` becomes 0, and a number beyond the range (`1e400`)
 * becomes null, as `JSON.stringify` has it. False when it is nested too deep. Iterative.
 */
function repairJson(root: JsonObject): boolean {
  const pending: { node: Record<string, JsonValue>; depth: number }[] = [{ node: root, depth: 0 }]
  for (let task = pending.pop(); task !== undefined; task = pending.pop()) {
    const { node, depth } = task
    if (depth > MAX_DEPTH) return false
    for (const key of Object.keys(node)) {
      const value = node[key]
      if (typeof value === 'number') {
        if (Object.is(value, -0)) node[key] = 0
        else if (!Number.isFinite(value)) node[key] = null
      } else if (typeof value === 'object' && value !== null) {
        pending.push({ node: value as Record<string, JsonValue>, depth: depth + 1 })
      }
    }
  }
  return true
}
