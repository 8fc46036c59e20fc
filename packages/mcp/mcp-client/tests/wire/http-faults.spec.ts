/** The HTTP transport against servers that go wrong: one fault each, and what the caller is told. */
import { gzipSync, brotliCompressSync, deflateSync } from 'node:zlib'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createSseTransport } from '../../src/connection/http-sse.ts'
import { HttpTransport } from '../../src/connection/http.ts'
import { loadSdk } from '../../src/sdk.ts'
import { fromForeign } from '../../src/foreign.ts'
import {
  ManualClock,
  answer,
  connect,
  createConnection,
  event,
  json,
  legacy,
  openServer,
  result,
  settle,
  stream,
  text,
} from './http-server.ts'
import type { Handler, Seen, TestServer } from './http-server.ts'

/** What the later steps make of an error. */
function told(error: unknown) {
  const { code, message, data } = fromForeign(error, {
    server: 'test',
    stage: 'execution',
    redact: (value) => value,
  })
  return { code, message, data }
}

async function refused(work: Promise<unknown>) {
  const error: unknown = await work.then(
    (value) => {
      throw new Error(`should have failed, but: ${JSON.stringify(value)}`)
    },
    (reason: unknown) => reason,
  )
  return told(error)
}

/** One call to a server that treats calls like this; the connection is left in order afterwards. */
async function callWith(
  handler: Handler,
  check: (call: Promise<string>, server: TestServer) => Promise<void>,
) {
  const server = await legacy({ 'tools/call': handler })
  const connection = await connect(server.url)
  await check(connection.call(), server)
  expect(server.count('tools/call')).toBe(1)
  await connection.end(server)
  await server.close()
}

describe('a reply without the answer', () => {
  const part = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","te'
  it.each<[string, Handler, RegExp]>([
    [
      'JSON cut by a reset',
      ({ res }) => {
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write(part)
        setImmediate(() => res.destroy())
      },
      /cut in the middle of the reply; the call was not answered and may have run/,
    ],
    [
      'a stream cut in the middle of an event',
      (seen) => {
        stream(seen)(`data: ${part}`)
        setImmediate(() => seen.res.destroy())
      },
      /connection was cut/,
    ],
    [
      'a stream that ends in order',
      (seen) => {
        stream(seen)(': nothing\n\n')
        seen.res.end()
      },
      /event stream ended/,
    ],
    [
      'a stream that ends in the middle of an event',
      (seen) => {
        stream(seen)(`data: ${part}`)
        seen.res.end()
      },
      /event stream ended/,
    ],
    ['no reply, but a reset', ({ req }) => void req.socket.destroy(), /connection was cut/],
    ['204', ({ res }) => void res.writeHead(204).end(), /HTTP 204 with nothing in it/],
    ['an empty 200', ({ res }) => void res.writeHead(200).end(), /HTTP 200 with nothing in it/],
    [
      '202 where there is no notification stream',
      ({ res }) => void res.writeHead(202).end(),
      /HTTP 202 with nothing/,
    ],
    [
      'a page',
      ({ res }) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<html>hi</html>'),
      /text\/html/,
    ],
    ['text without a type', ({ res }) => void res.writeHead(200).end('hi'), /without a content type/],
    [
      'broken JSON',
      ({ res }) => void res.writeHead(200, { 'content-type': 'application/json' }).end('{"a":'),
      /not JSON/,
    ],
    [
      'the answer to something else',
      (seen) => json(seen, { jsonrpc: '2.0', id: 999, result: text('no') }),
      /an answer to something else/,
    ],
    [
      'an error without an id',
      (seen) => json(seen, { jsonrpc: '2.0', id: null, error: { code: -1, message: 'who?' } }),
      /who\?/,
    ],
    [
      'a stream with the answer to something else',
      (seen) => {
        stream(seen)(event({ jsonrpc: '2.0', id: 999, result: text('no') }) + 'data: junk\n\n')
        seen.res.end()
      },
      /event stream ended/,
    ],
    [
      'an encoding nobody asked for',
      (seen) => json(seen, {}, { 'content-encoding': 'zstd' }),
      /content encoding zstd/,
    ],
    ['no HTTP at all', ({ req }) => void req.socket.end('\x00\x01\x02\r\n\r\n'), /connection was cut/],
  ])('%s: outcome unknown, at once', async (_, handler, message) => {
    await callWith(handler, async (call) => {
      const failure = await refused(call)
      expect(failure).toMatchObject({
        code: 'MCP_OUTCOME_UNKNOWN',
        message: expect.stringMatching(message) as string,
      })
      expect(failure.message).toContain('may have run')
    })
  })

  it('is no secret about a list: it says the connection, not the outcome', async () => {
    const server = await legacy({ 'tools/list': (seen) => void seen.res.writeHead(204).end() })
    const connection = await connect(server.url)
    expect(await refused(connection.client.listTools())).toMatchObject({
      code: 'MCP_CONNECTION_CLOSED',
      message: 'the server replied HTTP 204 with nothing in it; tools/list was not answered',
    })
    await connection.end(server)
    await server.close()
  })

  it('is an error that the SDK knows, at the handshake', async () => {
    const server = await legacy({
      initialize: ({ res }) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    })
    const failure = await refused(connect(server.url))
    expect(failure.code).toBe('MCP_HTTP_REJECTED')
    await server.quiet()
    await server.close()
  })
})

