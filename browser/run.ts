/**
 * Owns the browser test: a real authorization server with a login page, `dsh-mcp login` as a process, and a person in the
 * shape of headless Chromium who opens the printed link and clicks. Installs what drives the browser only where the lock
 * does not say that it is installed. `node browser/run.ts` after a build; CHROMIUM names another browser.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { MCP_CLIENT, bootHost, httpRow, startAuthorizationServer, startHttpServer } from '@dsh-mcp/testkit'

const HERE = import.meta.dirname
const BIN = join(HERE, '../packages/mcp/mcp-client/lib/cli/main.js')
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const LIMIT_MS = 60_000
const TOOL = 'mcp__notes__echo'

let failures = 0

function check(what: string, isGood: boolean, seen?: unknown): void {
  console.log(`${isGood ? 'ok  ' : 'FAIL'} ${what}`)
  if (isGood) return
  failures += 1
  console.log(`     seen: ${JSON.stringify(seen)?.slice(0, 1_000)}`)
}

function install(): void {
  const stamp = join(HERE, 'node_modules/.installed-lock')
  const lock = createHash('sha256')
    .update(readFileSync(join(HERE, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--silent'], { cwd: HERE, stdio: 'inherit' })
  if (status !== 0) throw new Error('npm ci failed')
  writeFileSync(stamp, lock)
}

/** What the browser is used for. */
interface Page {
  goto(url: string): Promise<unknown>
  click(selector: string): Promise<void>
  waitForURL(pattern: RegExp): Promise<void>
  textContent(selector: string): Promise<string | null>
  title(): Promise<string>
}

async function openPage(folder: string): Promise<{ readonly page: Page; close(): Promise<void> }> {
  const name = 'playwright-core'
  const { chromium } = (await import(name)) as {
    chromium: {
      launchPersistentContext(
        folder: string,
        options: object,
      ): Promise<{
        newPage(): Promise<Page>
        setDefaultTimeout(ms: number): void
        close(): Promise<void>
      }>
    }
  }
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: CHROMIUM,
    args: FLAGS,
    timeout: LIMIT_MS,
  })
  context.setDefaultTimeout(LIMIT_MS)
  return { page: await context.newPage(), close: () => context.close() }
}

/** The command, as a person starts it; its link as soon as that is printed. */
function command(argv: readonly string[], cwd: string, home: string) {
  const child = spawn(process.execPath, [BIN, ...argv], {
    cwd,
    env: { ...process.env, DSH_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const link = Promise.withResolvers<string>()
  // Not each command logs in.
  link.promise.catch(() => undefined)
  let told = ''
  child.stderr.on('data', (chunk: Buffer) => {
    told += String(chunk)
    const found = /^http\S+(?=\n)/m.exec(told)?.[0]
    if (found !== undefined) link.resolve(found)
  })
  const limit = setTimeout(() => child.kill(), LIMIT_MS)
  const ended = Promise.all([once(child, 'close'), text(child.stdout)]).then(([[code], out]) => {
    clearTimeout(limit)
    link.reject(new Error(`no link: ${told}${out}`))
    return { code: code as number | null, out, err: told }
  })
  return { link: link.promise, ended }
}

async function main(): Promise<void> {
  if (!existsSync(CHROMIUM))
    throw new Error(`${CHROMIUM} is not there: install Debian's chromium, or set CHROMIUM`)
  install()
  const folder = mkdtempSync(join(tmpdir(), 'mcp-browser-'))
  const home = join(folder, 'home')
  mkdirSync(home)
  const authorization = await startAuthorizationServer({ showsPage: true, expiresIn: 3600 })
  const server = await startHttpServer()
  server.intercept = authorization.guard({ scopesSupported: ['notes'] })
  const row = httpRow('notes', server.url)
  writeFileSync(join(folder, 'cordis.yml'), JSON.stringify([{ name: MCP_CLIENT, ...row }]))
  const browser = await openPage(join(folder, 'profile'))
  const { page } = browser
  try {
    console.log('a login that is granted')
    const login = command(['login', 'notes', '--no-browser'], folder, home)
    await page.goto(await login.link)
    check('the link leads to the login page', (await page.title()) === 'Log in', await page.title())
    await page.click('#grant')
    await page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/callback\?/)
    const words = await page.textContent('body')
    check('the page says so', words?.trim() === 'You are logged in. You can close this window.', words)
    const { code, out, err } = await login.ended
    check('the command ends with 0', code === 0, { code, out, err })
    check('it says what is kept, and for what', /logged in: notes works.*scopes: notes/s.test(out), out)
    check('no token is printed', !/(?:access|refresh)-[0-9a-f]{24}/.test(out + err), out + err)

    console.log('a host that starts then')
    const host = await bootHost({ rows: [row], dshHome: home })
    check('has the tools', host.tools().includes(TOOL), host.tools())
    await host.dispose()

    console.log('a host that runs, and a person who opens its link')
    await command(['logout', 'notes'], folder, home).ended
    const waiting = await bootHost({ rows: [row], dshHome: home })
    check('has no tools before', !waiting.tools().includes(TOOL), waiting.tools())
    const servers = (waiting.ctx as unknown as { mcpServers: Servers }).mcpServers
    const link = await until(() => servers.get('notes')?.login)
    await page.goto(link)
    await page.click('#grant')
    await page.waitForURL(/\/callback\?/)
    await waiting.until(() => waiting.tools().includes(TOOL), LIMIT_MS)
    check('has them afterwards, without a restart', true)
    await waiting.dispose()

    console.log('a login that is refused')
    await command(['logout', 'notes'], folder, home).ended
    authorization.switches.denies = true
    const refused = command(['login', 'notes', '--no-browser'], folder, home)
    await page.goto(await refused.link)
    await page.click('#grant')
    await page.waitForURL(/\/callback\?/)
    const refusal = await page.textContent('body')
    check(
      'the page says so',
      refusal?.trim() === 'The login did not work. Look where you started it.',
      refusal,
    )
    const end = await refused.ended
    check('the command ends with 1 and says why', end.code === 1 && /not granted/.test(end.out), end)
  } finally {
    await browser.close()
    await server.close()
    await authorization.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Servers {
  get(name: string): { readonly login?: string } | undefined
}

/** Looks until there is something, for a while. */
async function until<T>(look: () => T | undefined): Promise<T> {
  const end = performance.now() + LIMIT_MS
  for (;;) {
    const found = look()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error('it did not come')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

await main()
console.log(failures === 0 ? 'all is well' : `${failures} failed`)
process.exitCode = failures === 0 ? 0 : 1
