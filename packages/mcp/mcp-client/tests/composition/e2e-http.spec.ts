/** Owns the contract's end-to-end list over Streamable HTTP: a scripted server, the official SDK, server-everything. */
import { McpServer } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createAgent, httpRow, NO_ANSWER, PNG, startHttpServer, text, tool, waitFor } from '@dsh-mcp/testkit'
import type { Behaviour, HttpServer, HttpServerOptions } from '@dsh-mcp/testkit'
import { hostSuite } from './host-suite.ts'
import { startEverythingHttp, startSdkServer } from './reference-servers.ts'

const suite = hostSuite()
const OUT_OF_PATIENCE_MS = 4_000

async function serve(behaviour: Behaviour, options: HttpServerOptions = {}): Promise<HttpServer> {
  const server = await startHttpServer(behaviour, options)
  suite.after(() => server.close())
  return server
}

/** Raw names of the calls that reached the server. */
function called({ requests }: HttpServer): unknown[] {
  return requests.flatMap(({ message }) =>
    message?.method === 'tools/call' ? [message.params?.['name']] : [],
  )
}

describe.each<[string, Behaviour['era'], HttpServerOptions['reply']]>([
  ['legacy, JSON', 'legacy', 'json'],
  ['legacy, event stream', 'legacy', 'sse'],
  ['modern, JSON', 'modern', 'json'],
  ['modern, event stream', 'modern', 'sse'],
])('a Streamable HTTP server (%s)', (_what, era = 'legacy', reply = 'json') => {
  it('is found, called by raw names, and left clean', async () => {
    const server = await serve(
      {
        era,
        tools: [tool('notes.search'), tool('picture'), tool('fail')],
        calls: {
          picture: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }),
          fail: () => text('it did not work', { isError: true }),
        },
      },
      { reply },
    )
    const host = await suite.boot({ rows: [httpRow('web', server.url, { headers: { 'X-Team': 'blue' } })] })
    const [dotted = ''] = host.tools().filter((name) => name.includes('notes'))
    expect(dotted).toMatch(/^mcp__web__notes_search_[0-9a-f]{12}$/)
    const result = await host.call(dotted, { message: 'grüße 工具' })
    expect(result).toMatchObject({ isError: false, content: [{ type: 'text', text: 'grüße 工具' }] })
    expect(await host.call('mcp__web__fail')).toMatchObject({
      isError: true,
      error: { message: 'it did not work', info: { code: 'MCP_TOOL_FAILED' } },
    })
    const agent = await createAgent(host)
    const picture = await host.call('mcp__web__picture', {}, { agent })
    expect(picture).toMatchObject({
      content: [{ type: 'image', attachment: { mediaType: 'image/png' } }],
      value: { content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] },
    })
    expect(JSON.stringify(picture.content)).not.toContain(PNG)
    expect(called(server)).toEqual(['notes.search', 'fail', 'picture'])
    expect(JSON.stringify(server.requests.map(({ body, path }) => [body, path]))).not.toContain('mcp__')
    for (const { headers } of server.requests) expect(headers['x-team']).toBe('blue')
    await host.dispose()
    // The server learns of the end of a stream a moment later.
    await waitFor(
      () => [server.openResponses.size],
      (open) => open === 0,
    )
    expect(server.sessions.size).toBe(0)
  })

  it('is told when a call runs out of time', async () => {
    const server = await serve(
      { era, tools: [tool('hang'), tool('echo')], calls: { hang: () => NO_ANSWER } },
      { reply },
    )
    const host = await suite.boot({ rows: [httpRow('web', server.url, { toolCallTimeoutMs: 200 })] })
    const result = await host.call('mcp__web__hang', {}, { signal: AbortSignal.timeout(OUT_OF_PATIENCE_MS) })
    expect(result).toMatchObject({ isError: true, error: { info: { code: 'MCP_CALL_TIMEOUT' } } })
    // A modern server learns it from the end of its response.
    if (era === 'legacy') {
      const { message } = await waitFor(
        () => server.requests,
        (request) => request.message?.method === 'notifications/cancelled',
      )
      const call = server.requests.find((request) => request.message?.method === 'tools/call')
      expect(message?.params?.['requestId']).toBe(call?.message?.id)
    }
    expect((await host.call('mcp__web__echo', { message: 'x' })).isError).toBe(false)
  })

  it('changes its list without renaming what stays', async () => {
    let tools = [tool('a'), tool('b.c')]
    const server = await serve({ era, tools: () => tools }, { reply })
    const host = await suite.boot({ rows: [httpRow('web', server.url)] })
    const before = host.tools()
    expect(before).toHaveLength(2)
    const kept = before.map((name) => host.ctx.tools.get(name))
    await waitFor(
      () => [...server.openResponses],
      () => true,
    )
    tools = [tool('d'), tool('b.c'), tool('a')]
    server.listChanged()
    await host.until(() => host.tools().length === 3)
    expect(host.tools()).toEqual([...before, 'mcp__web__d'])
    expect(before.map((name) => host.ctx.tools.get(name))).toEqual(kept)
    tools = [tool('b.c')]
    server.listChanged()
    await host.until(() => host.tools().length === 1)
    expect(host.tools()).toEqual(before.filter((name) => name.includes('b_c')))
  })
})

