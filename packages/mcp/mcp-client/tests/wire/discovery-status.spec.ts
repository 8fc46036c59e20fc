/** Owns the tests of what one bridge makes of a real server's lists: its status, its log, and when it reads again. */
import { afterEach, describe, expect, it } from 'vitest'
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import { CallId } from '@deepseek-ai/dsh-llm'
import { startHttpServer, stdioServer, temporaryFolder, tool, waitFor, received } from '@dsh-mcp/testkit'
import type { Behaviour, HttpServer, Tool } from '@dsh-mcp/testkit'
import { createBridge } from '../../src/bridge.ts'
import type { Bridge } from '../../src/bridge.ts'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { resolveConfig } from '../../src/config.ts'
import { openMemory } from '../../src/memory.ts'
import { lists, streamOf } from '../composition/list-server.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function serve(behaviour: Behaviour): Promise<HttpServer> {
  const callTool = () => ({ content: [{ type: 'text', text: 'ran' }] })
  const server = await startHttpServer({ callTool, ...behaviour })
  ends.push(() => server.close())
  return server
}

/** How much faster than real the bridge's timers run. */
const PACE = 100

/** A bridge over a real server, with a registry by hand and a clock that can be put forward. */
async function open(target: object, row: object = {}) {
  const { spec } = resolveConfig({
    serverName: 'one',
    ...target,
    startup: { timeoutMs: 600_000 },
    ...row,
  })
  const said: string[] = []
  const definitions = new Map<string, ToolDefinition>()
  const time = { skewMs: 0 }
  const bridge: Bridge = createBridge(spec, {
    register(definition) {
      definitions.set(definition.name, definition)
      return () => void definitions.delete(definition.name)
    },
    services: {
      attachments: () => undefined,
      llm: () => undefined,
      spillStore: () => undefined,
      log: (level, text) => said.push(`${level}: ${text}`),
    },
    memory: await openMemory(spec, { folder: temporaryFolder('memory'), note: (text) => said.push(text) }),
    clock: {
      now: () => SYSTEM_CLOCK.now() + time.skewMs,
      after: (ms, callback) => SYSTEM_CLOCK.after(ms / PACE, callback),
    },
    version: '0',
    say: ({ level, text }) => said.push(`${level}: ${text}`),
  })
  ends.push(() => bridge.dispose())
  await bridge.start()
  return {
    bridge,
    said,
    time,
    names: () => [...definitions.keys()].toSorted(),
    definition: (name: string) => definitions.get(`mcp__one__${name}`),
    call: (name: string, args: object = {}) =>
      definitions.get(`mcp__one__${name}`)?.execute(args, {
        callId: CallId('call-1'),
        name: `mcp__one__${name}`,
        signal: new AbortController().signal,
      } as never),
  }
}

const web = ({ url }: HttpServer): object => ({ transport: 'streamable-http', url })
/** Wait until the server was asked for so many lists. */
const listed = (server: HttpServer, count: number): Promise<number> =>
  waitFor(
    () => [lists(server)],
    (now) => now >= count,
  )

describe('a bridge that nobody allots a place to', () => {
  it.each([
    ['search', { registered: 0, searchable: 1 }],
    ['auto', { registered: 1, searchable: 0 }],
  ])('offers its tools as the row says: %s', async (exposure, counts) => {
    const t = await open(web(await serve({ tools: [tool('one')] })), { tools: { exposure } })
    expect(t.bridge.status().tools).toMatchObject(counts)
  })
})

