/** The old HTTP+SSE transport under the real SDK client. */
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createSseTransport } from '../../src/connection/http-sse.ts'
import type { SseOptions } from '../../src/connection/http-sse.ts'
import { fromForeign } from '../../src/foreign.ts'
import { loadSdk } from '../../src/sdk.ts'
import { countingClock, event, openEverything, openServer, stream, text } from './http-server.ts'
import type { Handler, TestServer } from './http-server.ts'

/** A server of 2024-11-05: what is posted is answered on the stream. */
function sse(overrides: Readonly<Record<string, Handler>> = {}): Promise<TestServer> {
  let write: (text: string) => void = () => undefined
  const answers: Readonly<Record<string, unknown>> = {
    initialize: { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 't', version: '1' } },
    'tools/call': text('ok'),
  }
  return openServer((seen) => {
    const own = overrides[seen.what]
    if (own !== undefined) return own(seen)
    if (seen.verb === 'GET') {
      write = stream(seen)
      write('event: endpoint\ndata: /messages?sid=1\n\n')
      return
    }
    seen.res.writeHead(202).end('Accepted')
    if (seen.what in answers) write(event({ jsonrpc: '2.0', id: seen.rpc.id, result: answers[seen.what] }))
  })
}

async function create(url: string, options: Partial<SseOptions> = {}) {
  const sdk = await loadSdk()
  const clock = countingClock()
  const notes: string[] = []
  const transport = createSseTransport({
    sdk,
    serverName: 'test',
    url,
    headers: { 'x-key': 's3cret' },
    limits: { messageBytes: 1024 * 1024 },
    redact: (value) => value.replaceAll('s3cret', '[redacted]'),
    onNote: (_, line) => notes.push(line),
    clock,
    env: {},
    ...options,
  })
  let closes = 0
  transport.onclose = () => (closes += 1)
  const client = new sdk.Client({ name: 'test', version: '1' }, { capabilities: {} })
  return {
    transport,
    client,
    notes,
    closes: () => closes,
    async connect() {
      await client.connect(transport)
      return client
    },
    async end(server?: TestServer) {
      await client.close()
      await transport.close()
      expect(closes).toBe(1)
      expect(clock.armed()).toBe(0)
      await server?.quiet()
      await server?.close()
    },
  }
}

async function refused(work: Promise<unknown>) {
  const error: unknown = await work.then(
    () => {
      throw new Error('should have failed')
    },
    (reason: unknown) => reason,
  )
  const { code, message, data } = fromForeign(error, {
    server: 'test',
    stage: 'execution',
    redact: (value) => value,
  })
  return { code, message, data }
}

