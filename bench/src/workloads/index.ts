/** Owns the list of workloads. */
import type { Workload } from '../workload.ts'
import { BEGIN } from './begin.ts'
import { CALLS } from './calls.ts'
import { CHANGES } from './changes.ts'

export const WORKLOADS: readonly Workload[] = [...BEGIN, ...CALLS, ...CHANGES]
