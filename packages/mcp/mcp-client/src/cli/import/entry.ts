/**
 * Owns the reading of one entry of a foreign file, key by key: a value of a wrong type costs the server, numbers and
 * booleans where a text belongs are taken as text, and keys that nobody asked for are remembered.
 */
import { typeName } from '../../config-reader.ts'
import { isJsonObject } from '../../json.ts'
import { ImportFault } from './foreign-server.ts'

export interface Entry {
  /** The value as it is, counted as asked for. `null` is absent. */
  raw(key: string): unknown
  text(key: string): string | undefined
  flag(key: string): boolean | undefined
  /** A number above zero. */
  positive(key: string): number | undefined
  list(key: string): readonly string[] | undefined
  map(key: string): readonly (readonly [string, string])[]
  /** Keys with a value that were not asked for. */
  rest(): string[]
}

/** Open one entry. Throws ImportFault where it is no mapping; so do the methods for a wrong type. */
export function openEntry(value: unknown, note: (text: string) => void): Entry {
  if (!isJsonObject(value))
    throw new ImportFault(`The entry is ${typeName(value)}, not a mapping of keys to values.`)
  const source: Readonly<Record<string, unknown>> = value
  const asked = new Set<string>()
  const raw = (key: string): unknown => {
    asked.add(key)
    return Object.hasOwn(source, key) ? (source[key] ?? undefined) : undefined
  }
  return {
    raw,
    text: (key) => {
      const found = raw(key)
      return found === undefined ? undefined : textOf(found, key)
    },
    flag: (key) => {
      const found = raw(key)
      if (found === undefined || typeof found === 'boolean') return found
      throw new ImportFault(`${key} must be true or false, not ${typeName(found)}.`)
    },
    positive: (key) => {
      const found = raw(key)
      if (found === undefined) return undefined
      if (typeof found === 'number' && found > 0 && Number.isFinite(found)) return found
      throw new ImportFault(`${key} must be a number above zero.`)
    },
    list: (key) => {
      const found = raw(key)
      if (found === undefined) return undefined
      if (!Array.isArray(found)) throw new ImportFault(`${key} must be a list, not ${typeName(found)}.`)
      return found.map((item, index) => textOf(item, `${key}[${index}]`))
    },
    map: (key) => {
      const found = raw(key)
      if (found === undefined) return []
      if (!isJsonObject(found)) {
        throw new ImportFault(`${key} must be a mapping of names to values, not ${typeName(found)}.`)
      }
      return Object.entries(found).flatMap(([name, item], index) => {
        if (item !== null) return [[name, textOf(item, `${key}, entry ${index + 1}`)] as const]
        note(`${key}, entry ${index + 1}, has no value and is left out.`)
        return []
      })
    },
    rest: () =>
      Object.keys(source).filter((key) => !asked.has(key) && (source[key] ?? undefined) !== undefined),
  }
}

function textOf(value: unknown, where: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new ImportFault(`${where} must be a text, not ${typeName(value)}.`)
}
