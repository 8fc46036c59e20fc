/**
 * Owns the drift leg: the suite on the newest vendor packages that the host's caret ranges resolve to today.
 * `drift.ts` runs the leg, `drift.ts --check` compares the locks only, `drift.ts --lock` writes the lock anew.
 */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT, mustRun, run, seconds } from './command.ts'
import { DRIFTED, DRIFT_LOCK, driftLockFaults, driftedManifest, writeDriftLock } from './drift-lock.ts'

const TREE = join(ROOT, '.drift')
/** Rules of the sources alone: no package version can change them. */
const VERSION_FREE = ['packages/mcp/mcp-client/tests/architecture.spec.ts']

function checkLock(): void {
  const faults = driftLockFaults()
  if (faults.length === 0) return
  const shown = faults.slice(0, 10).join('\n  ')
  throw new Error(`drift/package-lock.json is not the root's lock: run \`npm run drift:lock\`\n  ${shown}`)
}

/** Copy every file of the working tree that git tracks or would track, and drift the manifest and the lock. */
async function layTree(): Promise<void> {
  rmSync(TREE, { recursive: true, force: true })
  const listed = await mustRun('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    limitMs: 60_000,
  })
  for (const file of new Set(listed.stdout.split('\0'))) {
    if (file === '' || !existsSync(join(ROOT, file))) continue
    mkdirSync(dirname(join(TREE, file)), { recursive: true })
    cpSync(join(ROOT, file), join(TREE, file))
  }
  writeFileSync(join(TREE, 'package.json'), `${JSON.stringify(driftedManifest(), null, 2)}\n`)
  cpSync(DRIFT_LOCK, join(TREE, 'package-lock.json'))
}

/** One copy of each vendor package, at the drifted version: a second copy would make the leg prove nothing. */
function checkInstalled(): void {
  for (const [name, version] of Object.entries(DRIFTED)) {
    const copies = globSync(`{node_modules,**/node_modules}/${name}/package.json`, { cwd: TREE })
    const versions = copies.map((file) => {
      const manifest = JSON.parse(readFileSync(join(TREE, file), 'utf8')) as { version: string }
      return manifest.version
    })
    if (versions.length !== 1 || versions[0] !== version) {
      throw new Error(`.drift has ${name} at ${versions.join(', ') || 'no version'}, not once at ${version}`)
    }
  }
}

async function runLeg(): Promise<number> {
  checkLock()
  await layTree()
  const start = performance.now()
  await mustRun('npm', ['ci', '--ignore-scripts'], { cwd: TREE, limitMs: 300_000 })
  checkInstalled()
  console.log(`drift: installed with ${Object.keys(DRIFTED).length} drifted packages in ${seconds(start)}`)
  await mustRun('npm', ['run', '--silent', 'build'], { cwd: TREE, limitMs: 120_000 })
  const excluded = VERSION_FREE.flatMap((file) => ['--exclude', file])
  const suite = await run(join(TREE, 'node_modules', '.bin', 'vitest'), ['run', ...excluded], {
    cwd: TREE,
    limitMs: 600_000,
    output: 'show',
  })
  return suite.code
}

const [mode] = process.argv.slice(2)
try {
  if (mode === '--lock') await writeDriftLock()
  if (mode === '--lock' || mode === '--check') checkLock()
  else if (mode === undefined) process.exitCode = (await runLeg()) === 0 ? 0 : 1
  else throw new Error(`unknown option ${mode}: --lock and --check are known`)
} catch (error) {
  console.error(`drift: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
