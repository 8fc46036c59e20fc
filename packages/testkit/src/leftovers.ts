/**
 * Owns the check after a test: no timer, child, grandchild, socket or listener is left. What counts is the very object,
 * not the number of its kind: the test runner's own come and go.
 */
/* oxlint-disable no-underscore-dangle -- Node's own names */
import { createRequire } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { descendants, isAlive } from './processes.ts'

/** What lived at one moment. */
export interface Leftovers {
  readonly timers: ReadonlySet<object>
  /** Sockets, listeners, watchers, children, workers. */
  readonly handles: ReadonlySet<object>
  /** Processes below this one: pid and command line. */
  readonly processes: ReadonlyMap<number, string>
}

export interface LeftoversOptions {
  /** Further processes that must be gone: a grandchild whose parent died belongs to nobody. */
  readonly pids?: readonly number[]
  /** How long to wait for what is closing. Default: 1000. */
  readonly patienceMs?: number
}

const POLL_MS = 20

/** What lives now. Taken before a test, it is what may live after it. */
export function leftovers(): Leftovers {
  // Made at their first use, each with a handle that stays: let that be now.
  void [process.stdout, process.stderr]
  return { timers: new Set(activeTimers()), handles: new Set(activeHandles()), processes: descendants() }
}

/**
 * Assert that nothing lives which did not before.
 * @throws Error that names what is left
 */
export async function expectNoLeftovers(before: Leftovers, options: LeftoversOptions = {}): Promise<void> {
  const { pids = [], patienceMs = 1000 } = options
  const end = performance.now() + patienceMs
  for (;;) {
    const left = difference(before, pids)
    if (left.length === 0) return
    if (performance.now() > end) throw new Error(`Left behind:\n${left.join('\n')}`)
    await delay(POLL_MS)
  }
}

function difference(before: Leftovers, pids: readonly number[]): string[] {
  return [
    ...activeTimers()
      .filter((timer) => !before.timers.has(timer))
      .map((timer) => `timer of ${timer._idleTimeout} ms: ${String(timer._onTimeout).slice(0, 200)}`),
    ...activeHandles()
      .filter((handle) => !before.handles.has(handle))
      .map((handle) => describeHandle(handle)),
    ...[...descendants()]
      .filter(([pid]) => !before.processes.has(pid))
      .map(([pid, command]) => `process ${pid}: ${command.slice(0, 200)}`),
    ...pids.filter((pid) => isAlive(pid)).map((pid) => `process ${pid}`),
  ]
}

/** Node's own object behind a timer. */
interface Timer {
  readonly _idlePrev: Timer
  readonly _idleTimeout: number
  readonly _onTimeout: unknown
  hasRef(): boolean
}

/**
 * Timers that keep the event loop alive. Those of the test runner do not.
 * @throws Error without `--expose-internals`
 */
function activeTimers(): Timer[] {
  const internals = createRequire(import.meta.url)('internal/timers') as {
    readonly timerListMap: Readonly<Record<string, Timer>>
  }
  return Object.values(internals.timerListMap).flatMap((list) => {
    const timers: Timer[] = []
    for (let timer = list._idlePrev; timer !== list; timer = timer._idlePrev) timers.push(timer)
    return timers.filter((timer) => timer.hasRef())
  })
}

interface Handle {
  readonly localPort?: number
  readonly remotePort?: number
  readonly spawnargs?: readonly string[]
  readonly address?: () => unknown
}

function activeHandles(): Handle[] {
  return (process as unknown as { _getActiveHandles(): Handle[] })._getActiveHandles()
}

function describeHandle(handle: Handle): string {
  const { localPort, remotePort, spawnargs } = handle
  const kind = handle.constructor.name
  if (spawnargs !== undefined) return `${kind} ${spawnargs.join(' ').slice(0, 200)}`
  if (remotePort !== undefined) return `${kind} from port ${localPort} to ${remotePort}`
  return kind === 'Server' ? `Server at ${JSON.stringify(handle.address?.())}` : kind
}
