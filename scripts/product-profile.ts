/**
 * Owns the real product as the product leg uses it: dsh installed from product/ into the git-ignored .product/,
 * the packed plugin added to a fresh headless profile as a user would, and one task run through the command line.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, mustRun, run, seconds } from './command.ts'
import type { Outcome } from './command.ts'

const SOURCE = join(ROOT, 'product')
const PRODUCT = join(ROOT, '.product')
const PACKAGE = join(ROOT, 'packages', 'mcp', 'mcp-client')
const PLUGIN_NAME = '@deepseek-ai/dsh-mcp-client'
const INSTALLED = join(PRODUCT, 'node_modules')
const DSH = join(INSTALLED, '@deepseek-ai', 'dsh', 'lib', 'bin.js')
const SERVER = join(INSTALLED, '@modelcontextprotocol', 'server-everything', 'dist', 'index.js')
const PNPM_QUIET = ['--reporter=append-only', '--prefer-offline']

export interface Manifest {
  readonly version: string
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly pnpm?: { readonly overrides?: Readonly<Record<string, string>> }
}

export interface Block {
  readonly type: string
  readonly text?: string
  readonly content?: readonly Block[]
  readonly isError?: boolean
}

/** What the model was asked, as far as the leg looks at it. */
export interface ModelRequest {
  readonly messages: readonly { readonly content: readonly Block[] }[]
  readonly tools: readonly { readonly name: string; readonly parameters: object }[]
}

export interface Task {
  readonly outcome: Outcome
  readonly requests: readonly ModelRequest[]
  /** URLs of the plugin's modules that dsh loaded. */
  readonly loaded: readonly string[]
}

export interface Profile {
  /** DSH_HOME, outside the repository so that nothing resolves from its node_modules. */
  readonly home: string
  readonly folder: string
  readonly workspace: string
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** Overrides of the product's manifest: what its vendor packages are pinned to. */
export function productOverrides(): Readonly<Record<string, string>> {
  return readManifest(SOURCE).pnpm?.overrides ?? {}
}

/** Version of a package as it is installed in the product, wherever in its tree. */
export function installedVersion(name: string): string {
  return readManifest(join(INSTALLED, '.pnpm', 'node_modules', name)).version
}

/** Make the product's lock anew from its manifest. Needs the registry. */
export async function writeProductLock(): Promise<void> {
  const args = ['install', '--ignore-workspace', '--lockfile-only', '--no-frozen-lockfile']
  await mustRun('pnpm', args, { cwd: SOURCE, limitMs: 300_000 })
}

export async function installProduct(): Promise<void> {
  const start = performance.now()
  mkdirSync(PRODUCT, { recursive: true })
  for (const file of ['package.json', 'pnpm-lock.yaml']) cpSync(join(SOURCE, file), join(PRODUCT, file))
  const args = ['install', '--ignore-workspace', '--frozen-lockfile', ...PNPM_QUIET]
  await mustRun('pnpm', args, { cwd: PRODUCT, limitMs: 300_000 })
  console.log(`product: dsh ${readManifest(join(DSH, '..', '..')).version} installed in ${seconds(start)}`)
}

/** Pack the package as it would be published; the path of the tarball. */
export async function packPlugin(folder: string): Promise<string> {
  const args = ['pack', '--json', '--pack-destination', folder]
  const packed = await mustRun('npm', args, { cwd: PACKAGE, limitMs: 60_000 })
  const [tarball] = JSON.parse(packed.stdout) as { filename: string; size: number }[]
  if (tarball === undefined) throw new Error(`npm pack named no tarball: ${packed.stdout}`)
  console.log(`product: packed ${tarball.filename}, ${tarball.size} bytes`)
  return join(folder, tarball.filename)
}

export function createProfile(): Profile {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-product-')))
  const workspace = join(home, 'workspace')
  mkdirSync(workspace)
  return { home, folder: join(home, 'profiles', 'headless'), workspace }
}

function environmentOf(profile: Profile): Record<string, string> {
  return { DSH_HOME: profile.home, DSH_TELEMETRY_DISABLED: '1', DEEPSEEK_API_KEY: '' }
}

/** Add the plugin to the new profile by the product's own command, then lay the user's rows. */
export async function addPlugin(profile: Profile, tarball: string): Promise<void> {
  const start = performance.now()
  const add = ['plugin', '--profile', 'headless', 'add', `file:${tarball}`, ...PNPM_QUIET]
  await mustRun(process.execPath, [DSH, ...add], {
    cwd: profile.workspace,
    limitMs: 120_000,
    env: environmentOf(profile),
  })
  cpSync(join(SOURCE, 'profile.patch.yml'), join(profile.folder, 'cordis.patch.yml'))
  cpSync(join(SOURCE, 'scripted-model.mjs'), join(profile.folder, 'scripted-model.mjs'))
  const added = readManifest(join(profile.folder, 'node_modules', PLUGIN_NAME)).version
  console.log(`product: ${PLUGIN_NAME} ${added} added to the headless profile in ${seconds(start)}`)
}

function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
}

/** One task through `dsh --profile headless`, answered by the scripted model. */
export async function runTask(
  profile: Profile,
  script: readonly object[],
  mode: 'native' | 'code',
): Promise<Task> {
  const start = performance.now()
  const requests = join(profile.home, `requests-${mode}.jsonl`)
  const loaded = join(profile.home, `loaded-${mode}.txt`)
  const args = ['--import', join(SOURCE, 'loaded.mjs'), DSH, '--profile', 'headless', 'say hello']
  const outcome = await run(process.execPath, args, {
    cwd: profile.workspace,
    limitMs: 60_000,
    output: 'keep',
    env: {
      ...environmentOf(profile),
      DSH_TOOLS_MODE: mode,
      PRODUCT_SERVER: SERVER,
      PRODUCT_MARK: profile.home,
      PRODUCT_SCRIPT: JSON.stringify(script),
      PRODUCT_REQUESTS: requests,
      PRODUCT_LOADED: loaded,
    },
  })
  console.log(`product: dsh --profile headless, ${mode} mode, ended in ${seconds(start)}`)
  return {
    outcome,
    requests: linesOf(requests).map((line) => JSON.parse(line) as ModelRequest),
    loaded: linesOf(loaded),
  }
}