describe('a server that never answers', () => {
  it('costs its tools, and is left at once when the host ends', async () => {
    const server = await serve({ onMessage: () => true })
    const host = await suite.boot({ rows: [httpRow('web', server.url, { startup: { waitMs: 50 } })] })
    expect(host.tools()).toEqual([])
    await waitFor(
      () => server.requests,
      () => true,
    )
    const begin = performance.now()
    await host.dispose()
    expect(performance.now() - begin).toBeLessThan(5_000)
    await waitFor(
      () => [server.openResponses.size],
      (open) => open === 0,
    )
  })

  it('is not there, and is found when it comes', async () => {
    const server = await serve({})
    await server.close()
    const row = httpRow('web', server.url, { reconnect: { initialDelayMs: 50, maxDelayMs: 100 } })
    const host = await suite.boot({ rows: [row] })
    expect(host.tools()).toEqual([])
    expect(
      host.logs.some(({ text }) => text.startsWith('mcp-client(web): connection failed; retrying in ')),
    ).toBe(true)
    await server.restart()
    await host.until(() => host.tools().length === 1)
    expect((await host.call('mcp__web__echo', { message: 'x' })).isError).toBe(false)
  })
})

describe('a server on the official SDK', () => {
  it('is found, called by raw names, and heard when its list changes', async () => {
    const sdk = await startSdkServer(() => {
      const server = new McpServer({ name: 'notes', version: '1.0.0' })
      server.registerTool(
        'notes.search',
        { description: 'Find notes', inputSchema: z.object({ query: z.string() }) },
        ({ query }) => ({ content: [{ type: 'text', text: `found ${query}` }] }),
      )
      server.registerTool(
        'count',
        { inputSchema: z.object({ of: z.string() }), outputSchema: z.object({ count: z.number() }) },
        ({ of }) => ({
          content: [{ type: 'text', text: JSON.stringify({ count: of.length }) }],
          structuredContent: { count: of.length },
        }),
      )
      return server
    })
    suite.after(() => sdk.close())
    const host = await suite.boot({ rows: [httpRow('notes', sdk.url)] })
    const [dotted = ''] = host.tools().filter((name) => name.includes('search'))
    expect(dotted).toMatch(/^mcp__notes__notes_search_[0-9a-f]{12}$/)
    expect(await host.call(dotted, { query: 'keys' })).toMatchObject({
      content: [{ type: 'text', text: 'found keys' }],
    })
    expect(await host.call('mcp__notes__count', { of: 'abc' })).toMatchObject({
      content: [{ type: 'text', text: '{"count":3}' }],
      value: { structuredContent: { count: 3 } },
    })
    const wrong = await host.call('mcp__notes__count', { of: 7 })
    expect(wrong).toMatchObject({ isError: true })
    const calls = sdk.messages.filter(({ method }) => method === 'tools/call')
    expect(calls.map(({ params }) => params?.['name']).slice(0, 2)).toEqual(['notes.search', 'count'])
  })
})

describe('server-everything over Streamable HTTP', () => {
  it('is found, called, and gone with the host', async () => {
    const everything = await startEverythingHttp()
    suite.after(() => everything.close())
    const host = await suite.boot({ rows: [httpRow('everything', everything.url)] })
    await host.until(() => host.tools().length === 16)
    expect(await host.call('mcp__everything__echo', { message: 'hi' })).toMatchObject({
      content: [{ type: 'text', text: 'Echo: hi' }],
    })
    const agent = await createAgent(host)
    const picture = await host.call('mcp__everything__get-tiny-image', {}, { agent })
    expect(picture.content.map(({ type }) => type)).toEqual(['text', 'image', 'text'])
    // Progress comes on the stream of the call: it is no answer.
    const long = await host.call('mcp__everything__trigger-long-running-operation', {
      duration: 0.4,
      steps: 4,
    })
    expect(long).toMatchObject({ isError: false })
  })
})
