/** Owns the look at child processes of this one, for the proof that none is left. */
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'

/** Ids of the live children of this process; `undefined` where the system does not tell. */
export function childIds(): number[] | undefined {
  switch (process.platform) {
    case 'linux':
      return readdirSync('/proc')
        .filter((id) => /^\d+$/.test(id))
        .map(Number)
        .filter(isChild)
    case 'darwin':
      return idsFromPs()
    default:
      return undefined
  }
}

function isChild(id: number): boolean {
  try {
    // pid (command) state ppid: the command may hold spaces and brackets.
    const fields = readFileSync(`/proc/${id}/stat`, 'utf8').split(')').at(-1)?.trim().split(' ') ?? []
    return fields[0] !== 'Z' && Number(fields[1]) === process.pid
  } catch {
    return false // it ended while the list was read
  }
}

function idsFromPs(): number[] {
  const { stdout, pid: own } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([id = 0, parent]) => (parent === process.pid && id !== own ? [id] : []))
}
