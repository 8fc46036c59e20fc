/** Owns the telling apart of parsed JSON values. Pure. */
import type { JsonObject } from './types.ts'

/** True for an object that is no array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
