/**
 * Owns the product leg: the packed plugin in the real dsh command line, keyless. It installs the product of
 * product/, adds the package to a fresh headless profile as a user would, and runs one task in native and one
 * in Code Mode. `product.ts --plugin FILE.tgz` tries another build; `product.ts --lock` writes the lock anew.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT, mustRun, run, seconds } from './command.ts'
import type { Outcome } from './command.ts'
import { DRIFTED } from './drift-lock.ts'

const SOURCE = join(ROOT, 'product')
const PRODUCT = join(ROOT, '.product')
const PACKAGE = join(ROOT, 'packages', 'mcp', 'mcp-client')
const PLUGIN_NAME = '@deepseek-ai/dsh-mcp-client'
const DSH = join(PRODUCT, 'node_modules', '@deepseek-ai', 'dsh', 'lib', 'bin.js')
const SERVER = join(PRODUCT, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js')
const PNPM_QUIET = ['--reporter=append-only', '--prefer-offline']

interface Manifest {
  readonly version: string
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly pnpm?: { readonly overrides?: Readonly<Record<string, string>> }
}

interface Block {
  readonly type: string
  readonly text?: string
  readonly content?: readonly Block[]
  readonly isError?: boolean
}

interface ModelRequest {
  readonly messages: readonly { readonly content: readonly Block[] }[]
  readonly tools: readonly {
    readonly name: string
    readonly description: string
    readonly parameters: object
  }[]
}

interface Turn {
  readonly outcome: Outcome
  readonly requests: readonly ModelRequest[]
}

interface Profile {
  /** DSH_HOME, outside the repository so that nothing resolves from its node_modules. */
  readonly home: string
  readonly folder: string
  readonly workspace: string
}

let passed = 0
let failed = 0

function check(what: string, holds: boolean, seen: unknown): void {
  if (holds) passed += 1
  else failed += 1
  console.log(`  ${holds ? 'ok  ' : 'FAIL'} ${what}`)
  if (!holds) console.log(`       seen: ${JSON.stringify(seen)?.slice(0, 2000)}`)
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** The product runs on the host line that the tests run on: the same eight vendor versions. */
function checkVendorPins(): void {
  const pinned = readManifest(ROOT).devDependencies ?? {}
  const overrides = readManifest(SOURCE).pnpm?.overrides ?? {}
  const apart = Object.keys(DRIFTED).filter((name) => pinned[name] !== overrides[name])
  check('the product pins the vendor versions of the root', apart.length === 0, apart)
  const hoisted = join(PRODUCT, 'node_modules', '.pnpm', 'node_modules')
  const wrong = Object.keys(DRIFTED).filter(
    (name) => readManifest(join(hoisted, name)).version !== pinned[name],
  )
  check('the product is installed with them', wrong.length === 0, wrong)
}

async function installProduct(): Promise<void> {
  const start = performance.now()
  mkdirSync(PRODUCT, { recursive: true })
  for (const file of ['package.json', 'pnpm-lock.yaml']) cpSync(join(SOURCE, file), join(PRODUCT, file))
  await mustRun('pnpm', ['install', '--ignore-workspace', '--frozen-lockfile', ...PNPM_QUIET], {
    cwd: PRODUCT,
    limitMs: 300_000,
  })
  console.log(`product: dsh ${readManifest(join(DSH, '..', '..')).version} installed in ${seconds(start)}`)
}

/** Pack the package as it would be published; the path of the tarball. */
async function packPlugin(folder: string): Promise<string> {
  const packed = await mustRun('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: PACKAGE,
    limitMs: 60_000,
  })
  const [tarball] = JSON.parse(packed.stdout) as { filename: string; size: number }[]
  if (tarball === undefined) throw new Error(`npm pack named no tarball: ${packed.stdout}`)
  console.log(`product: packed ${tarball.filename}, ${tarball.size} bytes`)
  return join(folder, tarball.filename)
}

function dshEnvironment(profile: Profile): Record<string, string> {
  return { DSH_HOME: profile.home, DSH_TELEMETRY_DISABLED: '1', DEEPSEEK_API_KEY: '' }
}

/** Add the plugin to a new headless profile by the product's own command, then lay the user's rows. */
async function addPlugin(profile: Profile, tarball: string): Promise<void> {
  const start = performance.now()
  const add = ['plugin', '--profile', 'headless', 'add', `file:${tarball}`, ...PNPM_QUIET]
  await mustRun(process.execPath, [DSH, ...add], {
    cwd: profile.workspace,
    limitMs: 120_000,
    env: dshEnvironment(profile),
  })
  cpSync(join(SOURCE, 'profile.patch.yml'), join(profile.folder, 'cordis.patch.yml'))
  cpSync(join(SOURCE, 'scripted-model.mjs'), join(profile.folder, 'scripted-model.mjs'))
  const added = readManifest(join(profile.folder, 'node_modules', PLUGIN_NAME)).version
  console.log(`product: ${PLUGIN_NAME} ${added} added to the headless profile in ${seconds(start)}`)
}

