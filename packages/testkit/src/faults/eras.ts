import type { FaultRow } from './row.ts'
export const eras: readonly FaultRow[] = []
