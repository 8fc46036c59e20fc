/** Logging in and out at the command line, against a real authorization server: every way it goes, and goes wrong. */
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  expectNoLeftovers,
  leftovers,
  startAuthorizationServer,
  startHttpServer,
  temporaryFolder,
} from '@dsh-mcp/testkit'
import type { AuthorizationServer, HttpServer, Leftovers } from '@dsh-mcp/testkit'
import { browserCommand, openBrowser } from '../../src/cli/browser.ts'
import { runProgram } from '../../src/cli/program.ts'
import { fakeIo } from './fake-io.ts'
import type { FakeIo, FakeOptions } from './fake-io.ts'

let before: Leftovers
let folder: string
let home: string
let authorization: AuthorizationServer
let server: HttpServer

beforeEach(async () => {
  before = leftovers()
  folder = temporaryFolder('cli')
  home = join(folder, 'home')
  authorization = await startAuthorizationServer({ expiresIn: 3600 })
  server = await startHttpServer()
  server.intercept = authorization.guard({ scopesSupported: ['read', 'write'] })
  rows({})
})
afterEach(async () => {
  await server.close()
  await authorization.close()
  await expectNoLeftovers(before, { patienceMs: 3_000 })
})

function rows(config: object, more: readonly object[] = []): void {
  const list = [{ serverName: 'notes', url: server.url, ...config }, ...more].map((row) => ({
    name: '@deepseek-ai/dsh-mcp-client',
    config: row,
  }))
  writeFileSync(join(folder, 'cordis.yml'), JSON.stringify(list))
}

interface Running {
  readonly io: FakeIo
  readonly done: Promise<number>
  link(): Promise<string>
}

