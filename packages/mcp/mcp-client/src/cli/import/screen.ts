/** Owns what an import shows: the same facts as text for people and as JSON for programs. Pure. */
import { cleanLine, inspectText } from '../../text.ts'
import type { FileReading } from './locate.ts'
import type { Outcome, Plan } from './plan.ts'
import { rowsText } from './row-text.ts'
import type { TargetKind } from './target.ts'
import type { Variable } from './variables.ts'

/** All that there is to show. */
export interface Report {
  readonly files: readonly FileReading[]
  readonly plan: Plan
  readonly target: { readonly path: string; readonly kind: TargetKind; readonly exists: boolean }
  /** Unified diff of the target; empty where no row is added. */
  readonly diff: string
  /** The whole target with the rows; empty where no row is added. */
  readonly text: string
  readonly written: boolean
  /** Where the file as it was lies now. */
  readonly backup?: string
}

const MAX_NAME_CHARS = 80
const MAX_NOTE_CHARS = 400
const HIDDEN_NOTE =
  'It holds hidden characters, which would be written. They are shown as codes such as \\u200b: look at them first.'
const MARKS = { added: '+', skipped: '=', failed: '!' } as const

/** The report for people. */
export function textReport(report: Report): string {
  const { plan, target } = report
  const parts = report.files.flatMap((file) =>
    file.kind === 'servers' ? [fileText(file, plan.outcomes)] : [],
  )
  if (!report.written && plan.rows.length > 0) {
    parts.push(
      target.exists
        ? `What changes in ${target.path}:\n\n${report.diff}`
        : `The new file ${target.path}:\n\n${report.text}`,
    )
  }
  if (plan.variables.length > 0) parts.push(variablesText(plan.variables))
  parts.push(`${summary(report)}\n`)
  return parts.join('\n')
}

/** The report for programs. */
export function jsonReport(report: Report): string {
  const { plan, target, diff, written, backup } = report
  const errors = report.files.flatMap((file) =>
    file.kind === 'fault' ? [{ path: file.path, reason: file.reason }] : [],
  )
  const servers = plan.outcomes.map((outcome) => {
    const { name, path, dialect, status, notes } = outcome
    const result = outcome.status === 'added' ? { row: outcome.row } : { reason: outcome.reason }
    return { name, path, dialect, status, notes, ...result }
  })
  const variables = plan.variables.map(({ name, state, hasFallback, uses }) => ({
    name,
    state,
    hasFallback,
    uses: uses.map(({ server, place }) => ({ server, place })),
  }))
  const whole = {
    target,
    written,
    ...(backup === undefined ? {} : { backup }),
    servers,
    variables,
    diff,
    errors,
  }
  return `${JSON.stringify(whole, undefined, 2)}\n`
}

function fileText(file: FileReading & { kind: 'servers' }, outcomes: readonly Outcome[]): string {
  const own = outcomes.filter(({ path }) => path === file.path)
  return `${[`${file.dialect.client}: ${file.path}`, ...own.flatMap(outcomeLines)].join('\n')}\n`
}

function outcomeLines(outcome: Outcome): string[] {
  const { name, status, notes } = outcome
  const more = status === 'added' ? ` as ${outcome.row.id}` : `: ${cleanLine(outcome.reason, MAX_NOTE_CHARS)}`
  const heading = `  ${MARKS[status]} ${cleanLine(name, MAX_NAME_CHARS)}${more}`
  const all = hidesText(outcome) ? [...notes, HIDDEN_NOTE] : notes
  return [heading, ...all.map((note) => `      ${cleanLine(note, MAX_NOTE_CHARS)}`)]
}

/** A row as it would be written has characters that a reader does not see. */
function hidesText(outcome: Outcome): boolean {
  return outcome.status === 'added' && inspectText(rowsText([outcome.row])).hidden > 0
}

function variablesText(variables: readonly Variable[]): string {
  const cells = variables.map((variable) => ({ ...variable, shown: stateText(variable) }))
  const nameWidth = Math.max(...cells.map(({ name }) => name.length))
  const stateWidth = Math.max(...cells.map(({ shown }) => shown.length))
  const lines = cells.map(({ name, shown, uses }) => {
    const where = [
      ...new Set(uses.map(({ server, place }) => `${cleanLine(server, MAX_NAME_CHARS)} ${place}`)),
    ]
    return `  ${name.padEnd(nameWidth)}  ${shown.padEnd(stateWidth)}  ${where.join(', ')}`
  })
  const heading =
    'Variables that the rows read. Set them where the host is started: it refuses a row whose variable is not set.'
  return `${[heading, '', ...lines].join('\n')}\n`
}

function stateText({ state, hasFallback }: Variable): string {
  if (state === 'set') return 'set'
  if (state === 'differs') return 'set to another value'
  return hasFallback ? 'has a default' : 'not set'
}

function summary({ plan, target, written, backup }: Report): string {
  const count = (status: Outcome['status']): number =>
    plan.outcomes.filter((outcome) => outcome.status === status).length
  const rows = plan.rows.length === 1 ? '1 row' : `${plan.rows.length} rows`
  const file = target.exists ? target.path : `${target.path}, a new file`
  const rest = [
    ...(count('skipped') > 0 ? [`${count('skipped')} skipped`] : []),
    ...(count('failed') > 0 ? [`${count('failed')} not taken`] : []),
  ]
  const tail = rest.length === 0 ? '' : ` (${rest.join(', ')})`
  if (plan.rows.length === 0) return `Nothing to add to ${target.path}${tail}.`
  if (!written) return `${rows} for ${file}${tail}. Nothing is written: add --write to write them.`
  const kept = backup === undefined ? '' : ` The file as it was: ${backup}.`
  return `${rows} written to ${file}${tail}.${kept}`
}
