/** The scripted HTTP servers against the real SDK client, in both eras. */
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  expectNoLeftovers,
  leftovers,
  NO_ANSWER,
  startHttpServer,
  startSseServer,
  text,
  tool,
  waitFor,
} from '../src/index.ts'
import type { Behaviour, HttpServer, HttpServerOptions, Leftovers, SseServer } from '../src/index.ts'

let before: Leftovers
const clients: Client[] = []
const servers: (HttpServer | SseServer)[] = []

beforeEach(() => {
  before = leftovers()
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  for (const server of servers.splice(0)) await server.close()
  await expectNoLeftovers(before)
})

async function start(behaviour?: Behaviour, options?: HttpServerOptions): Promise<HttpServer> {
  const server = await startHttpServer(behaviour, options)
  servers.push(server)
  return server
}

async function connect({ url }: HttpServer, mode: 'auto' | 'legacy' = 'auto'): Promise<Client> {
  const client = new Client({ name: 'spec', version: '1' }, { versionNegotiation: { mode } })
  clients.push(client)
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return client
}

describe('a scripted HTTP server', () => {
  it.each([
    ['legacy', 'json'],
    ['legacy', 'sse'],
    ['modern', 'json'],
    ['modern', 'sse'],
    ['dual', 'json'],
  ] as const)('%s, %s: lists and calls', async (era, reply) => {
    const server = await start({ era }, { reply })
    const client = await connect(server)
    expect(client.getProtocolEra()).toBe(era === 'legacy' ? 'legacy' : 'modern')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['echo'])
    const { content } = await client.callTool({ name: 'echo', arguments: { message: 'hi' } })
    expect(content).toEqual([{ type: 'text', text: 'hi' }])
    await expect(client.callTool({ name: 'none' })).rejects.toThrow('Unknown tool: none')
    const call = server.requests.find(({ message }) => message?.method === 'tools/call')
    if (era === 'legacy') expect(call?.headers['mcp-session-id']).toBe([...server.sessions.keys()][0])
    else expect(call?.headers['mcp-name']).toBe('echo')
  })

  it.each(['legacy', 'modern'] as const)('%s: says that its list changed', async (era) => {
    const server = await start({ era })
    const client = await connect(server)
    const changed = Promise.withResolvers<void>()
    client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve())
    if (era === 'modern') await client.listen({ toolsListChanged: true })
    else
      await waitFor(
        () => [...server.sessions.values()],
        ({ streams }) => streams.size > 0,
      )
    server.listChanged()
    await changed.promise
  })

  it('a modern subscription ends gracefully', async () => {
    const server = await start({
      era: 'modern',
      tools: [tool('end')],
      calls: {
        end(_args, peer) {
          peer.endSubscriptions()
          return text('ended')
        },
      },
    })
    const client = await connect(server)
    const subscription = await client.listen({ toolsListChanged: true })
    await client.callTool({ name: 'end' })
    expect(await subscription.closed).toBe('graceful')
  })

  it('sends progress and asks back in mid-call', async () => {
    const server = await start({
      async callTool(_params, peer, { message }) {
        const meta = message.params?.['_meta'] as { progressToken?: number }
        peer.notify('notifications/progress', { progressToken: meta.progressToken, progress: 1 })
        const { error } = await peer.request('roots/list')
        return text(JSON.stringify(error))
      },
    })
    const client = await connect(server)
    let progress = 0
    const { content } = await client.callTool(
      { name: 'echo' },
      { onprogress: (event) => void (progress = event.progress) },
    )
    expect(progress).toBe(1)
    expect(JSON.stringify(content)).toContain('-32601')
  })

  it('forgets its sessions over a restart on the same port', async () => {
    const server = await start()
    const client = await connect(server, 'legacy')
    const { url } = server
    await server.restart()
    expect(server.url).toBe(url)
    await expect(client.callTool({ name: 'echo' })).rejects.toThrow('Session not found')
    await client.close()
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    expect((await client.listTools()).tools).toHaveLength(1)
  })

  it('ends a session by DELETE', async () => {
    const server = await start()
    const client = await connect(server, 'legacy')
    const { transport } = client
    await (transport as StreamableHTTPClientTransport).terminateSession()
    await waitFor(
      () => server.requests,
      ({ method }) => method === 'DELETE',
    )
    expect(server.sessions.size).toBe(0)
  })

  it('is intercepted', async () => {
    const server = await start()
    const client = await connect(server, 'legacy')
    server.intercept = (_req, res, { message }) => {
      if (message?.method !== 'tools/call') return false
      res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
      return true
    }
    await expect(client.callTool({ name: 'echo' })).rejects.toThrow('Bad gateway')
    server.intercept = undefined
    expect(await client.callTool({ name: 'echo', arguments: { message: 'x' } })).toMatchObject(text('x'))
  })

  it('writes raw bytes and cuts the connection', async () => {
    const server = await start({
      async callTool(_params, peer) {
        await peer.raw('event: message\ndata: {"jsonrpc"')
        peer.exit()
        return NO_ANSWER
      },
    })
    const client = await connect(server, 'legacy')
    // The SDK notices the cut stream only by its timeout.
    await expect(client.callTool({ name: 'echo' }, { timeout: 200 })).rejects.toThrow()
    await waitFor(
      () => [server.openResponses.size],
      (size) => size === 0,
    )
  })
})

describe('a scripted HTTP+SSE server', () => {
  it('lists, calls and notifies', async () => {
    const server = await startSseServer()
    servers.push(server)
    const client = new Client({ name: 'spec', version: '1' })
    clients.push(client)
    const changed = Promise.withResolvers<void>()
    client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve())
    await client.connect(new SSEClientTransport(new URL(server.url)))
    expect((await client.listTools()).tools).toHaveLength(1)
    expect(await client.callTool({ name: 'echo', arguments: { message: 'x' } })).toMatchObject(text('x'))
    server.listChanged()
    await changed.promise
  })
})
