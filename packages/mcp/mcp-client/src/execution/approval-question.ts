/**
 * Owns the text that a person reads before a call: who asks and why in our words, then the arguments and the server's
 * description, marked line by line as foreign. Nothing in them is hidden, and what is left out is counted. Pure.
 */
import type { CatalogEntry, ServerSpec } from '../types.ts'
import { visibleSafe } from '../visible.ts'

const MAX_NAME_CHARS = 128
const MAX_ARGUMENT_CHARS = 4_096
const MAX_DESCRIPTION_CHARS = 4_096
const MAX_LINES = 60

export interface Question {
  readonly entry: Pick<CatalogEntry, 'rawName' | 'title' | 'annotations' | 'description'>
  readonly args: unknown
  readonly rule: string
}

/** The question as the approval service shows it. */
export function questionOf(
  { entry, args, rule }: Question,
  { serverName, redact }: Pick<ServerSpec, 'serverName' | 'redact'>,
): string {
  const title = entry.title ?? entry.annotations.title
  const described = visibleSafe(entry.description, redact)
  return [
    `MCP server "${serverName}" is asked to run its tool ${nameOf(entry.rawName, redact)}` +
      `${title === undefined ? '' : `, titled ${nameOf(title, redact)}`}.`,
    `Rule: ${rule}`,
    'Arguments:',
    ...foreign(visibleSafe(String(JSON.stringify(args, null, 2)), redact), MAX_ARGUMENT_CHARS),
    ...(described.trim() === ''
      ? ['The server does not describe it.']
      : ['Description, in the words of the server:', ...foreign(described, MAX_DESCRIPTION_CHARS)]),
  ].join('\n')
}

/** A name in quotes, on one line. */
export function nameOf(name: string, redact: (text: string) => string): string {
  const shown = visibleSafe(name, redact)
  const cut = shown.length <= MAX_NAME_CHARS ? shown : `${shown.slice(0, MAX_NAME_CHARS - 1).toWellFormed()}…`
  return JSON.stringify(cut)
}

/** Head and tail, each line marked: a foreign text must not look like a line of ours. */
function foreign(text: string, maxChars: number): string[] {
  const lines = within(text, maxChars).split(/\r\n|[\n\u0085\u2028\u2029]/)
  const rest = lines.length - MAX_LINES
  const shown =
    rest <= 0
      ? lines
      : [...lines.slice(0, MAX_LINES / 2), `(${rest} lines are not shown)`, ...lines.slice(-MAX_LINES / 2)]
  return shown.map((line) => `| ${line}`)
}

function within(text: string, maxChars: number): string {
  const rest = text.length - maxChars
  if (rest <= 0) return text
  const half = maxChars / 2
  return `${text.slice(0, half).toWellFormed()}\n(${rest} characters are not shown)\n${text.slice(-half).toWellFormed()}`
}
