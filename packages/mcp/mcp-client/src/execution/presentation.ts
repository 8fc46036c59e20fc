/**
 * Owns the card of a pending call: the server's title, one readable line of arguments, the kind. Pure and total: a UI
 * calls it on half-streamed arguments and on replay. A finished call has no card of its own: the host shows what the
 * model reads, and there is no more to show.
 */
import type { ToolCallKind, ToolCallView } from '@deepseek-ai/dsh-tools'
import { cleanLine } from '../text.ts'
import type { CatalogEntry } from '../types.ts'

const MAX_TITLE_CHARS = 80
const MAX_VALUE_CHARS = 60
const MAX_LINE_CHARS = 160
const MAX_SHOWN = 3

/** A generic card such as `Create issue: owner=dsh, title=It breaks`. */
export function presentCall(entry: CatalogEntry, kind: ToolCallKind, args: unknown): ToolCallView {
  const title = cleanLine(entry.title ?? entry.annotations.title ?? entry.rawName, MAX_TITLE_CHARS)
  const line = argumentsLine(args)
  const card = { card: 'generic', title: line === '' ? title : `${title}: ${line}`, kind } as const
  return args === undefined ? card : { ...card, rawInput: args }
}

/** The first scalar arguments, in the model's order. */
function argumentsLine(args: unknown): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return ''
  const shown: string[] = []
  for (const [key, value] of Object.entries(args)) {
    if (shown.length === MAX_SHOWN) break
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue
    shown.push(`${cleanLine(key, MAX_VALUE_CHARS)}=${cleanLine(String(value), MAX_VALUE_CHARS)}`)
  }
  return cleanLine(shown.join(', '), MAX_LINE_CHARS)
}
