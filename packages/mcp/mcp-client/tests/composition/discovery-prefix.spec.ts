/** Owns the tests of the request's prefix: the same tools are the same bytes, however they were found. */
import { describe, expect, it } from 'vitest'
import {
  httpRow,
  received,
  startHttpServer,
  stdioRow,
  stdioServer,
  temporaryFolder,
  tool,
  waitFor,
} from '@dsh-mcp/testkit'
import type { Behaviour, Host, HttpServer, Mode, Tool } from '@dsh-mcp/testkit'
import { hostSuite, startsOf } from './host-suite.ts'
import { lists, streamOf } from './list-server.ts'
import { differences, otherLines, prefixOf } from './request-prefix.ts'

const suite = hostSuite()
const MODES = ['native', 'code', 'both'] as const satisfies readonly Mode[]

async function serve(behaviour: Behaviour): Promise<HttpServer> {
  const server = await startHttpServer(behaviour)
  suite.after(() => server.close())
  return server
}

/** The same value with the members of each object in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, member]) => [key, shuffled(member)] as const)
  return Object.fromEntries(inAnyOrder(members))
}

function inAnyOrder<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** Counts the changes of the registry from now on. */
function countChanges(host: Host): () => number {
  let changes = 0
  host.ctx.on('tools/change', () => void (changes += 1))
  return () => changes
}

const WIDE: Tool = tool('wide', {
  description: 'Many kinds of arguments',
  inputSchema: {
    type: 'object',
    properties: {
      zeta: { type: ['string', 'null'], description: 'last' },
      alpha: { anyOf: [{ const: 'a' }, { type: 'integer', minimum: 3 }] },
      list: { type: 'array', items: { $ref: '#/$defs/leaf' } },
    },
    required: ['zeta', 'alpha'],
    oneOf: [{ required: ['list'] }, { properties: { name: { type: 'string' } }, required: ['name'] }],
    $defs: { leaf: { type: 'object', properties: { y: { type: 'number' }, x: { enum: ['p', 'q'] } } } },
  },
  outputSchema: {
    type: 'object',
    properties: { b: { type: 'number' }, a: { type: 'string' } },
    required: ['a'],
  },
  annotations: { title: 'Wide', readOnlyHint: true },
})
const TOOLS = [WIDE, tool('b'), tool('a.b'), tool('a_b'), tool('Z'), tool('größe')]

describe('a server that shuffles its list and the members of its objects', () => {
  it.each(MODES)('gives one and the same request in ten connects: %s', async (mode) => {
    const server = await serve({ tools: () => inAnyOrder(TOOLS).map((item) => shuffled(item) as Tool) })
    const seen = new Set<string>()
    for (let connect = 0; connect < 10; connect++) {
      const host = await suite.boot({ mode, rows: [httpRow('one', server.url)] })
      seen.add((await prefixOf(host)).bytes)
      await host.dispose()
    }
    expect(seen.size).toBe(1)
    expect([...seen][0]).toContain('mcp__one__wide')
    expect(lists(server)).toBe(10)
  })
})

describe('three servers', () => {
  it.each(MODES)('give the same request whichever connects first: %s', async (mode) => {
    const gates = new Map<string, PromiseWithResolvers<void>>()
    const rows = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        const server = await serve({
          tools: [tool('one'), tool('two', { description: `of ${name}` })],
          async listTools() {
            await gates.get(name)?.promise
            return { tools: [tool('two', { description: `of ${name}` }), tool('one')] }
          },
        })
        return httpRow(name, server.url, { startup: { waitMs: 1 } })
      }),
    )
    const seen = new Set<string>()
    for (const order of ['abc', 'cba', 'bca']) {
      for (const name of order) gates.set(name, Promise.withResolvers())
      const host = await suite.boot({ mode, rows: inAnyOrder(rows) })
      let count = host.tools().length
      for (const name of order) {
        gates.get(name)?.resolve()
        count += 2
        await host.until(() => host.tools().length === count)
      }
      seen.add((await prefixOf(host)).bytes)
      await host.dispose()
    }
    expect(seen.size).toBe(1)
  })
})