describe('a sloppy answer that is plain', () => {
  it.each<[string, Handler]>([
    [
      'members of its own, no jsonrpc',
      (seen) => json(seen, { id: seen.rpc.id, result: text('ok'), _meta: {} }),
    ],
    ['its id as text', (seen) => json(seen, { jsonrpc: '2.0', id: String(seen.rpc.id), result: text('ok') })],
    [
      'no content type',
      (seen) => void seen.res.writeHead(200).end(JSON.stringify({ id: seen.rpc.id, result: text('ok') })),
    ],
    [
      'a byte order mark',
      (seen) =>
        void seen.res
          .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
          .end(`\ufeff${JSON.stringify({ id: seen.rpc.id, result: text('ok') })}`),
    ],
    ['a batch', (seen) => json(seen, [{ id: seen.rpc.id, result: text('ok') }])],
    [
      'no blank line at the end of the stream',
      (seen) => {
        stream(seen)(answer(seen, 'ok').trimEnd())
        seen.res.end()
      },
    ],
    [
      'gzip',
      (seen) =>
        void seen.res
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(gzipSync(JSON.stringify({ id: seen.rpc.id, result: text('ok') }))),
    ],
    [
      'deflate on a stream',
      (seen) =>
        void seen.res
          .writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'deflate' })
          .end(deflateSync(answer(seen, 'ok'))),
    ],
    [
      'brotli',
      (seen) =>
        void seen.res
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'BR' })
          .end(brotliCompressSync(JSON.stringify({ id: seen.rpc.id, result: text('ok') }))),
    ],
  ])('with %s is taken', async (_, handler) => {
    await callWith(handler, async (call) => expect(await call).toBe('ok'))
  })
})

describe('an answer that is too large', () => {
  const big = 'x'.repeat(2 * 1024 * 1024)
  it.each<[string, Handler]>([
    ['JSON', (seen) => result(seen, text(big))],
    [
      'an event',
      (seen) => {
        stream(seen)(answer(seen, big))
        seen.res.end()
      },
    ],
    [
      'gzip that inflates',
      (seen) =>
        void seen.res
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(200 * 1024 * 1024, 'x'))),
    ],
  ])('as %s fails its call alone, and names the limit', async (_, handler) => {
    let first = true
    const server = await legacy({
      'tools/call': (seen) => {
        if (first) handler(seen)
        else result(seen, text('ok'))
        first = false
      },
    })
    const connection = await connect(server.url)
    const failure = await refused(connection.call())
    expect(failure).toMatchObject({
      code: 'MCP_MESSAGE_TOO_LARGE',
      message: expect.stringContaining('limits.messageBytes') as string,
    })
    expect(await connection.call()).toBe('ok')
    await connection.end(server)
    await server.close()
  })
})

