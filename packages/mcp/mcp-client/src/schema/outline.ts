/** Owns the short wording of a normalised node, for what is told about alternatives and conditions. Pure. */
import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'
import { quoted } from './prose.ts'
import { tidyValue } from './record.ts'

const MAX_LISTED = 8
const MAX_TEXT = 80

/** One line that says what a node takes, such as `object with path, limit?` or `string or null`. */
export function outline(node: JsonSchemaNode): string {
  const kind = kindOf(node)
  const { description } = node
  if (description === undefined) return kind
  const text = description.startsWith('(') ? description : `(${description})`
  return `${kind} ${text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…)` : text}`
}

function kindOf(node: JsonSchemaNode): string {
  if (node.oneOf !== undefined) return listed(node.oneOf.map(outline), ' or ')
  if (node.enum !== undefined)
    return listed(
      node.enum.map((value) => quoted(value, 48)),
      ' or ',
    )
  if (node.type === undefined) return 'any value'
  if (node.type === 'array')
    return node.items?.type === undefined ? 'array' : `array of ${kindOf(node.items)}`
  if (node.type !== 'object') return node.type
  const members = memberNames(node)
  return members.length === 0 ? 'object' : `object with ${listed(members, ', ')}`
}

function memberNames(node: JsonSchemaNode): string[] {
  const required = new Set(node.required)
  return Object.entries(node.properties ?? {}).map(([name, property]) =>
    memberText(name, required.has(name), property.enum ?? []),
  )
}

/** A property in a few characters: `?` marks an optional one, `=` its only value. */
export function memberText(name: string, isRequired: boolean, values: readonly unknown[]): string {
  const value = values.length === 1 ? tidyValue(values[0]) : undefined
  return `${name}${isRequired ? '' : '?'}${value === undefined ? '' : `=${quoted(value, 48)}`}`
}

function listed(texts: readonly string[], separator: string): string {
  const shown = texts.slice(0, MAX_LISTED).join(separator)
  return texts.length > MAX_LISTED ? `${shown}${separator}${texts.length - MAX_LISTED} more` : shown
}
