/**
 * Owns the measuring of a child's resident memory: of the process and what it started, since many servers are started
 * through a launcher. Reads /proc; elsewhere there is no answer.
 */
import { readFileSync } from 'node:fs'

/** Processes that are looked at for one answer. */
const MAX_PROCESSES = 32

/** Resident bytes of a process and its descendants; `undefined` where the system does not tell. Never throws. */
export function residentBytes(pid: number, read: (path: string) => string = readText): number | undefined {
  const seen = new Set<number>([pid])
  let bytes: number | undefined
  for (const id of seen) {
    bytes = sum(bytes, ofOne(id, read))
    for (const child of childrenOf(id, read)) if (seen.size < MAX_PROCESSES) seen.add(child)
  }
  return bytes
}

function readText(path: string): string {
  return readFileSync(path, 'utf8')
}

function sum(total: number | undefined, one: number | undefined): number | undefined {
  return one === undefined ? total : (total ?? 0) + one
}

function ofOne(pid: number, read: (path: string) => string): number | undefined {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(textOf(`/proc/${pid}/status`, read))?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}

function childrenOf(pid: number, read: (path: string) => string): number[] {
  return textOf(`/proc/${pid}/task/${pid}/children`, read)
    .split(' ')
    .filter((word) => /^\d+$/.test(word))
    .map(Number)
}

/** Empty where there is no such file: no Linux, or the process ended meanwhile. */
function textOf(path: string, read: (path: string) => string): string {
  try {
    return read(path)
  } catch {
    return ''
  }
}
