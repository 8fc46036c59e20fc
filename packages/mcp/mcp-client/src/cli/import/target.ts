/**
 * Owns the file that rows go to: what it has already, and its text with rows added. Rows are put in as text, so that the
 * rest stays byte by byte what it was; the result counts only if it parses to what was there and the new rows. Pure.
 */
import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { LineCounter, isMap, isSeq, parseDocument } from 'yaml'
import type { Document, ScalarTag, YAMLSeq } from 'yaml'
import { stringifyString } from 'yaml/util'
import { isJsonObject } from '../../json.ts'
import { ImportFault, faultOf } from './foreign-server.ts'
import type { Row } from './row.ts'
import { rowsText } from './row-text.ts'

/** A list of entries, or a layer of patches whose rows stand below `- insert:`. */
export type TargetKind = 'entries' | 'patches'

export interface Target {
  readonly kind: TargetKind
  /** Undefined where there is no file yet. */
  readonly text: string | undefined
  /** Names and ids in the file, with the place of each in words. */
  readonly serverNames: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
  /** Each text in the file, to judge which of them must not be printed. */
  readonly strings: readonly (readonly [key: string, value: string])[]
}

class JsExpression {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
}

const JS_TAG: ScalarTag = {
  tag: 'tag:yaml.org,2002:js',
  resolve: (text) => new JsExpression(text),
  identify: (value) => value instanceof JsExpression,
  // Backticks and colons of an expression need quotes, as any text does.
  stringify: (node, context, onComment, onChompKeep) =>
    stringifyString({ ...node, value: (node.value as JsExpression).source }, context, onComment, onChompKeep),
}

/** Read the file that rows go to. Throws ImportFault where it is no list of entries. */
export function readTarget(path: string, text: string | undefined): Target {
  if (!/\.ya?ml$/i.test(path)) throw new ImportFault('Rows go to a .yml or .yaml file alone.')
  const list = text === undefined ? [] : listOf(parse(withoutMark(text)))
  const found: Found = { serverNames: new Set(), ids: new Set(), strings: [] }
  collect(list, '', found)
  const isOverlay = list.some((item) => isJsonObject(item) && Array.isArray(item['insert']))
  const kind = isOverlay || /\.patch\.ya?ml$/i.test(basename(path)) ? 'patches' : 'entries'
  return { kind, text, ...found }
}

/** The text of the file with the rows at its end. Throws ImportFault where that cannot be done safely. */
export function withRows(target: Target, rows: readonly Row[]): string {
  const original = target.text ?? ''
  const text = withoutMark(original)
  const mark = original.slice(0, original.length - text.length)
  const before = listOf(parse(text))
  const plain = JSON.parse(JSON.stringify(rows)) as unknown[]
  for (const { result, list } of candidates({
    kind: target.kind,
    text,
    before,
    plain,
    block: rowsText(rows),
  })) {
    if (isDeepStrictEqual(attempt(result), list)) return mark + result
  }
  throw new ImportFault('The rows cannot be added to it without changing what it says: add them by hand.')
}

interface Candidate {
  readonly result: string
  /** What it must parse to. */
  readonly list: readonly unknown[]
}

interface Addition {
  readonly kind: TargetKind
  readonly text: string
  /** What the text says now. */
  readonly before: readonly unknown[]
  /** The rows as values, and as YAML. */
  readonly plain: readonly unknown[]
  readonly block: string
}

function* candidates({ kind, text, before, plain, block }: Addition): Generator<Candidate> {
  const root = parse(text).contents
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const head = text === '' || text.endsWith('\n') ? text : text + eol
  // An empty line between is nicer, but may belong to a text that the file ends with.
  const gaps = head.trim() === '' ? [''] : ['\n', '']
  const append = (added: string, column: number, gap: string): string =>
    head + (gap + indented(added, column)).replaceAll('\n', eol)
  const last = before.at(-1)
  const inside = kind === 'patches' ? insertColumn(text, root) : undefined
  if (inside !== undefined) {
    const { insert } = last as { insert: unknown[] }
    const joined = { insert: [...insert, ...plain] }
    const list = [...before.slice(0, -1), joined]
    for (const gap of gaps) yield { result: append(block, inside, gap), list }
  }
  const column = isSeq(root) && root.flow !== true ? columnOf(text, root) : 0
  const added = kind === 'entries' ? block : `- insert:\n${indented(block, 4)}`
  const list = [...before, ...(kind === 'entries' ? plain : [{ insert: plain }])]
  for (const gap of gaps) yield { result: append(added, column, gap), list }
  yield { result: rewritten(text, added).replaceAll('\n', eol), list }
}

/** For a list in flow style, such as the `[]` of an empty layer: written anew, comments and tags kept. */
function rewritten(text: string, added: string): string {
  const document = parse(text)
  const items = parse(added).contents
  if (isSeq(document.contents) && isSeq(items)) {
    document.contents.flow = false
    for (const item of items.items) document.contents.add(item)
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

/** Column of the rows below the last `insert`, where that is the last thing of the file. */
function insertColumn(text: string, root: unknown): number | undefined {
  const last = isSeq(root) && root.flow !== true ? root.items.at(-1) : undefined
  if (!isMap(last) || last.items.length !== 1) return undefined
  const insert = last.get('insert')
  return isSeq(insert) && insert.flow !== true ? columnOf(text, insert) : undefined
}

function columnOf(text: string, { range }: YAMLSeq): number {
  const [offset] = range as [number, number, number]
  return offset - (text.lastIndexOf('\n', offset - 1) + 1)
}

function indented(block: string, columns: number): string {
  return block.replace(/^(?=.)/gm, ' '.repeat(columns))
}

/** The parser takes a byte order mark for a part of the first entry. */
function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, '')
}

function parse(text: string): Document {
  const lines = new LineCounter()
  const document = parseDocument(text, { customTags: [JS_TAG], prettyErrors: false, lineCounter: lines })
  const [error] = document.errors
  if (error === undefined) return document
  const { line, col } = lines.linePos(error.pos[0])
  const what = error.code.toLowerCase().replaceAll('_', ' ')
  throw new ImportFault(`It is no valid YAML at line ${line}, column ${col} (${what}).`)
}

function listOf(document: Document): unknown[] {
  const value = valueOf(document)
  if (value === null) return []
  if (!Array.isArray(value)) throw new ImportFault('It is no list of entries: each begins with "- id:".')
  return value
}

function valueOf(document: Document): unknown {
  try {
    return document.toJS() as unknown
  } catch {
    throw new ImportFault('Its aliases cannot be followed.')
  }
}

function attempt(text: string): unknown {
  try {
    return listOf(parse(text))
  } catch (error) {
    faultOf(error)
    return undefined
  }
}

interface Found {
  readonly serverNames: Set<string>
  readonly ids: Set<string>
  readonly strings: (readonly [string, string])[]
}

/** All ids and server names at any depth: also in groups, and below `insert`. */
function collect(value: unknown, key: string, found: Found): void {
  if (typeof value === 'string') found.strings.push([key, value])
  if (Array.isArray(value)) for (const item of value) collect(item, key, found)
  if (!isJsonObject(value)) return
  const { id, serverName } = value as { id?: unknown; serverName?: unknown }
  if (typeof id === 'string') found.ids.add(id)
  if (typeof serverName === 'string') found.serverNames.add(serverName)
  for (const [name, inner] of Object.entries(value)) collect(inner, name, found)
}