describe('an HTTP error', () => {
  it('is told shortly: status and title of a page, without secrets and control characters', async () => {
    const page = `<!doctype html><html><head><title>\u001b[31mBad s3cret gateway</title></head>${'<p>x</p>'.repeat(250_000)}`
    await callWith(
      ({ res }) => void res.writeHead(502, 'Leaky s3cret', { 'content-type': 'text/html' }).end(page),
      async (call) => {
        expect(await refused(call)).toEqual({
          code: 'MCP_HTTP_UNAVAILABLE',
          message: 'the server answered HTTP 502 Bad Gateway: Bad [redacted] gateway',
          data: { status: 502 },
        })
      },
    )
  })

  it.each([401, 403, 404, 409, 418, 500, 599])('%i at the handshake names the status', async (status) => {
    const server = await legacy({ initialize: ({ res }) => void res.writeHead(status).end('no s3cret here') })
    const failure = await refused(connect(server.url))
    expect(failure.message).toMatch(new RegExp(`HTTP ${status}.*no \\[redacted\\] here`))
    expect(failure.data).toEqual({ status })
    await server.quiet()
    await server.close()
  })

  it.each([400, 404, 422])('%i with an answer in it is that answer', async (status) => {
    await callWith(
      (seen) =>
        json(
          seen,
          { jsonrpc: '2.0', id: seen.rpc.id, error: { code: -32602, message: 'no such tool' } },
          {},
          status,
        ),
      async (call) =>
        expect(await refused(call)).toMatchObject({
          code: 'MCP_REQUEST_REJECTED',
          message: expect.stringContaining('no such tool') as string,
        }),
    )
  })

  it('with a body that never ends, or an unknown encoding, does not hold the call', async () => {
    const clock = new ManualClock()
    const server = await legacy({
      'tools/call': (seen) => {
        seen.res.writeHead(500, { 'content-type': 'text/plain' }).write('so far')
      },
      'tools/list': (seen) => void seen.res.writeHead(500, { 'content-encoding': 'zstd' }).end('??'),
    })
    const connection = await connect(server.url, { clock })
    const call = refused(connection.call())
    await server.asked('tools/call')
    await clock.fire(2_000)
    expect(await call).toMatchObject({
      message: 'the server answered HTTP 500 Internal Server Error: so far',
    })
    expect(await refused(connection.client.listTools())).toMatchObject({
      message: 'the server answered HTTP 500 Internal Server Error',
    })
    await connection.end(server)
    await server.close()
  })
})

