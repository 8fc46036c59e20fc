/** Owns the words of a workload. */
import type { Contender } from './contender.ts'
import type { ContenderName } from './contenders/index.ts'

/** Numbers of one measurement, by metric. */
export type Figures = Readonly<Record<string, number>>
export type Size = Readonly<Record<string, number | string | boolean>>

/** What must hold of ours: a metric, as it is or as a ratio of what `of` names. */
export interface Target {
  readonly metric: string
  readonly of: Reference
  readonly atMost: number
}

export type Reference =
  /** The same metric of another contender. */
  | { readonly contender: ContenderName }
  /** The same metric of ours in another workload. */
  | { readonly workload: string }
  /** Another metric of ours in the same workload. */
  | { readonly metric: string }
  /** The number itself. */
  | 'nothing'

/** Measurements of each contender, at most. */
export interface Rounds {
  /** Of raw, the floor, ours and the harness's own client. */
  readonly own: number
  /** Of the other peers. */
  readonly peers: number
}

export interface Workload {
  readonly id: string
  readonly title: string
  /** Metrics in the order of the table, with their units. */
  readonly metrics: Readonly<Record<string, string>>
  /** Contenders that it makes no sense for. */
  readonly without?: readonly ContenderName[]
  readonly targets?: readonly Target[]
  /** Fewer than the default where a measurement takes seconds. */
  readonly rounds?: Rounds
  readonly size: Size
  /** What differs in a quick run. */
  readonly quick?: Size
  /** Is given a contender of which nothing is imported. Throws when the work was not done. */
  run(contender: Contender, size: Size): Promise<Figures>
}
