/** Owns the words of a workload. */
import type { Contender } from './contender.ts'
import type { ContenderName } from './contenders/index.ts'

/** Numbers of one measurement, by metric. */
export type Figures = Readonly<Record<string, number>>
export type Size = Readonly<Record<string, number | string | boolean>>

export interface Target {
  readonly metric: string
  readonly against: ContenderName
  readonly atMost: number
}

export interface Workload {
  readonly id: string
  readonly title: string
  /** Metrics in the order of the table, with their units. */
  readonly metrics: Readonly<Record<string, string>>
  /** Contenders that it makes no sense for. */
  readonly without?: readonly ContenderName[]
  readonly targets?: readonly Target[]
  readonly size: Size
  /** What differs in a quick run. */
  readonly quick?: Size
  /** Is given a contender of which nothing is imported. Throws when the work was not done. */
  run(contender: Contender, size: Size): Promise<Figures>
}
