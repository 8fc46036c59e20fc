/** Owns the words that every question of a server begins with: who asks, in ours, and the server's own text set apart. Pure. */
import { fenceLines, nameOf, shorten } from '../marked.ts'
import type { ServerSpec } from '../types.ts'
import { visibleSafe } from '../visible.ts'

const MAX_LABEL_CHARS = 120

/** Whose questions they are, and what must not be shown of it. */
export type Asker = Pick<ServerSpec, 'serverName' | 'redact'>

/** Short heading of every question. */
export function headerOf({ serverName }: Asker): string {
  return `MCP server ${serverName}`
}

/** A foreign text under a line that says so; nothing where there is none. */
export function quoted(text: string, maxChars: number, { redact }: Asker): string[] {
  const shown = visibleSafe(text, redact)
  return shown.trim() === '' ? [] : ['In the words of the server:', '', ...fenceLines(shown, maxChars), '']
}

/** A foreign name in quotes, on one line. */
export function namedBy(name: string, { redact }: Asker): string {
  return nameOf(name, redact)
}

/** A foreign text as the label of a choice. */
export function labelOf(text: string, { redact }: Asker): string {
  const line = visibleSafe(text, redact).replaceAll(/\s+/g, ' ').trim()
  return line === '' ? '(empty)' : shorten(line, MAX_LABEL_CHARS)
}
