/** Owns whether targets hold. Pure. */
import type { ContenderName } from './contenders/index.ts'
import type { Row } from './runner.ts'
import type { Reference, Target } from './workload.ts'

export interface Verdict {
  /** Such as `start/ms`; what reasons.ts is ordered by. */
  readonly id: string
  readonly target: Target
  /** The ratio, or the number itself. NaN where ours failed. */
  readonly value: number
  readonly holds: boolean
}

/** Of ours in one row; empty where there is nothing to compare. `rows` are those measured so far. */
export function verdictsOf(row: Row, rows: readonly Row[]): readonly Verdict[] {
  const ours = row.cells.get('ours')
  if (ours === undefined) return []
  return (row.workload.targets ?? []).flatMap((target) => {
    const unit = unitOf(row, rows, target)
    if (unit === undefined) return []
    const mine = ours.ok ? (ours.figures[target.metric] ?? Number.NaN) : Number.NaN
    const value = mine / unit
    return [{ id: `${row.workload.id}/${target.metric}`, target, value, holds: value <= target.atMost }]
  })
}

/** The same of another contender; `undefined` where it failed or cannot be compared so. */
export function valueOf(
  row: Row,
  rows: readonly Row[],
  name: ContenderName,
  target: Target,
): number | undefined {
  const cell = row.cells.get(name)
  const unit =
    typeof target.of === 'object' && 'contender' in target.of ? unitOf(row, rows, target) : undefined
  return cell?.ok === true && unit !== undefined
    ? (cell.figures[target.metric] ?? Number.NaN) / unit
    : undefined
}

/** What a target is measured against, in words. */
export function wordsOf(of: Reference): string {
  if (of === 'nothing') return '-'
  if ('contender' in of) return of.contender
  return 'workload' in of ? `ours in ${of.workload}` : `ours, ${of.metric}`
}

function unitOf(row: Row, rows: readonly Row[], { of, metric }: Target): number | undefined {
  if (of === 'nothing') return 1
  if ('metric' in of) return figure(row, 'ours', of.metric)
  if ('contender' in of) return figure(row, of.contender, metric)
  const other = rows.find(({ workload }) => workload.id === of.workload)
  return other === undefined ? undefined : figure(other, 'ours', metric)
}

function figure(row: Row, name: ContenderName, metric: string): number | undefined {
  const cell = row.cells.get(name)
  return cell?.ok === true ? cell.figures[metric] : undefined
}
