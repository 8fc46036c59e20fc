/**
 * Owns the text that a person reads before a call: who asks and why in our words, then the arguments and the server's
 * description, marked line by line as foreign. Nothing in them is hidden, and what is left out is counted. Pure.
 */
import { markLines, nameOf } from '../marked.ts'
import type { CatalogEntry, ServerSpec } from '../types.ts'
import { visibleSafe } from '../visible.ts'

const MAX_ARGUMENT_CHARS = 4_096
const MAX_DESCRIPTION_CHARS = 4_096

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
    ...markLines(visibleSafe(String(JSON.stringify(args, null, 2)), redact), MAX_ARGUMENT_CHARS),
    ...(described.trim() === ''
      ? ['The server does not describe it.']
      : ['Description, in the words of the server:', ...markLines(described, MAX_DESCRIPTION_CHARS)]),
  ].join('\n')
}
