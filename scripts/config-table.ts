/**
 * Owns the configuration table of the README: made from the schema, so it cannot disagree with it.
 * `node scripts/config-table.ts` writes it between the markers; a test fails while it is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { choices, expectation } from '../packages/mcp/mcp-client/src/config-reader.ts'
import type { ShapeNode } from '../packages/mcp/mcp-client/src/config-reader.ts'
import { ARMS } from '../packages/mcp/mcp-client/src/config-schema.ts'

export const START = '<!-- config:start -->'
export const END = '<!-- config:end -->'
export const README = fileURLToPath(new URL('../README.md', import.meta.url))

type Meta = ShapeNode['meta'] & {
  readonly description?: unknown
  readonly role?: string
  readonly extra?: { readonly fallback?: string }
}
type Fields = Readonly<Record<string, ShapeNode>>

/** The table as Markdown: keys of every server, then those of each transport. */
export function configTable(): string {
  const stdio = fieldsOf(ARMS.stdio)
  const http = fieldsOf(ARMS.http)
  const shared = keysOf(stdio, (key) => stdio[key] === http[key])
  const own = (fields: Fields) => keysOf(fields, (key) => !(key in shared))
  return [
    ...section('A stdio server (a child process)', own(stdio)),
    ...section('An HTTP server', own(http)),
    ...section('Every server', shared),
  ].join('\n')
}

/** The README with a fresh table. Throws when a marker is missing. */
export function withTable(readme: string): string {
  const start = readme.indexOf(START)
  const end = readme.indexOf(END)
  if (start < 0 || end < start) throw new Error(`README.md needs ${START} and ${END}, in this order`)
  return `${readme.slice(0, start + START.length)}\n\n${configTable()}\n${readme.slice(end)}`
}

function fieldsOf(node: ShapeNode): Fields {
  return node.dict as Fields
}

function keysOf(fields: Fields, keep: (key: string) => boolean): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => keep(key)))
}

function section(title: string, fields: Fields): string[] {
  const rows = Object.entries(fields).flatMap(([key, node]) => rowsOf(key, node))
  return [`**${title}**`, '', '| key | type | default | meaning |', '|---|---|---|---|', ...rows, '']
}

function rowsOf(key: string, node: ShapeNode): string[] {
  if (node.type === 'object') {
    return Object.entries(fieldsOf(node)).flatMap(([name, inner]) => rowsOf(`${key}.${name}`, inner))
  }
  const meta: Meta = node.meta
  const cells = [`\`${key}\``, typeOf(node), defaultOf(meta), String(meta.description)]
  return [`| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`]
}

function typeOf(node: ShapeNode): string {
  switch (node.type) {
    case 'array':
      return 'list of strings'
    case 'dict':
      return isSecret(node.inner) ? 'map of strings, secret' : 'map of strings'
    case 'number':
    case 'string':
      return expectation(node).replace(/^an? /, '')
    case 'boolean':
      return 'boolean'
    default:
      return [
        ...choices(node).map((choice) => `\`${String(choice)}\``),
        ...(node.list?.some(({ type }) => type === 'array') ? ['list of rules'] : []),
      ].join(', ')
  }
}

function isSecret(node: ShapeNode | undefined): boolean {
  const meta: Meta = node?.meta ?? {}
  return meta.role === 'secret'
}

function defaultOf(meta: Meta): string {
  if (meta.required) return 'required'
  if (meta.extra?.fallback !== undefined) return meta.extra.fallback
  if (meta.default === undefined || meta.default === '') return '-'
  return `\`${JSON.stringify(meta.default).replaceAll('"', '')}\``
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(README, withTable(readFileSync(README, 'utf8')))
}
