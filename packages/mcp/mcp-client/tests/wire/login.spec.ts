/**
 * Owns the tests of a host that is asked who it is: the plugin from the source, a real authorization server, and the
 * command line as another process.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Context } from '@deepseek-ai/cordis'
import LocalCredentials from '@deepseek-ai/dsh-credentials-local'
import { CallId } from '@deepseek-ai/dsh-llm'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { ToolRuntime } from '@deepseek-ai/dsh-tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  expectNoLeftovers,
  leftovers,
  startAuthorizationServer,
  startHttpServer,
  temporaryFolder,
} from '@dsh-mcp/testkit'
import type { AuthorizationServer, HttpServer, Leftovers } from '@dsh-mcp/testkit'
import * as mcpClient from '../../src/index.ts'
import type { ServerStatus } from '../../src/index.ts'

const COMMAND = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const ECHO = 'mcp__notes__echo'
const SOON = { timeout: 10_000, interval: 20 }

const { DSH_HOME, PATH } = process.env
let folder: string
let authorization: AuthorizationServer
let server: HttpServer
let hosts: Host[]
let before: Leftovers

beforeEach(async () => {
  before = leftovers()
  folder = temporaryFolder('login')
  process.env['DSH_HOME'] = join(folder, 'home')
  hosts = []
  authorization = await startAuthorizationServer({ expiresIn: 3600 })
  server = await startHttpServer()
  server.intercept = authorization.guard()
})

afterEach(async () => {
  for (const { ctx } of hosts) await ctx.fiber.dispose()
  await server.close()
  await authorization.close()
  process.env['PATH'] = PATH
  if (DSH_HOME === undefined) delete process.env['DSH_HOME']
  else process.env['DSH_HOME'] = DSH_HOME
  await expectNoLeftovers(before, { patienceMs: 3_000 })
})

interface Host {
  readonly ctx: Context
  readonly logs: readonly string[]
  names(): string[]
  status(): ServerStatus
  call(message: string): Promise<{ readonly isError: boolean }>
}

async function start(config: object = {}, prepare?: (ctx: Context) => Promise<void>): Promise<Host> {
  const ctx = new Context()
  const logs: string[] = []
  ctx.logger.exporter({
    levels: { default: 3 },
    export: ({ type, args }) => void logs.push(`${type}: ${args.map(String).join(' ')}`),
  })
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRuntime)
  await prepare?.(ctx)
  const host: Host = {
    ctx,
    logs,
    names: () => ctx.tools.schemas().map(({ name }) => name),
    status: () => ctx.mcpServers.get('notes') as ServerStatus,
    call: (message) =>
      ctx.tools.execute({
        callId: CallId(`call-${message}`),
        name: ECHO,
        arguments: { message },
        signal: AbortSignal.timeout(20_000),
      }),
  }
  hosts.push(host)
  await ctx.plugin(mcpClient, { serverName: 'notes', url: server.url, ...config } as never)
  return host
}

async function linkOf(host: Host): Promise<string> {
  await expect.poll(() => host.status().login, SOON).toMatch(/^http:/)
  return host.status().login as string
}

/** The command line in another process; `meet` gets the link that it prints. */
async function command(argv: readonly string[], meet?: (link: string) => Promise<unknown>) {
  writeFileSync(
    join(folder, 'cordis.yml'),
    JSON.stringify([
      { name: '@deepseek-ai/dsh-mcp-client', config: { serverName: 'notes', url: server.url } },
    ]),
  )
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', COMMAND, ...argv], {
    cwd: folder,
    env: { PATH, DSH_HOME: process.env['DSH_HOME'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let err = ''
  child.stderr.on('data', (chunk: Buffer) => {
    const isKnown = /^http\S+$/m.test(err)
    err += String(chunk)
    const link = /^http\S+(?=\n)/m.exec(err)?.[0]
    if (link !== undefined && !isKnown) void meet?.(link)
  })
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { out, err, code: code as number | null }
}

const visit = async (link: string): Promise<string> => (await fetch(link)).text()

function expectNoToken(...texts: readonly string[]): void {
  for (const words of texts) expect(words).not.toMatch(/(?:refresh|access)-[0-9a-f]{24}/)
}

describe('a host that nobody attends', () => {
  it('starts without the tools, shows the link, and opens nothing', async () => {
    const trap = join(folder, 'bin')
    mkdirSync(trap)
    for (const name of ['xdg-open', 'open', 'sensible-browser']) {
      writeFileSync(join(trap, name), `#!/bin/sh\ntouch ${folder}/opened\n`)
      chmodSync(join(trap, name), 0o755)
    }
    process.env['PATH'] = `${trap}:${PATH}`
    const host = await start()
    expect(host.status().state).toBe('needs-auth')
    expect(host.names()).not.toContain(ECHO)
    const link = new URL(await linkOf(host))
    expect(link.origin).toBe(authorization.issuer)
    expect(host.logs.join('\n')).toContain('log in with dsh-mcp login notes, or open http')
    expect(existsSync(join(folder, 'opened'))).toBe(false)
  })

  it('has the tools when the link is opened, without a restart', async () => {
    const host = await start()
    expect(await visit(await linkOf(host))).toContain('You are logged in.')
    await expect.poll(host.names, SOON).toContain(ECHO)
    expect(host.status()).toMatchObject({ state: 'ready' })
    expect(host.status().login).toBeUndefined()
    expect((await host.call('a')).isError).toBe(false)
    expectNoToken(JSON.stringify(host.status()), host.logs.join('\n'))
  })

  it('has the tools when another process logs in, within seconds', async () => {
    const host = await start()
    await linkOf(host)
    const { code, out, err } = await command(['login', 'notes'], visit)
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('logged in: notes works') })
    await expect.poll(host.names, SOON).toContain(ECHO)
    expect((await host.call('b')).isError).toBe(false)
    expectNoToken(out, err, host.logs.join('\n'))
  })

  it('starts with a client of its own, and no person near', async () => {
    authorization.addClient({ id: 'robot', secret: 'robot-secret' })
    const auth = { mode: 'client-credentials', clientId: 'robot', clientSecret: 'robot-secret' }
    const host = await start({ auth })
    expect(host.status().state).toBe('ready')
    expect(host.names()).toContain(ECHO)
    expect(authorization.count('client_credentials')).toBe(1)
    expect(host.status().login).toBeUndefined()
    authorization.expire()
    expect((await host.call('c')).isError).toBe(false)
    expect(authorization.count('client_credentials')).toBe(2)
  })
})