describe('redirects', () => {
  it.each([301, 302, 307, 308])(
    '%i within the origin is followed with method, headers and body',
    async (status) => {
      const plain: Handler = (seen) => {
        if (seen.what === 'initialize')
          result(seen, {
            protocolVersion: '2025-11-25',
            capabilities: {},
            serverInfo: { name: 't', version: '1' },
          })
        else if (seen.what === 'tools/call') result(seen, text('ok'))
        else seen.res.writeHead(seen.verb === 'GET' ? 405 : 202).end()
      }
      const server = await openServer((seen) => {
        if (seen.path === '/mcp2?x=1') plain(seen)
        else seen.res.writeHead(status, { location: '/mcp2?x=1' }).end('moved')
      })
      const connection = await connect(server.url, { http: { headers: { 'x-key': 'k' } } })
      expect(await connection.call()).toBe('ok')
      const before = server.count('tools/call')
      expect(await connection.call()).toBe('ok')
      // A permanent redirect is remembered.
      expect(server.count('tools/call') - before).toBe(status === 301 || status === 308 ? 1 : 2)
      expect(server.seen.every(({ headers }) => headers['x-key'] === 'k')).toBe(true)
      await connection.end(server)
      await server.close()
    },
  )

  it.each([302, 308])('%i to another origin is not followed, and the error names it', async (status) => {
    const other = await openServer(({ res }) => void res.end())
    const server = await legacy({
      initialize: ({ res }) =>
        void res.writeHead(status, { location: `http://u:pw@127.0.0.1:${other.port}/x?key=1` }).end(),
    })
    const failure = await refused(connect(server.url, { http: { headers: { authorization: 's3cret' } } }))
    expect(failure).toMatchObject({
      code: 'MCP_HTTP_REJECTED',
      message: `the server redirects to another origin, http://127.0.0.1:${other.port}, which is not followed; if that is right, write it into url (HTTP ${status})`,
    })
    expect(other.seen).toEqual([])
    await server.quiet()
    await Promise.all([server.close(), other.close()])
  })

  it.each<[string, Record<string, string>, number, RegExp]>([
    ['to itself for ever', { location: '/mcp' }, 307, /redirects more than 5 times/],
    ['with See Other', { location: '/elsewhere' }, 303, /page to read instead of answering/],
    ['without a location', {}, 307, /without saying where to/],
    ['to a scheme of its own', { location: 'file:///etc/passwd' }, 307, /another origin, file:/],
    ['to nowhere', { location: 'http://' }, 307, /without saying where to/],
  ])('%s are a clear error', async (_, headers, status, message) => {
    const server = await legacy({ initialize: ({ res }) => void res.writeHead(status, headers).end() })
    expect(await refused(connect(server.url))).toMatchObject({
      code: 'MCP_HTTP_REJECTED',
      message: expect.stringMatching(message) as string,
      data: { status },
    })
    expect(server.count('initialize')).toBeLessThanOrEqual(6)
    await server.quiet()
    await server.close()
  })
})

describe('asked to wait', () => {
  const busyOnce = (status: number, headers: Record<string, string>): Handler => {
    let asked = 0
    return (seen) => {
      asked += 1
      if (asked === 1) seen.res.writeHead(status, headers).end('busy')
      else result(seen, text('ok'))
    }
  }

  it('a call refused with 429 waits, others with it, and is sent again', async () => {
    const clock = new ManualClock()
    const server = await legacy({ 'tools/call': busyOnce(429, { 'retry-after': '7' }) })
    const connection = await connect(server.url, { clock })
    const first = connection.call()
    await clock.armedFor(7_000)
    clock.advance(1_000)
    const second = connection.call()
    await clock.armedFor(6_000)
    expect(server.count('tools/call')).toBe(1)
    await clock.fire(7_000)
    expect(await first).toBe('ok')
    await clock.fire(6_000)
    expect(await second).toBe('ok')
    expect(server.count('tools/call')).toBe(3)
    await connection.end(server)
    await server.close()
  })

  it.each<[string, string, number, Record<string, string>]>([
    ['a list at 503', 'tools/list', 503, { 'retry-after': '1' }],
    [
      'a list at 429, until a date of the server',
      'tools/list',
      429,
      { date: 'Mon, 01 Jan 2024 00:00:00 GMT', 'retry-after': 'Mon, 01 Jan 2024 00:00:01 GMT' },
    ],
  ])('%s is sent again', async (_, what, status, headers) => {
    const clock = new ManualClock()
    let asked = 0
    const server = await legacy({
      [what]: (seen: Seen) => {
        asked += 1
        if (asked === 1) seen.res.writeHead(status, headers).end()
        else result(seen, { tools: [] })
      },
    })
    const connection = await connect(server.url, { clock })
    const list = connection.client.listTools()
    await clock.fire(1_000)
    expect(await list).toMatchObject({ tools: [] })
    await connection.end(server)
    await server.close()
  })

  it.each<[string, number, Record<string, string>, RegExp]>([
    [
      '503: it may have run',
      503,
      { 'retry-after': '1' },
      /HTTP 503 Service Unavailable: retry after 1: busy/,
    ],
    [
      '429 for longer than we wait',
      429,
      { 'retry-after': '31' },
      /HTTP 429 Too Many Requests: retry after 31: busy/,
    ],
    ['429 without a time', 429, {}, /HTTP 429 Too Many Requests: busy/],
    ['429 with a time that is none', 429, { 'retry-after': 'soon' }, /retry after soon: busy/],
  ])('a call refused with %s fails clearly and is not sent again', async (_, status, headers, message) => {
    await callWith(busyOnce(status, headers), async (call) => {
      expect(await refused(call)).toMatchObject({
        code: 'MCP_HTTP_UNAVAILABLE',
        message: expect.stringMatching(message) as string,
      })
    })
  })

  it('a call gives up when the server refuses for ever, and can be cancelled while it waits', async () => {
    const clock = new ManualClock()
    const server = await legacy({
      'tools/call': ({ res }) => void res.writeHead(429, { 'retry-after': '3' }).end('busy'),
    })
    const connection = await connect(server.url, { clock })
    const call = refused(connection.call())
    await clock.fire(3_000)
    await clock.fire(3_000)
    expect(await call).toMatchObject({ code: 'MCP_HTTP_UNAVAILABLE' })
    expect(server.count('tools/call')).toBe(3)
    const abort = new AbortController()
    const waiting = connection.call('echo', abort.signal)
    await settle()
    abort.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await connection.end(server)
    await server.close()
  })
})

