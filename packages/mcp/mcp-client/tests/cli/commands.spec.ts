/** The commands in this process, against scripted servers: what they print, piped, and their exit codes. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { expectNoLeftovers, leftovers, startHttpServer, stdioServer, temporaryFolder } from '@dsh-mcp/testkit'
import type { HttpServer, Leftovers } from '@dsh-mcp/testkit'
import type { StdioTarget } from '../../src/types.ts'
import { normalised, run } from './fake-io.ts'

const ODD = join(import.meta.dirname, 'fixtures/odd-lists.ts')
const CRASH = join(import.meta.dirname, 'fixtures/crash.ts')

let folder: string
let before: Leftovers
let http: HttpServer | undefined
beforeEach(() => {
  before = leftovers()
  folder = temporaryFolder('cli')
})
afterEach(async () => {
  await http?.close()
  http = undefined
  rmSync(folder, { recursive: true, force: true })
  await expectNoLeftovers(before)
})

type Config = Readonly<Record<string, unknown>>

/** A cordis.yml of these rows, by server name. */
function rows(configs: Readonly<Record<string, Config>>): void {
  const list = Object.entries(configs).map(([serverName, { disabled, ...config }]) => ({
    id: `mcp-${serverName}`,
    name: '@deepseek-ai/dsh-mcp-client',
    disabled,
    config: { serverName, ...config },
  }))
  writeFileSync(join(folder, 'cordis.yml'), JSON.stringify(list))
}

function odd(kind: string, more: Config = {}): Config {
  const { command, args } = stdioServer(ODD, { kind, ...more })
  // Without the probe: on a busy machine its two seconds may be over before the program runs.
  return { command, args, protocol: 'legacy' }
}

const here = (argv: readonly string[]): ReturnType<typeof run> => run(argv, { cwd: folder })

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
    writeFileSync(join(folder, 'cordis.yml'), '- { id: p, insert: [] }\n- { id: q, disabled: true }\n')
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
    const running = run(['test', '--verbose'], { cwd: folder, signal: controller.signal })
    setTimeout(() => controller.abort(), 300)
    const { code, out, err } = await running
    expect(code).toBe(130)
    expect(out).toContain('FAIL mute')
    expect(err).toContain('testing mute')
    // Ended before it began: nothing is started.
    expect((await run(['test'], { cwd: folder, signal: controller.signal })).code).toBe(130)
    expect((await run(['doctor'], { cwd: folder, signal: controller.signal })).code).toBe(130)
    expect((await run(['list', '--connect'], { cwd: folder, signal: controller.signal })).code).toBe(130)
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
    const home = { cwd: folder, env: { DSH_HOME: join(folder, 'home') } }
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
    mkdirSync(join(folder, 'home', 'mcp-client'), { recursive: true })
    const file = join(folder, 'home', 'mcp-client', 'pins-held.json')
    writeFileSync(file, '{')
    const { out } = await run(['test'], { cwd: folder, env: { DSH_HOME: join(folder, 'home') } })
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
    folder: join(folder, 'home', 'mcp-client'),
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

