/** The commands in this process, against scripted servers: what they print, piped, and their exit codes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { stdioServer } from '@dsh-mcp/testkit'
import type { StdioTarget } from '../../src/types.ts'
import { ODD, commandScene, odd } from './command-scene.ts'
import type { Config } from './command-scene.ts'
import { normalised, run } from './fake-io.ts'

const scene = commandScene()
const { rows, here } = scene

describe('list', () => {
  it('shows the rows, the faulty ones with their fault', async () => {
    rows({
      notes: { command: 'npx', args: ['-y', 'server-notes', '--token', 'sk-1234567890abcdef'] },
      web: { url: 'https://mcp.test/mcp?key=sk-1234567890abcdef', transport: 'streamable-http' },
      off: { command: 'x', disabled: true },
      bad: { comand: 'x' },
    })
    const { code, out, err } = await here(['list'])
    expect(out).toMatchInlineSnapshot(`
      "SERVER  TRANSPORT        STATE     TARGET
      notes   stdio            enabled   npx -y server-notes --token [redacted]
      web     streamable-http  enabled   https://mcp.test/mcp?key=[redacted]
      off     stdio            disabled  x
      bad     unknown          refused   comand is not a configuration key; did you mean command?
      "
    `)
    expect(err).toBe('')
    expect(code).toBe(1)
  })

  it('connects on request', async () => {
    rows({
      good: odd('rewritten'),
      bad: { command: 'no-such-program' },
      off: { command: 'x', disabled: true },
    })
    const { code, out } = await here(['list', '--connect'])
    expect(normalised(out)).toMatchInlineSnapshot(`
      "SERVER  TRANSPORT  STATE     TOOLS  TARGET
      good    stdio      ready     1      …
      bad     stdio      failed    -      cannot start "no-such-program": there is no such command on the PATH (ENOENT); is i…
      off     stdio      disabled  -      x

      good
        mcp__good__pair
      "
    `)
    expect(code).toBe(1)
    const json = JSON.parse((await here(['list', '--connect', '--json'])).out) as { servers: Config[] }
    expect(json.servers.map(({ name, state, tools }) => ({ name, state, tools }))).toEqual([
      { name: 'good', state: 'ready', tools: ['mcp__good__pair'] },
      { name: 'bad', state: 'failed', tools: undefined },
      { name: 'off', state: undefined, tools: undefined },
    ])
  })

  it('says what to do where there is nothing', async () => {
    writeFileSync(
      join(scene.folder(), 'cordis.yml'),
      '- { id: p, insert: [] }\n- { id: q, disabled: true }\n',
    )
    const { code, out, err } = await here(['list'])
    expect(out).toContain('no row of @deepseek-ai/dsh-mcp-client in cordis.yml')
    expect(err).toContain('note: a patch')
    expect(code).toBe(0)
  })
})

describe('test', () => {
  it('is one line a server', async () => {
    rows({
      good: odd('refused'),
      dup: odd('twice'),
      gone: { command: 'no-such-program' },
      bad: { comand: 'x' },
    })
    const { code, out } = await here(['test'])
    expect(normalised(out)).toMatchInlineSnapshot(`
      "ok   good  2 tools, 1 left out  2025-11-25 N ms  testkit 1.0.0
      FAIL dup  server listed tool "a" more than once — invalid tool list; set tools.duplicates: keep-first to use the first entry
      FAIL gone  cannot start "no-such-program": there is no such command on the PATH (ENOENT); is it installed?
      FAIL bad  comand is not a configuration key; did you mean command?
      "
    `)
    expect(code).toBe(1)
  })

  it('is 0 when all that were named are well, and JSON on request', async () => {
    rows({ good: odd('rewritten'), gone: { command: 'no-such-program' } })
    const { code, out } = await here(['test', 'good', '--json', '--timeout', '20000'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      source: 'cordis.yml',
      servers: [
        {
          name: 'good',
          ok: true,
          durationMs: expect.any(Number),
          tools: 1,
          leftOut: 0,
          held: 0,
          denied: 0,
          revision: '2025-11-25',
          server: 'testkit 1.0.0',
        },
      ],
    })
  })

  it('takes a server that does not say its name', async () => {
    const { command, args } = stdioServer(ODD, { kind: 'nameless' })
    rows({ one: { command, args, protocol: '2026-07-28' } })
    expect(normalised((await here(['test'])).out)).toBe('ok   one  1 tools  2026-07-28 N ms\n')
    expect((await here(['doctor'])).out).toContain('server        says nothing of itself')
  })

  it('is 2 where there is nothing to test', async () => {
    rows({ off: { command: 'x', disabled: true } })
    const { code, out } = await here(['test'])
    expect([code, out]).toEqual([2, 'no enabled row of @deepseek-ai/dsh-mcp-client in cordis.yml\n'])
  })

  it('is 130 when it was ended, and closes what it started', async () => {
    const controller = new AbortController()
    rows({ mute: { command: process.execPath, args: [join(import.meta.dirname, 'fixtures/mute.ts')] } })
    const running = run(['test', '--verbose'], { cwd: scene.folder(), signal: controller.signal })
    setTimeout(() => controller.abort(), 300)
    const { code, out, err } = await running
    expect(code).toBe(130)
    expect(out).toContain('FAIL mute')
    expect(err).toContain('testing mute')
    // Ended before it began: nothing is started.
    expect((await run(['test'], { cwd: scene.folder(), signal: controller.signal })).code).toBe(130)
    expect((await run(['doctor'], { cwd: scene.folder(), signal: controller.signal })).code).toBe(130)
    expect((await run(['list', '--connect'], { cwd: scene.folder(), signal: controller.signal })).code).toBe(
      130,
    )
  })
})

describe('call', () => {
  const kinds = (): string[] => {
    const { command, args } = stdioServer('content-kinds')
    return ['--protocol', 'legacy', '--command', command, '--', ...args]
  }

  it('prints what a model would see, or the canonical value', async () => {
    const flags = kinds()
    expect(await run(['call', 'text', ...flags])).toEqual({ code: 0, out: 'plain\n', err: '' })
    const image = await run(['call', 'image', '--verbose', ...flags])
    expect(image.out).toContain('[image unavailable')
    expect(image.err).toContain('calling image')
    const structured = await run(['call', '--json', 'structured', ...flags])
    expect(JSON.parse(structured.out)).toEqual({
      content: [{ type: 'text', text: '{"sum":3}' }],
      structuredContent: { sum: 3 },
    })
  })

  it('takes a server of the file, and the name that a model sees', async () => {
    rows({ one: odd('echo') })
    const first = await here(['call', 'one', 'echo', 'message=hello'])
    expect(first).toMatchObject({ code: 0, err: '' })
    expect((await here(['call', 'one', 'mcp__one__echo', '{"message":"hi"}'])).code).toBe(0)
  })

  it('is 1 for a tool that fails, is not there, or a server that does not work', async () => {
    rows({ one: odd('refused'), none: odd('none'), gone: { command: 'no-such-program' }, dup: odd('twice') })
    const missing = await here(['call', 'one', 'god'])
    expect(missing).toMatchObject({
      code: 1,
      out: 'Error: the server has no tool "god"; did you mean good?\n',
    })
    expect((await here(['call', 'one', 'zzzzzzzz'])).out).toContain('good')
    expect((await here(['call', 'none', 'x'])).out).toContain('it has no tools')
    expect((await here(['call', 'gone', 'x'])).out).toContain('Error: cannot start "no-such-program"')
    expect((await here(['call', 'dup', 'a'])).out).toContain('more than once')
    const json = await here(['call', 'gone', 'x', '--json'])
    expect(JSON.parse(json.out)).toMatchObject({ error: { code: 'MCP_SPAWN_FAILED' } })
    const refused = await here(['call', 'one', 'good', '[1]'])
    expect(refused).toMatchObject({
      code: 2,
      err: 'dsh-mcp: the arguments must be one JSON object, not a list\n',
    })
  })

  it('says of a tool that is listed why it cannot be called', async () => {
    const config = odd('refused')
    rows({
      one: { ...config, tools: { allow: ['g*', 'text_only'] } },
      two: { ...config, tools: { deny: ['GOOD'] } },
      held: { ...config, pin: 'hold' },
    })
    await pinOtherwise('held', config)
    const home = scene.home()
    const call = async (server: string, tool: string): Promise<string> =>
      (await run(['call', server, tool], home)).out
    expect(await call('two', 'good')).toBe('Error: the row keeps "good" out by tools.deny "GOOD"\n')
    expect(await call('two', 'mcp__two__good')).toBe('Error: the row keeps "good" out by tools.deny "GOOD"\n')
    expect(await call('one', 'text_only')).toBe(
      'Error: "text_only" is left out: the input schema does not take an object\n',
    )
    expect(await call('held', 'good')).toBe(
      'Error: "good" is withheld: its definition changed since it was pinned (name, description, inputSchema.properties, annotations). ' +
        'A host that has listed it takes: dsh-mcp pins approve held good\n',
    )
    expect(normalised((await run(['test'], home)).out)).toMatchInlineSnapshot(`
      "ok   one  1 tools, 1 left out, 1 denied  2025-11-25 N ms  testkit 1.0.0
      ok   two  1 tools, 1 left out, 1 denied  2025-11-25 N ms  testkit 1.0.0
      ok   held  1 tools, 1 left out, 1 withheld  2025-11-25 N ms  testkit 1.0.0
      "
    `)
    const { out } = await run(['doctor', 'held', 'two'], home)
    expect(out).toContain('warning  tools-held')
    expect(out).toContain('note     tools-denied')
    // Looking changed nothing: the host still compares with what it trusted.
    expect((await run(['pins', 'list', 'held'], home)).out).toContain('held    good  pinned')
  })

  it('withholds all where the pins of a row with hold are damaged, and leaves them where they lie', async () => {
    rows({ held: { ...odd('refused'), pin: 'hold' }, off: { ...odd('refused'), pin: 'off' } })
    mkdirSync(join(scene.folder(), 'home', 'mcp-client'), { recursive: true })
    const file = join(scene.folder(), 'home', 'mcp-client', 'pins-held.json')
    writeFileSync(file, '{')
    const { out } = await run(['test'], scene.home())
    expect(normalised(out)).toBe(
      'ok   held  0 tools, 3 withheld  2025-11-25 N ms  testkit 1.0.0\n' +
        'ok   off  2 tools, 1 left out  2025-11-25 N ms  testkit 1.0.0\n',
    )
    expect(readFileSync(file, 'utf8')).toBe('{')
  })

  it('ends with its limit, whatever progress the server reports', async () => {
    const { command, args } = stdioServer('progress-for-ever')
    const flags = ['--protocol', 'legacy', '--timeout', '4000', '--command', command, '--', ...args]
    const { code, out } = await run(['call', 'work', ...flags])
    expect(code).toBe(1)
    expect(out).toContain('4000 ms')
  })

  it('sends a string as the value that it holds, where the schema wants one', async () => {
    rows({ one: odd('number') })
    expect(await here(['call', 'one', 'count', 'to==5'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('5') as never,
    })
  })

  it('tells in --verbose what the plugin would have logged', async () => {
    rows({ one: odd('noise') })
    const { code, err } = await here(['call', 'one', 'echo', '--verbose'])
    expect(code).toBe(0)
    expect(err).toContain('warn: stray text on stdout, skipped: Welcome to my server!')
  })

  it('is 1 for a result that says isError', async () => {
    expect(await run(['call', 'error', ...kinds()])).toEqual({
      code: 1,
      out: 'Error: it did not work\n',
      err: '',
    })
    const json = await run(['call', 'error', '--json', ...kinds()])
    expect(JSON.parse(json.out)).toEqual({ error: { code: 'MCP_TOOL_FAILED', message: 'it did not work' } })
  })

  it('is 2 for a wrong command line, or a refused row', async () => {
    rows({ one: { command: 'x' }, bad: { comand: 'x' } })
    expect(await here(['call', 'one'])).toMatchObject({
      code: 2,
      err: 'dsh-mcp: name both: call SERVER TOOL [args]\n',
    })
    expect(await here(['call', '--url', 'http://127.0.0.1:9'])).toMatchObject({
      code: 2,
      err: 'dsh-mcp: name the tool: call TOOL [args]\n',
    })
    expect((await here(['call', 'bad', 'x'])).err).toContain('the row "bad" is refused')
    expect((await here(['call', 'two', 'x'])).err).toContain('no server "two"')
    expect((await here(['call', 'one', 'x', '--timeout', 'soon'])).code).toBe(2)
    for (const words of [['call', 'x'], ['test'], ['doctor'], ['list']]) {
      expect(await run([...words, '--url', 'foo'])).toMatchObject({
        code: 2,
        err: 'dsh-mcp: the command line: url must be an absolute URL that starts with http:// or https://\n',
      })
    }
  })
})

/** A home in which a host has pinned this server's tool with another description. */
async function pinOtherwise(serverName: string, { command, args }: Config): Promise<void> {
  const { openPinFile } = await import('../../src/discovery/pin-file.ts')
  const target = { kind: 'stdio', command, args, env: {}, inheritEnv: [] } as unknown as StdioTarget
  const file = await openPinFile({
    folder: join(scene.folder(), 'home', 'mcp-client'),
    serverName,
    target,
    note: () => {},
  })
  const definition = JSON.stringify({
    name: 'good',
    description: 'x',
    inputSchema: { type: 'object', properties: {} },
  })
  file.edit([{ kind: 'pin', name: 'good', version: { digest: 'd', at: 1, definition } }, { kind: 'whole' }])
  await file.flush()
}

