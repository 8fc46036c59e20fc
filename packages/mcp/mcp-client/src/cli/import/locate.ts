/** Owns which files an import looks at: the one that was named, or those of the known clients that are there. */
import { resolve } from 'node:path'
import { DIALECTS, detectDialect, dialectNamed } from './dialects.ts'
import type { Dialect } from './dialects.ts'
import { readServers } from './file-servers.ts'
import type { Surroundings } from './file-servers.ts'
import { ImportFault, faultOf } from './foreign-server.ts'
import type { Reading } from './foreign-server.ts'
import { placesOf } from './places.ts'
import type { Machine } from './places.ts'
import { parseText, readText } from './source.ts'

/** A file to look at. */
export interface Candidate {
  readonly path: string
  readonly dialect?: Dialect
  /** Somebody named it: it must be there and have servers. */
  readonly isNamed: boolean
}

/** One file with its servers, or why it has none. */
export type FileReading =
  | {
      readonly kind: 'servers'
      readonly path: string
      readonly dialect: Dialect
      readonly readings: readonly Reading[]
    }
  | { readonly kind: 'fault'; readonly path: string; readonly reason: string }

/** The command line is wrong. */
export class UsageFault extends Error {}

/** What to look at. Throws UsageFault. */
export function candidates(
  from: string | undefined,
  file: string | undefined,
  machine: Machine,
): Candidate[] {
  const dialect = from === undefined ? undefined : dialectNamed(from)
  const isPath = from !== undefined && dialect === undefined
  if (isPath && file !== undefined) {
    throw new UsageFault(`With a file, --from must be one of ${names()}.`)
  }
  if (isPath && !/[./\\]/.test(from)) {
    throw new UsageFault(
      `${JSON.stringify(from)} is neither a client nor a path. The clients are ${names()}.`,
    )
  }
  const named = isPath ? from : file
  if (named !== undefined) {
    const path = resolve(machine.cwd, named)
    return [{ path, isNamed: true, ...(dialect === undefined ? {} : { dialect }) }]
  }
  const places = (dialect === undefined ? DIALECTS : [dialect]).flatMap((known) =>
    placesOf(known.name, machine).map((path) => ({ path, dialect: known, isNamed: false })),
  )
  return places.filter(({ path }, index) => places.findIndex((other) => other.path === path) === index)
}

/** Read one file. Undefined where nobody named it and it has nothing for us. */
export async function readFile(candidate: Candidate, around: Surroundings): Promise<FileReading | undefined> {
  const { path, isNamed } = candidate
  try {
    const text = await readText(path)
    if (text === undefined) {
      if (isNamed) throw new ImportFault('There is no such file.')
      return undefined
    }
    if (!isNamed && text.trim() === '') return undefined
    const value = parseText(path, text)
    const dialect = candidate.dialect ?? detectDialect(path, value)
    const readings = await readServers(path, value, dialect, around)
    if (readings.length > 0) return { kind: 'servers', path, dialect, readings }
    // Settings of an editor are there without servers mostly.
    return isNamed ? { kind: 'fault', path, reason: 'It has no MCP servers.' } : undefined
  } catch (error) {
    return { kind: 'fault', path, reason: faultOf(error).message }
  }
}

function names(): string {
  return DIALECTS.map(({ name }) => name).join(', ')
}