describe('HTTP+SSE', () => {
  it('is initialized, called and left', async () => {
    const server = await sse()
    const connection = await create(server.url)
    const client = await connection.connect()
    expect(await client.callTool({ name: 'x', arguments: {} })).toEqual(text('ok'))
    await connection.end(server)
    const [get, ...posts] = server.seen
    expect(get?.headers).toMatchObject({ accept: 'text/event-stream', 'x-key': 's3cret' })
    expect(posts.map(({ path }) => path)).toEqual(posts.map(() => '/messages?sid=1'))
    expect(posts.at(-1)?.headers).toMatchObject({ 'x-key': 's3cret', 'mcp-protocol-version': '2024-11-05' })
    expect(connection.transport.downReason).toBeUndefined()
  })

  it('talks to server-everything', async () => {
    const server = await openEverything('sse')
    const connection = await create(`${server.origin}/sse`)
    const client = await connection.connect()
    const { content } = await client.callTool({ name: 'get-sum', arguments: { a: 2, b: 3 } })
    expect(JSON.stringify(content)).toContain('5')
    await connection.end()
    await server.close()
  })

  it('is over when its stream ends', async () => {
    const server = await sse()
    const connection = await create(server.url)
    const client = await connection.connect()
    const closed = new Promise<void>((resolve) => (client.onclose = resolve))
    server.seen[0]?.res.destroy()
    await closed
    expect(connection.transport.downReason).toMatchObject({
      code: 'MCP_CONNECTION_CLOSED',
      message: 'the event stream ended',
    })
    expect(
      await refused(connection.transport.send({ jsonrpc: '2.0', method: 'notifications/x' })),
    ).toMatchObject({ code: 'MCP_CONNECTION_CLOSED' })
    await connection.end(server)
  })

  it('is over when a message is too large', async () => {
    const server = await sse({
      'tools/call': () => void server.seen[0]?.res.write(`data: ${'x'.repeat(3 * 1024 * 1024)}`),
    })
    const connection = await create(server.url)
    const client = await connection.connect()
    await refused(client.callTool({ name: 'x', arguments: {} }))
    expect(connection.transport.downReason?.code).toBe('MCP_MESSAGE_TOO_LARGE')
    await connection.end(server)
  })

  it.each<[string, Handler, object]>([
    [
      'an error',
      ({ res }) => void res.writeHead(404).end('no s3cret'),
      {
        code: 'MCP_HTTP_REJECTED',
        message: 'the server answered HTTP 404 Not Found: no [redacted]',
        data: { status: 404 },
      },
    ],
    [
      'a page',
      ({ res }) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      { code: 'MCP_HTTP_REJECTED' },
    ],
    [
      'an unknown encoding',
      (seen) => void stream(seen, { 'content-encoding': 'zstd' })('x'),
      { code: 'MCP_HTTP_REJECTED' },
    ],
    [
      'an endpoint elsewhere',
      (seen) => void stream(seen)('event: endpoint\ndata: http://other.invalid/x\n\n'),
      { code: 'MCP_HTTP_REJECTED', message: 'the server named an endpoint at another origin' },
    ],
    [
      'an endpoint that is none',
      (seen) => void stream(seen)('event: endpoint\ndata: http://\n\n'),
      { code: 'MCP_HTTP_REJECTED' },
    ],
    [
      'an end before the endpoint',
      (seen) => {
        stream(seen)(': hi\n\n')
        seen.res.end()
      },
      { code: 'MCP_CONNECTION_CLOSED', message: 'the event stream ended' },
    ],
  ])('that opens with %s is refused', async (_, get, failure) => {
    const server = await sse({ GET: get })
    const connection = await create(server.url)
    expect(await refused(connection.connect())).toMatchObject(failure)
    await connection.end(server)
  })

  it('tells of a post that was refused, answered, cut or cancelled', async () => {
    const server = await sse({
      'tools/call': (seen) => {
        const { name } = seen.rpc.params as { name: string }
        if (name === 'refused') seen.res.writeHead(500).end('down')
        else if (name === 'cut') seen.req.socket.destroy()
        else if (name === 'answered')
          seen.res.writeHead(400).end(
            JSON.stringify({
              jsonrpc: '2.0',
              id: seen.rpc.id,
              error: { code: -32602, message: 'no such tool' },
            }),
          )
      },
    })
    const connection = await create(server.url)
    const client = await connection.connect()
    const call = (name: string, signal?: AbortSignal) =>
      client.callTool({ name, arguments: {} }, signal === undefined ? {} : { signal })
    expect(await refused(call('refused'))).toMatchObject({
      code: 'MCP_HTTP_UNAVAILABLE',
      data: { status: 500 },
    })
    expect(await refused(call('answered'))).toMatchObject({ code: 'MCP_REQUEST_REJECTED' })
    expect(await refused(call('cut'))).toMatchObject({ code: 'MCP_OUTCOME_UNKNOWN' })
    const abort = new AbortController()
    const hanging = call('hang', abort.signal)
    const { req } = await server.asked('tools/call', 4)
    abort.abort(new Error('enough'))
    await expect(hanging).rejects.toThrow('enough')
    if (!req.destroyed) await once(req, 'close')
    await server.asked('notifications/cancelled')
    await connection.end(server)
  })

  it('ignores junk, told once, and handlers that throw', async () => {
    const server = await sse()
    const connection = await create(server.url)
    await connection.connect()
    const errors: Error[] = []
    connection.transport.onerror = (error) => errors.push(error)
    connection.transport.onmessage = () => {
      throw new Error('handler')
    }
    const arrived = new Promise<void>(
      (resolve) => (connection.transport.onerror = (error) => resolve(void errors.push(error))),
    )
    server.seen[0]?.res.write(
      'data: junk\n\ndata: more\n\nevent: endpoint\ndata: /other\n\nretry: 5\n\n' +
        event({ jsonrpc: '2.0', method: 'notifications/x' }),
    )
    await arrived
    expect(errors.map(({ message }) => message)).toEqual(['handler'])
    expect(connection.notes).toEqual(['ignored on the event stream: text that is not JSON'])
    await connection.transport.send({ jsonrpc: '2.0', id: 1, result: {} })
    expect(server.seen.at(-1)?.path).toBe('/messages?sid=1')
    await connection.end(server)
  })

  it('is over when nobody can be reached three times in a row', async () => {
    const server = await sse()
    const connection = await create(server.url, { headers: {} })
    const client = await connection.connect()
    const other = await openServer(() => undefined)
    await other.close()
    // The endpoint is at the same origin, so the stream must live while posts fail: break the posts alone.
    const { transport } = connection
    Object.defineProperty(transport, 'endpoint', { value: new URL(other.url) })
    for (let failure = 0; failure < 3; failure += 1) await refused(client.ping())
    await transport.close()
    expect(transport.downReason).toMatchObject({
      code: 'MCP_HTTP_UNAVAILABLE',
      message: `nothing listens at 127.0.0.1:${other.port} (ECONNREFUSED)`,
    })
    await connection.end(server)
  })
})