describe('completion', () => {
  async function complete(words: readonly string[]): Promise<string[]> {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    try {
      await here(['complete', '--', ...words])
      return log.mock.calls.map(([line]) => String(line).split('\t')[0] ?? '')
    } finally {
      log.mockRestore()
    }
  }

  it('offers commands, options, values and servers', async () => {
    rows({ one: { command: 'x' }, two: { command: 'y', disabled: true } })
    expect(await complete(['do'])).toEqual(['doctor', ':4'])
    expect(await complete(['doctor', ''])).toEqual(['one', 'two', ':4'])
    expect(await complete(['doctor', 't'])).toEqual(['two', ':4'])
    expect(await complete(['doctor', '--wi'])).toEqual(['--wire', ':4'])
    expect(await complete(['doctor', '--transport', ''])).toEqual(['stdio', 'streamable-http', 'sse', ':4'])
    expect(await complete(['pins', 's'])).toEqual(['show', ':4'])
    expect(await complete(['test', '--config', 'none.yml', ''])).toEqual([':4'])
    expect(await complete(['test', '--config', 'cordis.yml', ''])).toEqual(['one', 'two', ':4'])
    expect(await complete(['test', '--profile', 'none', ''])).toEqual([':4'])
  })

  it.each(['bash', 'zsh', 'fish', 'powershell'])('has a script for %s', async (shell) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    const { code } = await here(['completion', shell])
    expect(code).toBe(0)
    expect(String(log.mock.calls[0])).toContain('complete')
    log.mockRestore()
  })
})

