/**
 * Owns the conformance leg: the official suite in two versions against our own connection code, judged by the lists
 * beside this file. `run.ts --leg NAME` runs one leg; `run.ts --keep` keeps what the suite wrote.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'vite'
import { ROOT, run, seconds } from '../scripts/command.ts'
import { judge, readBaseline, unusedEntries } from './baseline.ts'
import type { Entry, Outcome } from './baseline.ts'
import { readResults } from './results.ts'
import type { Result } from './results.ts'

/** A version of the suite and its list. */
interface Suite {
  readonly folder: string
  readonly list: string
}

const SUITES = {
  '0.2': { folder: '@modelcontextprotocol/conformance', list: 'expected-failures.yml' },
  '0.1': { folder: 'conformance-0.1', list: 'expected-failures-0.1.yml' },
} as const satisfies Readonly<Record<string, Suite>>

interface Leg {
  readonly name: string
  readonly suite: keyof typeof SUITES
  readonly args: readonly string[]
}

const LEGS: readonly Leg[] = [
  { name: 'revision-2026-07-28', suite: '0.2', args: ['--requirements', '2026-07-28'] },
  { name: 'revision-2025-11-25', suite: '0.2', args: ['--requirements', '2025-11-25'] },
  { name: 'all', suite: '0.2', args: ['--suite', 'all'] },
  { name: 'all-0.1', suite: '0.1', args: ['--suite', 'all'] },
]

/** All scenarios of a leg run at once, so that each has a small share of the processors; driver.ts ends before. */
const SCENARIO_LIMIT_MS = 100_000
const LEG_LIMIT_MS = 150_000

const counts: Record<Outcome, number> = { passed: 0, listed: 0, unverified: 0, failed: 0 }

function fail(problem: string): void {
  counts.failed += 1
  console.log(`  FAIL ${problem}`)
}

/**
 * The driver and our sources as one file, beside the packages that it imports. The suite starts it once a scenario, all
 * at once: reading sixty TypeScript files each time would take most of the processor time of this leg.
 */
async function bundleDriver(): Promise<string> {
  const entry = join(ROOT, 'conformance', 'driver.ts')
  const outDir = mkdtempSync(join(ROOT, 'node_modules', '.conformance-'))
  const options = {
    ssr: entry,
    outDir,
    minify: false,
    rollupOptions: { output: { inlineDynamicImports: true } },
  }
  await build({ root: ROOT, configFile: false, publicDir: false, logLevel: 'warn', build: options })
  return join(outDir, 'driver.js')
}

interface Rig {
  /** The program that is the client. */
  readonly driver: string
  readonly baseline: readonly Entry[]
  /** Where the suite writes; a folder of this leg alone. */
  readonly folder: string
}

/** Run one leg and say what it came to. */
async function runLeg(leg: Leg, { driver, baseline, folder }: Rig): Promise<readonly Result[]> {
  const start = performance.now()
  const { folder: suite, list } = SUITES[leg.suite]
  mkdirSync(folder)
  const command = `"${process.execPath}" "${driver}"`
  const args = [
    join(ROOT, 'node_modules', suite, 'dist', 'index.js'),
    'client',
    '--command',
    command,
    ...leg.args,
  ]
  const limits = ['--timeout', String(SCENARIO_LIMIT_MS)]
  const files = ['--expected-failures', join(ROOT, 'conformance', list), '--output-dir', folder]
  const { code, stdout, stderr } = await run(process.execPath, [...args, ...limits, ...files], {
    cwd: folder,
    limitMs: LEG_LIMIT_MS,
    output: 'keep',
  })
  const results = readResults(stdout, folder)
  const passed: string[] = []
  let failed = 0
  for (const result of results) {
    const { outcome, problems } = judge(result, baseline)
    if (outcome === 'passed') passed.push(result.scenario)
    if (outcome === 'failed') {
      failed += 1
      fail(`${result.scenario} ${problems.join('\n       ')}`)
      console.log(result.log.replaceAll(/^/gm, '       | '))
    } else counts[outcome] += 1
  }
  if (results.length === 0) fail(`${leg.name}: the suite ran nothing (exit ${code})\n${stdout}${stderr}`)
  else if (code !== 0 && failed === 0) fail(`${leg.name}: the suite ends with ${code}\n${stdout}`)
  const succeeded = results.flatMap(({ checks }) => checks.filter(({ status }) => status === 'SUCCESS'))
  console.log(`${leg.name}: ${results.length} scenarios, ${succeeded.length} checks pass (${seconds(start)})`)
  console.log(`  pass: ${passed.join(', ')}`)
  return results
}

async function runLegs(legs: readonly Leg[], driver: string, folder: string): Promise<void> {
  for (const [version, { list }] of Object.entries(SUITES)) {
    const own = legs.filter(({ suite }) => suite === version)
    const baseline = readBaseline(readFileSync(join(ROOT, 'conformance', list), 'utf8'))
    const seen = new Set<string>()
    for (const leg of own) {
      const results = await runLeg(leg, { driver, baseline, folder: join(folder, leg.name) })
      for (const { scenario } of results) seen.add(scenario)
    }
    // One leg alone does not have every scenario of its suite.
    if (legs.length < LEGS.length) continue
    for (const { scenario } of unusedEntries(baseline, seen))
      fail(`${list}: no leg has the scenario ${scenario}`)
  }
}

const { values } = parseArgs({ options: { leg: { type: 'string' }, keep: { type: 'boolean' } } })
const legs = values.leg === undefined ? LEGS : LEGS.filter(({ name }) => name === values.leg)
if (legs.length === 0)
  throw new Error(`no leg ${values.leg}; there are ${LEGS.map(({ name }) => name).join(', ')}`)
const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
let driver: string | undefined
try {
  driver = await bundleDriver()
  await runLegs(legs, driver, folder)
} catch (error) {
  fail(error instanceof Error ? error.message : String(error))
} finally {
  if (driver !== undefined) rmSync(dirname(driver), { recursive: true, force: true })
  if (values.keep === true) console.log(`kept in ${folder}`)
  else rmSync(folder, { recursive: true, force: true })
}
const { passed, failed, listed, unverified } = counts
console.log(`conformance: ${listed} listed as failing, ${unverified} listed as unverified`)
console.log(`conformance: ${passed} passed, ${failed} failed`)
if (failed > 0) process.exitCode = 1
