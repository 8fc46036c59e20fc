/**
 * The built command as a process: on a real terminal, whose screen is read, and piped. What is left of it at the end:
 * nothing.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import pty from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  expectNoLeftovers,
  isAlive,
  leftovers,
  startAuthorizationServer,
  startHttpServer,
  stdioServer,
  temporaryFolder,
  waitFor,
} from '@dsh-mcp/testkit'
import type { AuthorizationServer, HttpServer, Leftovers, StdioServer } from '@dsh-mcp/testkit'
import { everythingRow } from '../composition/reference-servers.ts'
import { normalised } from './fake-io.ts'

const BIN = fileURLToPath(new URL('../../lib/cli/main.js', import.meta.url))
const ROWS = 40

let before: Leftovers
let folder: string
beforeEach(() => {
  before = leftovers()
  folder = temporaryFolder('cli')
  mkdirSync(join(folder, 'bin'))
  symlinkSync(process.execPath, join(folder, 'bin', 'node'))
})
afterEach(() => expectNoLeftovers(before, { patienceMs: 3_000 }))

function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env
  return {
    PATH: `${join(folder, 'bin')}:${PATH}`,
    HOME,
    TERM: 'xterm-256color',
    DSH_HOME: join(folder, 'home'),
    ...more,
  }
}

function rows(configs: Readonly<Record<string, object>>): void {
  const list = Object.entries(configs).map(([serverName, config]) => ({
    id: serverName,
    name: '@deepseek-ai/dsh-mcp-client',
    config: { serverName, ...config },
  }))
  writeFileSync(join(folder, 'cordis.yml'), JSON.stringify(list))
}

interface Terminal {
  /** The lines of the screen, from its first one, without what is blank at the end. */
  screen(): Promise<string>
  /** Everything that was written. */
  raw(): string
  type(text: string): void
  readonly exit: Promise<number>
}

function terminal(argv: readonly string[], { columns = 100, env = {} } = {}): Terminal {
  const screen = new xterm.Terminal({ cols: columns, rows: ROWS, scrollback: 1_000, allowProposedApi: true })
  const child = pty.spawn(process.execPath, [BIN, ...argv], {
    cols: columns,
    rows: ROWS,
    cwd: folder,
    env: environment(env),
  })
  const chunks: string[] = []
  const exit = Promise.withResolvers<number>()
  child.onData((chunk) => {
    chunks.push(chunk)
    screen.write(chunk)
  })
  child.onExit(({ exitCode }) => exit.resolve(exitCode))
  return {
    async screen() {
      await new Promise<void>((resolve) => screen.write('', resolve))
      const { active } = screen.buffer
      const lines = Array.from(
        { length: active.length },
        (_, index) => active.getLine(index)?.translateToString(true) ?? '',
      )
      return lines.join('\n').trimEnd()
    },
    raw: () => chunks.join(''),
    type: (words) => child.write(words),
    exit: exit.promise,
  }
}

async function piped(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [BIN, ...argv], {
    cwd: folder,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code: code as number | null, out, err }
}

/** The processes that this server was so far. */
async function pidsOf(server: StdioServer): Promise<number[]> {
  return (await server.journal()).flatMap(({ pid }) => (typeof pid === 'number' ? [pid] : []))
}

const everything = (): object => {
  const { args } = everythingRow().config as { args: string[] }
  symlinkSync(String(args[0]), join(folder, 'everything.js'))
  return { command: 'node', args: ['everything.js', 'stdio'], protocol: 'legacy' }
}
/** A server by a short command, so that no line depends on where this tree lies. */
const healthy = (): object => {
  const { args } = stdioServer('healthy')
  const words = JSON.stringify(args.slice(2))
  const file = JSON.stringify(args[1])
  writeFileSync(join(folder, 'notes.mjs'), `process.argv.splice(2, 9, ...${words})\nawait import(${file})\n`)
  return { command: 'node', args: ['notes.mjs'], protocol: 'legacy' }
}