describe('the status of a server', () => {
  it('names each tool that is left out with its reason, and the good ones work', async () => {
    const broken: readonly (readonly [unknown, string, string])[] = [
      [null, '#0', 'the entry is not an object'],
      ['x', '#1', 'the entry is not an object'],
      [{ description: 'x' }, '#2', 'the entry has no name'],
      [{ name: {} }, '#3', 'the entry has no name'],
      [tool(''), '#4', 'the name is empty'],
      [tool('array', { inputSchema: [] }), 'array', 'inputSchema is not an object'],
      [tool('number', { inputSchema: 5 }), 'number', 'inputSchema is not an object'],
      [tool('n'.repeat(2_000)), `${'n'.repeat(79)}…`, 'the name is longer than 1024 characters'],
      [
        tool('bad\nname', { inputSchema: { type: 'null' } }),
        'bad name',
        'the input schema does not take an object',
      ],
    ]
    const server = await serve({ tools: [...broken.map(([item]) => item), tool('a'), tool('b')] as Tool[] })
    const t = await open(web(server))
    const quarantined = broken.map(([, name, reason]) => ({ name, reason }))
    expect(t.bridge.status().tools).toMatchObject({ registered: 2, quarantined, rewritten: [], flagged: [] })
    for (const { name, reason } of quarantined) {
      expect(t.said).toContain(`warn: tool ${JSON.stringify(name)} is left out: ${reason}`)
    }
    for (const name of ['a', 'b']) expect(await t.call(name)).toHaveProperty('content')
  })

  it('says what of the schemas was rewritten, and no more than some of it', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [
        `p${String(at).padStart(2, '0')}`,
        { type: ['string', 'null'] },
      ]),
    )
    const server = await serve({
      tools: [
        tool('plain'),
        tool('many', { inputSchema: { type: 'object', properties } }),
        tool('both', {
          inputSchema: {
            type: 'object',
            properties: { a: { type: 'string' }, b: { type: 'string' } },
            oneOf: [{ required: ['a'] }, { required: ['b'] }],
          },
          outputSchema: { type: 'object', properties: { n: { const: 3 } } },
        }),
      ],
    })
    const t = await open(web(server))
    const { rewritten } = t.bridge.status().tools
    expect(rewritten.map(({ name }) => name)).toEqual(['both', 'many'])
    expect(rewritten[0]).toEqual({
      name: 'both',
      count: rewritten[0]?.rewrites.length,
      rewrites: expect.arrayContaining([
        { path: '/', keyword: 'oneOf', reason: 'alternatives-told' },
        { path: 'output:/n', keyword: 'const', reason: 'const-as-enum' },
      ]) as unknown,
    })
    expect(rewritten[1]).toMatchObject({ name: 'many', count: 60 })
    expect(rewritten[1]?.rewrites).toHaveLength(20)
    expect(t.definition('both')).toMatchObject({
      description: expect.stringMatching(/^The tool both\n\n\(exactly one of these/) as string,
      parameters: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
    })
    expect(t.definition('both')?.parameters).not.toHaveProperty('description')
    // What is gone is told of no more.
    t.bridge.withdraw()
    expect(t.bridge.status().tools.rewritten).toEqual([])
  })

  it('names a tool that is listed twice and the way out: connected, and nothing is started again', async () => {
    const server = stdioServer('duplicate-names')
    const { command, args, env } = server
    const t = await open({ transport: 'stdio', command, args, env })
    const status = t.bridge.status()
    expect(status).toMatchObject({
      state: 'ready',
      attempt: 0,
      lastError: {
        code: 'MCP_LIST_INVALID',
        message: expect.stringMatching(/"twin" more than once .* tools\.duplicates: keep-first/) as string,
      },
      tools: { registered: 0, quarantined: [] },
    })
    expect(t.said.filter((line) => line.startsWith('error: '))).toEqual([
      `error: ${status.lastError?.message}`,
    ])
    const journal = await server.journal()
    expect(journal.filter(({ kind }) => kind === 'start')).toHaveLength(1)
    expect(journal.filter(received('tools/list'))).toHaveLength(1)
  })

  it('keeps the tools of before through a list with twins, and forgets the error when it is healed', async () => {
    let names = ['a', 'b']
    const server = await serve({ tools: () => names.map((name) => tool(name)) })
    const t = await open(web(server))
    await streamOf(server)
    names = ['a', 'a']
    server.listChanged()
    await waitFor(
      () => t.said,
      (line) => line.startsWith('error: tool re-sync failed'),
    )
    expect(t.names()).toEqual(['mcp__one__a', 'mcp__one__b'])
    expect(t.bridge.status()).toMatchObject({ state: 'ready', lastError: { code: 'MCP_LIST_INVALID' } })
    names = ['a', 'c']
    server.listChanged()
    await waitFor(
      () => t.names(),
      (name) => name === 'mcp__one__c',
    )
    expect(t.bridge.status().lastError).toBeUndefined()
    expect(t.bridge.status().tools).toMatchObject({
      registered: 2,
      quarantined: [],
      rewritten: [],
      flagged: [],
    })
  })

  it('has twins as left out where the first one is kept', async () => {
    const server = await serve({
      tools: [tool('a'), tool('b'), tool('a', { description: 'other' }), tool('a')],
    })
    const t = await open(web(server), { tools: { duplicates: 'keep-first' } })
    const reason = 'listed more than once; the first entry is kept'
    expect(t.bridge.status().tools).toMatchObject({
      registered: 2,
      quarantined: [
        { name: 'a', reason },
        { name: 'a', reason },
      ],
      rewritten: [],
      flagged: [],
    })
    expect(t.definition('a')?.description).toBe('The tool a')
  })
})

