/** The parts of doctor, each alone: commands and files, the network, records, weights, words. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { channel } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '@dsh-mcp/testkit'
import { resolveConfig } from '../../src/config.ts'
import type { StdioTarget } from '../../src/types.ts'
import { commandFacts } from '../../src/cli/doctor/command.ts'
import type { Examination } from '../../src/cli/doctor/examination.ts'
import { httpFacts, resolveHost, watchNetwork } from '../../src/cli/doctor/network.ts'
import { candidates, probePaths } from '../../src/cli/doctor/probes.ts'
import { createRecorder } from '../../src/cli/doctor/recorder.ts'
import { examinationLines, wrapped } from '../../src/cli/doctor/screen.ts'
import { catalogFacts } from '../../src/cli/doctor/weight.ts'
import { Output } from '../../src/cli/output.ts'
import { fakeIo } from './fake-io.ts'
import type { FakeOptions } from './fake-io.ts'

const SPEC = resolveConfig({ serverName: 'one', command: 'x', env: { TOKEN: 'sk-1234567890' } }).spec

describe('a command', () => {
  const target = (command: string, args: string[] = [], more: Partial<StdioTarget> = {}): StdioTarget => ({
    kind: 'stdio',
    command,
    args,
    env: {},
    inheritEnv: [],
    ...more,
  })
  const folder = temporaryFolder('cli')
  for (const name of ['node', 'server.js', 'tool.EXE', 'plain']) writeFileSync(join(folder, name), '')
  for (const name of ['node', 'tool.EXE']) chmodSync(join(folder, name), 0o755)
  mkdirSync(join(folder, 'inner'))
  const find = (what: StdioTarget, options: FakeOptions = {}) =>
    commandFacts(what, fakeIo({ cwd: folder, env: { PATH: `/nowhere::${folder}` }, ...options }))

  it('is found on the PATH of the child, by path, and by the endings of Windows', () => {
    expect(find(target('node')).found).toBe(join(folder, 'node'))
    expect(find(target('./node')).found).toBe(join(folder, 'node'))
    expect(find(target(join(folder, 'node'))).found).toBe(join(folder, 'node'))
    expect(find(target('node'), { env: { PATH: '' } }).found).toBeUndefined()
    expect(find(target('node', [], { env: { PATH: folder } }), { env: { PATH: '' } }).found).toBe(
      join(folder, 'node'),
    )
    expect(find(target('plain')).found).toBeUndefined()
    expect(find(target('inner')).found).toBeUndefined()
    const windows: FakeOptions = { platform: 'win32', env: { PATH: folder } }
    expect(find(target('tool'), { ...windows, env: { PATH: folder, PATHEXT: '.EXE' } }).found).toBe(
      join(folder, 'tool.EXE'),
    )
    expect(find(target('tool'), windows).found).toBe(join(folder, 'tool.EXE'))
    expect(find(target('tol'), windows).lookAlike).toBe('tool')
  })

  it('has its PATH in any case of letters, or none', () => {
    const io = fakeIo({ cwd: folder })
    expect(commandFacts(target('node'), { ...io, env: { Path: folder } }).found).toBe(join(folder, 'node'))
    expect(commandFacts(target('node'), { ...io, env: {} }).found).toBeUndefined()
  })

  it('may be a whole command line, of a program that is there', () => {
    expect(find(target('node server.js  --x')).line).toEqual({ program: 'node', args: ['server.js', '--x'] })
    expect(find(target('nodee server.js')).line).toBeUndefined()
    expect(find(target('node')).line).toBeUndefined()
  })

  it('may name a path that only a shell understands', () => {
    const home = { env: { PATH: folder, HOME: '/home/me' } }
    expect(find(target('~/tool'), home).tilde).toEqual({
      key: 'command',
      path: '~/tool',
      full: '/home/me/tool',
    })
    expect(find(target('node', [], { cwd: '~' }), home).tilde).toMatchObject({ key: 'cwd', full: '/home/me' })
    expect(find(target('node', ['~/a.js']), home).tilde).toMatchObject({ key: 'args', full: '/home/me/a.js' })
    expect(
      find(target('node', ['~/a']), { env: { PATH: folder, USERPROFILE: 'C:\\me' } }).tilde,
    ).toMatchObject({
      full: 'C:\\me/a',
    })
    expect(find(target('~x/tool')).tilde).toBeUndefined()
    expect(find(target('~/tool'), { env: {} }).tilde?.full).toBe('/home/you/tool')
  })

  it('has a look-alike only where it is a name', () => {
    expect(find(target('nod')).lookAlike).toBe('node')
    expect(find(target('./nod')).lookAlike).toBeUndefined()
    expect(find(target('quite-another')).lookAlike).toBeUndefined()
  })

  it('looks at a bounded number of names', () => {
    const many = temporaryFolder('cli')
    for (let index = 0; index < 20_001; index += 1) writeFileSync(join(many, `file${index}`), '')
    expect(find(target('nod'), { env: { PATH: `${many}:${folder}` } }).lookAlike).toBeUndefined()
  })

  it('may stand in a folder that is none', () => {
    expect(find(target('node', [], { cwd: 'inner' })).cwdState).toBe('ok')
    expect(find(target('node', [], { cwd: 'none' })).cwdState).toBe('missing')
    expect(find(target('node', [], { cwd: 'plain' })).cwdState).toBe('not-a-directory')
  })

  it.each<[string, string[], string[]]>([
    ['node', ['server.js'], []],
    ['node', ['dist/none.js'], ['dist/none.js']],
    ['node', ['--flag', 'dist/none'], ['dist/none']],
    ['node', ['word', 'dist/none'], []],
    ['node', ['plain/none'], ['plain/none']],
    ['npx', ['-y', '@acme/none.js', 'none'], []],
    ['tool', ['run.py'], ['run.py']],
    ['tool', ['https://h/x.js', '--file=x.js', 'data/none'], []],
  ])('%s %j misses %j', (command, args, missing) => {
    expect(find(target(command, args)).missingFiles).toEqual(missing)
  })
})

describe('the network', () => {
  const web = (url: string, env: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    httpFacts({ flavour: 'auto', url, headers }, env)

  it.each<[string, Record<string, string>, string | undefined]>([
    ['http://mcp.test/mcp', {}, undefined],
    ['http://mcp.test/mcp', { HTTP_PROXY: 'http://p:1' }, 'p:1'],
    ['https://mcp.test/mcp', { http_proxy: 'http://p:1' }, 'p:1'],
    ['https://mcp.test/mcp', { HTTP_PROXY: 'http://p:1', https_proxy: 'http://q:2' }, 'q:2'],
    ['https://mcp.test/mcp', { HTTPS_PROXY: 'nonsense' }, 'a value that is no URL'],
    ['http://localhost/mcp', { HTTP_PROXY: 'http://p:1' }, undefined],
    ['http://127.0.0.2/mcp', { HTTP_PROXY: 'http://p:1' }, undefined],
    ['http://mcp.test/mcp', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'a.b, .test' }, undefined],
    ['http://mcp.test/mcp', { HTTP_PROXY: 'http://p:1', no_proxy: '*' }, undefined],
    ['http://mcp.test:81/mcp', { HTTP_PROXY: 'http://p:1', no_proxy: 'mcp.test:81' }, undefined],
    ['http://mcp.test/mcp', { HTTP_PROXY: 'http://p:1', no_proxy: 'mcp.test' }, undefined],
    ['http://mcp.test/mcp', { HTTP_PROXY: 'http://p:1', no_proxy: 'other.test' }, 'p:1'],
  ])('of %s with %j goes through %s', (url, env, proxy) => expect(web(url, env).proxy).toBe(proxy))

  it('knows a header that authorizes', () => {
    expect(web('http://h/', {}, { authorization: 'x' }).hasAuthorization).toBe(true)
    expect(web('http://h/', {}, { 'X-Api-Key': 'x' }).hasAuthorization).toBe(true)
    expect(web('http://h/', {}, { Accept: 'x' }).hasAuthorization).toBe(false)
    expect(web('https://h:1/a/b').isSecure).toBe(true)
  })

  it('resolves a host, in time or not', async () => {
    expect(await resolveHost(new URL('http://[::1]/'))).toEqual({ address: '::1' })
    const failing = (() => Promise.reject(Object.assign(new Error('no'), { code: 'EAI_AGAIN' }))) as never
    expect(await resolveHost(new URL('http://h/'), failing)).toEqual({ error: 'EAI_AGAIN' })
    const silent = (() => new Promise(() => {})) as never
    expect(await resolveHost(new URL('http://h/'), silent, 1)).toEqual({ error: 'ETIMEOUT' })
  })

  it('is heard through the channels of undici, until the end', () => {
    let time = 0
    const watch = watchNetwork(() => time)
    const headers = (...texts: string[]): Buffer[] => texts.map((text) => Buffer.from(text))
    channel('undici:client:beforeConnect').publish({})
    time = 7
    channel('undici:client:beforeConnect').publish({})
    channel('undici:client:connected').publish({})
    channel('undici:client:connectError').publish({ error: { code: 'ECONNREFUSED' } })
    channel('undici:request:headers').publish({
      request: {},
      response: {
        statusCode: 401,
        headers: headers('Content-Type', 'Text/HTML; charset=x', 'WWW-Authenticate', 'Bearer'),
      },
    })
    expect([watch.connectMs(), watch.connectError(), watch.reply()]).toEqual([
      7,
      'ECONNREFUSED',
      { status: 401, contentType: 'text/html', challenge: 'Bearer' },
    ])
    channel('undici:request:headers').publish({ request: {}, response: { statusCode: 200, headers: [] } })
    expect(watch.reply()).toEqual({ status: 200, contentType: '' })
    watch.stop()
    channel('undici:request:headers').publish({ request: {}, response: { statusCode: 500, headers: [] } })
    expect(watch.reply()?.status).toBe(200)
  })

  it.each([
    ['http://h/x', 'auto', ['streamable-http /mcp', 'streamable-http /x/mcp', 'sse /sse', 'sse /x/sse']],
    ['http://h/mcp', 'auto', ['sse /sse']],
    ['http://h/sse', 'streamable-http', ['sse /sse', 'streamable-http /mcp']],
    ['http://h/mcp/', 'sse', ['streamable-http /mcp/', 'streamable-http /mcp', 'sse /sse']],
  ] as const)('probes for %s as %s: %j', (url, flavour, paths) => {
    const found = candidates({ url, flavour })
    expect(found.map(({ path, transport }) => `${transport} ${path}`)).toEqual(paths)
  })

  it('probes nothing once the run is over', async () => {
    const { spec } = resolveConfig({ serverName: 'one', url: 'http://127.0.0.1:9/x' })
    expect(await probePaths(spec, AbortSignal.abort())).toEqual([])
  })
})

describe('a record', () => {
  const recorder = (words?: string) => createRecorder(SPEC, { now: () => 0, networkWords: () => words })
  type Message = Parameters<ReturnType<typeof recorder>['trace']>[0] & { kind: 'message' }
  const message = (direction: 'in' | 'out', value: unknown): Message =>
    ({ kind: 'message', direction, message: value }) as Message

  it('names pages, also those of a list that is read again', () => {
    const record = recorder()
    const page = (id: number, cursor?: string, nextCursor?: string): void => {
      record.trace(
        message('out', { id, method: 'tools/list', ...(cursor === undefined ? {} : { params: { cursor } }) }),
      )
      record.trace(message('in', { id, result: { tools: [{ name: `t${id}` }], nextCursor } }))
    }
    page(1, undefined, 'a')
    page(2, 'a')
    page(3)
    record.trace(message('out', { id: 4, method: 'prompts/list' }))
    record.trace(message('in', { id: '4', result: { prompts: [] } }))
    record.trace(message('out', { id: 5, method: 'ping' }))
    record.trace(message('in', { id: 5, result: {} }))
    record.trace(message('in', { id: 99, result: {} }))
    record.trace(message('in', { method: 'notifications/message' }))
    const { steps, listed, heard } = record.finish()
    expect(steps.map(({ name, detail }) => `${name}: ${detail}`)).toEqual([
      'tools/list page 1: 1 tools, more to come',
      'tools/list page 2: 1 tools',
      'tools/list page 1 again: 1 tools',
      'prompts/list page 1: 0 prompts',
      'ping: ',
    ])
    expect(listed).toEqual([{ name: 't3' }])
    expect(heard).toBe(7)
  })

  it('tells what an answer says, and what came instead of one', () => {
    const record = recorder('HTTP 500')
    const ask = (id: number, method: string, answer?: object): void => {
      record.trace(message('out', { id, method }))
      if (answer !== undefined) record.trace(message('in', { id, ...answer }))
    }
    ask(1, 'server/discover', { result: { supportedVersions: ['2026-07-28'] } })
    ask(2, 'server/discover', { result: {} })
    ask(3, 'server/discover', { error: { message: 'Method not found' } })
    ask(4, 'initialize', { error: 'odd' })
    ask(5, 'initialize', { result: 'odd' })
    ask(6, 'server/discover')
    ask(7, 'initialize')
    record.trace({ kind: 'ended', alone: false, diagnostics: {} })
    record.trace({
      kind: 'try',
      attempt: { transport: 'sse', negotiation: { kind: 'legacy' }, remembered: false },
    })
    const { steps } = record.finish()
    expect(steps.map(({ name, outcome, detail }) => `${outcome} ${name}: ${detail}`)).toEqual([
      'ok era probe: revisions 2026-07-28',
      'ok era probe: revisions 2026-07-28',
      'note era probe: an older server: Method not found',
      'failed initialize: an error',
      'ok initialize: revision undefined',
      'note era probe: HTTP 500: taken for an older server',
      'note initialize: HTTP 500: tried over sse',
    ])
  })

  it.each([
    ['HTTP 404', 'HTTP 404'],
    [undefined, 'no connection'],
  ])('tells of a stream that did not come about: %s', (words, detail) => {
    const record = recorder(words)
    record.trace({
      kind: 'try',
      attempt: { transport: 'sse', negotiation: { kind: 'legacy' }, remembered: false },
    })
    record.trace({ kind: 'ended', alone: false, diagnostics: {} })
    expect(record.finish().steps).toEqual([{ name: 'open sse', outcome: 'failed', durationMs: 0, detail }])
  })

  it('is bounded, redacted, and says so', () => {
    const record = recorder()
    for (let index = 0; index < 2_005; index += 1) record.trace(message('out', { text: 'sk-1234567890' }))
    const { wire, dropped } = record.finish()
    expect([wire.length, dropped, wire[0]?.text]).toEqual([2_000, 5, '{"text":"[redacted]"}'])
  })
})

describe('a weight', () => {
  it('counts hidden characters as deep as a person would put them', () => {
    let deep: unknown = '\u200B'
    for (let level = 0; level < 40; level += 1) deep = [deep]
    const none = { quarantined: [], rewritten: [], denied: [], held: [], offered: [] }
    const status = { tools: none } as never
    const { hidden } = catalogFacts(SPEC, [], status, [
      { name: 'a', description: 'x\u200By', inputSchema: { 'k\u200Bey': 1 } },
      { description: '\u200B' },
      7,
      deep,
      '\u200B',
    ])
    expect(hidden).toEqual([
      { name: 'a', count: 2 },
      { name: 'a tool without a name', count: 1 },
      { name: 'a tool without a name', count: 1 },
    ])
  })
})

describe('a screen', () => {
  const output = (options: FakeOptions = {}, verbose = true): Output =>
    new Output(fakeIo(options), { json: false, color: true, verbose })
  const examination: Examination = {
    name: 'one',
    transport: 'stdio',
    steps: [],
    facts: {
      name: 'one',
      findings: { unset: [], undefinedWords: [] },
      unexpanded: [],
      empty: [],
      stderr: '',
      heard: 1,
      timeoutMs: 1,
      catalog: {
        tools: [],
        bytes: 0,
        tokens: 0,
        budgetBytes: 1,
        exposure: 'auto',
        quarantined: [],
        hidden: [],
        denied: [],
        held: [],
        unused: [],
        rawNames: [],
        rewritten: [
          {
            name: 'a',
            count: 50,
            rewrites: Array.from({ length: 50 }, (_, index) => ({
              path: `/${index}`,
              keyword: 'anyOf',
              reason: 'told',
            })),
          },
        ],
      },
    },
    session: { era: 'modern', revision: '2026-07-28', capabilities: {} },
    diagnoses: [],
    wire: [],
    droppedMessages: 3,
  }

  it('says of a server that says nothing of itself', () => {
    const lines = examinationLines(examination, { wire: true }, output())
    expect(lines).toContain('  server        says nothing of itself')
    expect(lines).toContain('  capabilities  none')
    expect(lines).toContain('    and 10 more')
    expect(lines).toContain('  and 3 more messages')
    const bare = {
      ...examination,
      facts: { ...examination.facts, catalog: { ...examination.facts.catalog, rewritten: [] } },
    }
    expect(examinationLines(bare as Examination, { wire: false }, output()).join('\n')).not.toContain(
      'rewritten:',
    )
  })

  it('breaks at spaces, and leaves a long word whole', () => {
    expect(wrapped('one two three', 7)).toEqual(['one two', 'three'])
    expect(wrapped(`a ${'b'.repeat(20)} c`, 7)).toEqual(['a', 'b'.repeat(20), 'c'])
    expect(wrapped('', 7)).toEqual([''])
  })

  it('is coloured on a terminal only, and not where colour is not wanted', () => {
    const styled = (options: FakeOptions, color = true): boolean =>
      new Output(fakeIo(options), { json: false, color, verbose: false }).style('red', 'x') !== 'x'
    expect(styled({ columns: 80 })).toBe(true)
    expect(styled({})).toBe(false)
    expect(styled({ columns: 80 }, false)).toBe(false)
    expect(styled({ columns: 80, env: { NO_COLOR: '1' } })).toBe(false)
    expect(styled({ columns: 80, env: { TERM: 'dumb' } })).toBe(false)
    expect(
      new Output(fakeIo({ columns: 80 }), { json: true, color: true, verbose: false }).style('red', 'x'),
    ).toBe('x')
  })

  it('is as wide as the terminal', () => {
    expect(output({ columns: 66 }).width).toBe(66)
    expect(output({ columns: 10 }).width).toBe(40)
    expect(output().width).toBe(120)
    expect(output({ env: { COLUMNS: '200' } }).width).toBe(200)
    expect(output({ columns: 66, env: { COLUMNS: '50' } }).width).toBe(50)
    for (const odd of ['', '0', '-1', 'wide', '1e9'])
      expect(output({ env: { COLUMNS: odd } }).width).toBe(120)
    const io = fakeIo({ columns: 80 })
    expect(
      new Output(
        { ...io, stdout: Object.assign(io.stdout, { columns: undefined }) as never },
        { json: false, color: true, verbose: false },
      ).width,
    ).toBe(80)
  })

  it('spins on a terminal, and leaves nothing of it', async () => {
    const io = fakeIo({ columns: 80 })
    const terminal = new Output(io, { json: false, color: true, verbose: false })
    expect(await terminal.progress('thinking', async () => 7)).toBe(7)
    expect(io.err()).toContain('thinking')
    expect(io.out()).toBe('')
    const quiet = fakeIo({ columns: 80, env: { CI: '1' } })
    await new Output(quiet, { json: false, color: true, verbose: false }).progress('thinking', async () => 7)
    expect(quiet.err()).toBe('')
    await expect(terminal.progress('failing', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  })

  it('writes hidden and terminal characters of a value as codes into its JSON', () => {
    const value = { '\u202ek': ['\u001b[31m\u009b1m\u0085\u007f', '\u200b\u2028\u{e0041}', 'é 👍 \n'] }
    const io = fakeIo()
    new Output(io, { json: true, color: true, verbose: false }).json(value)
    expect(JSON.parse(io.out())).toEqual(value)
    expect(io.out()).toMatch(/^[\n -~é👍]*$/u)
    expect(io.out()).toContain(String.raw`\u200b\u2028\udb40\udc41`)
  })

  it('ends a text by a line break, once', () => {
    const io = fakeIo()
    const plain = new Output(io, { json: false, color: true, verbose: false })
    plain.text('a')
    plain.text('b\n')
    expect(io.out()).toBe('a\nb\n')
  })
})