/** One task through `dsh --profile headless`, answered by the scripted model. */
async function runTask(profile: Profile, script: readonly object[], mode: 'native' | 'code'): Promise<Turn> {
  const start = performance.now()
  const log = join(profile.home, `requests-${mode}.jsonl`)
  const outcome = await run(process.execPath, [DSH, '--profile', 'headless', 'say hello'], {
    cwd: profile.workspace,
    limitMs: 60_000,
    output: 'keep',
    env: {
      ...dshEnvironment(profile),
      DSH_TOOLS_MODE: mode,
      PRODUCT_SERVER: SERVER,
      PRODUCT_MARK: profile.home,
      PRODUCT_SCRIPT: JSON.stringify(script),
      PRODUCT_REQUESTS: log,
    },
  })
  console.log(`product: dsh --profile headless, ${mode} mode, ended in ${seconds(start)}`)
  let lines: string[] = []
  try {
    lines = readFileSync(log, 'utf8').trim().split('\n')
  } catch {
    console.log(`       the model was never asked\n${outcome.stdout}${outcome.stderr}`)
  }
  return { outcome, requests: lines.map((line) => JSON.parse(line) as ModelRequest) }
}

function blocksOf(blocks: readonly Block[]): readonly Block[] {
  return blocks.flatMap((block) => [block, ...blocksOf(block.content ?? [])])
}

function toolResults(request: ModelRequest | undefined): readonly Block[] {
  const blocks = request?.messages.flatMap((message) => message.content) ?? []
  return blocks.filter((block) => block.type === 'tool-result')
}

/** Process ids whose command line holds `mark`; none where the system does not tell. */
function processesWith(mark: string): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').filter((id) => {
    if (!/^\d+$/.test(id)) return false
    try {
      return readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(mark)
    } catch {
      return false // it ended while the list was read
    }
  })
}

function checkTurn(turn: Turn, profile: Profile, said: string): void {
  const { outcome, requests } = turn
  check(
    'dsh ends with 0 and prints the answer alone',
    outcome.code === 0 && outcome.stdout === 'done\n',
    outcome,
  )
  const results = toolResults(requests[1])
  const texts = blocksOf(results).map((block) => block.text ?? '')
  const answered = results.length === 1 && results[0]?.isError === false
  check('the call answered', answered && texts.some((text) => text.includes(said)), results)
  check('no server process is left', processesWith(profile.home).length === 0, processesWith(profile.home))
}

async function checkNative(profile: Profile): Promise<void> {
  const call = { name: 'mcp__everything__echo', args: { message: 'hello from dsh' } }
  const turn = await runTask(profile, [{ call }, { text: 'done' }], 'native')
  const names = turn.requests[0]?.tools.map((tool) => tool.name) ?? []
  const echo = turn.requests[0]?.tools.find((tool) => tool.name === call.name)
  check(
    'the model sees mcp__everything__echo with its schema',
    echo !== undefined && 'properties' in echo.parameters,
    names,
  )
  check("the host's own tools are beside it", names.includes('bash') && names.includes('read'), names)
  checkTurn(turn, profile, 'Echo: hello from dsh')
}

async function checkCodeMode(profile: Profile): Promise<void> {
  const code = `const answer = await tools.mcp__everything__echo({ message: 'hello from code' })
return answer.content[0].text`
  const call = { name: 'run_code', args: { description: 'echo through code', code } }
  const turn = await runTask(profile, [{ call }, { text: 'done' }], 'code')
  const names = turn.requests[0]?.tools.map((tool) => tool.name) ?? []
  check(
    'the model sees run_code in place of the tools',
    names.includes('run_code') && !names.includes('mcp__everything__echo'),
    names,
  )
  checkTurn(turn, profile, 'Echo: hello from code')
}

async function runLeg(plugin: string | undefined): Promise<void> {
  await installProduct()
  const home = mkdtempSync(join(tmpdir(), 'dsh-product-'))
  const profile = {
    home,
    folder: join(home, 'profiles', 'headless'),
    workspace: join(home, 'workspace'),
  }
  try {
    mkdirSync(profile.workspace)
    await addPlugin(profile, plugin ?? (await packPlugin(home)))
    checkVendorPins()
    await checkNative(profile)
    await checkCodeMode(profile)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
  console.log(`product: ${passed} checks passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

const { values } = parseArgs({ options: { plugin: { type: 'string' }, lock: { type: 'boolean' } } })
try {
  if (values.lock === true) {
    await mustRun('pnpm', ['install', '--ignore-workspace', '--lockfile-only', '--no-frozen-lockfile'], {
      cwd: SOURCE,
      limitMs: 300_000,
    })
  } else await runLeg(values.plugin)
} catch (error) {
  console.error(`product: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