describe('on a terminal', () => {
  it('doctor examines the real server-everything, in colour, and leaves no spinner behind', async () => {
    rows({ everything: everything() })
    const run = terminal(['doctor'])
    expect(await run.exit).toBe(0)
    const screen = await run.screen()
    // It says that its list changed as soon as it is ready: whether that is heard of before the end is chance.
    expect(normalised(screen).replace(/.* again .*\n/, '')).toMatchSnapshot()
    expect(run.raw()).toContain('\u001B[32mok')
    expect(screen).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/)
    // Hidden while it turned, shown again at the end.
    expect(run.raw().lastIndexOf('\u001B[?25h')).toBeGreaterThan(run.raw().lastIndexOf('\u001B[?25l'))
  })

  it.each([
    ['list', ['list', '--connect']],
    ['test', ['test']],
    ['a failure in a narrow window', ['doctor', 'gone']],
  ])('%s', async (name, argv) => {
    rows({ notes: healthy(), gone: { command: 'no-such-program' } })
    const run = terminal(argv, { columns: name.includes('narrow') ? 60 : 100 })
    expect(await run.exit).toBe(1)
    expect(normalised(await run.screen())).toMatchSnapshot()
  })

  it('has no colour where none is wanted', async () => {
    rows({ notes: healthy() })
    for (const [argv, env] of [
      [['test'], { NO_COLOR: '1' }],
      [['test', '--no-color'], {}],
    ] as const) {
      const run = terminal(argv, { env })
      expect(await run.exit).toBe(0)
      expect(run.raw()).not.toContain('\u001B[32m')
      expect(await run.screen()).toContain('ok   notes  1 tools')
    }
  })

  it('ends by Ctrl-C with 130, and its servers with it', async () => {
    const server = stdioServer('silent')
    rows({ mute: { command: server.command, args: server.args } })
    const run = terminal(['doctor'])
    await waitFor(server.journal, ({ kind }) => kind === 'received', 15_000)
    const began = performance.now()
    run.type('\u0003')
    expect(await run.exit).toBe(130)
    expect(performance.now() - began).toBeLessThan(6_000)
    for (const pid of await pidsOf(server)) expect(isAlive(pid)).toBe(false)
    expect(await run.screen()).toContain('interrupted')
  })
})

