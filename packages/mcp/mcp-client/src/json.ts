/** Owns the telling apart of parsed JSON values. Pure. */
import type { JsonObject } from './types.ts'

/** True for an object that is no array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** JSON of a parsed value; words in its place where it is nested too deeply to be written. Never throws. */
export function jsonText(value: unknown): string {
  try {
    return String(JSON.stringify(value))
  } catch {
    return '(nested too deeply to be shown)' // RangeError: JSON.parse reads deeper than JSON.stringify writes
  }
}

/**
 * Whether two parsed JSON values say the same, whatever the order of their keys. Fast for values that do; false also for
 * what is nested too deeply to be compared. Never throws.
 */
export function isSameJson(left: unknown, right: unknown): boolean {
  try {
    return isSame(left, right)
  } catch {
    return false // RangeError: JSON.parse reads deeper than any function here walks
  }
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false
    return left.every((item, at) => isSame(item, right[at]))
  }
  const keys = Object.keys(left)
  if (Array.isArray(right) || keys.length !== Object.keys(right).length) return false
  for (const key of keys) {
    if (!Object.hasOwn(right, key)) return false
    if (!isSame((left as JsonObject)[key], (right as JsonObject)[key])) return false
  }
  return true
}
