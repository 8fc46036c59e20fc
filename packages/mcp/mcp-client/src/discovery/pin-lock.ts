/**
 * Owns the lock that a killed host left beside the file of pins: the library never breaks one, so each write would wait
 * for its limit. Only a lock that is old and whose process is gone is broken; any other is left to the library.
 */
import { readFile, rm, stat } from 'node:fs/promises'

/** A younger one may be of a process that this machine does not see, as in another container. A write takes far less. */
const OLD_MS = 2_000

/** Remove the lock of a file where its owner is gone. Never rejects. */
export async function breakDeadLock(path: string): Promise<void> {
  const lock = `${path}.lock`
  try {
    const [owner, { mtimeMs }] = await Promise.all([readFile(lock, 'utf8'), stat(lock)])
    if (Date.now() - mtimeMs < OLD_MS || isAlive(owner.trim())) return
    // Nobody else has taken it meanwhile.
    if ((await readFile(lock, 'utf8')) === owner && (await stat(lock)).mtimeMs === mtimeMs)
      await rm(lock, { force: true })
  } catch {
    // There is none, or it cannot be read: the library judges.
  }
}

/** Whether a process of that number runs. Without a number: killed before it wrote one. */
function isAlive(owner: string): boolean {
  if (owner === '') return false
  if (!/^[1-9]\d{0,9}$/.test(owner)) return true
  try {
    process.kill(Number(owner), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
