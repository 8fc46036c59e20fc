/**
 * Owns the reading of one listed tool from a peer that may be sloppy: repaired where the meaning is plain, left out
 * alone with a reason where it is not. Pure.
 */
import { hash } from 'node:crypto'
import { isJsonObject } from '../json.ts'
import { INSTRUCTIONS, publicToolName } from '../naming.ts'
import { cleanLine } from '../text.ts'
import type { CatalogEntry, JsonObject, JsonValue, Quarantined, ToolAnnotations } from '../types.ts'

export type Parsed =
  | { readonly ok: true; readonly entry: CatalogEntry }
  | { readonly ok: false; readonly quarantined: Quarantined }

const MAX_NAME_CHARS = 1_024
const MAX_SHOWN_CHARS = 80

/** What the digests of entries were made of, until it is taken: a pin says most of the same. */
const digested = new WeakMap<CatalogEntry, string>()

/** The canonical JSON that the digest of an entry was made of, once: it is not kept for as long as the entry. */
export function takeDigested(entry: CatalogEntry): string | undefined {
  const text = digested.get(entry)
  digested.delete(entry)
  return text
}

/**
 * Read one item of tools/list.
 * @param position index in the list; names an item that has no name
 */
export function parseTool(serverName: string, item: unknown, position: number): Parsed {
  if (!isJsonObject(item)) return leaveOut(`#${position}`, 'the entry is not an object')
  const { name } = item
  if (typeof name !== 'string') return leaveOut(`#${position}`, 'the entry has no name')
  if (name === '') return leaveOut(`#${position}`, 'the name is empty')
  if (name.length > MAX_NAME_CHARS)
    return leaveOut(name, `the name is longer than ${MAX_NAME_CHARS} characters`)
  if (name === INSTRUCTIONS) return leaveOut(name, 'the name is that of the instructions among the pins')
  const inputSchema = item['inputSchema'] ?? { type: 'object' }
  if (!isJsonObject(inputSchema)) return leaveOut(name, 'inputSchema is not an object')
  const { outputSchema, execution } = item
  const title = textOf(item['title'])
  const shown = {
    rawName: name,
    publicName: publicToolName(serverName, name),
    ...(title === undefined ? {} : { title }),
    description: textOf(item['description']) ?? '',
    inputSchema,
    ...(isJsonObject(outputSchema) ? { outputSchema } : {}),
    annotations: annotationsOf(item['annotations']),
    taskRequired: isJsonObject(execution) && execution['taskSupport'] === 'required',
  }
  try {
    const text = canonicalJson(shown as unknown as JsonObject)
    // Keys in canonical order: a server may shuffle them.
    const entry = Object.freeze({ ...shown, digest: hash('sha256', text) })
    digested.set(entry, text)
    return { ok: true, entry }
  } catch {
    // RangeError: JSON.parse reads deeper than JSON.stringify, and whatever walks a schema later, can go.
    return leaveOut(name, 'the definition is nested too deeply')
  }
}

/**
 * JSON with sorted keys. Written out by hand: a replacer that sorts costs five times as much, and this runs for every
 * tool of every list.
 * @throws RangeError for a value that is nested too deeply
 */
export function canonicalJson(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalJson(item)}`
    return `[${text}]`
  }
  for (const key of Object.keys(value).toSorted()) {
    const member = value[key]
    if (member === undefined) continue
    text += `${text === '' ? '' : ','}${quoted(key)}:${canonicalJson(member)}`
  }
  return `{${text}}`
}

/** Keys as JSON: a list has few different ones, thousands of times. Long ones are some server's own. */
const quotedKeys = new Map<string, string>()
const MAX_KEYS = 1000
const MAX_KEY_CHARS = 64

function quoted(key: string): string {
  const known = quotedKeys.get(key)
  if (known !== undefined) return known
  const text = JSON.stringify(key)
  if (key.length <= MAX_KEY_CHARS && quotedKeys.size < MAX_KEYS) quotedKeys.set(key, text)
  return text
}

function annotationsOf(value: JsonValue | undefined): ToolAnnotations {
  if (!isJsonObject(value)) return {}
  const title = textOf(value['title'])
  return {
    ...(title === undefined ? {} : { title }),
    ...flag(value, 'readOnlyHint'),
    ...flag(value, 'destructiveHint'),
    ...flag(value, 'idempotentHint'),
    ...flag(value, 'openWorldHint'),
  }
}

type Hint = Exclude<keyof ToolAnnotations, 'title'>

function flag(value: JsonObject, hint: Hint): Partial<Record<Hint, boolean>> {
  const claim = value[hint]
  return typeof claim === 'boolean' ? { [hint]: claim } : {}
}

function leaveOut(name: string, reason: string): Parsed {
  return { ok: false, quarantined: { name: cleanLine(name, MAX_SHOWN_CHARS), reason } }
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