describe('a caller that cancels', () => {
  it('is free at once, the server is told, the socket is let go', async () => {
    const server = await legacy({ 'tools/call': () => undefined })
    const connection = await connect(server.url)
    const abort = new AbortController()
    const call = connection.call('echo', abort.signal)
    const { req, rpc } = await server.asked('tools/call')
    const gone = once(req.socket, 'close')
    abort.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    const told = await server.asked('notifications/cancelled')
    expect(told.rpc.params).toMatchObject({ requestId: rpc.id })
    await gone
    await connection.end(server)
    await server.close()
  })
})

describe('connections', () => {
  it('dropped after each reply: calls succeed or fail clearly at once, the host lives', async () => {
    const server = await legacy({
      'tools/call': (seen) => {
        result(seen, text('ok'))
        seen.res.once('finish', () => setTimeout(() => seen.req.socket.destroy(), 3))
      },
    })
    const connection = await connect(server.url)
    for (let call = 0; call < 20; call += 1) {
      const outcome = await connection.call().catch((error: unknown) => told(error).code)
      expect(['ok', 'MCP_OUTCOME_UNKNOWN']).toContain(outcome)
    }
    await connection.end(server)
    await server.close()
  })

  it('cut before a list was answered: it is asked for again, once', async () => {
    let asked = 0
    const server = await legacy({
      'tools/list': (seen) => {
        asked += 1
        if (asked === 2) result(seen, { tools: [] })
        else seen.req.socket.destroy()
      },
    })
    const connection = await connect(server.url)
    expect(await connection.client.listTools()).toMatchObject({ tools: [] })
    expect(await refused(connection.client.listTools())).toMatchObject({ code: 'MCP_CONNECTION_CLOSED' })
    expect(server.count('tools/list')).toBe(4)
    await connection.end(server)
    await server.close()
  })

  it('refused: the error names the place, and three in a row end the transport', async () => {
    const server = await legacy()
    const connection = await connect(server.url)
    await server.asked('GET')
    await connection.call()
    await server.close()
    const failures = [await refused(connection.call()), await refused(connection.call())]
    expect(failures[0]).toMatchObject({
      code: 'MCP_HTTP_UNAVAILABLE',
      message: `nothing listens at 127.0.0.1:${server.port} (ECONNREFUSED)`,
    })
    expect(connection.closes()).toBe(0)
    expect(await refused(connection.call())).toEqual(failures[0])
    await connection.transport.close()
    expect(connection.closes()).toBe(1)
    expect(connection.notes).toEqual([])
    expect(connection.transport.downReason).toMatchObject({
      code: 'MCP_HTTP_UNAVAILABLE',
      message: `nothing listens at 127.0.0.1:${server.port} (ECONNREFUSED)`,
      data: { cause: 'ECONNREFUSED' },
    })
    expect(
      await refused(connection.transport.send({ jsonrpc: '2.0', method: 'notifications/x' })),
    ).toMatchObject({ code: 'MCP_CONNECTION_CLOSED' })
    await connection.end()
  })

  it('a failure that is followed by success does not count', async () => {
    const server = await legacy()
    const connection = await connect(server.url)
    await server.asked('GET')
    await connection.call()
    await server.close()
    for (let round = 0; round < 3; round += 1) {
      await refused(connection.call())
      await refused(connection.call())
      const again = await legacy({}, server.port)
      expect(await connection.call()).toBe('ok')
      await again.close()
    }
    expect(connection.closes()).toBe(0)
    await connection.end()
  })

  it('https to a plain port fails fast and says TLS', async () => {
    const server = await legacy()
    const failure = await refused(connect(server.url.replace('http:', 'https:')))
    expect(failure).toMatchObject({
      code: 'MCP_HTTP_UNAVAILABLE',
      message: expect.stringContaining('TLS') as string,
    })
    await server.close()
  })
})

