/**
 * Owns the lock between processes: a file that only one can make. Its holder touches it while it lives, and a waiter
 * counts by its own monotonic clock how long it was not touched: steps of a wall clock neither free nor keep it. The lock
 * of a process that is surely gone is free at once.
 */
import { randomUUID } from 'node:crypto'
import { link, open, readFile, readlink, rename, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { Clock } from '../clock.ts'

/** How often a holder touches its lock. */
const TOUCH_MS = 3_000
/** Untouched for so long, it belongs to a process that died, perhaps on a machine or in a container that we do not see. */
const STALE_MS = 15_000
/** The same where a process of its number still runs here: it may be suspended, or another program by now. */
const SUSPENDED_MS = 40_000
const WAIT_MS = 45_000
const LOOK_MS = 50

/** Says that the wait for a lock was too long: worth another try later. */
export class LockTimeout extends Error {}

/** Resolves with the release. Rejects with LockTimeout, or with the system's error where no file can be made. */
export async function takeLock(path: string, clock: Clock): Promise<() => Promise<void>> {
  const numbers = await numbersOf()
  const owner = [hostname(), process.pid, randomUUID(), numbers].join(' ').trimEnd()
  const limit = clock.now() + WAIT_MS
  let seen: { readonly mark: string | undefined; readonly since: number } | undefined
  while (!(await claim(path, owner))) {
    const now = clock.now()
    const found = await look(path)
    if (seen?.mark !== found?.mark || seen === undefined) seen = { mark: found?.mark, since: now }
    const silence = now - seen.since
    if (found !== undefined && silence >= silenceOf(found.owner, numbers)) await clear(path, found.owner)
    else if (now > limit) throw new LockTimeout('another process holds the credentials for too long')
    else await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve))
  }
  const stop = keepTouched(path, clock)
  return async () => {
    stop()
    // Nobody else's is removed.
    if ((await look(path))?.owner === owner) await rm(path, { force: true })
  }
}

async function claim(path: string, owner: string): Promise<boolean> {
  try {
    const handle = await open(path, 'wx', 0o600)
    await handle.writeFile(owner).finally(() => handle.close())
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function look(path: string): Promise<{ readonly owner: string; readonly mark: string } | undefined> {
  try {
    const [owner, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
    return { owner, mark: `${owner} ${mtimeMs}` }
  } catch {
    return undefined // released meanwhile
  }
}

/**
 * What the number of a process means: this start of this machine, and this space of numbers, since containers have their
 * own. Empty where the system does not tell.
 */
export async function numbersOf(proc = '/proc'): Promise<string> {
  try {
    const [boot, space] = await Promise.all([
      readFile(`${proc}/sys/kernel/random/boot_id`, 'utf8'),
      readlink(`${proc}/self/ns/pid`),
    ])
    return `${boot.trim()}/${space}`
  } catch {
    return '' // not Linux, or nothing is to be seen there
  }
}

/** How long a lock has to be untouched until it is taken away. */
function silenceOf(owner: string, numbers: string): number {
  if (isRunning(owner)) return SUSPENDED_MS
  return numbers !== '' && owner.split(' ')[3] === numbers ? 0 : STALE_MS
}

/** Whether a process of that number runs on this machine. */
function isRunning(owner: string): boolean {
  const [host, pid] = owner.split(' ')
  if (host !== hostname()) return false
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Take a dead owner's lock away. Two may try at once: what turns out to be another's is put back. */
export async function clear(path: string, owner: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
    if ((await readFile(aside, 'utf8')) !== owner) await link(aside, path)
  } catch {
    // Another waiter was faster.
  }
  await rm(aside, { force: true })
}

function keepTouched(path: string, clock: Clock): () => void {
  const arm = (): (() => void) =>
    clock.after(TOUCH_MS, () => {
      const now = new Date()
      utimes(path, now, now).catch(() => undefined)
      cancel = arm()
    })
  let cancel = arm()
  return () => cancel()
}
