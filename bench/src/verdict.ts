/** Owns whether targets hold. Pure. */
import type { Row } from './runner.ts'
import type { Target } from './workload.ts'

export interface Verdict {
  readonly target: Target
  readonly ratio: number
  readonly holds: boolean
}

/** Of ours; empty where there is nothing to compare. */
export function verdictsOf({ workload, cells }: Row): readonly Verdict[] {
  const ours = cells.get('ours')
  return (workload.targets ?? []).flatMap((target) => {
    const other = cells.get(target.against)
    if (other?.ok !== true || ours === undefined) return []
    const mine = ours.ok ? (ours.figures[target.metric] ?? Number.NaN) : Number.NaN
    const ratio = mine / (other.figures[target.metric] ?? Number.NaN)
    return [{ target, ratio, holds: ratio <= target.atMost }]
  })
}
