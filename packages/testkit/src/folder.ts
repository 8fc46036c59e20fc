/**
 * Owns the temporary folders of the kit: where they are and that none stays for long.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isAlive } from './processes.ts'

/**
 * Under node_modules, so that plugins resolve from there by package name while no check of the repository looks there.
 */
const ROOT = fileURLToPath(new URL('../../../node_modules/.testkit/', import.meta.url))
let isSwept = false

/** A fresh folder. It is removed at the end of this process, or by a later one where this one is killed. */
export function temporaryFolder(prefix = 'folder'): string {
  mkdirSync(ROOT, { recursive: true })
  if (!isSwept) {
    isSwept = true
    sweep((pid) => !isAlive(pid))
    process.once('exit', sweepOwn)
  }
  return mkdtempSync(join(ROOT, `${process.pid}-${prefix}-`))
}

/** At the exit a server may still write into its folder: what stays is swept by a later process. */
function sweepOwn(): void {
  try {
    sweep((pid) => pid === process.pid)
  } catch {
    // ENOTEMPTY
  }
}

function sweep(isOver: (pid: number) => boolean): void {
  for (const name of readdirSync(ROOT)) {
    if (isOver(Number.parseInt(name, 10))) rmSync(join(ROOT, name), { recursive: true, force: true })
  }
}