describe('a login that ends', () => {
  it('is renewed once for two hosts and a command that all find it expired', async () => {
    await command(['login', 'notes'], visit)
    const pair = [await start(), await start()]
    expect(pair.map(({ status }) => status().state)).toEqual(['ready', 'ready'])
    authorization.expire()
    const calls = pair.flatMap((host, index) =>
      [1, 2, 3, 4, 5].map((number) => host.call(`${index}-${number}`)),
    )
    const [other, ...results] = await Promise.all([command(['call', 'notes', 'echo', 'message=x']), ...calls])
    expect(results.map(({ isError }) => isError)).toEqual(Array.from({ length: 10 }, () => false))
    expect(other).toMatchObject({ code: 0, out: 'x\n' })
    expect(authorization.count('refresh_token')).toBe(1)
  })

  it('withdraws the tools and asks anew where the server takes it back', async () => {
    await command(['login', 'notes'], visit)
    const host = await start()
    expect(host.names()).toContain(ECHO)
    authorization.revokeRefresh()
    authorization.expire()
    expect(await host.call('d')).toMatchObject({ isError: true })
    await expect.poll(() => host.status().state, SOON).toBe('needs-auth')
    expect(host.names()).not.toContain(ECHO)
    await visit(await linkOf(host))
    await expect.poll(host.names, SOON).toContain(ECHO)
  })

  it('withdraws the tools after a logout at the command line', async () => {
    const host = await start()
    await visit(await linkOf(host))
    await expect.poll(host.names, SOON).toContain(ECHO)
    expect((await command(['logout', 'notes'])).out).toContain('revoked the refresh token')
    for (const token of authorization.revoked) authorization.tokens.delete(token)
    expect(await host.call('e')).toMatchObject({ isError: true })
    await expect.poll(() => host.status().state, SOON).toBe('needs-auth')
  })
})

describe('a host with a store of credentials', () => {
  const withStore = async (ctx: Context): Promise<void> => {
    await ctx.plugin(LocalCredentials, { dshHome: process.env['DSH_HOME'] as string, watch: false })
  }
  const stored = (): string => readFileSync(join(folder, 'home', '.credentials.yaml'), 'utf8')
  const ownFiles = (): string[] =>
    readdirSync(join(folder, 'home', 'mcp-client')).filter((name) => name.startsWith('auth-'))

  it('keeps the login there', async () => {
    const host = await start({}, withStore)
    await visit(await linkOf(host))
    await expect.poll(host.names, SOON).toContain(ECHO)
    expect(stored()).toMatch(/^MCP_LOGIN_AUTH_NOTES_\w+: /)
    expect(ownFiles()).toEqual([])
    expect((await command(['test', 'notes'])).code).toBe(0)
  })

  it('finds what the command line keeps, and takes it over when it is renewed', async () => {
    await command(['login', 'notes'], visit)
    expect(ownFiles()).toHaveLength(1)
    const host = await start({}, withStore)
    expect(host.names()).toContain(ECHO)
    authorization.expire()
    expect((await host.call('f')).isError).toBe(false)
    expect(stored()).toContain('MCP_LOGIN_AUTH_NOTES_')
    expect(ownFiles()).toEqual([])
  })

  it('sees a login that the command line makes in it', async () => {
    const first = await start({}, withStore)
    await visit(await linkOf(first))
    await expect.poll(first.names, SOON).toContain(ECHO)
    await command(['logout', 'notes'])
    expect(stored()).not.toContain('MCP_LOGIN')
    const { code, out } = await command(['login', 'notes'], visit)
    expect(code).toBe(0)
    expect(out).toContain('.credentials.yaml')
    expect(stored()).toContain('MCP_LOGIN')
    authorization.expire()
    expect((await first.call('g')).isError).toBe(false)
    expect(authorization.count('refresh_token')).toBe(1)
  })
})
