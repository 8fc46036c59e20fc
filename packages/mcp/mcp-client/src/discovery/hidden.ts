/**
 * Owns the finding of hidden text in a tool's definition: how many characters a person would not see, and where. They
 * are removed wherever the text is shown; that they were there is worth telling. Pure, bounded.
 */
import { inspectText, safeLine } from '../text.ts'
import type { CatalogEntry, FlaggedTool } from '../types.ts'

const MAX_NAME_CHARS = 80
const MAX_PLACE_CHARS = 120
const MAX_PLACES = 10
/** Values looked at; a definition with more is flagged for what was found until then. */
const MAX_NODES = 50_000

/** How JSON writes control characters and lone surrogates. */
const ESCAPED = /\\[bfru]/

type Definition = Pick<
  CatalogEntry,
  'rawName' | 'title' | 'description' | 'annotations' | 'inputSchema' | 'outputSchema'
>

/**
 * What of one tool is hidden; `undefined` where nothing is. Terminal sequences and lone surrogates count, too.
 * @param redact cuts configured secrets out of the names that the server chose
 */
export function hiddenOf(entry: Definition, redact: (text: string) => string): FlaggedTool | undefined {
  if (isPlain(entry)) return undefined
  const { rawName: name, title, description, annotations, inputSchema, outputSchema } = entry
  const pending: { readonly value: unknown; readonly place: string }[] = Object.entries({
    outputSchema,
    inputSchema,
    annotations,
    description,
    title,
    name,
  }).map(([place, value]) => ({ value, place }))
  const places: string[] = []
  let hidden = 0
  const look = (text: string, place: string): void => {
    const cleaned = inspectText(text)
    if (cleaned.text === text) return
    hidden += Math.max(1, cleaned.hidden)
    const shown = safeLine(place, redact, MAX_PLACE_CHARS)
    if (places.length < MAX_PLACES && !places.includes(shown)) places.push(shown)
  }
  for (let left = MAX_NODES; left > 0; left -= 1) {
    const task = pending.pop()
    if (task === undefined) break
    const { value, place } = task
    if (typeof value === 'string') look(value, place)
    if (typeof value !== 'object' || value === null) continue
    for (const [key, member] of Object.entries(value).toReversed()) {
      look(key, place)
      pending.push({ value: member, place: `${place}/${key}` })
    }
  }
  return hidden === 0 ? undefined : { name: safeLine(name, redact, MAX_NAME_CHARS), hidden, places }
}

/** Most definitions are told plain by one look at their JSON: ten thousand tools may be registered at once. */
function isPlain({
  rawName,
  title,
  description,
  annotations,
  inputSchema,
  outputSchema,
}: Definition): boolean {
  const json = JSON.stringify([rawName, title, description, annotations, inputSchema, outputSchema])
  return !ESCAPED.test(json) && inspectText(json).text === json
}

/** One line for the operator on all of them; `undefined` where there are none. */
export function flaggedLine(flagged: readonly FlaggedTool[]): string | undefined {
  if (flagged.length === 0) return undefined
  const shown = flagged.slice(0, 5).map(({ name, hidden, places }) => {
    return `${JSON.stringify(name)} (${hidden} in ${places.slice(0, 3).join(', ')})`
  })
  if (flagged.length > shown.length) shown.push(`${flagged.length - shown.length} more`)
  return `hidden characters were removed from the definitions of tools: ${shown.join('; ')}`
}