describe('closing', () => {
  it('is one promise, with a hanging call, a hanging stream and a server that holds DELETE', async () => {
    const clock = new ManualClock()
    const server = await legacy({
      'tools/call': () => undefined,
      DELETE: () => undefined,
      GET: (seen) => void stream(seen),
    })
    const connection = await connect(server.url, { clock })
    const call = refused(connection.call())
    await server.asked('tools/call')
    await server.asked('GET')
    const closed = connection.transport.close()
    expect(connection.transport.close()).toBe(closed)
    expect(await call).toMatchObject({
      code: 'MCP_OUTCOME_UNKNOWN',
      message: expect.stringContaining('was closed') as string,
    })
    await server.asked('DELETE')
    await clock.fire(1_000)
    await closed
    await connection.end(server)
    expect(connection.notes.join()).toContain('the session was not ended at the server')
    await server.close()
  })

  it.each([404, 405, 500])('takes %i to DELETE for an end', async (status) => {
    const server = await legacy({ DELETE: ({ res }) => void res.writeHead(status).end() })
    const connection = await connect(server.url)
    await connection.end(server)
    expect(server.count('DELETE')).toBe(1)
    await server.close()
  })

  it('in the middle of connecting ends the attempt', async () => {
    const server = await legacy({ initialize: () => undefined })
    const connection = await createConnection(server.url)
    const connecting = refused(connection.client.connect(connection.transport))
    await server.asked('initialize')
    await connection.end(server)
    expect(await connecting).toMatchObject({ code: 'MCP_CONNECTION_CLOSED' })
    await server.close()
  })

  it('needs no clock, no chance and no environment of its own', async () => {
    const sdk = await loadSdk()
    const server = await legacy()
    const options = {
      sdk,
      serverName: 't',
      url: server.url,
      headers: {},
      limits: { messageBytes: 1e6 },
      redact: String,
    }
    const transport = new HttpTransport({ ...options, onNote: () => undefined, onResync: () => undefined })
    await transport.start()
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} })
    await transport.close()
    await server.quiet()
    const old = createSseTransport({ ...options, onNote: () => undefined })
    await old.close()
    await server.close()
  })

  it('before the start leaves nothing, and there is no start afterwards', async () => {
    const connection = await createConnection('http://127.0.0.1:9/mcp')
    await connection.transport.close()
    await expect(connection.transport.start()).rejects.toMatchObject({ code: 'MCP_CONNECTION_CLOSED' })
    await connection.end()
  })
})

