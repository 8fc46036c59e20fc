/**
 * Owns looking at processes: which are below this one, and whether one lives. Linux by /proc, elsewhere by ps.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** A zombie that its parent has not collected yet counts as gone. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return statOf(pid)?.state !== 'Z'
}

interface Stat {
  readonly state: string
  readonly parent: number
}

function statOf(pid: number): Stat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}

/** Processes below this one: pid and command line. */
export function descendants(): Map<number, string> {
  const all = process.platform === 'linux' ? fromProc() : fromPs()
  const found = new Map<number, string>()
  const below = new Set([process.pid])
  // A child may stand before its parent in the list: go on until nothing is new.
  for (let size = 0; size !== below.size;) {
    size = below.size
    for (const { pid, parent, command } of all) {
      if (!below.has(parent) || below.has(pid)) continue
      below.add(pid)
      found.set(pid, command())
    }
  }
  return found
}

interface Process {
  readonly pid: number
  readonly parent: number
  readonly command: () => string
}

function fromProc(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const pid = Number(name)
      const stat = statOf(pid)
      if (stat === undefined || stat.state === 'Z') return []
      return [{ pid, parent: stat.parent, command: () => commandOf(pid) }]
    })
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return '(ended)'
  }
}

function fromPs(): Process[] {
  const rows = execFileSync('ps', ['-Ao', 'pid=,ppid=,command='], { encoding: 'utf8' }).split('\n')
  return rows.flatMap((row) => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? []
    if (pid === undefined || command.startsWith('ps -Ao')) return []
    return [{ pid: Number(pid), parent: Number(parent), command: () => command }]
  })
}
