/**
 * Owns the check after a test: no timer, child, grandchild, socket or listener is left.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

export interface Leftovers {
  /** Kinds of active resources of this process, with their number. */
  readonly resources: ReadonlyMap<string, number>
  /** Processes below this one: pid and command line. */
  readonly processes: ReadonlyMap<number, string>
}

/** What may come and go with the test runner. */
const IGNORED: ReadonlySet<string> = new Set([
  'FSReqPromise',
  'FSReqCallback',
  'Immediate',
  'TickObject',
  'CloseReq',
])
const PATIENCE_MS = 1000
const POLL_MS = 20

/** What lives now. Taken before a test, it is what may live after it. */
export function leftovers(): Leftovers {
  // Made at their first use, each with a handle that stays: let that be now.
  void [process.stdout, process.stderr]
  const resources = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) {
    if (!IGNORED.has(kind)) resources.set(kind, (resources.get(kind) ?? 0) + 1)
  }
  return { resources, processes: descendants() }
}

/**
 * Assert that nothing lives which did not before. Waits up to a second for what is closing.
 * `pids` are further processes that must be gone: a grandchild whose parent died belongs to nobody.
 * @throws Error that names what is left
 */
export async function expectNoLeftovers(before: Leftovers, pids: readonly number[] = []): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const left = difference(before, pids)
    if (left.length === 0) return
    if (performance.now() > end) throw new Error(`Left behind:\n${left.join('\n')}`)
    await delay(POLL_MS)
  }
}

function difference(before: Leftovers, pids: readonly number[]): string[] {
  const now = leftovers()
  const resources = [...now.resources]
    .map(([kind, count]) => [kind, count - (before.resources.get(kind) ?? 0)] as const)
    .filter(([, more]) => more > 0)
    .map(([kind, more]) => `${more} × ${kind}`)
  const processes = [...now.processes]
    .filter(([pid]) => !before.processes.has(pid))
    .map(([pid, command]) => `process ${pid}: ${command.slice(0, 200)}`)
  return [...resources, ...processes, ...pids.filter((pid) => isAlive(pid)).map((pid) => `process ${pid}`)]
}

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

function descendants(): Map<number, string> {
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