describe('a list of the modern era', () => {
  it('that says how long it is fresh is read again by the first call after that', async () => {
    let names = ['a', 'b']
    const server = await serve({
      era: 'modern',
      capabilities: { tools: {} },
      tools: () => names.map((name) => tool(name)),
      pageSize: 1,
      listTools: ({ cursor }) =>
        cursor === undefined
          ? { tools: [tool('a')], nextCursor: 'next', ttlMs: 90_000, cacheScope: 'nonsense' }
          : { tools: names.slice(1).map((name) => tool(name)), ttlMs: 60_000, cacheScope: 'public' },
    })
    const t = await open(web(server))
    const [first] = [lists(server)]
    names = ['a', 'c']
    t.time.skewMs = 50_000
    await t.call('a')
    await t.call('a')
    expect(lists(server)).toBe(first)
    t.time.skewMs = 61_000
    await Promise.all([t.call('a'), t.call('b'), t.call('a')])
    await listed(server, first + 2)
    await waitFor(
      () => t.names(),
      (name) => name === 'mcp__one__c',
    )
    expect(t.names()).toEqual(['mcp__one__a', 'mcp__one__c'])
    await t.call('a')
    expect(lists(server)).toBe(first + 2)
    expect(t.said).toContain('debug: the tool list is older than 60000 ms, re-syncing')
  })

  it.each([
    ['is refused', true, 2],
    ['stands', false, 1],
  ] as const)('is read for its age only where the stream of changes %s', async (_what, refused, expected) => {
    const server = await serve({
      era: 'modern',
      listTools: () => ({ tools: [tool('a')], ttlMs: 60_000 }),
      ...(refused
        ? {
            methods: {
              'subscriptions/listen': () => {
                throw new Error('no')
              },
            },
          }
        : {}),
    })
    const t = await open(web(server))
    if (refused) {
      await waitFor(
        () => t.said,
        (line) => line.includes('change notifications are off'),
      )
    } else
      await waitFor(
        () => server.requests,
        ({ message }) => message?.method === 'subscriptions/listen',
      )
    t.time.skewMs = 61_000
    await t.call('a')
    await t.call('a')
    await listed(server, expected)
    expect(lists(server)).toBe(expected)
  })

  it.each([-5, 'x', null, 0])('that says %j is not read for its age', async (ttlMs) => {
    const server = await serve({
      era: 'modern',
      capabilities: { tools: {} },
      listTools: () => ({ tools: [tool('a')], ttlMs, cacheScope: 7 }),
    })
    const t = await open(web(server))
    t.time.skewMs = 1e12
    await t.call('a')
    await t.call('a')
    expect(lists(server)).toBe(1)
  })
})

describe('a call', () => {
  it('tells the operator which strings were sent as values, and no value', async () => {
    const server = await serve({
      tools: [
        tool('a', {
          inputSchema: { type: 'object', properties: { n: { type: 'integer' }, list: { type: 'array' } } },
        }),
      ],
    })
    const t = await open(web(server))
    await t.call('a', { n: '41', list: '[1]' })
    const sent = server.requests.find(({ message }) => message?.method === 'tools/call')
    expect(sent?.message?.params?.['arguments']).toEqual({ n: 41, list: [1] })
    expect(t.said.filter((line) => line.includes('strings sent'))).toEqual([
      'debug: call of "a": strings sent as the values they hold: arguments.n, arguments.list',
    ])
    await t.call('a', { n: 41 })
    expect(t.said.filter((line) => line.includes('strings sent'))).toHaveLength(1)
  })
})
