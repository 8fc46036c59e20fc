/**
 * Owns the strict reading of one value by its schema node: defaults filled in, unknown keys refused. Schemastery's own
 * check lets unknown keys through and prints the refused value (for a union the whole row as JSON), so a header or a
 * token would reach the log. Messages here name path, type and what to write; they never hold a value. Pure.
 */
import { nearest } from './distance.ts'

/** The part of a schemastery node that is read; every node of config-schema.ts fits it. */
export interface ShapeNode {
  readonly type: string
  readonly meta: {
    readonly default?: unknown
    readonly required?: boolean
    readonly pattern?: { readonly source: string }
    readonly comment?: string
    readonly min?: number
    readonly max?: number
    readonly step?: number
  }
  readonly dict?: Readonly<Record<string, ShapeNode>>
  readonly inner?: ShapeNode
  readonly list?: readonly ShapeNode[]
  readonly value?: unknown
}

/** Make the error that is thrown: `path` and a text that goes on from it. */
export type Fault = (path: string, text: string) => Error

export interface Reading {
  readonly fault: Fault
  /** Paths of map entries without a value: they are left out. */
  readonly empty: string[]
}

type Dict = Readonly<Record<string, unknown>>

/** Read a value by a node. `null` and `undefined` mean absent. Throws what `fault` makes. */
export function readNode(node: ShapeNode, value: unknown, path: string, reading: Reading): unknown {
  const given = value ?? node.meta.default
  if (given === undefined) {
    if (node.meta.required) throw reading.fault(path, `is missing; it must be ${expectation(node)}`)
    return undefined
  }
  switch (node.type) {
    case 'object':
      return readObject(node, given, path, reading)
    case 'dict':
      return readDict(node, given, path, reading)
    case 'array':
      return readArray(node, given, path, reading)
    default: {
      const list = node.list?.find(({ type }) => type === 'array')
      if (list !== undefined && Array.isArray(given)) return readArray(list, given, path, reading)
      if (!accepts(node, given)) {
        throw reading.fault(path, `must be ${expectation(node)}${instead(node, given)}`)
      }
      return given
    }
  }
}

/** What a scalar node accepts, in words that follow "must be". */
export function expectation(node: ShapeNode): string {
  const { meta } = node
  switch (node.type) {
    case 'string':
      return meta.comment ?? 'a string'
    case 'boolean':
      return 'true or false'
    case 'number': {
      const sign = (meta.min as number) > 0 ? 'positive' : 'non-negative'
      const kind = meta.step === 1 ? 'integer' : 'finite number'
      return `a ${sign} ${kind}${meta.max === undefined ? '' : ` no greater than ${meta.max}`}`
    }
    default: {
      const orList = node.list?.some(({ type }) => type === 'array') ? ', or a list of rules' : ''
      return `one of ${choices(node).join(', ')}${orList}`
    }
  }
}

/** The constants a union or const node stands for. */
export function choices(node: ShapeNode): readonly unknown[] {
  if (node.list === undefined) return [node.value]
  return node.list.filter(({ type }) => type === 'const').map((choice) => choice.value)
}

/** A name of a value's type for people; never the value. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return isDict(value) ? 'a mapping' : 'an object of a class'
  return `a ${typeof value}`
}

/** Narrow to a plain mapping: also one of another realm, not a date, a map or a list. */
export function isDict(value: unknown): value is Dict {
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** Path of an entry. A name that does not look like one is told by its position: it may be a misplaced secret. */
export function entryPath(path: string, key: string, index: number): string {
  const plain = /^[\w.-]{1,64}$/.test(key)
  if (path === '') return plain ? key : `key ${index + 1}`
  return plain ? `${path}.${key}` : `${path}[entry ${index + 1}]`
}

function readObject(node: ShapeNode, value: unknown, path: string, reading: Reading): Dict {
  const source = requireDict(value, path, reading)
  const dict = node.dict as Readonly<Record<string, ShapeNode>>
  for (const [index, key] of Object.keys(source).entries()) {
    if (Object.hasOwn(dict, key) || source[key] === undefined) continue
    const what = path === '' ? 'configuration key' : `${path} option`
    throw reading.fault(entryPath(path, key, index), `is not a ${what}; ${meant(key, Object.keys(dict))}`)
  }
  const result: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(dict)) {
    const read = readNode(inner, source[key], entryPath(path, key, 0), reading)
    if (read !== undefined) result[key] = read
  }
  return result
}

/** Which of these keys is meant; all of them where none is near. */
function meant(key: string, keys: readonly string[]): string {
  const near = nearestKey(key, keys)
  return near === undefined ? `write one of ${keys.join(', ')}` : `did you mean ${near}?`
}

/** A key that this one is a slip of, or a longer form of, such as `environment` of `env`. */
export function nearestKey(key: string, keys: readonly string[]): string | undefined {
  return nearest(key, keys) ?? keys.find((known) => key.toLowerCase().startsWith(known.toLowerCase()))
}

function readDict(node: ShapeNode, value: unknown, path: string, reading: Reading): Dict {
  const read: [string, unknown][] = []
  for (const [index, [key, entry]] of Object.entries(requireDict(value, path, reading)).entries()) {
    const at = entryPath(path, key, index)
    const taken = readNode(node.inner as ShapeNode, entry, at, reading)
    if (taken === undefined) reading.empty.push(at)
    else read.push([key, taken])
  }
  return Object.fromEntries(read)
}

function readArray(node: ShapeNode, value: unknown, path: string, reading: Reading): readonly unknown[] {
  if (!Array.isArray(value)) throw reading.fault(path, `must be a list, not ${typeName(value)}`)
  // Array.from also visits holes.
  return Array.from(value, (entry: unknown, index) => {
    const taken = readNode(node.inner as ShapeNode, entry, `${path}[${index}]`, reading)
    if (taken !== undefined) return taken
    throw reading.fault(`${path}[${index}]`, 'must be a string, not nothing; write a value or remove it')
  })
}

function requireDict(value: unknown, path: string, reading: Reading): Dict {
  if (isDict(value)) return value
  throw reading.fault(path, `must be a mapping of names to values, not ${typeName(value)}`)
}

function accepts(node: ShapeNode, value: unknown): boolean {
  const { meta } = node
  switch (node.type) {
    case 'string':
      return typeof value === 'string' && (!meta.pattern || new RegExp(meta.pattern.source).test(value))
    case 'boolean':
      return typeof value === 'boolean'
    case 'number':
      return typeof value === 'number' && inRange(meta, value)
    default:
      return choices(node).includes(value)
  }
}

function inRange(meta: ShapeNode['meta'], value: number): boolean {
  if (meta.step === 1 ? !Number.isSafeInteger(value) : !Number.isFinite(value)) return false
  return value >= (meta.min as number) && value <= (meta.max ?? Number.MAX_SAFE_INTEGER)
}

/** What is wrong with the type, and how to write it; nothing where only the value is out of bounds. */
function instead(node: ShapeNode, value: unknown): string {
  const scalarText = node.type === 'number' || node.type === 'boolean' ? typeof value === 'string' : false
  if (scalarText) return ', not a string; write it without quotes'
  if (typeof value === node.type) return ''
  if (node.type !== 'string') return typeof value === 'string' ? '' : `, not ${typeName(value)}`
  const quotable = typeof value === 'number' || typeof value === 'boolean'
  return `, not ${typeName(value)}${quotable ? '; put it in quotes' : ''}`
}
