/**
 * Owns the tests that no hidden or terminal character of a server gets out where people and plugins look: the log
 * exporter, ctx.mcpServers and its events, the /mcp command, and the results of search.
 */
import { httpRow, startHttpServer } from '@dsh-mcp/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { run } from '../cli/fake-io.ts'
import { openOperatorHost } from '../wire/operator-host.ts'
import { openSearchHost } from '../wire/search-host.ts'
import { MARKED_TOOLS, MARKS, markedBehaviour, stringsOf } from './fixtures/marked.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const marksIn = (value: unknown): string[] =>
  stringsOf(value).filter((text) => MARKS.test(text.replaceAll('\r\n', '\n')))
const SHORT = { toolCallTimeoutMs: 400, reconnect: { enabled: false } }

describe('a marked text', () => {
  it('is in no line of the log, no snapshot, no event and no answer of /mcp', async () => {
    const server = await startHttpServer(markedBehaviour())
    ends.push(() => server.close())
    const host = await openOperatorHost()
    ends.push(() => host.close())
    const events: unknown[] = []
    for (const name of ['mcp/status', 'mcp/catalog-changed', 'mcp/call-settled', 'mcp/left'] as const) {
      host.ctx.on(name, (...payload: unknown[]) => void events.push(payload))
    }
    await host.row(httpRow('kit', server.url, SHORT).config as object)
    const names = host.ctx.tools.schemas().map(({ name }) => name)
    for (const name of names.filter((one) => one.startsWith('mcp__kit__')))
      await host.call(name, { plain: 'x' })
    const told = [
      host.ctx.mcpServers.list(),
      events,
      await host.run('/mcp'),
      await host.run('/mcp show kit'),
      await host.run('/mcp kit'),
      await host.run('/mcp tools kit'),
      host.logs,
    ]
    expect(events.length).toBeGreaterThan(MARKED_TOOLS.length)
    expect(JSON.stringify(told)).toContain('idden')
    expect(told.map(marksIn)).toEqual(told.map(() => []))
  })

  it('is in nothing that search answers', async () => {
    const host = await openSearchHost()
    ends.push(() => host.close())
    await host.row('kit', markedBehaviour(), { config: SHORT })
    const names = host.ctx.tools.schemas().map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['mcp_search', 'mcp_call']))
    const found: unknown[] = []
    for (const query of ['words', 'argument words', 'title', 'hidden', 'broken'])
      found.push(await host.execute('mcp_search', { query }))
    found.push(await host.execute('mcp_search', { query: 'mcp__kit__hidde' }))
    expect(JSON.stringify(found)).toContain('mcp__kit__text')
    for (const name of MARKED_TOOLS) {
      const { content, ...rest } = await host.execute('mcp_call', {
        name: `mcp__kit__${name}`,
        arguments: { plain: 'x' },
      })
      found.push(content, 'error' in rest ? rest.error : undefined)
    }
    found.push(await host.execute('mcp_call', { name: 'mcp__kit__no_such', arguments: {} }), host.logs)
    expect(marksIn(found)).toEqual([])
  })

  it('is in nothing that the command prints, but for the JSON of a value', { timeout: 90_000 }, async () => {
    const server = await startHttpServer(markedBehaviour())
    ends.push(() => server.close())
    const flags = ['--url', server.url]
    const argvs = [
      ['test', '--verbose', ...flags],
      ['doctor', ...flags],
      ['doctor', '--json', ...flags],
      ['list', '--connect', '--json', ...flags],
      ...['text', 'error', 'link', 'resource', 'structured', 'misfit', 'refusal', 'coded'].map((name) => [
        'call',
        name,
        '{"plain":"x"}',
        ...flags,
      ]),
      ['call', 'no-such', ...flags],
    ]
    const found: string[] = []
    for (const argv of argvs) {
      const { out, err } = await run(argv)
      expect(out + err).not.toBe('')
      for (const text of [out, err])
        if (MARKS.test(text.replaceAll('\n', ' ')))
          found.push(`${argv.join(' ')}: ${JSON.stringify(text).slice(0, 600)}`)
    }
    expect(found).toEqual([])
  })
})
