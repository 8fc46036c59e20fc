/**
 * Owns signals to a server's whole process group. A server is often behind `npx` or a shell and has helpers: a signal
 * to the child alone would leave them running. On Windows, which has no groups, the tree is killed while its root lives.
 */
import { spawn, spawnSync } from 'node:child_process'

export interface ProcessGroups {
  /** Signal every member. The leader may be gone; nobody there is no error. */
  signal(leader: number, signal: 'SIGTERM' | 'SIGKILL'): void
  /** Kill every member before this returns: for the last moments of the host. */
  killNow(leader: number): void
  /** Kill what a leader left behind that is gone itself. */
  sweep(leader: number): void
  /** Tell whether a member lives; also a dead one that nobody has reaped yet. */
  isAlive(leader: number): boolean
}

const POSIX: ProcessGroups = {
  signal: (leader, signal) => void sendTo(leader, signal),
  killNow: (leader) => void sendTo(leader, 'SIGKILL'),
  sweep: (leader) => void sendTo(leader, 'SIGKILL'),
  isAlive: (leader) => sendTo(leader, 0),
}

/** The groups of this platform. Without `run` and `runSync` the real taskkill is run on Windows. */
export function processGroups(
  platform: NodeJS.Platform = process.platform,
  run: Run = spawn,
  runSync: Run = spawnSync,
): ProcessGroups {
  if (platform !== 'win32') return POSIX
  return {
    // Console programs have no polite signal on Windows; they had the end of stdin.
    signal: (leader) => taskkill(run, leader),
    killNow: (leader) => taskkill(runSync, leader),
    // The tree cannot be found from a root that is gone, and its id may name another process by now.
    sweep: () => undefined,
    isAlive: () => false,
  }
}

type Run = (
  command: string,
  args: readonly string[],
  options: { stdio: 'ignore'; windowsHide: boolean },
) => object

function taskkill(run: Run, root: number): void {
  const child = run('taskkill', ['/PID', String(root), '/T', '/F'], { stdio: 'ignore', windowsHide: true })
  // A taskkill that cannot start is noticed by the exit that does not come.
  if ('once' in child && typeof child.once === 'function') child.once('error', () => undefined)
}

/** Tell whether the group has a member. A group of 0 or 1 would be our own or everybody. */
function sendTo(leader: number, signal: NodeJS.Signals | 0): boolean {
  if (leader <= 1) return false
  try {
    return process.kill(-leader, signal)
  } catch (error) {
    // ESRCH: nobody there. EPERM: somebody who is not ours any more, or (macOS) who is dead and not reaped.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
