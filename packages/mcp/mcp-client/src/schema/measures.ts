/**
 * Owns the checks of a value that need no other schema: its type, its bounds, its sizes, its equality with a listed
 * value; and the shape of what is found wrong. Pure.
 */
import type { JsonValue } from '../types.ts'
import type { TypeName } from './keywords.ts'
import { spend } from './layers.ts'
import type { Meter } from './layers.ts'
import { isRecord, own } from './record.ts'
import type { Dict } from './record.ts'

/** One step from the arguments to a value. */
export interface Trail {
  readonly key: string | number
  readonly up: Trail | undefined
}

/** Something a value should have been. */
export interface Fault {
  readonly trail: Trail | undefined
  /** Alternatives for words, such as `integer` and `null`. */
  readonly expected: readonly string[]
  /** Absent where there is no value. */
  readonly value?: unknown
}

/** A value at its place. */
export interface Spot {
  readonly value: unknown
  readonly trail: Trail | undefined
  readonly depth: number
}

/** Deeper values are not compared and not looked at. */
export const MAX_DEPTH = 100

/** A value that is not what it should be. */
export function fault(spot: Spot, expected: readonly string[]): Fault {
  return { trail: spot.trail, expected, value: spot.value }
}

/** The bounds of a number, those of draft 04 as well. */
export function rangeFaults(schema: Dict, spot: Spot, value: number): readonly Fault[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const faults: Fault[] = []
  if (typeof minimum === 'number') {
    if (exclusiveMinimum === true && value <= minimum) faults.push(fault(spot, [`more than ${minimum}`]))
    else if (value < minimum) faults.push(fault(spot, [`at least ${minimum}`]))
  }
  if (typeof maximum === 'number') {
    if (exclusiveMaximum === true && value >= maximum) faults.push(fault(spot, [`less than ${maximum}`]))
    else if (value > maximum) faults.push(fault(spot, [`at most ${maximum}`]))
  }
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
    faults.push(fault(spot, [`more than ${exclusiveMinimum}`]))
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
    faults.push(fault(spot, [`less than ${exclusiveMaximum}`]))
  return faults
}

export const TEXT_SIZE = ['minLength', 'maxLength', 'characters'] as const
export const ARRAY_SIZE = ['minItems', 'maxItems', 'items'] as const
export const OBJECT_SIZE = ['minProperties', 'maxProperties', 'properties'] as const

/** The bounds of a length, named by their keywords and their unit. */
export function sizeFaults(
  schema: Dict,
  spot: Spot,
  size: number,
  words: readonly [string, string, string],
): readonly Fault[] {
  const [least, most, unit] = words
  const minimum = own(schema, least)
  const maximum = own(schema, most)
  if (typeof minimum === 'number' && size < minimum) return [fault(spot, [`at least ${minimum} ${unit}`])]
  if (typeof maximum === 'number' && size > maximum) return [fault(spot, [`at most ${maximum} ${unit}`])]
  return []
}

/** Characters as JSON Schema counts them, by code point; counted only where a bound asks for it. */
export function characters(value: string, schema: Dict): number {
  if (!Object.hasOwn(schema, 'minLength') && !Object.hasOwn(schema, 'maxLength')) return 0
  let count = 0
  for (const _ of value) count += 1
  return count
}

/** True where a value is of a type as JSON Schema counts types: 1.0 is an integer. */
export function isOfType(value: unknown, type: TypeName): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

/** Equal as JSON; equal as well where the budget ends first. */
export function isEqual(left: unknown, right: unknown, meter: Meter, depth: number): boolean {
  if (left === right || depth > MAX_DEPTH || !spend(meter)) return true
  if (Array.isArray(left) && Array.isArray(right)) {
    return (
      left.length === right.length &&
      left.every((item, index) => isEqual(item, right[index], meter, depth + 1))
    )
  }
  if (!isRecord(left) || !isRecord(right)) return false
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isEqual(left[name], right[name], meter, depth + 1))
  )
}

/** A value short enough for words. */
export function shallow(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.length === 0 ? [] : '[…]'
  return isRecord(value) ? '{…}' : (value as JsonValue)
}
