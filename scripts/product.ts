/**
 * Owns the product leg: what must be true of the packed plugin in the real dsh command line, keyless, in native
 * and in Code Mode. `product.ts --plugin FILE.tgz` tries another build; `product.ts --lock` makes the lock anew.
 */
import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { ROOT } from './command.ts'
import { DRIFTED } from './drift-lock.ts'
import {
  addPlugin,
  createProfile,
  installProduct,
  installedVersion,
  packPlugin,
  productOverrides,
  readManifest,
  runTask,
  writeProductLock,
} from './product-profile.ts'
import type { Block, ModelRequest, Profile, Task } from './product-profile.ts'

let passed = 0
let failed = 0

function check(what: string, holds: boolean, seen: unknown): void {
  if (holds) passed += 1
  else failed += 1
  console.log(`  ${holds ? 'ok  ' : 'FAIL'} ${what}`)
  if (!holds) console.log(`       seen: ${JSON.stringify(seen)?.slice(0, 2000)}`)
}

/** The product runs on the host line that the tests run on: the same eight vendor versions. */
function checkVendorPins(): void {
  const pinned = readManifest(ROOT).devDependencies ?? {}
  const overrides = productOverrides()
  const names = Object.keys(DRIFTED)
  const apart = names.filter((name) => pinned[name] !== overrides[name])
  check('the product pins the vendor versions of the root', apart.length === 0, apart)
  const wrong = names.filter((name) => installedVersion(name) !== pinned[name])
  check('the product is installed with them', wrong.length === 0, wrong)
}

function textsOf(blocks: readonly Block[]): readonly string[] {
  return blocks.flatMap((block) => [block.text ?? '', ...textsOf(block.content ?? [])])
}

function toolResults(request: ModelRequest | undefined): readonly Block[] {
  const blocks = request?.messages.flatMap((message) => message.content) ?? []
  return blocks.filter((block) => block.type === 'tool-result')
}

function commandLine(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8')
  } catch {
    return '' // the process ended while the list was read
  }
}

/** Ids of processes whose command line holds `mark`; none where the system does not tell. */
function processesWith(mark: string): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').filter((id) => /^\d+$/.test(id) && commandLine(id).includes(mark))
}

function checkTask(task: Task, profile: Profile, said: string): void {
  const { outcome, requests, loaded } = task
  const isClean = outcome.code === 0 && outcome.stdout === 'done\n'
  check('dsh ends with 0 and prints the answer alone', isClean, outcome)
  const own = pathToFileURL(join(profile.folder, 'node_modules')).href
  const isOwn = loaded.length > 0 && loaded.every((url) => url.startsWith(own))
  check("dsh mounted the profile's copy of the plugin, not its own", isOwn, loaded)
  const results = toolResults(requests[1])
  const answered = results.length === 1 && results[0]?.isError === false
  check('the call answered', answered && textsOf(results).some((text) => text.includes(said)), results)
  const left = processesWith(profile.home)
  check('no server process is left', left.length === 0, left)
}

async function checkNative(profile: Profile): Promise<void> {
  const call = { name: 'mcp__everything__echo', args: { message: 'hello from dsh' } }
  const task = await runTask(profile, [{ call }, { text: 'done' }], 'native')
  const tools = task.requests[0]?.tools ?? []
  const names = tools.map((tool) => tool.name)
  const echo = tools.find((tool) => tool.name === call.name)
  const isTyped = JSON.stringify(echo?.parameters ?? {}).includes('"message"')
  check('the model sees mcp__everything__echo with its schema', isTyped, names)
  check("the host's own tools are beside it", names.includes('bash') && names.includes('read'), names)
  checkTask(task, profile, 'Echo: hello from dsh')
}

async function checkCodeMode(profile: Profile): Promise<void> {
  const code = `const answer = await tools.mcp__everything__echo({ message: 'hello from code' })
return answer.content[0].text`
  const call = { name: 'run_code', args: { description: 'echo through code', code } }
  const task = await runTask(profile, [{ call }, { text: 'done' }], 'code')
  const names = task.requests[0]?.tools.map((tool) => tool.name) ?? []
  const isCode = names.includes('run_code') && !names.some((name) => name.startsWith('mcp__'))
  check('the model sees run_code in place of the tools', isCode, names)
  checkTask(task, profile, 'Echo: hello from code')
}

async function runLeg(plugin: string | undefined): Promise<void> {
  await installProduct()
  const profile = createProfile()
  try {
    await addPlugin(profile, plugin ?? (await packPlugin(profile.home)))
    checkVendorPins()
    await checkNative(profile)
    await checkCodeMode(profile)
  } finally {
    rmSync(profile.home, { recursive: true, force: true })
  }
  console.log(`product: ${passed} checks passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

const { values } = parseArgs({ options: { plugin: { type: 'string' }, lock: { type: 'boolean' } } })
try {
  await (values.lock === true ? writeProductLock() : runLeg(values.plugin))
} catch (error) {
  console.error(`product: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
