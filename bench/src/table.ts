/** Owns the tables on the terminal. */
import Table from 'cli-table3'
import type { ContenderName } from './contenders/index.ts'
import type { Row } from './runner.ts'
import { shown } from './statistics.ts'
import { verdictsOf, wordsOf } from './verdict.ts'

/** One workload: a line for each contender, its figures, and what they are of raw's and the floor's. */
export function workloadTable({ workload, cells }: Row, rows: readonly Row[]): string {
  const metrics = Object.keys(workload.metrics)
  const table = new Table({
    head: ['', ...metrics.flatMap((metric) => [workload.metrics[metric] ?? '', 'of raw', 'of floor'])],
    style: { head: [], border: [], compact: true },
  })
  for (const [name, cell] of cells) {
    table.push([
      name,
      ...(cell.ok
        ? metrics.flatMap((metric) => [
            shown(cell.figures[metric] ?? Number.NaN),
            ratio(cells, name, 'raw', metric),
            ratio(cells, name, 'floor', metric),
          ])
        : [{ content: `fails: ${cell.reason}`.slice(0, 100), colSpan: metrics.length * 3 }]),
    ])
  }
  const verdicts = verdictsOf({ workload, cells }, rows).map(({ target, value, holds }) => {
    const of = target.of === 'nothing' ? '' : ` of ${wordsOf(target.of)}`
    return `  ${holds ? 'met   ' : 'MISSED'} ${workload.metrics[target.metric]}: ${shown(value)}${of}, at most ${target.atMost}`
  })
  return [`${workload.id}: ${workload.title}`, table.toString(), ...verdicts].join('\n')
}

export function ratio(
  cells: Row['cells'],
  name: ContenderName,
  against: ContenderName,
  metric: string,
): string {
  const one = cells.get(name)
  const other = cells.get(against)
  if (name === against || one?.ok !== true || other?.ok !== true) return ''
  const value = (one.figures[metric] ?? Number.NaN) / (other.figures[metric] ?? Number.NaN)
  return Number.isFinite(value) ? value.toFixed(2) : ''
}
