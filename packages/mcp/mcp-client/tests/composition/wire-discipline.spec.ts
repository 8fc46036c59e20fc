/** Owns the tests of what crosses to a server: its environment, time limits, cancellation, errors, foreign names. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nativeTool, received, stdioRow, stdioServer, waitFor } from '@dsh-mcp/testkit'
import type { Host, JournalEntry } from '@dsh-mcp/testkit'
import { hostSuite } from './host-suite.ts'

const suite = hostSuite()
const PLANTED = {
  PLANTED_API_KEY: 'secret-1',
  planted_password: 'secret-2',
  PLANTED_SECRET: 'secret-3',
  PLANTED_TOKEN_FILE: 'secret-4',
  DSH_PLANTED: 'host-1',
  PLANTED_PLAIN: 'plain-1',
}
/** A call that the product does not end by itself ends here. */
const OUT_OF_PATIENCE_MS = 4_000

function requestId(journal: readonly JournalEntry[], method: string): unknown {
  return journal.find(received(method))?.message?.id
}

function code(result: Awaited<ReturnType<Host['call']>>): string | undefined {
  return result.isError ? result.error.info?.code : undefined
}

describe('the environment of a server', () => {
  beforeEach(() => void Object.assign(process.env, PLANTED))
  afterEach(() => {
    for (const name of Object.keys(PLANTED)) delete process.env[name]
  })

  it('has no secret of the host, and what the row names', async () => {
    const server = stdioServer('healthy', {
      env: { MY_TOKEN: 'mine', PLANTED_SECRET: 'from the row', DSH_MINE: 'too' },
    })
    const host = await suite.boot({ rows: [stdioRow('one', server)] })
    expect(host.tools()).toHaveLength(1)
    const { env = {} } = await waitFor(server.journal, ({ kind }) => kind === 'start')
    expect(env).toMatchObject({
      MY_TOKEN: 'mine',
      PLANTED_SECRET: 'from the row',
      DSH_MINE: 'too',
      PLANTED_PLAIN: 'plain-1',
      PATH: process.env['PATH'],
    })
    const own = new Set(['MY_TOKEN', 'PLANTED_SECRET', 'DSH_MINE'])
    const leaked = Object.keys(env).filter(
      (name) => /KEY|PASSWORD|SECRET|TOKEN/i.test(name) || name.startsWith('DSH_'),
    )
    expect(leaked.filter((name) => !own.has(name))).toEqual([])
  })
})

describe('a call', () => {
  it('ends after toolCallTimeoutMs, and the server is told', async () => {
    const server = stdioServer('never-answers')
    const host = await suite.boot({ rows: [stdioRow('one', server, { toolCallTimeoutMs: 200 })] })
    const begin = performance.now()
    const signal = AbortSignal.timeout(OUT_OF_PATIENCE_MS)
    const result = await host.call('mcp__one__hang', {}, { signal })
    expect(code(result)).toBe('MCP_CALL_TIMEOUT')
    expect(performance.now() - begin).toBeGreaterThanOrEqual(190)
    const cancelled = await waitFor(server.journal, received('notifications/cancelled'))
    expect(cancelled.message?.params?.['requestId']).toBe(requestId(await server.journal(), 'tools/call'))
    // The connection is as good as before.
    expect((await host.call('mcp__one__echo', { message: 'x' })).isError).toBe(false)
  })

  it('may take longer while the server tells of its progress, up to toolCallMaxMs', async () => {
    const server = stdioServer('progress-for-ever', { ms: 50 })
    const limits = { toolCallTimeoutMs: 400, toolCallMaxMs: 900 }
    const host = await suite.boot({ rows: [stdioRow('one', server, limits)] })
    const begin = performance.now()
    const result = await host.call('mcp__one__work', {}, { signal: AbortSignal.timeout(OUT_OF_PATIENCE_MS) })
    expect(code(result)).toBe('MCP_CALL_TIMEOUT')
    expect(performance.now() - begin).toBeGreaterThanOrEqual(890)
  })

  it('is cancelled at the server when its caller gives up', async () => {
    const server = stdioServer('never-answers')
    const host = await suite.boot({ rows: [stdioRow('one', server)] })
    const caller = new AbortController()
    const call = host.call('mcp__one__hang', {}, { signal: caller.signal })
    await waitFor(server.journal, received('tools/call'))
    caller.abort()
    expect((await call).isError).toBe(true)
    const cancelled = await waitFor(server.journal, received('notifications/cancelled'))
    expect(cancelled.message?.params?.['requestId']).toBe(requestId(await server.journal(), 'tools/call'))
  })

  it('is not sent when its caller gave up before', async () => {
    const server = stdioServer('healthy')
    const host = await suite.boot({ rows: [stdioRow('one', server)] })
    const result = await host.call('mcp__one__echo', { message: 'x' }, { signal: AbortSignal.abort() })
    expect(result.isError).toBe(true)
    await host.call('mcp__one__echo', { message: 'y' })
    const calls = (await server.journal()).filter(received('tools/call'))
    expect(calls.map(({ message }) => message?.params?.['arguments'])).toEqual([{ message: 'y' }])
  })

  it('takes a late answer for nothing', async () => {
    const server = stdioServer('late', { ms: 300 })
    const host = await suite.boot({ rows: [stdioRow('one', server, { toolCallTimeoutMs: 100 })] })
    expect(code(await host.call('mcp__one__late'))).toBe('MCP_CALL_TIMEOUT')
    await waitFor(
      server.journal,
      ({ kind, message }) => kind === 'sent' && JSON.stringify(message).includes('the late answer'),
    )
    const result = await host.call('mcp__one__echo', { message: 'x' })
    expect(result.content).toEqual([{ type: 'text', text: 'x' }])
  })
})

