/** The HTTP transport under the real SDK client, against servers that keep the protocol. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  ManualClock,
  SESSION,
  answer,
  connect,
  createConnection,
  event,
  legacy,
  openEverything,
  openServer,
  stream,
} from './http-server.ts'

describe('a legacy server', () => {
  it('is initialized, called and left, with the headers of the protocol', async () => {
    const server = await legacy()
    const connection = await connect(server.url, {
      http: { headers: { Authorization: 'Bearer s3cret', Host: 'x' } },
    })
    expect(connection.transport.sessionId).toBe('session-1')
    expect(await connection.call()).toBe('ok')
    await connection.end(server)
    const [initialize, initialized, ...rest] = server.seen
    expect(initialize?.headers).toMatchObject({
      host: `127.0.0.1:${server.port}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      authorization: 'Bearer s3cret',
      'user-agent': 'dsh-mcp-client',
    })
    expect(initialize?.headers).not.toHaveProperty('mcp-session-id')
    expect(initialize?.headers).not.toHaveProperty('origin')
    expect(initialize?.headers).not.toHaveProperty('accept-encoding')
    expect(initialized?.what).toBe('notifications/initialized')
    for (const { headers } of [initialized, ...rest].filter((one) => one !== undefined)) {
      expect(headers).toMatchObject({ ...SESSION, 'mcp-protocol-version': '2025-11-25' })
      expect(headers).not.toHaveProperty('mcp-method')
    }
    expect(rest.map(({ what }) => what).toSorted()).toEqual(['DELETE', 'GET', 'tools/call'])
    await server.close()
  })
})

describe('event streams', () => {
  it.each([
    ['line feeds', (text: string) => text],
    ['CRLF and a byte order mark', (text: string) => `\ufeff${text.replaceAll('\n', '\r\n')}`],
    ['CR alone', (text: string) => text.replaceAll('\n', '\r')],
  ])('with comments, other types and data over lines are read with %s', async (_, odd) => {
    const server = await legacy({
      'tools/call': (seen) => {
        const body = JSON.stringify(
          { jsonrpc: '2.0', id: seen.rpc.id, result: { content: [{ type: 'text', text: 'é€𝄞' }] } },
          null,
          1,
        )
        const lines = body.split('\n').map((line) => `data: ${line}`)
        const whole = odd(
          `: hello\n\nevent: ping\ndata: {"no":1}\n\nid: 7\ndata:\n\nevent: message\n${lines.join('\n')}\n\n`,
        )
        const write = stream(seen)
        // Byte by byte, and the stream stays open: the answer counts at once.
        for (const byte of Buffer.from(whole)) seen.res.write(Buffer.of(byte))
        write('')
      },
    })
    const connection = await connect(server.url)
    expect(await connection.call()).toBe('é€𝄞')
    expect(await connection.call()).toBe('é€𝄞')
    await connection.end(server)
    await server.close()
  })

  it('deliver what comes before the answer, once', async () => {
    const server = await legacy({
      'tools/call': (seen) => {
        const write = stream(seen)
        const note = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
        write(event(note) + answer(seen, 'one') + answer(seen, 'two') + event(note))
        seen.res.end()
      },
    })
    const connection = await connect(server.url)
    let changes = 0
    connection.client.setNotificationHandler('notifications/tools/list_changed', () => {
      changes += 1
    })
    expect(await connection.call()).toBe('one')
    await connection.end(server)
    expect(changes).toBe(1)
    expect(connection.errors).toEqual([])
    await server.close()
  })

  it('that stay open after the answer are let go soon', async () => {
    const clock = new ManualClock()
    const server = await legacy({ 'tools/call': (seen) => stream(seen)(answer(seen, 'ok')) })
    const connection = await connect(server.url, { clock })
    expect(await connection.call()).toBe('ok')
    const { req } = await server.asked('tools/call')
    await clock.fire(500)
    await once(req.socket, 'close')
    await connection.end(server)
    await server.close()
  })

  it('answer fifty calls at once, none crossed, over connections that are used again', async () => {
    const server = await legacy({
      'tools/call': (seen) => {
        const write = stream(seen)
        setImmediate(() => {
          write(answer(seen, String((seen.rpc.params as { name: string }).name)))
          seen.res.end()
        })
      },
    })
    const connection = await connect(server.url)
    const names = Array.from({ length: 50 }, (_, index) => `tool-${index}`)
    expect(await Promise.all(names.map((name) => connection.call(name)))).toEqual(names)
    for (const name of names) expect(await connection.call(name)).toBe(name)
    expect(server.sockets.size).toBeLessThanOrEqual(52)
    await connection.end(server)
    await server.close()
  })
})

describe('a server of this revision, 2026-07-28', () => {
  const modern = async (legacyEra: 'stateless' | 'reject' = 'stateless') => {
    const hanging = Promise.withResolvers<void>()
    const handler = createMcpHandler(
      () => {
        const server = new McpServer(
          { name: 'modern', version: '1' },
          { capabilities: { tools: { listChanged: true } } },
        )
        server.registerTool('echo', { description: 'd', inputSchema: z.object({}) }, () => ({
          content: [{ type: 'text', text: 'modern' }],
        }))
        server.registerTool('hang', { description: 'd', inputSchema: z.object({}) }, () => {
          hanging.resolve()
          return new Promise<never>(() => undefined)
        })
        return server
      },
      { legacy: legacyEra },
    )
    const node = toNodeHandler(handler)
    const heads: Record<string, unknown>[] = []
    const http = createServer((req, res) => {
      heads.push({ verb: req.method, ...req.headers })
      void node(req as Parameters<typeof node>[0], res)
    }).listen(0, '127.0.0.1')
    await once(http, 'listening')
    const closed = async (): Promise<void> => {
      await handler.close()
      await new Promise((resolve) => http.close(resolve))
    }
    return {
      url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
      handler,
      heads,
      closed,
      hanging: hanging.promise,
      cut: () => http.closeAllConnections(),
    }
  }
  const auto = { client: { versionNegotiation: { mode: 'auto' as const } } }

  it('is found by the probe, and called with the headers of its messages', async () => {
    const server = await modern()
    const connection = await connect(server.url, auto)
    expect(connection.client.getProtocolEra()).toBe('modern')
    expect(connection.client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
    expect(await connection.call()).toBe('modern')
    await connection.end()
    await server.closed()
    expect(server.heads.map(({ verb }) => verb)).toEqual(['POST', 'POST'])
    expect(server.heads[0]).toMatchObject({
      'mcp-method': 'server/discover',
      'mcp-protocol-version': '2026-07-28',
    })
    expect(server.heads[1]).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'echo' })
    expect(server.heads[1]).not.toHaveProperty('mcp-session-id')
  })

  it('is refused by a client of the old era with the versions it offers', async () => {
    const server = await modern('reject')
    await expect(connect(server.url)).rejects.toMatchObject({
      code: -32022,
      data: { supported: ['2026-07-28'] },
    })
    await server.closed()
  })

  it('tells changes on a listen stream; cancelling a call ends its reply and nothing is posted', async () => {
    const server = await modern()
    const connection = await connect(server.url, auto)
    const changed = Promise.withResolvers<void>()
    connection.client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve())
    const subscription = await connection.client.listen({ toolsListChanged: true })
    server.handler.notify.toolsChanged()
    await changed.promise
    const abort = new AbortController()
    const call = connection.call('hang', abort.signal)
    await server.hanging
    abort.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    await subscription.close()
    expect(await subscription.closed).toBe('local')
    const methods = ['server/discover', 'subscriptions/listen', 'tools/call']
    expect(server.heads.map((head) => head['mcp-method'])).toEqual(methods)
    await connection.end()
    await server.closed()
  })

  it('has no streams to resume: an event id means nothing', async () => {
    const server = await openServer((seen) => {
      stream(seen)('id: 1\ndata:\n\n')
      seen.res.end()
    })
    const connection = await createConnection(server.url)
    await connection.transport.start()
    const params = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }
    const sent = connection.transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    await expect(sent).rejects.toMatchObject({ code: 'MCP_OUTCOME_UNKNOWN' })
    await connection.end(server)
    expect(server.count('GET')).toBe(0)
    await server.close()
  })

  it('says that a listen stream was cut', async () => {
    const server = await modern()
    const connection = await connect(server.url, auto)
    const subscription = await connection.client.listen({ toolsListChanged: true })
    server.cut()
    expect(await subscription.closed).toBe('remote')
    const message = { jsonrpc: '2.0' as const, id: 1, method: 'tools/list' }
    await connection.transport.send(message, { requestSignal: AbortSignal.abort() })
    expect(server.heads).toHaveLength(2)
    await connection.end()
    await server.closed()
  })

  it('says that a listen stream was ended', async () => {
    const server = await modern()
    const connection = await connect(server.url, auto)
    const subscription = await connection.client.listen({ toolsListChanged: true })
    await server.handler.close()
    expect(await subscription.closed).toBe('graceful')
    await connection.end()
    await server.closed()
  })
})

describe('a legacy server that is probed', () => {
  it.each([
    ['an empty 400', (seen: Parameters<typeof answer>[0]) => void seen.res.writeHead(400).end()],
    [
      'a JSON-RPC error',
      (seen: Parameters<typeof answer>[0]) =>
        void seen.res.writeHead(400, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            jsonrpc: '2.0',
            id: seen.rpc.id,
            error: { code: -32000, message: 'Server not initialized' },
          }),
        ),
    ],
  ])('with %s is initialized', async (_, discover) => {
    const server = await legacy({ 'server/discover': discover })
    const connection = await connect(server.url, { client: { versionNegotiation: { mode: 'auto' } } })
    expect(connection.client.getProtocolEra()).toBe('legacy')
    expect(await connection.call()).toBe('ok')
    await connection.end(server)
    await server.close()
  })
})

describe('server-everything', () => {
  it('is listed, called and left', async () => {
    const server = await openEverything('streamableHttp')
    const connection = await connect(`${server.origin}/mcp`)
    const { tools } = await connection.client.listTools()
    expect(tools.length).toBeGreaterThan(5)
    const { content } = await connection.client.callTool({ name: 'get-sum', arguments: { a: 2, b: 3 } })
    expect(JSON.stringify(content)).toContain('5')
    await connection.end()
    expect(connection.errors).toEqual([])
    await server.close()
  })
})
