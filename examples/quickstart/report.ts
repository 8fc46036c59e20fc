/** Owns how the example looks: short aligned lines, coloured on a terminal only. The one place that prints. */
import { inspect, styleText } from 'node:util'

const LABEL = 13
const INDENT = 7

type Style = 'bold' | 'dim' | 'green' | 'red' | 'cyan' | 'yellow'

/** A labelled line under a step. */
export type Row = readonly [label: string, text: string]

/** Print lines as they are. */
export function say(...lines: readonly string[]): void {
  console.log(lines.join('\n'))
}

/** Print a piece of a line as it comes. */
export function sayPiece(text: string): void {
  process.stdout.write(text)
}

/** `text` in a style where standard output is a terminal that wants colours. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

/** Print labelled lines; a long text goes on below itself. A repeated label is left out. */
export function sayRows(rows: readonly Row[]): void {
  let last = ''
  for (const [label, text] of rows) {
    const lines = wrap(text, width() - INDENT - LABEL)
    for (const [index, line] of lines.entries()) {
      const shown = index === 0 && label !== last ? label : ''
      const style = label === 'log' ? styled('dim', line) : line
      say(`${' '.repeat(INDENT)}${styled('dim', shown.padEnd(LABEL))}${style}`.trimEnd())
    }
    last = label
  }
}

/** The heading of a step: its outcome, number, title and time. */
export function sayStep(outcome: 'ok' | 'FAIL', number: number, title: string, ms: number): void {
  const mark = styled(outcome === 'ok' ? 'green' : 'red', outcome.padStart(4))
  const head = `${String(number).padStart(2)}  ${title}`
  say('', `${mark} ${styled('bold', head.padEnd(width() - 16))}${styled('dim', time(ms).padStart(9))}`)
}

/** `612 ms` or `1.4 s`. */
export function time(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** `812 B` or `9.1 KiB`. */
export function size(bytes: number): string {
  return bytes < 1_024 ? `${bytes} B` : `${(bytes / 1_024).toFixed(1)} KiB`
}

/** One line of at most `length` characters. */
export function cut(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`
}

/** A value the way a person writes it, on one line: `{ a: 3, b: 'x' }`. */
export function inline(value: unknown): string {
  return inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 6 })
}

/** What went wrong at the bottom of a chain of causes: the loader wraps what a row said in what it was doing. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError) return [...new Set(error.errors.map(reasonOf))].join('\n')
  return error.cause === undefined ? cut(error.message, 400) : reasonOf(error.cause)
}

function width(): number {
  return Math.min(Math.max(process.stdout.columns || 100, 60), 110)
}

function wrap(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines = ['']
    for (const word of line.split(/(?<= )/)) {
      const open = lines.at(-1) ?? ''
      if (open !== '' && (open + word).trimEnd().length > columns) lines.push(word)
      else lines[lines.length - 1] = open + word
    }
    return lines
  })
}
