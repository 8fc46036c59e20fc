/** Owns the tests of lists as they come in the field, in the real host: broken tools, twins, endless pages, storms. */
import { describe, expect, it } from 'vitest'
import {
  httpRow,
  received,
  startHttpServer,
  stdioRow,
  stdioServer,
  temporaryFolder,
  tool,
} from '@dsh-mcp/testkit'
import type { Behaviour, Host, HttpServer, StdioServer, Tool } from '@dsh-mcp/testkit'
import { hostSuite, startsOf } from './host-suite.ts'
import { lists, streamOf } from './list-server.ts'
import { prefixOf } from './request-prefix.ts'

const suite = hostSuite()

async function serve(behaviour: Behaviour): Promise<HttpServer> {
  const server = await startHttpServer(behaviour)
  suite.after(() => server.close())
  return server
}

const logged = (host: Host, words: string): string[] =>
  host.logs.filter(({ text }) => text.includes(words)).map(({ type, text }) => `${type} ${text}`)

const listsOf = async (server: StdioServer): Promise<number> =>
  (await server.journal()).filter(received('tools/list')).length

describe('a list with nine broken tools, two good ones and some that can be repaired', () => {
  /** Item and the reason for which it is left out. */
  const BROKEN: readonly (readonly [unknown, string])[] = [
    [null, 'tool "#0" is left out: the entry is not an object'],
    ['echo', 'tool "#1" is left out: the entry is not an object'],
    [
      { description: 'no name', inputSchema: { type: 'object' } },
      'tool "#2" is left out: the entry has no name',
    ],
    [{ name: 7, inputSchema: { type: 'object' } }, 'tool "#3" is left out: the entry has no name'],
    [tool(''), 'tool "#4" is left out: the name is empty'],
    [tool('array', { inputSchema: [] }), 'tool "array" is left out: inputSchema is not an object'],
    [
      tool('text', { inputSchema: { type: 'string' } }),
      'tool "text" is left out: the input schema does not take an object',
    ],
    [tool('word', { inputSchema: 'object' }), 'tool "word" is left out: inputSchema is not an object'],
    [tool('x'.repeat(2_000)), 'is left out: the name is longer than 1024 characters'],
  ]
  const REPAIRABLE: readonly Tool[] = [
    { name: 'bare' },
    tool('nulled', { description: null, title: 5, annotations: { readOnlyHint: 'yes' }, inputSchema: null }),
    tool('foreign', { outputSchema: 'text', icons: [{}], execution: 'now', _meta: 3 }),
    tool('loose', {
      inputSchema: { properties: { message: { type: ['string'], format: 7 } }, required: 'message' },
    }),
  ]

  it('works without the nine, each of which is named with its reason', async () => {
    const items = [...BROKEN.map(([item]) => item), tool('good'), ...REPAIRABLE, tool('fine')] as Tool[]
    const server = await serve({
      tools: items,
      callTool: (params) => ({ content: [{ type: 'text', text: `ran ${String(params['name'])}` }] }),
    })
    const host = await suite.boot({ rows: [httpRow('one', server.url)] })
    const names = ['bare', 'fine', 'foreign', 'good', 'loose', 'nulled']
    expect(host.tools().toSorted()).toEqual(names.map((name) => `mcp__one__${name}`))
    for (const name of names) {
      const { content } = await host.call(`mcp__one__${name}`, { message: 'x' })
      expect(content).toEqual([{ type: 'text', text: `ran ${name}` }])
    }
    const warnings = logged(host, 'is left out')
    expect(warnings).toHaveLength(9)
    for (const [, words] of BROKEN) {
      expect(warnings.filter((line) => line.startsWith('warn ') && line.includes(words))).toHaveLength(1)
    }
    expect([...(await prefixOf(host)).tools.keys()]).toEqual(host.tools().toSorted())
  })
})