describe('the prefix stays byte for byte', () => {
  it('over a crash and a reconnect, with no change in the registry', async () => {
    const server = stdioServer('other-tools-after-crash', {
      first: ['crash', 'both', 'a'],
      next: ['a', 'both', 'crash'],
    })
    const host = await suite.boot({
      rows: [stdioRow('one', server, { reconnect: { initialDelayMs: 50 } })],
    })
    const before = await prefixOf(host)
    const changes = countChanges(host)
    expect((await host.call('mcp__one__crash')).isError).toBe(true)
    await host.until(() => host.logs.some(({ text }) => text.includes('reconnected')))
    expect((await host.call('mcp__one__a')).isError).toBe(false)
    expect(await startsOf(server)).toBe(2)
    expect(await prefixOf(host)).toEqual(before)
    expect(changes()).toBe(0)
  })

  it('over a re-sync that brings nothing new, with no change in the registry', async () => {
    const server = await serve({ tools: () => inAnyOrder(TOOLS).map((item) => shuffled(item) as Tool) })
    const host = await suite.boot({ rows: [httpRow('one', server.url)] })
    await streamOf(server)
    const before = await prefixOf(host)
    const changes = countChanges(host)
    for (let at = 2; at < 5; at++) {
      server.listChanged()
      await waitFor(
        () => [lists(server)],
        (now) => now === at,
      )
    }
    // One that is heard comes after what was not.
    expect((await host.call('mcp__one__b')).isError).toBe(false)
    expect(await prefixOf(host)).toEqual(before)
    expect(changes()).toBe(0)
  })

  it('over a restart of the host, eager and lazy', async () => {
    const dshHome = temporaryFolder('home')
    const server = stdioServer('healthy', { tools: ['c', 'a.b', 'größe'] })
    const seen = new Set<string>()
    for (const mode of ['eager', 'lazy', 'lazy', 'eager']) {
      const host = await suite.boot({ dshHome, rows: [stdioRow('one', server, { startup: { mode } })] })
      seen.add((await prefixOf(host)).bytes)
      await host.dispose()
    }
    expect(seen.size).toBe(1)
    // The second lazy one was served from what was remembered.
    expect(await startsOf(server)).toBe(3)
  })

  it('over a first call that wakes a sleeping server', async () => {
    const dshHome = temporaryFolder('home')
    const server = stdioServer('healthy', { tools: ['a', 'b'] })
    const rows = [stdioRow('one', server, { startup: { mode: 'lazy' } })]
    await (await suite.boot({ dshHome, rows })).dispose()
    const host = await suite.boot({ dshHome, rows })
    const before = await prefixOf(host)
    const changes = countChanges(host)
    expect(await startsOf(server)).toBe(1)
    expect((await host.call('mcp__one__b')).isError).toBe(false)
    await waitFor(server.journal, received('tools/call', 'b'))
    expect(await startsOf(server)).toBe(2)
    expect(await prefixOf(host)).toEqual(before)
    expect(changes()).toBe(0)
  })
})

describe('a change', () => {
  it.each(MODES)('alters only what it must: %s', async (mode) => {
    let tools = [tool('a'), tool('c'), WIDE]
    const server = await serve({ tools: () => tools })
    const other = await serve({ tools: [tool('x')] })
    const host = await suite.boot({ mode, rows: [httpRow('one', server.url), httpRow('two', other.url)] })
    await streamOf(server)
    let last = await prefixOf(host)
    const changed = tool('c', { description: 'changed' })
    const steps: readonly (readonly [Tool[], string, RegExp])[] = [
      [[WIDE, tool('b'), tool('c'), tool('a')], '+mcp__one__b', /mcp__one__b|The tool b/],
      [[tool('a'), tool('b'), changed, WIDE], '~mcp__one__c', /The tool c|changed/],
      [[tool('b'), changed, WIDE], '-mcp__one__a', /mcp__one__a|The tool a/],
    ]
    for (const [next, difference, own] of steps) {
      const changes = countChanges(host)
      tools = next
      server.listChanged()
      await host.until(() => changes() > 0)
      const now = await prefixOf(host)
      expect(differences(last, now)).toEqual(mode === 'code' ? [] : [difference])
      // Of the prompt, too, every other line is as it was.
      const lines = otherLines(last, now)
      expect(lines.length > 0).toBe(mode !== 'native')
      expect(lines.filter((line) => !own.test(line))).toEqual([])
      last = now
    }
    expect([...last.tools.keys()]).toEqual([...last.tools.keys()].toSorted())
  })
})
