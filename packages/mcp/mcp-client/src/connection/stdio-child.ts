/**
 * Owns one server process from its start to its end: its own process group, no shell, watched by the reaper as long as
 * it lives. When the leader is gone, what it left of its group is killed.
 */
import { spawn } from 'node:child_process'
import type { ChildProcessByStdio, SpawnOptions } from 'node:child_process'
import { createRequire } from 'node:module'
import type { Readable, Writable } from 'node:stream'
import { processGroups } from './process-group.ts'
import type { ProcessGroups } from './process-group.ts'
import { REAPER } from './reaper.ts'
import type { Reaper } from './reaper.ts'
import { spawnFailure } from './spawn-failure.ts'
import type { SpawnRequest } from './spawn-failure.ts'

export interface Child {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** How it ended, such as `exit code 3` or `signal SIGKILL`; undefined while it lives. */
  exit(): string | undefined
  /** The leader ended. Its output may not have been read yet. */
  readonly exited: Promise<void>
  /** The leader ended and all its pipes are at their end; never while an escaped helper holds one. */
  readonly closed: Promise<void>
  signal(signal: 'SIGTERM' | 'SIGKILL'): void
  /** Settles when nobody of the group is left, within a short limit: a dead helper may never be reaped. */
  emptied(): Promise<void>
}

type Piped = ChildProcessByStdio<Writable, Readable, Readable>
export type Spawn = (command: string, args: readonly string[], options: SpawnOptions) => Piped

export interface ChildEdges {
  readonly spawn: Spawn
  readonly groups: ProcessGroups
  readonly reaper: Reaper
}

export const CHILD_EDGES: ChildEdges = {
  spawn: spawnFor(process.platform),
  groups: processGroups(),
  reaper: REAPER,
}

const EMPTIED_LIMIT_MS = 250
const POLL_MS = 5

/** Start the process. Rejects with the McpError of spawn-failure.ts, and then nothing is left of it. */
export function openChild(request: SpawnRequest, edges: ChildEdges): Promise<Child> {
  const { promise, resolve, reject } = Promise.withResolvers<Child>()
  const exited = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const { command, args, cwd, env } = request
  let child: Piped
  try {
    child = edges.spawn(command, args, {
      env: { ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      // On Windows this would open a window and give no group.
      detached: process.platform !== 'win32',
      windowsHide: true,
      ...(cwd === undefined ? {} : { cwd }),
    })
  } catch (error) {
    return Promise.reject(spawnFailure(error, request))
  }
  child.on('error', (error) => reject(spawnFailure(error, request)))
  const { pid } = child
  // The `error` event tells why.
  if (pid === undefined) return promise
  const unwatch = edges.reaper.watch(pid)
  let exit: string | undefined
  child.once('exit', (code, signal) => {
    exit = code === null ? `signal ${signal}` : `exit code ${code}`
    // At once: later its id may be somebody else's. What the leader wrote is in the pipe already.
    edges.groups.sweep(pid)
    unwatch()
    exited.resolve()
  })
  child.once('close', () => closed.resolve())
  child.once('spawn', () =>
    resolve({
      pid,
      stdin: child.stdin,
      stdout: child.stdout,
      stderr: child.stderr,
      exit: () => exit,
      exited: exited.promise,
      closed: closed.promise,
      // Not to a group without its leader: the id may have a new owner.
      signal: (signal) => {
        if (exit === undefined) edges.groups.signal(pid, signal)
      },
      emptied: () => emptied(pid, edges.groups),
    }),
  )
  return promise
}

/** Its timers keep the host alive, unlike those of the clock: somebody waits for the end of a close. */
async function emptied(pid: number, groups: ProcessGroups): Promise<void> {
  for (let waited = 0; groups.isAlive(pid) && waited < EMPTIED_LIMIT_MS; waited += POLL_MS) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/**
 * How a command is started. On Windows `npx` and its kind are .cmd files, which Node refuses to start without a shell
 * and whose arguments need cmd.exe's own escaping: cross-spawn, which the SDK uses too, knows both.
 */
export function spawnFor(platform: NodeJS.Platform): Spawn {
  if (platform !== 'win32') return spawn as Spawn
  return (command, args, options) => {
    const crossSpawn = createRequire(import.meta.url)('cross-spawn') as Spawn
    return crossSpawn(command, args, options)
  }
}