describe('the command line', () => {
  it('is 0 for help and version, 2 for what it does not know', async () => {
    expect((await run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect((await run(['--help'])).out).toMatchInlineSnapshot(`
      "Usage: dsh-mcp [options] [command]

      Look at the MCP servers of a DeepSeek Harness: list, test, call, and find out
      what is wrong.

      Options:
        -V, --version                             print the version
        -h, --help                                print help

      Commands:
        list [options]                            list the servers, with transport and target
        test [options] [server...]                connect, list the tools, disconnect: one line a server
        doctor [options] [server...]              time every step, and say what is wrong and what to do next
        call [options] [server] [tool] [args...]  call one tool, and print its result as a model would see it
        login [options] [server]                  log in to a server that asks for it: shows the page, and waits for you
        logout [options] [server]                 give the login of a server up where it came from, and forget it
        pins [options] [action] [server] [tool]   what is pinned of the servers, what changed, and your word on it
        import [options] [file]                   make rows of the servers in the file of another client; changes nothing without --write
        completion <shell>                        Generate shell completion scripts
        help [command]                            print help for a command

      Examples:
        $ dsh-mcp doctor                          every server of ./cordis.yml
        $ dsh-mcp doctor github --wire            one of them, with its messages
        $ dsh-mcp test --profile web              the servers of a dsh profile
        $ dsh-mcp doctor --command npx -- -y @modelcontextprotocol/server-everything
        $ dsh-mcp call --url http://localhost:3000/mcp echo message=hello
      Exit codes: 0 all is well, 1 a server or a call failed, 2 the command line or the configuration is wrong,
      130 interrupted.
      "
    `)
    expect((await run(['help', 'doctor'])).code).toBe(0)
    const { code, err } = await run(['docter'])
    expect(code).toBe(2)
    expect(err).toContain('(Did you mean doctor?)')
    expect((await run([])).code).toBe(2)
    expect((await run(['list', '--nope'])).code).toBe(2)
  })

  it('imports, by the code of its own', async () => {
    writeFileSync(
      join(scene.folder(), 'claude.json'),
      JSON.stringify({ mcpServers: { one: { command: 'x' } } }),
    )
    const env = { HOME: join(scene.folder(), 'home') }
    const { code, out } = await run(['import', '--from', 'claude.json', '--only', 'one'], {
      cwd: scene.folder(),
      env,
    })
    expect(out).toContain('serverName')
    expect([0, 1, 2]).toContain(code)
    expect(
      (
        await run(['import', 'none.json', '--json', '--write'], {
          cwd: scene.folder(),
          env: { USERPROFILE: scene.folder() },
        })
      ).code,
    ).toBeGreaterThan(0)
    expect((await run(['import', '--from', 'none.json'], { cwd: scene.folder() })).code).toBeGreaterThan(0)
  })
})