describe('a tool that is listed twice', () => {
  it('makes the list invalid by contract: one process, connected, no tools, the way out named', async () => {
    const server = stdioServer('duplicate-names')
    const row = stdioRow('one', server, { reconnect: { initialDelayMs: 1 } })
    const host = await suite.boot({ rows: [row] })
    expect(logged(host, 'more than once')).toEqual([
      expect.stringMatching(
        /^error mcp-client\(one\): server listed tool "twin" more than once — .*set tools\.duplicates: keep-first/,
      ),
    ])
    expect([...(await prefixOf(host)).tools.keys()]).toEqual([])
    const journal = await server.journal()
    expect(journal.filter(({ kind }) => kind === 'start')).toHaveLength(1)
    expect(journal.filter(({ kind }) => kind === 'eof' || kind === 'exit')).toEqual([])
    expect(await listsOf(server)).toBe(1)
  })

  it('is healed by the next change of the first list', async () => {
    let names = ['twin', 'twin', 'single']
    const server = await serve({ tools: () => names.map((name) => tool(name)) })
    const host = await suite.boot({ rows: [httpRow('one', server.url)] })
    expect(host.tools()).toEqual([])
    await streamOf(server)
    names = ['twin', 'single']
    server.listChanged()
    await host.until(() => host.tools().length === 2)
    expect((await host.call('mcp__one__twin')).isError).toBe(false)
    expect(server.sessions.size).toBe(1)
  })

  it('leaves the tools that were there, and the next change heals it', async () => {
    let names = ['a', 'b']
    const server = await serve({ tools: () => names.map((name) => tool(name)) })
    const host = await suite.boot({ rows: [httpRow('one', server.url)] })
    await streamOf(server)
    const before = await prefixOf(host)
    names = ['a', 'c', 'c']
    server.listChanged()
    await host.until(() => logged(host, 'tool re-sync failed').length === 1)
    expect(logged(host, 'tool re-sync failed')[0]).toContain('listed tool "c" more than once')
    expect(await prefixOf(host)).toEqual(before)
    expect((await host.call('mcp__one__a')).isError).toBe(false)
    names = ['a', 'c']
    server.listChanged()
    await host.until(() => host.tools().includes('mcp__one__c'))
    expect(host.tools()).toEqual(['mcp__one__a', 'mcp__one__c'])
    expect(server.sessions.size).toBe(1)
  })

  it('is kept once where the row says so, and the rest is named', async () => {
    const server = stdioServer('duplicate-names')
    const host = await suite.boot({
      rows: [stdioRow('one', server, { tools: { duplicates: 'keep-first' } })],
    })
    expect(host.tools()).toEqual(['mcp__one__single', 'mcp__one__twin'])
    expect(host.ctx.tools.get('mcp__one__twin')?.description).toBe('the first')
    expect(logged(host, 'left out')).toEqual([
      'warn mcp-client(one): tool "twin" is left out: listed more than once; the first entry is kept',
    ])
    expect(await startsOf(server)).toBe(1)
  })
})

describe('a tool that vanished without a word', () => {
  it.each([
    ['a protocol error', (name: string) => ({ error: { code: -32602, message: `Unknown tool: ${name}` } })],
    [
      'a failure of the tool',
      (name: string) => ({
        result: { content: [{ type: 'text', text: `Tool ${name} not found` }], isError: true },
      }),
    ],
  ])('is seen by the answer, costs one list, and goes: %s', async (_what, answer) => {
    let names = ['gone', 'here']
    const server = await serve({
      tools: () => names.map((name) => tool(name)),
      onMessage(message, peer) {
        const name = String(message.params?.['name'])
        if (message.method !== 'tools/call' || names.includes(name)) return false
        peer.send({ jsonrpc: '2.0', id: message.id, ...answer(name) })
        return true
      },
    })
    const host = await suite.boot({ rows: [httpRow('one', server.url)] })
    names = ['here']
    // A storm of wrong calls is one list, too.
    const results = await Promise.all([1, 2, 3].map(() => host.call('mcp__one__gone')))
    for (const { isError, content } of results) {
      expect(isError).toBe(true)
      expect(JSON.stringify(content)).toMatch(/gone/)
    }
    await host.until(() => host.tools().length === 1)
    expect(host.tools()).toEqual(['mcp__one__here'])
    expect(lists(server)).toBeLessThanOrEqual(3)
  })
})

