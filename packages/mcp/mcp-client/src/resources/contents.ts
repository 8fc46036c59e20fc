/**
 * Owns the shape in which the contents of a resource go on: as content blocks of a call's result, which the projection
 * shows like any other. Images and audio become blocks of their own kind. Pure.
 */
import { isJsonObject } from '../json.ts'
import type { JsonObject, JsonValue } from '../types.ts'

/** A result of tools/call with the contents of a result of resources/read. Untrusted in, untrusted out. */
export function toCallResult(result: JsonObject, notes: readonly string[] = []): JsonObject {
  const { contents } = result
  const blocks: JsonValue[] = Array.isArray(contents) ? contents.map(blockOf) : []
  if (blocks.length === 0) blocks.push({ type: 'text', text: '(the resource has no contents)' })
  return { content: [...blocks, ...notes.map((text) => ({ type: 'text', text }))] }
}

function blockOf(content: JsonValue): JsonValue {
  if (!isJsonObject(content)) return { type: 'resource', resource: content }
  const { blob, mimeType } = content
  if (typeof blob === 'string' && typeof mimeType === 'string') {
    const [kind] = mimeType.split('/')
    if (kind === 'image' || kind === 'audio') return { type: kind, data: blob, mimeType }
  }
  return { type: 'resource', resource: content }
}