function start(argv: readonly string[], options: FakeOptions = {}): Running {
  const io = fakeIo({ cwd: folder, ...options, env: { DSH_HOME: home, ...options.env } })
  const done = runProgram(argv, io)
  return {
    io,
    done,
    async link() {
      let isOver = false
      void done.then(() => (isOver = true))
      for (;;) {
        const link = /^http:\S+$/m.exec(io.err())?.[0]
        if (link !== undefined) return link
        if (isOver) throw new Error(`no link: ${io.out()}${io.err()}`)
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

async function ran(argv: readonly string[], options: FakeOptions = {}) {
  const { io, done } = start(argv, options)
  return { code: await done, out: io.out(), err: io.err() }
}

/** As a browser does: to the page, and back to where it leads. */
async function visit(link: string): Promise<{ readonly status: number; readonly text: string }> {
  const reply = await fetch(link)
  return { status: reply.status, text: await reply.text() }
}

/** The address that a browser would end at. */
async function endOf(link: string): Promise<string> {
  const reply = await fetch(link, { redirect: 'manual' })
  await reply.body?.cancel()
  return String(reply.headers.get('location'))
}

async function login(argv: readonly string[] = ['login', 'notes']): Promise<Running> {
  const running = start(argv)
  await visit(await running.link())
  expect(await running.done).toBe(0)
  return running
}

/** Tokens that the server has given out are nowhere in a text. */
function expectNoToken(...texts: readonly string[]): void {
  for (const text of texts) {
    for (const token of authorization.tokens.keys()) expect(text).not.toContain(token)
    expect(text).not.toMatch(/refresh-[0-9a-f]{24}|access-[0-9a-f]{24}/)
  }
}

const words = (text: string): string =>
  text
    .replaceAll(home, 'HOME')
    .replace(/http:\/\/127\.0\.0\.1:\d+\/authorize\S*/g, 'LINK')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/, 'TIME')

describe('dsh-mcp login', () => {
  it('shows the link, waits for the browser, and says what is kept where', async () => {
    const running = start(['login', 'notes'])
    const page = await visit(await running.link())
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('You are logged in.') })
    expect(await running.done).toBe(0)
    expect(words(running.io.out())).toMatchInlineSnapshot(`
      "ok   logged in: notes works, with 1 tools.
           tokens of http://127.0.0.1:PORT, kept in HOME/mcp-client
           scopes: read write
           good until TIME, then renewed without you
           Running hosts pick it up by themselves, within seconds.
           dsh-mcp logout notes ends it.
      "
    `)
    expect(words(running.io.err())).toMatchInlineSnapshot(`
      "Log in to notes here:

      LINK

      Waiting for the browser. If it is on another machine, paste the address that it ends at. Ctrl-C ends.
      "
    `)
    expectNoToken(running.io.out(), running.io.err())
  })

  it('says that it is logged in already, and that this works', async () => {
    await login()
    const again = await ran(['login', 'notes', '--json'])
    expect(again.code).toBe(0)
    expect(JSON.parse(again.out)).toMatchObject({
      server: 'notes',
      state: 'already',
      tools: 1,
      issuer: authorization.issuer,
      scopes: ['read', 'write'],
      renewable: true,
    })
    expect((await ran(['login', 'notes'])).out).toContain('already logged in: notes works, with 1 tools.')
    expectNoToken(again.out)
  })

  it('lets every other command use what is kept', async () => {
    expect((await ran(['test', 'notes'])).code).toBe(1)
    await login()
    expect((await ran(['test', 'notes'])).out).toContain('ok   notes')
    expect((await ran(['call', 'notes', 'echo', 'message=hello'])).out).toBe('hello\n')
    expect((await ran(['list'])).out).toMatch(/notes +http +logged in/)
    expect((await ran(['list', '--connect'])).out).toMatch(/notes +http +ready/)
    expect((await ran(['doctor', 'notes'])).code).toBe(0)
  })

  it('takes an address that is pasted, whole or from the question mark on', async () => {
    for (const cut of [(text: string) => text, (text: string) => text.replace(/^[^?]*/, '')]) {
      await ran(['logout', 'notes'])
      const stdin = new PassThrough()
      const running = start(['login', 'notes', '--paste', '--no-browser'], { stdin })
      const link = await running.link()
      expect(running.io.err()).toContain('paste the address that the browser ends at')
      stdin.write('\nnonsense\nhttp://[\nhttp://127.0.0.1/callback?code=a&state=b\n')
      const text = cut(await endOf(link))
      stdin.write(text.slice(0, 20))
      stdin.write(`${text.slice(20)}\n`)
      expect(await running.done).toBe(0)
      expect(running.io.err()).toMatch(
        /It has no code\..*\nThat is no address\.\nIt belongs to another login\./,
      )
      expect(running.io.out()).toContain('ok   logged in: notes works')
    }
  })

  it('ends where the input of --paste ends, and takes a last line without its end', async () => {
    const stdin = new PassThrough()
    const running = start(['login', 'notes', '--paste'], { stdin })
    await running.link()
    stdin.end('http://127.0.0.1/callback')
    expect(await running.done).toBe(1)
    expect(running.io.err()).toContain('It has no code.')
    expect(running.io.out()).toContain('the input ended before an address was pasted')
  })

  it('goes on waiting for the browser where an input ends that nobody counts on', async () => {
    const stdin = new PassThrough()
    const running = start(['login', 'notes'], { stdin })
    const link = await running.link()
    stdin.end()
    await visit(link)
    expect(await running.done).toBe(0)
  })

  it('says what it could not bring to the login', async () => {
    const stdin = new PassThrough()
    rows({ auth: { callbackPort: 0 } })
    const running = start(['login', 'notes', '--timeout', '60000'], { stdin })
    const link = new URL(await running.link())
    const end = new URL(await endOf(link.href))
    end.searchParams.delete('state')
    stdin.write(`${end.href}\n`)
    await expect.poll(running.io.err).toContain('It belongs to another login.')
    await visit(link.href)
    expect(await running.done).toBe(0)
  })

  it('comes back to the port that was asked for, and says where that is taken', async () => {
    const blocker = createServer()
    const taken = await new Promise<number>((resolve) => {
      blocker.listen(0, '127.0.0.1', () => resolve((blocker.address() as { port: number }).port))
    })
    const refused = await ran(['login', 'notes', '--callback-port', String(taken), '--json'])
    await new Promise((resolve) => blocker.close(resolve))
    expect(refused.code).toBe(1)
    expect(JSON.parse(refused.out)).toMatchObject({
      state: 'failed',
      next: [expect.stringContaining('/mcp SERVER login'), expect.stringContaining('--callback-port')],
    })
    const running = start(['login', 'notes', '--callback-port', String(taken)])
    const link = await running.link()
    expect(new URL(link).searchParams.get('redirect_uri')).toBe(`http://127.0.0.1:${taken}/callback`)
    await visit(link)
    expect(await running.done).toBe(0)
  })

  it('waits no longer than it should, and is ended by a signal', async () => {
    const late = start(['login', 'notes', '--timeout', '300'])
    expect(await late.done).toBe(1)
    expect(late.io.out()).toMatch(/nobody logged in within 0 s \(--timeout\)/)
    const controller = new AbortController()
    const running = start(['login', 'notes'], { signal: controller.signal })
    await running.link()
    controller.abort()
    expect(await running.done).toBe(130)
    expect(running.io.out()).toBe('')
    const gone = AbortSignal.abort()
    expect((await ran(['login', 'notes'], { signal: gone })).code).toBe(130)
  })

  it('is not ended by an answer that belongs to nobody', async () => {
    const running = start(['login', 'notes'])
    const link = await running.link()
    const callback = String(new URL(link).searchParams.get('redirect_uri'))
    expect((await visit(`${callback}?error=access_denied&state=stranger`)).status).toBe(400)
    await visit(link)
    expect(await running.done).toBe(0)
  })
})

describe('a login that does not work', () => {
  async function failing(): Promise<{ readonly error: { message: string }; readonly next: string[] }> {
    const running = start(['login', 'notes', '--json'])
    const link = await running.link().catch(() => undefined)
    if (link !== undefined) await visit(link)
    expect(await running.done).toBe(1)
    expectNoToken(running.io.out(), running.io.err())
    return JSON.parse(running.io.out()) as Awaited<ReturnType<typeof failing>>
  }

  it.each<[string, Partial<AuthorizationServer['switches']>, RegExp, RegExp]>([
    ['denied', { denies: true }, /was not granted \(access_denied\)/, /Run the command again/],
    ['no registration', { registers: false }, /takes registered clients only/, /Register a client/],
    ['no PKCE', { withoutPkce: true }, /does not announce PKCE/, /would not be safe/],
    ['other metadata', { describesAs: 'https://other.test' }, /names another issuer/, /makers of the server/],
    ['other answer', { answersAs: 'https://other.test' }, /iss/i, /makers of the server/],
    ['refused code', { refuse: 'invalid_grant' }, /invalid_grant/, /dsh-mcp doctor notes/],
    [
      'no web page',
      { authorizationEndpoint: 'http://other.test/authorize' },
      /authorization page is not https/,
      /makers of the server/,
    ],
  ])('%s is told with what to do', async (_name, switches, message, next) => {
    Object.assign(authorization.switches, switches)
    const { error, next: advice } = await failing()
    expect(error.message).toMatch(message)
    expect(advice.join(' ')).toMatch(next)
  })

  it('is told where the server describes another resource, or names an inner address', async () => {
    server.intercept = authorization.guard({ resource: 'https://other.test/mcp' })
    expect((await failing()).next.join()).toContain('Compare url of the row')
    server.intercept = authorization.guard({ metadataUrl: 'http://10.0.0.1/metadata' })
    expect((await failing()).next.join()).toContain('write auth.issuer into the row')
  })

  it('is told where the server refuses the token it wanted', async () => {
    const guard = authorization.guard()
    server.intercept = (req, res, request) => {
      if (request.path.startsWith('/.well-known/')) return guard(req, res, request)
      authorization.expire()
      return guard(req, res, request)
    }
    const running = start(['login', 'notes'])
    await visit(await running.link())
    expect(await running.done).toBe(1)
    expect(running.io.out()).toMatch(/^FAIL notes: .*\n {2}-> /)
  })

  it('is told where it cannot be kept', async () => {
    mkdirSync(home)
    writeFileSync(join(home, 'mcp-client'), 'in the way')
    const { error, next } = await failing()
    expect(words(error.message)).toBe('the login works, and could not be kept in HOME/mcp-client')
    expect(next.join()).toContain('See that its place can be written')
  })

  it('is told where nothing is there, and where no login can help', async () => {
    rows({ headers: { Authorization: 'Bearer none' } })
    const own = await ran(['login', 'notes'])
    expect(own.code).toBe(1)
    expect(own.out).toContain('-> The server does not take what the row sends')
    rows({ url: 'http://127.0.0.1:1/mcp' })
    const down = await ran(['login', 'notes'])
    expect(down.code).toBe(1)
    expect(down.out).toContain('dsh-mcp doctor notes looks closer.')
  })

  it('is a fault of the line or the row', async () => {
    rows({}, [
      { serverName: 'local', command: 'node' },
      { serverName: 'broken', url: 'nonsense' },
    ])
    for (const command of ['login', 'logout']) {
      expect((await ran([command])).err).toContain('name the server')
      expect((await ran([command, 'broken'])).err).toContain('the row "broken" is refused')
      expect((await ran([command, 'none'])).code).toBe(2)
    }
    expect(await ran(['login', 'local'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('local is a local process: there is nothing to log in to'),
    })
    for (const port of ['x', '-1', '65536', ' ']) {
      expect((await ran(['login', 'notes', `--callback-port=${port}`])).err).toContain(
        'a port from 0 to 65535',
      )
    }
  })
})

describe('doctor', () => {
  const diagnosis = async (): Promise<{ readonly kind: string; readonly text: string }> => {
    const { out, err } = await ran(['doctor', 'notes', '--json'])
    expectNoToken(out, err)
    const { servers } = JSON.parse(out) as {
      servers: [{ diagnoses: { kind: string; what: string; next: string[] }[] }]
    }
    const [first] = servers[0].diagnoses
    return { kind: String(first?.kind), text: [first?.what, ...(first?.next ?? [])].join('\n') }
  }

  it('names the command and the host of the page, and registers nothing', async () => {
    const { host } = new URL(authorization.issuer)
    expect(await diagnosis()).toEqual({
      kind: 'auth-missing',
      text: expect.stringContaining(`Log in: dsh-mcp login notes (the page is at ${host}).`),
    })
    expect(authorization.requests.map(({ path }) => path)).not.toContain('/register')
    expect(readdirSync(join(home, 'mcp-client'))).toEqual([])
  })

  it('says why a login is not possible, and does not follow what is not asked', async () => {
    authorization.switches.withoutPkce = true
    expect((await diagnosis()).text).toContain('A login is not possible: its authorization server')
    server.intercept = authorization.guard({ metadataUrl: 'http://10.0.0.1/metadata' })
    expect((await diagnosis()).text).toContain('A login is not possible: ')
  })

  it('has a word where nothing tells of a login', async () => {
    server.intercept = (req, res) => {
      if (req.url === '/mcp') res.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
      else res.writeHead(404).end()
      return true
    }
    expect((await diagnosis()).text).toContain('If the server takes an OAuth login: dsh-mcp login notes')
    server.intercept = (_req, res) => {
      res.writeHead(401).end()
      return true
    }
    expect((await diagnosis()).text).toContain('If the server takes an OAuth login: dsh-mcp login notes')
  })

  it('says that a login is over, or what else went wrong with it', async () => {
    authorization.switches.withoutRefresh = true
    await login()
    authorization.expire()
    expect((await diagnosis()).text).toMatch(
      /^The server asks.*is kept for it is over\.\nLog in: dsh-mcp login/,
    )
    rows({ auth: { mode: 'client-credentials', clientId: 'a', clientSecret: 'b' } })
    expect((await diagnosis()).kind).toBe('auth-failed')
  })
})

describe('a login in a list', () => {
  it('is over where nothing renews it', async () => {
    authorization.switches.withoutRefresh = true
    authorization.switches.expiresIn = 1
    const { io } = await login()
    expect(io.out()).toMatch(/good until .* UTC; then log in again/)
    await expect.poll(async () => (await ran(['list'])).out, { timeout: 5_000 }).toContain('login over')
  })

  it('has no end where the server names none', async () => {
    delete authorization.switches.expiresIn
    server.intercept = authorization.guard()
    const { io } = await login()
    expect(io.out()).toContain('scopes: the server named none')
    expect(io.out()).toContain('good until the server ends it, then renewed without you')
    expect(JSON.parse((await ran(['list', '--json'])).out)).toMatchObject({
      servers: [{ login: 'logged in' }],
    })
    expect(JSON.parse((await ran(['login', 'notes', '--json'])).out)).not.toHaveProperty('expiresAt')
  })
})

describe('a server that asks for no login', () => {
  it('is said to be one', async () => {
    server.intercept = undefined
    const json = await ran(['login', '--url', server.url, '--json', '--callback-port', '0'])
    expect(json.code).toBe(0)
    expect(JSON.parse(json.out)).toEqual({ server: 'server', state: 'no-login', tools: 1 })
    expect((await ran(['login', 'notes'])).out).toBe(
      'ok   notes works, with 1 tools, and asks for no login.\n',
    )
    rows({ auth: { mode: 'off' } })
    expect((await ran(['login', 'notes', '--callback-port', '0'])).code).toBe(0)
  })
})

describe('dsh-mcp logout', () => {
  it('revokes and forgets, and says so', async () => {
    await login()
    const { code, out, err } = await ran(['logout', 'notes'])
    expect(code).toBe(0)
    expect(out).toContain('notes: revoked the refresh token\nnotes: revoked the access token\n')
    expect(out).toContain('notes: forgot the tokens')
    expect(authorization.revoked).toHaveLength(2)
    expect(readdirSync(join(home, 'mcp-client')).filter((name) => name.startsWith('auth-'))).toEqual([])
    expectNoToken(out, err)
    expect((await ran(['list'])).out).toMatch(/notes +http +enabled/)
    const again = await ran(['logout', '--json', 'notes'])
    expect(JSON.parse(again.out)).toEqual({ server: 'notes', done: ['there were no tokens'] })
  })

  it('says what it did not do for a local process', async () => {
    rows({}, [{ serverName: 'local', command: 'node' }])
    expect((await ran(['logout', 'local'])).out).toBe(
      'local: the server of this row is not asked for a login\n',
    )
  })
})

describe('the store of a host', () => {
  it('gets the login where there is one, keeps what else is in it, and loses it by a logout', async () => {
    mkdirSync(home, { recursive: true })
    const path = join(home, '.credentials.yaml')
    writeFileSync(path, '# mine\nOTHER_KEY: other\n', { mode: 0o600 })
    const { io } = await login()
    expect(words(io.out())).toContain('kept in HOME/.credentials.yaml')
    expect(readFileSync(path, 'utf8')).toMatch(/^# mine\nOTHER_KEY: other\nMCP_LOGIN_AUTH_NOTES_\w+: /)
    expect(readdirSync(join(home, 'mcp-client'))).toEqual([])
    expect((await ran(['test', 'notes'])).code).toBe(0)
    expect((await ran(['logout', 'notes'])).code).toBe(0)
    expect(readFileSync(path, 'utf8')).toBe('# mine\nOTHER_KEY: other\n')
  })

  it('takes over what lies in the file, and says where it cannot be read', async () => {
    await login()
    const path = join(home, '.credentials.yaml')
    writeFileSync(path, '', { mode: 0o600 })
    authorization.expire()
    expect((await ran(['test', 'notes'])).code).toBe(0)
    expect(readFileSync(path, 'utf8')).toContain('MCP_LOGIN_AUTH_NOTES_')
    expect(readdirSync(join(home, 'mcp-client'))).toEqual([])
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(/^(MCP_LOGIN_AUTH_NOTES_\w+): [^]*/m, '$1: damaged\n'),
    )
    expect((await ran(['list'])).out).toMatch(/notes +http +enabled/)
    writeFileSync(path, 'SECRET: "abc\n')
    const { code, out } = await ran(['logout', 'notes'])
    expect(code).toBe(1)
    expect(words(out)).toContain('HOME/.credentials.yaml is no YAML')
    expect(out).not.toContain('abc')
    expect((await ran(['list'])).out).toMatch(/notes +http +enabled/)
    writeFileSync(join(home, 'elsewhere'), '')
    const odd = await ran(['logout', 'notes', '--json'], { env: { DSH_HOME: join(home, 'elsewhere') } })
    expect(JSON.parse(odd.out)).toMatchObject({ error: { code: 'MCP_AUTH_FAILED' } })
  })
})

describe('a browser', () => {
  const TERMINAL = { isTTY: true, unref: () => undefined } as const
  const stdin = () => Object.assign(new PassThrough(), TERMINAL)
  const opened = () => join(folder, 'opened')
  const program = (
    name = 'xdg-open',
    text = `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > "${folder}/part"\nmv "${folder}/part" "${folder}/opened"\n`,
  ) => {
    mkdirSync(join(folder, 'bin'), { recursive: true })
    writeFileSync(join(folder, 'bin', name), text)
    chmodSync(join(folder, 'bin', name), 0o755)
    return { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` }
  }

  it('opens for a person at a terminal, with the link as its one argument', async () => {
    const env = { ...program(), DISPLAY: ':1' }
    const running = start(['login', 'notes'], { env, stdin: stdin(), columns: 80, platform: 'linux' })
    const link = await running.link()
    await expect.poll(() => existsSync(opened())).toBe(true)
    expect(readFileSync(opened(), 'utf8')).toBe(`1\n${link}\n`)
    expect(running.io.err()).toContain('The browser opens the login page of notes:')
    await visit(link)
    expect(await running.done).toBe(0)
  })

  it('needs no screen to be named where there always is one', async () => {
    const running = start(['login', 'notes'], {
      env: program('open'),
      stdin: stdin(),
      columns: 80,
      platform: 'darwin',
    })
    const link = await running.link()
    await expect.poll(() => existsSync(opened())).toBe(true)
    await visit(link)
    expect(await running.done).toBe(0)
  })

  it('is not missed where there is none', async () => {
    const env = { PATH: join(folder, 'none'), DISPLAY: ':1' }
    const running = start(['login', 'notes'], { env, stdin: stdin(), columns: 80, platform: 'linux' })
    await visit(await running.link())
    expect(await running.done).toBe(0)
    expect(running.io.err()).toContain('Log in to notes here:')
  })

  it.each<[string, readonly string[], FakeOptions]>([
    ['when told so', ['--no-browser'], { env: { DISPLAY: ':1' }, columns: 80 }],
    ['for a pasted address', ['--paste'], { env: { DISPLAY: ':1' }, columns: 80 }],
    ['for a script that reads JSON', ['--json'], { env: { DISPLAY: ':1' }, columns: 80 }],
    ['in an automatic run', [], { env: { DISPLAY: ':1', CI: 'true' }, columns: 80 }],
    ['without a terminal', [], { env: { DISPLAY: ':1' } }],
    ['without a screen', [], { env: { DISPLAY: '' }, columns: 80 }],
  ])('is not opened %s', async (_when, flags, options) => {
    const env = { ...options.env, ...program() }
    const running = start(['login', 'notes', ...flags], {
      ...options,
      env,
      stdin: stdin(),
      platform: 'linux',
    })
    await visit(await running.link())
    expect(await running.done).toBe(0)
    expect(running.io.err()).toContain('Log in to notes here:')
    expect(existsSync(opened())).toBe(false)
  })

  it('gets addresses of the web only, by its own program on each system', async () => {
    expect(await openBrowser('file:///etc/passwd', fakeIo())).toBe(false)
    expect(browserCommand('https://h/?a="b"&$(c)', 'linux')).toEqual([
      'xdg-open',
      'https://h/?a=%22b%22&$(c)',
    ])
    expect(browserCommand('http://h/', 'darwin')).toEqual(['open', 'http://h/'])
    expect(browserCommand('http://h/', 'win32')).toEqual([
      'rundll32',
      'url.dll,FileProtocolHandler',
      'http://h/',
    ])
    for (const link of ['file:///etc/passwd', 'javascript:alert(1)', '-h', 'a:b', '']) {
      expect(browserCommand(link, 'linux')).toBeUndefined()
    }
  })
})

describe('a server that asks for authorization', () => {
  it.each([['test'], ['call']])('is told with the command that mends it: %s', async (verb) => {
    const argv = verb === 'test' ? ['test', 'notes'] : ['call', 'notes', 'echo', '{"message":"a"}']
    const { code, out, err } = await ran(argv)
    expect(code).toBe(1)
    expect(out + err).toContain('-> dsh-mcp login notes')
  })

  it('is not told so where the row brings its own header', async () => {
    rows({ headers: { Authorization: 'Bearer wrong' } })
    const { code, out, err } = await ran(['test', 'notes'])
    expect(code).toBe(1)
    expect(out + err).not.toContain('dsh-mcp login')
  })

  it('for a wider scope than was granted gets it by a login', async () => {
    await login()
    server.intercept = authorization.guard({ scope: () => 'admin' })
    expect((await ran(['test', 'notes'])).out).toContain('-> dsh-mcp login notes')
    await login()
    expect((await ran(['test', 'notes'])).code).toBe(0)
  })
})