describe('pages', () => {
  it('without end are cut, and the operator is told', async () => {
    const server = stdioServer('endless-pages')
    const host = await suite.boot({ rows: [stdioRow('one', server, { limits: { pages: 8 } })] })
    expect(host.tools()).toHaveLength(8 * 50)
    expect(await listsOf(server)).toBe(8)
    expect(logged(host, 'cut after')).toEqual([
      'warn mcp-client(one): the list was cut after 8 pages (limits.pages)',
    ])
  })

  it('that are too many for the tools are cut in the middle', async () => {
    const server = stdioServer('endless-pages')
    const host = await suite.boot({ rows: [stdioRow('one', server, { limits: { tools: 120 } })] })
    expect(host.tools()).toHaveLength(120)
    expect(logged(host, 'was cut')).toEqual([
      'warn mcp-client(one): the list was cut at 120 tools (limits.tools)',
    ])
    expect(await listsOf(server)).toBe(3)
  })

  it.each<[string, Behaviour, string[], RegExp | undefined]>([
    [
      'repeat a cursor',
      { listTools: ({ cursor }) => ({ tools: [tool(`t-${String(cursor)}`)], nextCursor: 'again' }) },
      ['t-again', 't-undefined'],
      /page 2 repeats a cursor: the list ends there/,
    ],
    [
      'have an empty cursor',
      {
        listTools: ({ cursor }) =>
          cursor === '' ? { tools: [tool('second')] } : { tools: [tool('first')], nextCursor: '' },
      },
      ['first', 'second'],
      undefined,
    ],
    [
      'have a number for a cursor',
      { listTools: () => ({ tools: [tool('a')], nextCursor: 1 }) },
      ['a'],
      /page 1 has a nextCursor that is no string/,
    ],
    [
      'have no tools member in the middle, never half a list,',
      {
        listTools: ({ cursor }) =>
          cursor === undefined ? { tools: [tool('a')], nextCursor: 'b' } : { items: [] },
      },
      [],
      undefined,
    ],
  ])('that %s end', async (_what, behaviour, names, warning) => {
    const server = await serve(behaviour)
    const host = await suite.boot({ rows: [httpRow('one', server.url)] })
    expect(host.tools().toSorted()).toEqual(names.map((name) => `mcp__one__${name}`))
    const warnings = host.logs.filter(({ type }) => type === 'warn').map(({ text }) => text)
    expect(warnings).toEqual(warning === undefined ? [] : [expect.stringMatching(warning)])
  })
})

describe('a storm of list_changed', () => {
  it.each(['legacy', 'modern'])('costs few lists, and the last list wins: %s', async (era) => {
    const server = stdioServer('list-storm', { era })
    const host = await suite.boot({ rows: [stdioRow('one', server)] })
    const before = await listsOf(server)
    const stormed = await host.call('mcp__one__storm')
    expect(stormed.isError).toBe(false)
    await host.until(() => host.tools().includes('mcp__one__final'))
    expect(host.tools().toSorted()).toEqual(['mcp__one__final', 'mcp__one__storm'])
    expect((await listsOf(server)) - before).toBeLessThanOrEqual(3)
    expect((await host.call('mcp__one__final')).isError).toBe(false)
  })

  it('costs few lists while it goes on for a second', async () => {
    const batches = 30
    let batch = 0
    const server = await serve({ tools: () => [tool(`t${batch}`)] })
    const host = await suite.boot({ rows: [httpRow('one', server.url)] })
    await streamOf(server)
    const before = lists(server)
    const storm = setInterval(() => {
      batch += 1
      for (let at = 0; at < 100; at++) server.listChanged()
      if (batch === batches) clearInterval(storm)
    }, 1_000 / batches)
    suite.after(() => clearInterval(storm))
    await host.until(() => host.tools().join() === `mcp__one__t${batches}`, 10_000)
    expect(lists(server) - before).toBeLessThanOrEqual(4)
  })

  it('is heard while the list is being read', async () => {
    let name = 'a'
    let isArmed = false
    const server = await serve({
      async listTools() {
        const tools = [tool(name)]
        if (isArmed) {
          isArmed = false
          name = 'final'
          for (let at = 0; at < 100; at++) server.listChanged()
          // The notifications go another way than the answer: they are to be there first.
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
        return { tools }
      },
    })
    const host = await suite.boot({ rows: [httpRow('one', server.url)] })
    await streamOf(server)
    const before = lists(server)
    isArmed = true
    name = 'b'
    server.listChanged()
    await host.until(() => host.tools().join() === 'mcp__one__final')
    expect(lists(server) - before).toBeLessThanOrEqual(3)
  })
})

describe('a remembered list', () => {
  it.each(['public', 'private', 'nonsense'])('is of one login, even one that is %s', async (cacheScope) => {
    const server = await serve({
      era: 'modern',
      listTools: () => ({ tools: [tool('a')], ttlMs: 86_400_000, cacheScope }),
    })
    const dshHome = temporaryFolder('home')
    const seen: (readonly [string, number])[] = []
    for (const login of ['anna', 'anna', 'otto', 'otto']) {
      const before = lists(server)
      const row = { startup: { mode: 'lazy' }, headers: { Authorization: `Bearer ${login}-1` } }
      const host = await suite.boot({ dshHome, rows: [httpRow('one', server.url, row)] })
      expect(host.tools()).toEqual(['mcp__one__a'])
      seen.push([login, lists(server) - before])
      await host.dispose()
    }
    expect(seen).toEqual([
      ['anna', 1],
      ['anna', 0],
      ['otto', 1],
      ['otto', 0],
    ])
  })
})
