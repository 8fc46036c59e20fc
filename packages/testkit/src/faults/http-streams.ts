import type { FaultRow } from './row.ts'
export const httpStreams: readonly FaultRow[] = []
