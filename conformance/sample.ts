/** Owns the making of plausible tool arguments from an input schema: what a model would send. Pure. */
import type { JsonObject, JsonValue } from '../packages/mcp/mcp-client/src/types.ts'

/** How deep nested objects are filled in; a schema may refer to itself. */
const MAX_DEPTH = 8

/** Arguments with every required property, and nothing else. */
export function sampleArguments(inputSchema: JsonObject): JsonObject {
  const value = sampleOf(inputSchema, inputSchema, 0)
  return isObject(value) ? value : {}
}

function sampleOf(schema: JsonValue | undefined, root: JsonObject, depth: number): JsonValue {
  if (!isObject(schema) || depth > MAX_DEPTH) return 'text'
  const { $ref: reference, const: only, default: usual, enum: choices, type } = schema
  if (typeof reference === 'string') return sampleOf(localTarget(reference, root), root, depth + 1)
  if (only !== undefined) return only
  if (usual !== undefined) return usual
  if (Array.isArray(choices)) return choices[0] ?? null
  switch (type) {
    case 'integer':
    case 'number':
      return 5
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return []
    case 'object':
      return sampleProperties(schema, root, depth)
    default:
      return 'text'
  }
}

function sampleProperties(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const { properties, required } = schema
  if (!isObject(properties) || !Array.isArray(required)) return {}
  const names = required.filter((name) => typeof name === 'string')
  return Object.fromEntries(names.map((name) => [name, sampleOf(properties[name], root, depth + 1)]))
}

/** What `#/$defs/name` points at; a reference to anywhere else is nobody's to follow. */
function localTarget(reference: string, root: JsonObject): JsonValue | undefined {
  if (!reference.startsWith('#/')) return undefined
  const path = reference.slice(2).split('/')
  return path.reduce<JsonValue | undefined>((at, key) => (isObject(at) ? at[key] : undefined), root)
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
