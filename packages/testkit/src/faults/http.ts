import type { FaultRow } from './row.ts'
export const http: readonly FaultRow[] = []
