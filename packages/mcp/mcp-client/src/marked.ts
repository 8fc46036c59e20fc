/**
 * Owns the setting apart of foreign text that a person reads to judge a request: each line is marked, or all of it stands
 * in a fence, a name stands in quotes, and what is left out is counted. Pure.
 */
import { visibleSafe } from './visible.ts'

const MAX_NAME_CHARS = 128
const MAX_LINES = 60
const SHORTEST_FENCE = 3
const LONG_LINE = /(.{80,120}) /g

type Redact = (text: string) => string

/** A name in quotes, on one line. */
export function nameOf(name: string, redact: Redact): string {
  return JSON.stringify(shorten(visibleSafe(name, redact), MAX_NAME_CHARS))
}

/** At most `maxChars` UTF-16 units; what is cut ends in an ellipsis. */
export function shorten(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).toWellFormed()}…`
}

/** For plain text: head and tail, each line marked, since a foreign text must not look like a line of ours. */
export function markLines(text: string, maxChars: number): string[] {
  return linesOf(text, maxChars).map((line) => `| ${line}`)
}

/** The same for Markdown: a code block that nothing in the text can end, so that it is shown as it stands. */
export function fenceLines(text: string, maxChars: number): string[] {
  // Code blocks do not wrap: a long line is broken at a space, where it has one.
  const lines = linesOf(text.replaceAll(LONG_LINE, '$1\n'), maxChars)
  const runs = lines.flatMap((line) => line.match(/`+/g) ?? []).map(({ length }) => length + 1)
  const fence = '`'.repeat(Math.max(SHORTEST_FENCE, ...runs))
  return [fence, ...lines, fence]
}

function linesOf(text: string, maxChars: number): string[] {
  const lines = within(text, maxChars).split(/\r\n|[\n\u0085\u2028\u2029]/)
  const rest = lines.length - MAX_LINES
  return rest <= 0
    ? lines
    : [...lines.slice(0, MAX_LINES / 2), `(${rest} lines are not shown)`, ...lines.slice(-MAX_LINES / 2)]
}

function within(text: string, maxChars: number): string {
  const rest = text.length - maxChars
  if (rest <= 0) return text
  const half = maxChars / 2
  return `${text.slice(0, half).toWellFormed()}\n(${rest} characters are not shown)\n${text.slice(-half).toWellFormed()}`
}
