/**
 * Owns the tests of what a request holds of search: two constant definitions, and none of the tools that are registered
 * while the request is put together.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { NO_ANSWER, tool } from '@dsh-mcp/testkit'
import type { Tool } from '@dsh-mcp/testkit'
import { makeAgent } from '../composition/registry-host.ts'
import { openSearchHost } from './search-host.ts'
import type { HostOptions, RowOptions, SearchHost } from './search-host.ts'

let host: SearchHost
const open = async (mode: HostOptions['mode'] = 'native', language = 'typescript'): Promise<void> => {
  host = await openSearchHost({ mode, language })
}
afterEach(async () => {
  await host.close()
})

const AUTO: RowOptions = { tools: { exposure: 'auto', budgetBytes: 20_000 } }

const many = (count: number): Tool[] =>
  Array.from({ length: count }, (_, at) =>
    tool(`tool_${at}`, {
      description: `Does the work number ${at} in some system and returns what came of it`,
      inputSchema: {
        type: 'object',
        properties: { first: { type: 'string', description: 'The first' }, second: { type: 'integer' } },
      },
    }),
  )

/** What a provider's cache is keyed by. */
async function requestOf(scope?: object): Promise<string> {
  const { sections, tools } = await host.ctx.systemPrompt.assemble(
    scope === undefined ? {} : ({ scope } as never),
  )
  return JSON.stringify({ sections, tools })
}

/** A server whose tool runs until it is let go. */
async function held(
  options?: RowOptions,
  more: Tool[] = [],
): Promise<{ started: Promise<void>; finish: () => void }> {
  const started = Promise.withResolvers<void>()
  const answers: (() => void)[] = []
  await host.row(
    'slow',
    {
      tools: [tool('wait'), tool('other'), ...more],
      callTool(_params, peer, { id }) {
        answers.push(() => peer.reply(id, { content: [] }))
        started.resolve()
        return NO_ANSWER
      },
    },
    options,
  )
  return {
    started: started.promise,
    finish() {
      for (const answer of answers) answer()
    },
  }
}

describe.each([
  ['native', 'typescript'],
  ['code', 'typescript'],
  ['code', 'python'],
  ['both', 'typescript'],
] as const)('a request in mode %s (%s)', (mode, language) => {
  it('is the same while a tool of search runs, and while one is looked up', async () => {
    await open(mode, language)
    const { started, finish } = await held()
    const before = await requestOf()
    const pending = host.execute(
      'mcp_call',
      { name: 'mcp__slow__wait' },
      { parent: Symbol('outer') as never },
    )
    await started
    expect(host.names()).toContain('mcp__slow__wait')
    expect(await requestOf()).toBe(before)
    finish()
    expect((await pending).isError).toBe(false)
    expect(await requestOf()).toBe(before)
  })

  it('has less than 2 KiB of MCP definitions at 1 000 tools', async () => {
    await open(mode, language)
    const empty = await requestOf()
    await host.row('big', { tools: many(1000) })
    const full = await requestOf()
    expect(full).toContain('mcp_search')
    expect(full).not.toContain('mcp__big__')
    const limit = mode === 'both' ? 4096 : 2048
    expect(full.length - empty.length).toBeLessThan(limit)
  })
})

describe('the request of an agent', () => {
  it('holds none of the others’ calls either', async () => {
    await open('code')
    const { started, finish } = await held()
    const agent = makeAgent('text')
    const scope = await host.scope(agent)
    scope.ctx.tools.restrict({ deny: ['mcp__slow__other'] })
    const before = await requestOf(agent)
    const pending = host.execute(
      'mcp_call',
      { name: 'mcp__slow__wait' },
      { parent: Symbol('outer') as never },
    )
    await started
    expect(await requestOf(agent)).toBe(before)
    finish()
    await pending
    await scope.dispose()
  })

  it('shows a tool that became direct while it ran', async () => {
    await open()
    const first = await host.row('first', { tools: many(50) }, AUTO)
    const { started, finish } = await held(AUTO, many(60))
    const pending = host.execute('mcp_call', { name: 'mcp__slow__wait' })
    await started
    await first.dispose()
    expect(await requestOf()).toContain('mcp__slow__wait')
    finish()
    await pending
    expect(host.names()).toContain('mcp__slow__wait')
  })
})

describe('auto', () => {
  it('is direct within the budget, and the largest server goes to search above it', async () => {
    await open()
    await host.row('small', { tools: many(10) }, AUTO)
    expect(host.names()).toContain('mcp__small__tool_0')
    await host.row('large', { tools: many(100) }, AUTO)
    expect(host.names().filter((name) => name.startsWith('mcp__large'))).toEqual([])
    expect(host.names()).toContain('mcp__small__tool_0')
    expect(host.names()).toContain('mcp_search')
    expect(host.logs.filter((line) => line.includes('mcp_search'))).toEqual([
      expect.stringMatching(
        /^info: mcp-client\(large\): its tools are reached by mcp_search and mcp_call: their definitions take \d+ bytes/,
      ),
    ])
  })

  it('takes a direct server back to search before the first request, and never after it', async () => {
    await open()
    await host.row('first', { tools: many(60) }, AUTO)
    expect(host.names()).toContain('mcp__first__tool_0')
    await host.row('second', { tools: many(50) }, AUTO)
    expect(host.names()).not.toContain('mcp__first__tool_0')
    expect(host.names()).toContain('mcp__second__tool_0')
    const before = await requestOf()
    const third = await host.row('third', { tools: many(45) }, AUTO)
    expect(await requestOf()).toBe(before)
    await third.dispose()
    expect(await requestOf()).toBe(before)
  })

  it('gives the budget back to the others when a server goes before the first request', async () => {
    await open()
    const first = await host.row('first', { tools: many(50) }, AUTO)
    await host.row('second', { tools: many(60) }, AUTO)
    expect(host.names()).not.toContain('mcp__second__tool_0')
    await first.dispose()
    expect(host.names()).toContain('mcp__second__tool_0')
    expect(host.names()).not.toContain('mcp_search')
  })

  it('says it where the tools of a server cannot come back into the request', async () => {
    await open()
    const first = await host.row('first', { tools: many(50) }, AUTO)
    await host.row('second', { tools: many(60) }, AUTO)
    host.ctx.tools.register({
      name: 'mcp__second__tool_7',
      description: '',
      parameters: { type: 'object' },
      output: { schema: {}, render: () => [] },
      execute: () => Promise.resolve(null),
    })
    await first.dispose()
    expect(host.logs).toContainEqual(
      expect.stringMatching(/^error: mcp-client\(second\): tool registration failed/),
    )
  })

  it('keeps the share of a server that was there in the last run', async () => {
    await open()
    let gate = Promise.resolve()
    const late = {
      async listTools() {
        await gate
        return { tools: many(60) }
      },
    }
    const row = await host.row('late', late, AUTO)
    await host.row('early', { tools: many(50) }, AUTO)
    const request = await requestOf()
    expect(request).toContain('mcp__early__tool_0')
    await host.restart()
    const opened = Promise.withResolvers<void>()
    gate = opened.promise
    await host.row('early', { tools: many(50) }, AUTO)
    await host.row('late', late, { ...AUTO, server: row.server, config: { startup: { waitMs: 1 } } })
    expect(await requestOf()).toBe(request)
    opened.resolve()
  })
})