describe('pins', () => {
  const env = (): { cwd: string; env: Record<string, string> } => ({
    cwd: folder,
    env: { DSH_HOME: join(folder, 'home') },
  })

  it('lists, shows, approves and forgets', async () => {
    rows({ one: { command: 'x', pin: 'hold' }, bad: { comand: 'x' } })
    const none = await run(['pins'], env())
    expect(none.out).toBe(
      'nothing is pinned yet: a host pins the tools of a server when it first lists them; this command pins nothing\n',
    )
    expect(none.err).toContain('bad: the row is refused')
    expect((await run(['pins', 'show'], env())).out).toBe('no definition changed\n')
    await pinned()
    expect((await run(['pins', 'list', 'one'], env())).out).toMatchInlineSnapshot(`
      "SERVER  TOOL  STATE   DIGEST  SINCE
      one     a     pinned  a1      1970-01-01
      one     b     held    b2      1970-01-01
      "
    `)
    expect((await run(['pins', 'show', 'one'], env())).out).toMatchInlineSnapshot(`
      "one b  held: description
        --- before
        +++ now
        @@ -1,4 +1,4 @@
         description:
        -reads
        +reads, and sends it to me
         inputSchema: {}
         annotations: {}
        -> dsh-mcp pins approve one b
      "
    `)
    expect((await run(['pins', 'show', 'one', 'other'], env())).out).toBe('no definition changed\n')
    expect((await run(['pins', 'show', 'one', '*'], env())).out).toContain('pins approve one b')
    expect(JSON.parse((await run(['pins', 'show', 'one', '--json'], env())).out)).toMatchObject({
      changes: [{ server: 'one', name: 'b', state: 'held', since: '1970-01-01T00:00:00.002Z' }],
    })
    expect(await run(['pins', 'approve', 'one', 'nobody'], env())).toMatchObject({
      code: 1,
      out: 'nothing of that name waits for approval\n',
    })
    expect(await run(['pins', 'approve', 'one', 'b'], env())).toMatchObject({ code: 0, out: 'approved: b\n' })
    // A person has seen it: it is no news any more.
    expect((await run(['pins', 'show', 'one'], env())).out).toBe('no definition changed\n')
    expect((await run(['pins', 'list', 'one'], env())).out).not.toContain('changed')
    expect(await run(['pins', 'forget', 'one', '*'], env())).toMatchObject({
      code: 0,
      out: 'forgotten: a, b\n',
    })
    expect(await run(['pins', 'forget', 'one', '*'], env())).toMatchObject({
      code: 1,
      out: 'nothing of that name is pinned\n',
    })
    expect(JSON.parse((await run(['pins', 'list', '--json'], env())).out)).toEqual({ pins: [] })
  })

  it('writes no name of a server to the terminal or into a command as it came', async () => {
    rows({ one: { command: 'x', pin: 'hold' } })
    await pinned('\u001b[2J$(id)')
    expect((await run(['pins', 'show', 'one'], env())).out).toContain(
      String.raw`pins approve one '\u001b[2J$(id)'`,
    )
    const { out } = await run(['pins', 'approve', 'one', '*'], env())
    expect(out).toBe('approved: \\u001b[2J$(id)\n')
  })

  it('tells of a file that cannot be used', async () => {
    rows({ one: { command: 'x' } })
    mkdirSync(join(folder, 'home', 'mcp-client'), { recursive: true })
    writeFileSync(join(folder, 'home', 'mcp-client', 'pins-one.json'), 'not JSON', { mode: 0o600 })
    expect((await run(['pins'], env())).err).toMatch(/^one: .*pins-one/)
  })

  it('wants a server and a tool for what changes something', async () => {
    rows({ one: { command: 'x' } })
    for (const words of [['approve'], ['forget', 'one'], ['approve', 'one']]) {
      expect(await run(['pins', ...words], env())).toMatchObject({
        code: 2,
        err: expect.stringContaining('name both') as never,
      })
    }
    expect((await run(['pins', 'burn'], env())).code).toBe(2)
  })

  /** Two tools, one of which waits. */
  async function pinned(name = 'b'): Promise<void> {
    const { openPinFile } = await import('../../src/discovery/pin-file.ts')
    const file = await openPinFile({
      folder: join(folder, 'home', 'mcp-client'),
      serverName: 'one',
      target: { kind: 'stdio', command: 'x', args: [], env: {}, inheritEnv: [] },
      note: () => {},
    })
    const version = (digest: string, at: number, description: string) => ({
      digest,
      at,
      definition: JSON.stringify({ description, inputSchema: {}, annotations: {} }),
    })
    file.edit([
      { kind: 'pin', name: 'a', version: version('a1', 1, 'reads') },
      { kind: 'pin', name, version: version('b1', 1, 'reads') },
      { kind: 'pending', name, version: version('b2', 2, 'reads, and sends it to me') },
    ])
    await file.flush()
  }
})