describe('results', () => {
  it('keep every block in the value, and tell the model of what it cannot have', async () => {
    const host = await suite.boot({ rows: [stdioRow('one', stdioServer('content-kinds'))] })
    const mixed = await host.call('mcp__one__mixed')
    expect(mixed).toMatchObject({
      isError: false,
      value: {
        content: ['text', 'image', 'text', 'resource', 'audio', 'resource_link', 'text'].map((type) => ({
          type,
        })),
      },
    })
    const [block, ...rest] = mixed.content
    expect(rest).toEqual([])
    // Word for word it stands in the transcripts of tests/snapshot.
    expect(block).toMatchObject({
      type: 'text',
      text: expect.stringMatching(
        /^before\n\[image unavailable: .*\nbetween\n.*note:\/\/one.*\nthe note\n\[audio .*\n.*note:\/\/three.*\nafter$/,
      ) as string,
    })
    expect(await host.call('mcp__one__structured')).toEqual({
      isError: false,
      content: [{ type: 'text', text: '{"sum":3}' }],
      value: { content: [{ type: 'text', text: '{"sum":3}' }], structuredContent: { sum: 3 } },
    })
    expect(await host.call('mcp__one__error')).toMatchObject({
      isError: true,
      error: { message: 'it did not work', info: { code: 'MCP_TOOL_FAILED' } },
      content: [{ type: 'text', text: 'Error: it did not work' }],
    })
  })
})

describe('a foreign tool in the namespace of a server', () => {
  it('leaves the server without tools, loudly, until it is gone', async () => {
    const server = stdioServer('settable-list')
    const host = await suite.boot({
      plugins: [nativeTool('mcp__one__squat', () => 'foreign')],
      rows: [stdioRow('one', server)],
    })
    expect(host.tools().toSorted()).toEqual(['mcp__one__set', 'mcp__one__squat', 'mcp__one__start'])
    await host.call('mcp__one__set', { names: ['squat', 'other'] })
    await host.until(() => host.tools().length === 1)
    expect(host.tools()).toEqual(['mcp__one__squat'])
    const result = await host.call('mcp__one__squat')
    expect(result.content).toEqual([{ type: 'text', text: 'foreign' }])
    expect(host.logs.filter(({ type }) => type === 'error').map(({ text }) => text)).toEqual([
      expect.stringMatching(/^mcp-client\(one\): .*no tools registered.*mcp__one__squat/),
    ])
  })

  it('is not touched when the host ends', async () => {
    const host = await suite.boot({
      plugins: [nativeTool('mcp__one__echo', () => 'foreign')],
      rows: [stdioRow('one', stdioServer('healthy'))],
    })
    expect(host.tools()).toEqual(['mcp__one__echo'])
    expect((await host.call('mcp__one__echo')).content).toEqual([{ type: 'text', text: 'foreign' }])
  })
})

describe('a list that is bad', () => {
  it('keeps the tools that are there', async () => {
    const server = stdioServer('list-fails-later')
    const host = await suite.boot({ rows: [stdioRow('one', server)] })
    const before = host.tools()
    await host.call('mcp__one__break')
    await host.until(() => host.logs.some(({ text }) => text.includes('tool re-sync failed')))
    expect(host.tools()).toEqual(before)
    expect((await host.call('mcp__one__echo', { message: 'x' })).isError).toBe(false)
  })

  it('with a name twice gives no tools, and says so', async () => {
    const host = await suite.boot({ rows: [stdioRow('one', stdioServer('duplicate-names'))] })
    expect(host.tools()).toEqual([])
    expect(host.logs.filter(({ type }) => type === 'error').map(({ text }) => text)).toEqual([
      expect.stringMatching(/^mcp-client\(one\): .*twin/),
    ])
  })

  it('is read to its last page, and registered by name', async () => {
    const tools = ['e', 'b', 'd', 'a', 'c']
    const host = await suite.boot({ rows: [stdioRow('one', stdioServer('healthy', { tools, pageSize: 2 }))] })
    expect(host.tools()).toEqual(tools.toSorted().map((name) => `mcp__one__${name}`))
  })
})
