/** Owns how an examination is shown to people: lines of plain text, coloured by the output it is given. Pure. */
import { cleanLine, safeLine } from '../../text.ts'
import type { SessionFacts } from '../../types.ts'
import type { Output } from '../output.ts'
import type { Examination } from './examination.ts'
import type { CatalogFacts, Step } from './facts.ts'
import type { Diagnosis } from './kinds.ts'

/** Tools in the table without --verbose. */
const MAX_TOOLS = 10
const MAX_REWRITES = 40
const MAX_STDERR_LINES = 10
/** What stands before the detail of a step. */
const STEP_CHARS = 40
const MARKS: Readonly<Record<Step['outcome'], string>> = { ok: 'ok', failed: 'FAIL', note: 'note' }
const STYLES = { ok: 'green', failed: 'red', note: 'yellow' } as const
const SEVERITIES = { error: 'red', warning: 'yellow', note: 'dim' } as const

export interface ScreenOptions {
  readonly wire: boolean
}

export function examinationLines(
  examination: Examination,
  { wire }: ScreenOptions,
  output: Output,
): string[] {
  const { name, transport, target, steps, facts, diagnoses } = examination
  const words = [transport, target].filter((part) => part !== undefined).join(': ')
  return [
    `${output.style('bold', name)}  ${cleanLine(words, output.width - name.length - 2)}`,
    '',
    ...steps.map((step) => stepLine(step, output)),
    ...(facts.catalog === undefined || examination.session === undefined
      ? []
      : ['', ...sessionLines(examination.session, facts.catalog), ...catalogLines(facts.catalog, output)]),
    ...(facts.stderr !== '' && (output.options.verbose || facts.failure !== undefined)
      ? ['', '  last words on standard error:', ...lastLines(facts.stderr).map((line) => `    ${line}`)]
      : []),
    ...(wire ? ['', '  wire:', ...wireLines(examination, output)] : []),
    '',
    ...(diagnoses.length === 0 ? [`  ${output.style('green', 'Nothing to mend.')}`] : []),
    ...diagnoses.flatMap((diagnosis, index) => [
      ...(index === 0 ? [] : ['']),
      ...diagnosisLines(diagnosis, output),
    ]),
  ]
}

function stepLine({ name, outcome, durationMs, detail = '' }: Step, output: Output): string {
  const mark = output.style(STYLES[outcome], MARKS[outcome].padEnd(4))
  const time = `${Math.round(durationMs)} ms`.padStart(9)
  const line = `  ${mark}  ${name.padEnd(20)} ${time}`
  return detail === '' ? line : `${line}  ${cleanLine(detail, output.width - STEP_CHARS)}`
}

function sessionLines(session: SessionFacts, catalog: CatalogFacts): string[] {
  const clean = (text: string): string => cleanLine(text, 120)
  const info = session.serverInfo
  const { tools, quarantined, rewritten, bytes, tokens, budgetBytes } = catalog
  const capabilities = Object.keys(session.capabilities).map((key) => clean(key))
  const rows: [string, string][] = [
    [
      'server',
      info === undefined ? 'says nothing of itself' : clean(`${info.title ?? info.name} ${info.version}`),
    ],
    ['protocol', `${clean(session.revision)} (${session.era} era)`],
    ['capabilities', capabilities.length === 0 ? 'none' : capabilities.slice(0, 20).join(', ')],
    ['tools', `${tools.length}, ${quarantined.length} left out, ${rewritten.length} with rewritten schemas`],
    [
      'definitions',
      `${bytes} of ${budgetBytes} bytes (tools.budgetBytes), about ${tokens} tokens (estimate: bytes / 4)`,
    ],
  ]
  return rows.map(([key, value]) => `  ${key.padEnd(14)}${value}`)
}

function catalogLines({ tools, rewritten }: CatalogFacts, output: Output): string[] {
  const { verbose } = output.options
  const shown = tools.toSorted((a, b) => b.bytes - a.bytes).slice(0, verbose ? tools.length : MAX_TOOLS)
  const rest = tools.length - shown.length
  const rows = shown.map(({ name, bytes, tokens }) => [cleanLine(name, 64), String(bytes), `~${tokens}`])
  return [
    ...(rows.length === 0
      ? []
      : ['', ...output.table(['TOOL', 'BYTES', 'TOKENS'], rows).map((line) => `  ${line}`)]),
    ...(rest === 0 ? [] : [`  and ${rest} smaller ones; --verbose shows all`]),
    ...(verbose ? rewriteLines(rewritten) : []),
  ]
}

function rewriteLines(rewritten: CatalogFacts['rewritten']): string[] {
  const lines = rewritten.flatMap(({ name, rewrites }) =>
    rewrites.map(({ path, keyword, reason }) => `    ${name}  ${path}  ${keyword}: ${reason}`),
  )
  if (lines.length === 0) return []
  const rest = lines.length - MAX_REWRITES
  return ['', '  rewritten:', ...lines.slice(0, MAX_REWRITES), ...(rest > 0 ? [`    and ${rest} more`] : [])]
}

function lastLines(stderr: string): string[] {
  const lines = stderr.split('\n').map((line) => cleanLine(line, 200))
  // Of a stack trace the first lines matter, and none of the engine's own.
  return lines.filter((line) => line !== '' && !/^at .*node:internal/.test(line)).slice(-MAX_STDERR_LINES)
}

function wireLines({ wire, droppedMessages }: Examination, output: Output): string[] {
  const lines = wire.map(({ atMs, direction, text }) => {
    const arrow = output.style(direction === 'out' ? 'cyan' : 'magenta', direction === 'out' ? '->' : '<-')
    return `  ${`${Math.round(atMs)} ms`.padStart(9)} ${arrow} ${text}`
  })
  return droppedMessages === 0 ? lines : [...lines, `  and ${droppedMessages} more messages`]
}

function diagnosisLines({ kind, severity, what, next }: Diagnosis, output: Output): string[] {
  const mark = output.style(SEVERITIES[severity], severity.padEnd(7))
  return [
    `  ${mark}  ${kind}`,
    ...wrapped(what, output.width - 4).map((line) => `    ${line}`),
    ...next.flatMap((step) =>
      wrapped(step, output.width - 8).map((line, index) => `    ${index === 0 ? '->' : '  '} ${line}`),
    ),
  ]
}

/** Break at spaces; a longer word stays whole, so that a path can be copied. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of safeLine(text, (same) => same, 4_000).split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
