/**
 * Owns the shape in which the contents of a resource go on: as content blocks of a call's result, which the projection
 * shows like any other. Images and audio become blocks of their own kind. Pure.
 */
import { isJsonObject } from '../json.ts'
import type { JsonObject, JsonValue } from '../types.ts'

/** A result of tools/call with the contents of a result of resources/read. Untrusted in, untrusted out. */
export function toCallResult(result: JsonObject, notes: readonly string[] = []): JsonObject {
  const { contents } = result
  const found = Array.isArray(contents) ? contents : []
  const blocks = found.flatMap((content) => blocksOf(content, found.length > 1))
  if (blocks.length === 0) blocks.push({ type: 'text', text: '(the resource has no contents)' })
  return { content: [...blocks, ...notes.map((text) => ({ type: 'text', text }))] }
}

/** An image has no place for its URI: where there are several contents, it stands before it. */
function blocksOf(content: JsonValue, isOneOfMany: boolean): JsonValue[] {
  if (!isJsonObject(content)) return [{ type: 'resource', resource: content }]
  const { uri, blob, mimeType } = content
  if (typeof blob === 'string' && typeof mimeType === 'string') {
    const [kind] = mimeType.split('/')
    if (kind === 'image' || kind === 'audio') {
      const name = isOneOfMany && typeof uri === 'string' ? [{ type: 'text', text: `Resource ${uri}:` }] : []
      return [...name, { type: kind, data: blob, mimeType }]
    }
  }
  return [{ type: 'resource', resource: content }]
}