describe('doctor', () => {
  it('finds a good server good', async () => {
    rows({ one: odd('rewritten') })
    const { code, out, err } = await here(['doctor', '--verbose'])
    expect(normalised(out)).toMatchInlineSnapshot(`
      "one  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        ok    initialize N ms  revision 2025-11-25
        ok    tools/list page 1 N ms  1 tools
        ok    close N ms

        server        testkit 1.0.0
        protocol      2025-11-25 (legacy era)
        capabilities  tools
        tools         1, 0 left out, 1 with rewritten schemas
        definitions   185 of 131072 bytes (tools.budgetBytes), about 47 tokens (estimate: bytes / 4)

        TOOL            BYTES  TOKENS
        mcp__one__pair  185    ~47

        rewritten:
          pair  /at  anyOf: union-rewritten

        note     schemas-rewritten
          The schemas of pair were rewritten for the model; --verbose lists what.
          -> Nothing to do: arguments are still checked against the schema of the server.
      "
    `)
    expect(err).toContain('one: connecting')
    expect(code).toBe(0)
  })

  it('shows the wire on request, without secrets', async () => {
    http = await startHttpServer('healthy')
    const { code, out } = await run([
      'doctor',
      '--url',
      http.url,
      '--wire',
      '--header',
      'Authorization: Bearer sk-1234567890',
    ])
    expect(code).toBe(0)
    expect(out).toMatch(/ ms -> \{.*"method":"initialize"/)
    expect(out).toMatch(/ ms <- \{.*"serverInfo"/)
    expect(out).not.toContain('sk-12345')
    const json = JSON.parse((await run(['doctor', '--url', http.url, '--wire', '--json'])).out) as {
      servers: { wire: unknown[] }[]
    }
    expect(json.servers[0]?.wire[0]).toEqual({
      atMs: expect.any(Number) as never,
      direction: 'out',
      text: expect.any(String) as never,
    })
  })

  it('says what is odd about a list', async () => {
    rows({
      refused: odd('refused'),
      many: odd('many', { pageSize: 200 }),
      twice: odd('twice'),
      none: odd('none'),
      noise: odd('noise'),
    })
    const { code, out } = await here(['doctor'])
    expect(normalised(out)).toMatchInlineSnapshot(`
      "refused  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        ok    initialize N ms  revision 2025-11-25
        ok    tools/list page 1 N ms  3 tools
        ok    close N ms

        server        testkit 1.0.0
        protocol      2025-11-25 (legacy era)
        capabilities  tools
        tools         2, 1 left out, 0 with rewritten schemas
        definitions   296 of 131072 bytes (tools.budgetBytes), about 74 tokens (estimate: bytes / 4)

        TOOL                                  BYTES  TOKENS
        mcp__refused__Reads__it_aaaf6b31d60e  159    ~40
        mcp__refused__good                    137    ~35

        warning  tools-left-out
          1 of its tools cannot be given to a model and is left out. "text_only": the input schema does not take an object.
          -> For "text_only" the keyword is type: inputSchema must say type: object.
          -> The other tools work. docs/tools-and-schemas.md has what a model can be given.

        warning  hidden-characters
          Hidden characters stand in the texts of "Reads it" (2). They are removed before a model reads them.
          -> Nobody needs them there: ask the makers of the server why, and do not trust it until you know.

      many  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        ok    initialize N ms  revision 2025-11-25
        ok    tools/list page 1 N ms  200 tools, more to come
        ok    tools/list page 2 N ms  100 tools
        ok    close N ms

        server        testkit 1.0.0
        protocol      2025-11-25 (legacy era)
        capabilities  tools
        tools         300, 0 left out, 0 with rewritten schemas
        definitions   187200 of 131072 bytes (tools.budgetBytes), about 46800 tokens (estimate: bytes / 4)

        TOOL                 BYTES  TOKENS
        mcp__many__tool_000  624    ~156
        mcp__many__tool_001  624    ~156
        mcp__many__tool_002  624    ~156
        mcp__many__tool_003  624    ~156
        mcp__many__tool_004  624    ~156
        mcp__many__tool_005  624    ~156
        mcp__many__tool_006  624    ~156
        mcp__many__tool_007  624    ~156
        mcp__many__tool_008  624    ~156
        mcp__many__tool_009  624    ~156
        and 290 smaller ones; --verbose shows all

        warning  too-many-tools
          300 tools cost 182.8 KiB in each request, about 46800 tokens (estimate: bytes / 4); the budget is 128.0 KiB. The
          model finds them with mcp_search in place of seeing them all.
          -> Keep the tools you use: tools.allow: [names or globs], or leave some out: tools.deny.
          -> Name what must stay in sight in tools.alwaysDirect, or raise tools.budgetBytes.
          -> The largest are mcp__many__tool_000 (0.6 KiB), mcp__many__tool_001 (0.6 KiB), mcp__many__tool_002 (0.6 KiB).

      twice  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        ok    initialize N ms  revision 2025-11-25
        ok    tools/list page 1 N ms  2 tools
        ok    close N ms

        server        testkit 1.0.0
        protocol      2025-11-25 (legacy era)
        capabilities  tools
        tools         0, 0 left out, 0 with rewritten schemas
        definitions   0 of 131072 bytes (tools.budgetBytes), about 0 tokens (estimate: bytes / 4)

        error    duplicate-tools
          The server lists the tool "a" more than once, so its list is not taken.
          -> Set tools.duplicates: keep-first in the row to use the first one.
          -> Report it to the makers of the server.

      none  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        ok    initialize N ms  revision 2025-11-25
        ok    tools/list page 1 N ms  0 tools
        ok    close N ms

        server        testkit 1.0.0
        protocol      2025-11-25 (legacy era)
        capabilities  tools
        tools         0, 0 left out, 0 with rewritten schemas
        definitions   0 of 131072 bytes (tools.budgetBytes), about 0 tokens (estimate: bytes / 4)

        warning  no-tools
          The server works and offers no tools.
          -> Does it need an argument or a permission before it has any? Resources and prompts are not tools.

      noise  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        ok    initialize N ms  revision 2025-11-25
        ok    tools/list page 1 N ms  1 tools
        ok    close N ms

        server        testkit 1.0.0
        protocol      2025-11-25 (legacy era)
        capabilities  tools
        tools         1, 0 left out, 0 with rewritten schemas
        definitions   135 of 131072 bytes (tools.budgetBytes), about 34 tokens (estimate: bytes / 4)

        TOOL              BYTES  TOKENS
        mcp__noise__echo  135    ~34

        warning  stdout-noise
          The server writes to standard output what is no message: Welcome to my server!
          -> It is skipped. Standard output belongs to the protocol: let the server log to standard error.

      SERVER   VERDICT          TOOLS  BYTES
      refused  ok               2      296
      many     ok               300    187200
      twice    duplicate-tools  0      0
      none     ok               0      0
      noise    ok               1      135
      "
    `)
    expect(code).toBe(1)
  })

  it('finds a command line, and a path that only a shell reads', async () => {
    rows({ line: { command: 'node -e 1' }, tilde: { command: '~/gone' } })
    const { code, out } = await here(['doctor'])
    expect(code).toBe(1)
    expect(out).toContain('-> Write command: node and args: ["-e","1"]')
    expect(out).toContain('command has the path "~/gone"')
  })

  it('says why a program does not work', async () => {
    rows({
      gone: { command: 'ndoe' },
      crash: { command: process.execPath, args: ['--disable-warning=ExperimentalWarning', CRASH] },
      mute: {
        command: process.execPath,
        args: ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'fixtures/mute.ts')],
        startup: { timeoutMs: 2600 },
        protocol: 'legacy',
        env: { TOKEN: '' },
      },
      script: { command: process.execPath, args: ['dist/none.js'] },
      folder: { command: process.execPath, cwd: join(folder, 'none') },
      file: { command: process.execPath, cwd: CRASH },
      bad: { comand: 'x' },
      unset: { command: 'x', expandVars: true, args: ['${NO_SUCH_NAME}'] },
      half: { command: 'no-such-program', args: ['${HALF}'], env: { NOTHING: null } },
    })
    const bin = temporaryFolder('cli')
    writeFileSync(join(bin, 'node'), '', { mode: 0o755 })
    // Wide: where a line with a path breaks would hang on where the repository lies.
    const env = { PATH: `/nowhere:${bin}`, COLUMNS: '1000' }
    const { code, out } = await run(['doctor'], { cwd: folder, env })
    expect(normalised(out)).toMatchInlineSnapshot(`
      "gone  stdio: ndoe

        ok    read config N ms
        FAIL  find command N ms  there is no such command
        FAIL  spawn N ms  ENOENT
        ok    close N ms

        error    command-not-found
          There is no command "ndoe" on the PATH.
          -> Did you mean "node"? It is on the PATH.
          -> Install it. The PATH of the host counts, not that of your shell: "which ndoe" in your shell gives the absolute path to write as command.

      crash  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        note  era probe N ms  the process ended with exit code 1: tried as an older server
        ok    spawn again N ms
        FAIL  initialize N ms  the process ended with exit code 1
        ok    close N ms

        last words on standard error:
          file://ROOT/packages/mcp/mcp-client/tests/cli/fixtures/crash.ts:2
          throw new TypeError('cannot read the configuration')
          ^
          TypeError: cannot read the configuration
          at file://ROOT/packages/mcp/mcp-client/tests/cli/fixtures/crash.ts:2:7
          Node.js vX

        error    crash
          The server ended with exit code 1 before it answered: TypeError: cannot read the configuration
          -> Run the command of the row in a terminal: it must stay and wait for input.

      mute  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        FAIL  initialize N ms  no answer
        ok    close N ms

        last words on standard error:
          loading the model

        error    silent-server
          The program runs, and did not answer initialize within N ms. Its last words on standard error: loading the model
          -> Is it an MCP server, and does it need an argument such as "stdio"?
          -> The first start of npx, uvx or docker downloads the server: run the command once in a terminal, or raise startup.timeoutMs in the row.

        warning  value-empty
          env.TOKEN is empty.
          -> Give it a value, or remove it: an empty credential is refused like a wrong one.

      script  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        note  era probe N ms  the process ended with exit code 1: tried as an older server
        ok    spawn again N ms
        FAIL  initialize N ms  the process ended with exit code 1
        ok    close N ms

        last words on standard error:
          node:internal/modules/cjs/loader:1433
          throw err;
          ^
          Error: Cannot find module 'ROOT/dist/none.js'
          code: 'MODULE_NOT_FOUND',
          requireStack: []
          }
          Node.js vX

        error    script-not-found
          The file "dist/none.js" in args does not exist.
          -> Mend the path. A relative one begins at cwd, and without cwd at the folder in which the host was started.
          -> Has the server been built? Many need "npm run build" first.

      folder  stdio: NODE

        ok    read config N ms
        FAIL  find command N ms  cwd is no directory
        FAIL  spawn N ms  ENOENT
        ok    close N ms

        error    cwd-wrong
          The working directory FOLDER/none" does not exist.
          -> Mend cwd in the row. A relative one begins at the folder in which the host was started.

      file  stdio: NODE

        ok    read config N ms
        FAIL  find command N ms  cwd is no directory
        FAIL  spawn N ms  ENOTDIR
        ok    close N ms

        error    cwd-wrong
          The working directory "ROOT/packages/mcp/mcp-client/tests/cli/fixtures/crash.ts" is not a directory.
          -> Mend cwd in the row. A relative one begins at the folder in which the host was started.

      bad  unknown

        FAIL  read config N ms  refused at comand

        error    config-refused
          The row is refused: comand is not a configuration key; did you mean command?
          -> Mend the row at that path. All keys are in the README, "Configuration".

      unset  unknown

        FAIL  read config N ms  refused at args[0]

        error    config-refused
          The row is refused: args[0] needs the environment variable NO_SUCH_NAME, which is not set; set it or write \${NAME:-default}
          -> Set it where the host starts: export NO_SUCH_NAME=...
          -> Or give a default in the row: \${NO_SUCH_NAME:-...}

      half  stdio: no-such-program "\${HALF}"

        ok    read config N ms
        FAIL  find command N ms  there is no such command
        FAIL  spawn N ms  ENOENT
        ok    close N ms

        error    command-not-found
          There is no command "no-such-program" on the PATH.
          -> Install it. The PATH of the host counts, not that of your shell: "which no-such-program" in your shell gives the absolute path to write as command.

        warning  variable-unexpanded
          args[0] still holds \${NAME}, and the server gets it as written.
          -> Set expandVars: true in the row, or write !!js process.env.NAME.

      SERVER  VERDICT            TOOLS  BYTES
      gone    command-not-found  -      -
      crash   crash              -      -
      mute    silent-server      -      -
      script  script-not-found   -      -
      folder  cwd-wrong          -      -
      file    cwd-wrong          -      -
      bad     config-refused     -      -
      unset   config-refused     -      -
      half    command-not-found  -      -
      "
    `)
    expect(code).toBe(1)
    const narrow = await run(['doctor', 'gone'], { cwd: folder, env: { ...env, COLUMNS: '60' } })
    expect(narrow.out).toMatch(/\n {4}-> Install it\. .*\n {7}\w/)
  })

  it('says why a server over HTTP does not work', async () => {
    http = await startHttpServer('healthy')
    const { origin } = new URL(http.url)
    const answers: Record<string, [number, Record<string, string>, string]> = {
      '/401': [401, { 'www-authenticate': 'Bearer resource_metadata="x"' }, ''],
      '/403': [403, {}, 'no scope'],
      '/page': [200, { 'content-type': 'text/html; charset=utf-8' }, '<html><title>Welcome</title></html>'],
      '/500': [500, {}, 'boom'],
      '/elsewhere': [302, { location: 'https://login.test/' }, ''],
    }
    http.intercept = (request, response) => {
      const answer = answers[String(request.url)]
      if (answer === undefined) return false
      response.writeHead(answer[0], answer[1]).end(answer[2])
      return true
    }
    rows({
      missing: { url: `${origin}/401` },
      refused: { url: `${origin}/401`, headers: { Authorization: 'Bearer sk-1234567890abcdef' } },
      forbidden: { url: `${origin}/403` },
      page: { url: `${origin}/page` },
      broken: { url: `${origin}/500` },
      elsewhere: { url: `${origin}/elsewhere` },
      path: { url: `${origin}/nothing`, transport: 'streamable-http' },
      port: { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'Bearer ' } },
      name: { url: 'http://no-such-host.invalid/mcp' },
      tls: { url: `https${origin.slice(4)}/mcp` },
    })
    const { code, out } = await here(['doctor', '--probe'])
    expect(normalised(out)).toMatchInlineSnapshot(`
      "missing  http: http://127.0.0.1:PORT/401

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        FAIL  era probe N ms  HTTP 401
        ok    close N ms

        error    auth-missing
          The server asks for authorization (HTTP 401), and the row sends none.
          -> Add it to the row: headers: { Authorization: !!js '\`Bearer \${process.env.MCP_TOKEN}\`' }
          -> If the server takes an OAuth login: dsh-mcp login missing

      refused  http: http://127.0.0.1:PORT/401

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        FAIL  era probe N ms  HTTP 401
        ok    close N ms

        error    auth-refused
          The server refuses the credential that the row sends (HTTP 401).
          -> Is it over, or for another server? Make a new one, and set it where the host starts.
          -> See that the header has the form the server wants: mostly "Authorization: Bearer TOKEN".

      forbidden  http: http://127.0.0.1:PORT/403

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        FAIL  era probe N ms  HTTP 403
        ok    close N ms

        error    forbidden
          The server knows who you are and does not let you in (HTTP 403): the server answered HTTP 403 Forbidden: no scope
          -> Give the token the scopes that the server asks for, or use an account that may use it.

      page  http: http://127.0.0.1:PORT/page

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        note  era probe N ms  HTTP 200 text/html: tried as an older server
        FAIL  initialize N ms  HTTP 200 text/html
        ok    close N ms

        error    html-page
          A web page answers at http://127.0.0.1:PORT/page, not an MCP server: the server did not answer with JSON or an
          event stream
          -> Mend the path of url: the README of the server has it, often /mcp, and /sse for an old server.
          -> An MCP server answers at /mcp with 1 tools: write that path into url, and transport: streamable-http

      broken  http: http://127.0.0.1:PORT/500

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        note  era probe N ms  HTTP 500: tried as an older server
        FAIL  initialize N ms  HTTP 500
        ok    close N ms

        error    server-error
          127.0.0.1:PORT is broken inside: the server answered HTTP 500 Internal Server Error: boom
          -> Look at the log of the server. The client tries again by itself.

      elsewhere  http: http://127.0.0.1:PORT/elsewhere

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        FAIL  era probe N ms  HTTP 302
        ok    close N ms

        error    redirect
          The url is not where the server is: the server redirects to another origin, https://login.test, which is not
          followed; if that is right, write it into url (HTTP 302).
          -> Write the address that it points to into url, if you trust it.

      path  streamable-http: http://127.0.0.1:PORT/nothing

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        note  era probe N ms  HTTP 404 application/json: taken for an older server
        FAIL  initialize N ms  HTTP 404 application/json
        ok    close N ms

        error    path-not-found
          127.0.0.1:PORT is there, and has no MCP server at /nothing (HTTP 404).
          -> Mend the path of url: often it is /mcp, and /sse for an old server.
          -> Leave transport out: then Streamable HTTP and HTTP+SSE are both tried.
          -> An MCP server answers at /mcp with 1 tools: write that path into url, and transport: streamable-http

      port  http: http://127.0.0.1:PORT/mcp

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        FAIL  connect N ms  ECONNREFUSED
        FAIL  era probe N ms  ECONNREFUSED
        ok    close N ms

        error    refused
          Nothing listens at 127.0.0.1:PORT.
          -> Start the server, or mend the port in url.
          -> In a container, localhost is the container itself: use the name or address of the machine.

        warning  value-empty
          headers.Authorization is empty.
          -> Give it a value, or remove it: an empty credential is refused like a wrong one.

      name  http: http://no-such-host.invalid/mcp

        ok    read config N ms
        FAIL  resolve host N ms  ENOTFOUND
        FAIL  connect N ms  ENOTFOUND
        FAIL  era probe N ms  ENOTFOUND
        ok    close N ms

        error    dns
          The host name of no-such-host.invalid cannot be resolved (ENOTFOUND).
          -> Mend the host in url. Is the machine online, and does the name need a VPN?

      tls  http: https://127.0.0.1:PORT/mcp

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        FAIL  connect N ms  ERR_SSL_WRONG_VERSION_NUMBER
        FAIL  era probe N ms  ERR_SSL_WRONG_VERSION_NUMBER
        ok    close N ms

        error    tls
          TLS with 127.0.0.1:PORT fails: wrong version number.
          -> The port speaks plain HTTP: write http:// in url, or the port that speaks https.

      SERVER     VERDICT         TOOLS  BYTES
      missing    auth-missing    -      -
      refused    auth-refused    -      -
      forbidden  forbidden       -      -
      page       html-page       -      -
      broken     server-error    -      -
      elsewhere  redirect        -      -
      path       path-not-found  -      -
      port       refused         -      -
      name       dns             -      -
      tls        tls             -      -
      "
    `)
    expect(code).toBe(1)
  })

  it('tells of a proxy in the way, and of a server that has to be ended', async () => {
    const env = { HTTP_PROXY: 'http://proxy.invalid:3128' }
    const proxied = await run(['doctor', '--url', 'http://no-such-host.invalid/mcp'], { env })
    expect(proxied.out).toContain('through the proxy proxy.invalid:3128')
    expect(proxied.out).toContain('error    proxy')
    const { command, args } = stdioServer('stubborn')
    const stubborn = await run(['doctor', '--protocol', 'legacy', '--command', command, '--', ...args])
    expect(stubborn.out).toMatch(/note  close +\d+ ms  the server does not end when its input ends/)
  })

  it('is 2 where there is nothing to examine', async () => {
    rows({})
    expect(await here(['doctor'])).toMatchObject({
      code: 2,
      out: 'no enabled row of @deepseek-ai/dsh-mcp-client in cordis.yml\n',
    })
    writeFileSync(join(folder, 'cordis.yml'), '- { id: p, insert: [] }\n')
    const { out, err } = await here(['doctor', '--json'])
    expect(JSON.parse(out)).toMatchObject({ servers: [] })
    expect(err).toContain('note: a patch inserts')
  })
})

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
    writeFileSync(join(folder, 'claude.json'), JSON.stringify({ mcpServers: { one: { command: 'x' } } }))
    const env = { HOME: join(folder, 'home') }
    const { code, out } = await run(['import', '--from', 'claude.json', '--only', 'one'], {
      cwd: folder,
      env,
    })
    expect(out).toContain('serverName')
    expect([0, 1, 2]).toContain(code)
    expect(
      (await run(['import', 'none.json', '--json', '--write'], { cwd: folder, env: { USERPROFILE: folder } }))
        .code,
    ).toBeGreaterThan(0)
    expect((await run(['import', '--from', 'none.json'], { cwd: folder })).code).toBeGreaterThan(0)
  })
})
