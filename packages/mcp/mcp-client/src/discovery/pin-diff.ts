/**
 * Owns the telling of how a definition changed: the places, and a unified diff in which nothing is hidden and everything
 * is bounded. Pure, but for the late loading of the diff library.
 */
import { isJsonObject } from '../json.ts'
import type { JsonValue } from '../types.ts'
import { visibleSafe, visibleText } from '../visible.ts'

const MAX_PLACES = 8
const MAX_PLACE_CHARS = 120
/** Nothing deeper is told apart. */
const MAX_DEPTH = 12
const MAX_LINE_CHARS = 100
const MAX_DIFF_CHARS = 8_192
/** Bounds of the comparison itself. */
const MAX_EDITS = 400
const TIMEOUT_MS = 1_000

const UNKNOWN = 'the earlier definition was too long to keep'

/** Where two definitions differ, such as `description` or `inputSchema.properties.path.type`; never empty. */
export function placesOf(before: string | undefined, after: string | undefined): string[] {
  if (before === undefined || after === undefined) return [UNKNOWN]
  const places: string[] = []
  walk(JSON.parse(before) as JsonValue, JSON.parse(after) as JsonValue, { path: [], places })
  if (places.length > MAX_PLACES) return [...places.slice(0, MAX_PLACES), 'more']
  return places
}

interface Walk {
  readonly path: readonly string[]
  readonly places: string[]
}

function walk(before: JsonValue | undefined, after: JsonValue | undefined, { path, places }: Walk): void {
  if (places.length > MAX_PLACES || before === after) return
  if (path.length < MAX_DEPTH && isJsonObject(before) && isJsonObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      walk(own(before, key), own(after, key), { path: [...path, key], places })
    }
  } else if (JSON.stringify(before) !== JSON.stringify(after)) {
    places.push(visibleText(path.join('.')).replaceAll(/\s/g, ' ').slice(0, MAX_PLACE_CHARS))
  }
}

function own(value: Record<string, JsonValue>, key: string): JsonValue | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined
}

/** A unified diff of two definitions; a sentence where there is nothing to compare, or too much. */
export type Differ = (before: string | undefined, after: string | undefined, redact: Redact) => string

/** Cuts secrets out of a text: before it is broken into lines, since half a secret is one too. */
type Redact = (text: string) => string

/** Load the library at the first change: most runs see none. */
export async function loadDiffer(): Promise<Differ> {
  const { createTwoFilesPatch } = await import('diff')
  return (before, after, redact) => {
    if (before === undefined || after === undefined) return `(${UNKNOWN})`
    const patch = createTwoFilesPatch(
      'before',
      'now',
      readable(before, redact),
      readable(after, redact),
      '',
      '',
      {
        context: 2,
        maxEditLength: MAX_EDITS,
        timeout: TIMEOUT_MS,
      },
    )
    if (patch === undefined) return '(the two definitions have little in common)'
    const text = patch.slice(patch.indexOf('---'))
    if (text.length <= MAX_DIFF_CHARS) return text.trimEnd()
    return `${text.slice(0, MAX_DIFF_CHARS).toWellFormed()}\n(${text.length - MAX_DIFF_CHARS} more characters)`
  }
}

/** The definition as lines that a person can compare. */
function readable(definition: string, redact: Redact): string {
  const { title, description, ...rest } = JSON.parse(definition) as Record<string, JsonValue>
  const parts = [
    ...(title === undefined ? [] : [`title: ${String(title)}`]),
    'description:',
    String(description),
    ...Object.entries(rest).map(([key, value]) => `${key}: ${JSON.stringify(value, null, 2)}`),
  ]
  return `${parts.flatMap((part) => visibleSafe(part, redact).split('\n').flatMap(wrapped)).join('\n')}\n`
}

/** At blanks where there are any: a line is what a diff tells apart. */
function wrapped(line: string): string[] {
  const lines: string[] = []
  let rest = line
  while (rest.length > MAX_LINE_CHARS) {
    const blank = rest.lastIndexOf(' ', MAX_LINE_CHARS)
    const end = blank > 0 ? blank + 1 : MAX_LINE_CHARS
    lines.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(end)
  }
  return [...lines, rest]
}