describe('piped', () => {
  it.each([
    ['list', ['list', '--connect'], 1],
    ['test', ['test'], 1],
    ['doctor', ['doctor', 'notes'], 0],
    ['doctor of a failure', ['doctor', 'gone'], 1],
    ['call', ['call', 'notes', 'echo', 'message=hello'], 0],
    ['import of nothing', ['import', '--from', 'none.json'], 1],
  ])('%s is plain, and results alone stand on stdout', async (_, argv, code) => {
    rows({ notes: healthy(), gone: { command: 'no-such-program' } })
    const run = await piped(argv)
    expect(run.out + run.err).not.toContain('\u001B')
    expect({ code: run.code, out: normalised(run.out), err: normalised(run.err) }).toMatchSnapshot()
    expect(run.code).toBe(code)
  })

  it('is JSON alone where that was asked for, even of a failure', async () => {
    rows({ notes: healthy(), gone: { command: 'no-such-program' } })
    for (const argv of [['list', '--connect'], ['test'], ['doctor'], ['pins'], ['call', 'gone', 'x']]) {
      const { out, err } = await piped([...argv, '--json'])
      expect(JSON.parse(out)).toBeTypeOf('object')
      expect(err).toBe('')
    }
  })

  it('is 2 for a file that is not there', async () => {
    const { code, out, err } = await piped(['doctor'])
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^dsh-mcp: cannot read .*cordis\.yml: there is no such file/)
  })

  it('goes quietly when its reader goes', async () => {
    rows({ everything: everything() })
    const child = spawn(process.execPath, [BIN, 'doctor', '--wire'], {
      cwd: folder,
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.destroy()
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    expect(err).toBe('')
    expect([0, 130]).toContain(code)
  })

  it('ends by SIGTERM, and its servers with it', async () => {
    const server = stdioServer('silent')
    rows({ mute: { command: server.command, args: server.args } })
    const child = spawn(process.execPath, [BIN, 'test'], { cwd: folder, env: environment(), stdio: 'ignore' })
    const ended = once(child, 'exit')
    await waitFor(server.journal, ({ kind }) => kind === 'received', 15_000)
    child.kill('SIGTERM')
    expect((await ended)[0]).toBe(130)
    for (const pid of await pidsOf(server)) expect(isAlive(pid)).toBe(false)
  })

  it('completes in a real bash', async () => {
    rows({ notes: healthy(), gone: { command: 'x' } })
    const script = await piped(['completion', 'bash'])
    expect(script.code).toBe(0)
    const completion = await piped(['complete', '--', 'doctor', 'n'])
    expect(completion.out).toBe('notes\tserver\n:4\n')
    const program = `
      dsh-mcp() { "${process.execPath}" "${BIN}" "$@"; }
      # Of the package bash-completion, which the script needs.
      _get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; prev=\${words[cword-1]}; }
      ${script.out}
      COMP_WORDS=(dsh-mcp doctor n); COMP_CWORD=2; COMP_LINE='dsh-mcp doctor n'; COMP_POINT=16
      __dsh_mcp_complete; printf '%s\\n' "\${COMPREPLY[@]}"
    `
    const bash = spawn('bash', ['--noprofile', '--norc', '-c', program], {
      cwd: folder,
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [out] = await Promise.all([text(bash.stdout), once(bash, 'exit')])
    expect(out).toContain('notes')
    expect(out).not.toContain('gone')
  })
})

describe('a login on a terminal', () => {
  let authorization: AuthorizationServer
  let server: HttpServer
  const env = { DISPLAY: ':99' }

  beforeEach(async () => {
    authorization = await startAuthorizationServer()
    server = await startHttpServer()
    server.intercept = authorization.guard()
    rows({ notes: { url: server.url } })
    writeFileSync(
      join(folder, 'bin', 'xdg-open'),
      `#!/bin/sh\nprintf %s "$1" > "${folder}/part" && mv "${folder}/part" "${folder}/opened"\n`,
      { mode: 0o755 },
    )
  })
  afterEach(async () => {
    await server.close()
    await authorization.close()
  })

  async function opened(): Promise<string> {
    for (;;) {
      if (existsSync(join(folder, 'opened'))) return readFileSync(join(folder, 'opened'), 'utf8')
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  it('opens the browser once, and takes an address that is pasted', async () => {
    const { exit, type, raw } = terminal(['login', 'notes'], { env })
    const link = await opened()
    const reply = await fetch(link, { redirect: 'manual' })
    await reply.body?.cancel()
    type(`${String(reply.headers.get('location'))}\r`)
    expect(await exit).toBe(0)
    expect(raw()).toContain('logged in: notes works')
    expect(raw()).not.toMatch(/(?:access|refresh)-[0-9a-f]{24}/)
    const again = terminal(['login', 'notes'], { env })
    expect(await again.exit).toBe(0)
    expect(again.raw()).toContain('already logged in')
    const out = await piped(['logout', 'notes'])
    expect(out).toMatchObject({ code: 0, out: expect.stringContaining('forgot the tokens') })
  })

  it('ends with 130 at Ctrl-C, at once', async () => {
    const { exit, type } = terminal(['login', 'notes'], { env })
    await opened()
    type('\u0003')
    expect(await exit).toBe(130)
  })

  it('opens nothing when piped', async () => {
    const { code, out, err } = await piped(['login', 'notes', '--timeout', '1000'], env)
    expect({ code, out }).toMatchObject({
      code: 1,
      out: expect.stringContaining('nobody logged in within 1 s'),
    })
    expect(err).toContain(`${authorization.issuer}/authorize?`)
    expect(existsSync(join(folder, 'opened'))).toBe(false)
  })
})
