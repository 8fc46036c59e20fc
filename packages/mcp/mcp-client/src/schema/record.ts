/**
 * Owns the safe handling of a peer's JSON objects: own properties only, `__proto__` and `constructor` are plain
 * data, and copies have one canonical form. Pure.
 */
import type { JsonValue } from '../types.ts'
import { isSafeValue } from './prose.ts'

/** Any JSON object of a peer, not yet read. */
export type Dict = Readonly<Record<string, unknown>>

/** True for an object that is no array. */
export function isRecord(value: unknown): value is Dict {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The own property, never one of the prototype. */
export function own(record: Dict, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

/** Set an own property; the one key that assignment treats otherwise is defined. */
export function put<Value>(record: Record<string, Value>, key: string, value: Value): void {
  if (key !== '__proto__') record[key] = value
  else Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true })
}

const MAX_VALUE_NODES = 200
const MAX_VALUE_DEPTH = 16

/**
 * A canonical copy of a small JSON value: keys sorted, no negative zero. `undefined` where the value is large, deep,
 * or holds text that must not reach a prompt: it is an annotation then that we can do without.
 */
export function tidyValue(value: unknown): JsonValue | undefined {
  let nodes = 0
  const copy = (from: unknown, depth: number): JsonValue | undefined => {
    nodes += 1
    if (nodes > MAX_VALUE_NODES || depth > MAX_VALUE_DEPTH) return undefined
    if (typeof from === 'string') return isSafeValue(from) ? from : undefined
    if (typeof from === 'number') return Number.isFinite(from) ? from + 0 : undefined
    if (typeof from === 'boolean' || from === null) return from
    if (Array.isArray(from)) {
      const items: JsonValue[] = []
      for (const item of from) {
        const copied = copy(item, depth + 1)
        if (copied === undefined) return undefined
        items.push(copied)
      }
      return items
    }
    if (!isRecord(from)) return undefined
    const to: Record<string, JsonValue> = {}
    for (const key of Object.keys(from).toSorted()) {
      const copied = isSafeValue(key) ? copy(from[key], depth + 1) : undefined
      if (copied === undefined) return undefined
      put(to, key, copied)
    }
    return to
  }
  return copy(value, 0)
}

/** Equal for equal JSON values; a value too large to compare is equal to nothing. */
export function valueKey(value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`
  if (typeof value !== 'object' || value === null) return value === 0 ? 0 : value
  const tidy = tidyValue(value)
  return tidy === undefined ? value : JSON.stringify(tidy)
}
