/**
 * Owns the fault table: one fault of a server a row, in groups of one theme.
 */
import { fileURLToPath } from 'node:url'
import { eras } from './eras.ts'
import { framing } from './framing.ts'
import { http } from './http.ts'
import { httpOpening } from './http-opening.ts'
import { httpSessions } from './http-sessions.ts'
import { httpStreams } from './http-streams.ts'
import { life } from './life.ts'
import { lists } from './lists.ts'
import { modern } from './modern.ts'
import { results } from './results.ts'
import { rpc } from './rpc.ts'
import type { FaultRow } from './row.ts'

export const faults = {
  life,
  framing,
  rpc,
  lists,
  results,
  http,
  httpOpening,
  httpSessions,
  httpStreams,
  eras,
  modern,
} satisfies Record<string, readonly FaultRow[]>

/** Behaviour file of the table for a stdio server. Options: row (id), era. */
export const FAULT_CHILD = fileURLToPath(new URL('child.ts', import.meta.url))

export type FaultGroup = keyof typeof faults

/** @throws Error for an id that is not in the table */
export function faultRow(id: string): FaultRow {
  const row = Object.values(faults)
    .flat()
    .find((candidate) => candidate.id === id)
  if (row === undefined) throw new Error(`No row of the fault table is called ${id}`)
  return row
}

export type { FaultRow, FaultTransport, Outcome, Scene } from './row.ts'
