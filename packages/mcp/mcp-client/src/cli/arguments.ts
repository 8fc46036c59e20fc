/** Owns the arguments of a call as people type them: one JSON object, or `key=value` words. Pure. */
import { isJsonObject } from '../json.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { UsageError } from './exit.ts'

/**
 * Read the words after the tool's name. A value of `key=value` is JSON where it parses as JSON, and text otherwise;
 * `key:=value` insists on JSON, `key==value` on text. `a.b=1` is the member `b` of the object `a`.
 * @throws UsageError
 */
export function readArguments(words: readonly string[]): JsonObject {
  const [first = ''] = words
  if (words.length === 1 && /^\s*[{[]/.test(first)) return readObject(first)
  const result: JsonObject = {}
  for (const word of words) {
    const [, key, operator, text] = /^([^=:]+)(:=|==|=)(.*)$/s.exec(word) ?? []
    if (key === undefined || operator === undefined || text === undefined) {
      throw new UsageError('arguments are one JSON object, or words such as key=value')
    }
    place(result, key.split('.'), valueOf(text, operator, key))
  }
  return result
}

function readObject(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new UsageError(`the arguments are no JSON: ${(error as Error).message}`)
  }
  if (isJsonObject(value)) return value
  throw new UsageError('the arguments must be one JSON object, not a list')
}

function valueOf(text: string, operator: string, key: string): JsonValue {
  if (operator === '==') return text
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    if (operator === ':=') throw new UsageError(`${key}:= needs a JSON value`)
    return text
  }
}

function place(target: JsonObject, path: readonly string[], value: JsonValue): void {
  const [key = '', ...rest] = path
  if (rest.length === 0) return define(target, key, value)
  const inner = Object.hasOwn(target, key) ? target[key] : undefined
  const object = isJsonObject(inner) ? inner : {}
  define(target, key, object)
  place(object, rest, value)
}

/** An own property, whatever its name is. */
function define(target: JsonObject, key: string, value: JsonValue): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}
