/**
 * Owns the lock of the drifted tree: the root's manifest and lock with the eight vendor packages moved to the
 * versions of drift/vendor.json and nothing else moved.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { ROOT, mustRun } from './command.ts'

export const DRIFT_LOCK = join(ROOT, 'drift', 'package-lock.json')

interface Manifest {
  readonly workspaces: readonly string[]
  readonly devDependencies: Readonly<Record<string, string>>
}

interface LockedPackage {
  readonly version?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T
}

/** Vendor package name -> the version of the drifted set. */
export const DRIFTED: Readonly<Record<string, string>> = readJson(join(ROOT, 'drift', 'vendor.json'))

/** The root's manifest with the vendor packages at the drifted versions. */
export function driftedManifest(): Manifest {
  const manifest = readJson<Manifest>(join(ROOT, 'package.json'))
  for (const name of Object.keys(DRIFTED)) {
    if (manifest.devDependencies[name] === undefined) throw new Error(`package.json does not pin ${name}`)
  }
  return { ...manifest, devDependencies: { ...manifest.devDependencies, ...DRIFTED } }
}

/** Make the lock anew from the root's. Needs the registry, for the eight packages alone. */
export async function writeDriftLock(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'drift-lock-'))
  try {
    const manifest = driftedManifest()
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2))
    for (const workspace of manifest.workspaces) {
      const target = join(folder, workspace, 'package.json')
      mkdirSync(dirname(target), { recursive: true })
      cpSync(join(ROOT, workspace, 'package.json'), target)
    }
    for (const file of ['package-lock.json', '.npmrc']) cpSync(join(ROOT, file), join(folder, file))
    await mustRun('npm', ['install', '--package-lock-only', '--ignore-scripts'], {
      cwd: folder,
      limitMs: 300_000,
    })
    cpSync(join(folder, 'package-lock.json'), DRIFT_LOCK)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function vendorOf(path: string): string | undefined {
  return Object.keys(DRIFTED).find((name) => path.endsWith(`node_modules/${name}`))
}

/** What stands in the lock about one package, as far as it decides what is installed. */
function pinned(entry: LockedPackage): unknown {
  const { version, integrity, link, dependencies, devDependencies, peerDependencies, optionalDependencies } =
    entry
  return {
    version,
    integrity,
    link,
    dependencies,
    devDependencies,
    peerDependencies,
    optionalDependencies,
  }
}

/** Every difference between the two locks that the drift does not explain; empty when they agree. */
export function driftLockFaults(): string[] {
  const root = readJson<Lock>(join(ROOT, 'package-lock.json')).packages
  const drift = readJson<Lock>(DRIFT_LOCK).packages
  const faults: string[] = []
  for (const path of new Set([...Object.keys(root), ...Object.keys(drift)])) {
    const before = root[path]
    const after = drift[path]
    const vendor = vendorOf(path)
    if (before === undefined) faults.push(`${path}: only in the drifted lock`)
    else if (after === undefined) faults.push(`${path}: only in the root's lock`)
    else if (vendor !== undefined) {
      if (after.version !== DRIFTED[vendor]) {
        faults.push(`${path}: ${after.version ?? 'no version'}, not ${DRIFTED[vendor] ?? ''}`)
      }
    } else {
      const expected =
        path === '' ? { ...before, devDependencies: { ...before.devDependencies, ...DRIFTED } } : before
      if (!isDeepStrictEqual(pinned(after), pinned(expected))) {
        faults.push(`${path || 'the root package'}: differs from the root's lock`)
      }
    }
  }
  return faults
}