describe('notifications', () => {
  it('that the server never takes are given up', async () => {
    const clock = new ManualClock()
    const server = await legacy({ 'notifications/initialized': () => undefined })
    const connecting = refused(connect(server.url, { clock }))
    await server.asked('notifications/initialized')
    await clock.fire(10_000)
    expect(await connecting).toMatchObject({
      code: 'MCP_CONNECT_TIMEOUT',
      message: 'the server did not take notifications/initialized within 10000 ms',
    })
    await server.quiet()
    await server.close()
  })

  it('may be taken with a body, and an error is told', async () => {
    const server = await legacy({
      'notifications/one': (seen) => json(seen, null),
      'notifications/two': ({ res }) => void res.writeHead(500).end(),
      answer: ({ res }) => void res.writeHead(202).end(),
    })
    const connection = await connect(server.url)
    await connection.transport.send({ jsonrpc: '2.0', method: 'notifications/one' })
    await connection.transport.send({ jsonrpc: '2.0', id: 5, result: {} })
    expect(
      await refused(connection.transport.send({ jsonrpc: '2.0', method: 'notifications/two' })),
    ).toMatchObject({ data: { status: 500 } })
    await connection.end(server)
    await server.close()
  })

  it('handlers that throw do not take the connection', async () => {
    const server = await legacy()
    const connection = await createConnection(server.url)
    const { transport } = connection
    await transport.start()
    const errors: Error[] = []
    transport.onerror = (error) => errors.push(error)
    transport.onmessage = () => {
      throw new Error('handler')
    }
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} })
    expect(errors.map(({ message }) => message)).toEqual(['handler'])
    await connection.end(server)
    await server.close()
  })
})

describe('addresses', () => {
  it.each(['not a url', 'file:///etc/passwd', 'http://user:hunter2@127.0.0.1/'])(
    '%s is refused and not shown',
    async (url) => {
      const error = await createConnection(url).catch((reason: unknown) => reason)
      expect(told(error).code).toBe('MCP_CONFIG_INVALID')
      expect(JSON.stringify(told(error))).not.toMatch(/hunter2|passwd/)
    },
  )
})

describe('proxies', () => {
  it('of the environment are used, except for what NO_PROXY names and for this machine', async () => {
    const asked: string[] = []
    const proxy = createServer((req, res) => {
      asked.push(req.url ?? '')
      res.writeHead(418).end('teapot')
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const proxied = await createConnection('http://mcp.invalid/mcp', { http: { env: { HTTP_PROXY } } })
    expect(await refused(proxied.client.connect(proxied.transport))).toMatchObject({ data: { status: 418 } })
    await proxied.end()
    expect(asked).toEqual(['http://mcp.invalid/mcp'])
    const direct = await createConnection('http://mcp.invalid/mcp', {
      http: { env: { HTTP_PROXY, NO_PROXY: 'mcp.invalid' } },
    })
    expect(await refused(direct.client.connect(direct.transport))).toMatchObject({
      data: { cause: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) as string },
    })
    const server = await legacy()
    const local = await connect(server.url, {
      http: { env: { http_proxy: HTTP_PROXY, https_proxy: HTTP_PROXY, no_proxy: '' } },
    })
    await local.end(server)
    expect(asked).toHaveLength(1)
    await server.close()
    await new Promise((resolve) => proxy.close(resolve))
  })

  it('that are no URL are named, without the text', async () => {
    const error = await createConnection('http://mcp.invalid/mcp', {
      http: { env: { HTTPS_PROXY: 'http://u:hunter2@[' } },
    }).catch((reason: unknown) => reason)
    expect(told(error)).toMatchObject({
      code: 'MCP_CONFIG_INVALID',
      message: 'HTTP_PROXY or HTTPS_PROXY is not the URL of a proxy',
    })
  })
})
