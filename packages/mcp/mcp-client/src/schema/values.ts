/**
 * Owns the rewriting of listed values: `enum` and `const` of whatever types. A value that could not stand in a prompt
 * as it is may not be changed either, the server would not know it: it is left out or told in words. Pure.
 */
import type { JsonSchemaNode, JsonSchemaScalar } from '@deepseek-ai/dsh-tools'
import type { TypeName } from './keywords.ts'
import { hasBraces, isVisible, quoted } from './prose.ts'
import { tidyValue } from './record.ts'
import { note } from './run.ts'
import type { Site } from './run.ts'
import type { View } from './view.ts'

/** A node before its annotations, and what it could not say. */
export interface Draft {
  readonly node: JsonSchemaNode | undefined
  readonly hints?: readonly string[]
}

/** The node for listed values: an enum for each scalar type among them. */
export function shapeValues(site: Site, view: View, values: readonly unknown[]): Draft {
  const { run, place } = site
  const hints: string[] = []
  const { types } = view
  const fitting = types === undefined ? values : values.filter((value) => isOfType(value, types))
  // A list that contradicts its own type is meant as a list: generators forget to change the type.
  const listed = fitting.length === 0 ? values : fitting
  const meant = view.nullable ? [...listed, null] : listed
  const nodes: JsonSchemaNode[] = []
  const strings = meant.filter((value) => typeof value === 'string')
  const numbers = meant.filter((value) => typeof value === 'number').map((value) => value + 0)
  if (strings.length > 0) nodes.push(shapeStrings(site, strings, hints))
  if (numbers.length > 0) {
    const isWhole = numbers.every(Number.isInteger) && types?.has('number') !== true
    nodes.push(shapeScalars(site, isWhole ? 'integer' : 'number', numbers, hints))
  }
  const booleans = meant.filter((value) => typeof value === 'boolean')
  if (booleans.length > 0) {
    nodes.push(
      new Set(booleans).size === 2 ? { type: 'boolean' } : { type: 'boolean', enum: [booleans[0] === true] },
    )
  }
  const structured = meant.filter((value) => typeof value === 'object' && value !== null)
  if (structured.some((value) => !Array.isArray(value))) nodes.push({ type: 'object' })
  if (structured.some(Array.isArray))
    nodes.push(run.profile === 'input' ? { type: 'array', items: {} } : { type: 'array' })
  if (structured.length > 0) hints.push(`one of ${listedValues(structured)}`)
  if (meant.includes(null)) nodes.push({ type: 'null' })
  run.nodes.left -= nodes.length
  if (nodes.length > 1 || structured.length > 0) note(run, place, 'enum', 'enum-split')
  return { node: nodes.length > 1 ? { oneOf: nodes } : nodes[0], hints }
}

function isOfType(value: unknown, types: ReadonlySet<TypeName>): boolean {
  if (value === null) return types.has('null')
  if (Array.isArray(value)) return types.has('array')
  if (typeof value === 'number')
    return types.has('number') || (types.has('integer') && Number.isInteger(value))
  return types.has(typeof value as TypeName)
}

/** Values that could not stand in a prompt as they are must not be changed either: the server would not know them. */
function shapeStrings(site: Site, values: readonly string[], hints: string[]): JsonSchemaNode {
  const { run, place } = site
  const visible = values.filter(isVisible)
  const isBraced = visible.some(hasBraces)
  if (visible.length < values.length || isBraced) note(run, place, 'enum', 'unsafe-text')
  if (visible.length < values.length) hints.push('values with hidden characters are left out')
  const isOpen =
    isBraced || visible.length === 0 || (run.profile === 'output' && visible.length < values.length)
  if (!isOpen) return shapeScalars(site, 'string', visible, hints)
  if (visible.length > 0)
    hints.push(`one of ${listedValues(visible)}${isBraced ? ', braces without the spaces' : ''}`)
  return { type: 'string' }
}

function shapeScalars(
  site: Site,
  type: TypeName,
  values: readonly JsonSchemaScalar[],
  hints: string[],
): JsonSchemaNode {
  const distinct = [...new Set(values)]
  if (distinct.length <= site.run.bounds.values) return { type, enum: distinct }
  hints.push(`one of ${listedValues(distinct)}`)
  return { type }
}

const MAX_VALUES = 12

function listedValues(values: readonly unknown[]): string {
  const shown = values
    .slice(0, MAX_VALUES)
    .map((value) =>
      typeof value === 'string' ? quoted(value.slice(0, 80), 80) : quoted(tidyValue(value) ?? '…', 80),
    )
  if (values.length > MAX_VALUES) shown.push(`${values.length - MAX_VALUES} more`)
  return shown.join(', ')
}
