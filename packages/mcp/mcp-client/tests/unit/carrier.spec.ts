/** Owns the tests of the carrier: the real SDK client over it, against the SDK's server and scripted sloppy ones. */
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import { McpServer } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { CarrierTransport, rawResultOf } from '../../src/connection/carrier.ts'
import { withOrigin } from '../../src/connection/origin.ts'
import type { JsonObject } from '../../src/types.ts'
import { settled } from './fake-clock.ts'
import { LEGACY_HELLO, MODERN_HELLO, openScriptedServer } from './scripted-server.ts'
import type { Answer } from './scripted-server.ts'

const INFO = { name: 'test', version: '1' }

async function connect(era: 'legacy' | 'modern', answers: Readonly<Record<string, Answer>>) {
  const server = openScriptedServer(era, ({ method }) => answers[method])
  const client = new Client(INFO, era === 'modern' ? { versionNegotiation: { mode: 'auto' } } : {})
  await client.connect(new CarrierTransport(server.transport))
  return { client, server }
}

/** As the session does it. */
async function list(client: Client): Promise<JsonObject> {
  return rawResultOf(await client.request({ method: 'tools/list' }))
}
async function call(client: Client, options = {}): Promise<JsonObject> {
  const tool = { name: 'a', inputSchema: { type: 'object' as const } }
  return rawResultOf(
    await client.callTool({ name: 'a', arguments: {} }, { toolDefinition: tool, ...options }),
  )
}

/** A transport with nothing behind it: writes down what is sent, says what the test says. */
class Plain implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: NonNullable<Transport['onmessage']>
  readonly log: unknown[] = []
  async start(): Promise<void> {
    this.log.push('start')
  }
  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.log.push(options === undefined ? message : [message, options])
  }
  async close(): Promise<void> {
    this.log.push('close')
  }
}

function plain(inner: Plain = new Plain()) {
  const carrier = new CarrierTransport(inner)
  const got: unknown[] = []
  carrier.onmessage = (message, extra) => got.push(extra === undefined ? message : [message, extra])
  const answer = (message: JsonObject): void =>
    inner.onmessage?.({ jsonrpc: '2.0', ...message } as unknown as JSONRPCMessage)
  return { inner, carrier, got, answer }
}
const request = (id: number | string, method: string): JSONRPCMessage => ({ jsonrpc: '2.0', id, method })

describe('a handshake of the legacy era', () => {
  it.each([
    [{ capabilities: { roots: {}, extensions: { x: {} } } }, { capabilities: { roots: {} } }],
    [{ capabilities: 'odd' }, { capabilities: 'odd' }],
    [undefined, undefined],
  ])('has no extensions: %j', async (params, sent) => {
    const { carrier, inner } = plain()
    const message = { ...request(0, 'initialize'), params } as JSONRPCMessage
    await carrier.send(message)
    expect(inner.log).toMatchObject([{ method: 'initialize', params: sent }])
    expect(JSON.stringify(inner.log)).not.toContain('extensions')
  })
})

describe('requests of the server', () => {
  it('are known with the request of ours on whose reply they came, and told of where there are too many', () => {
    const { carrier, inner, got } = plain()
    const errors: string[] = []
    carrier.onerror = ({ message }) => errors.push(message)
    for (let id = 0; id <= 100; id += 1) inner.onmessage?.(request(id, 'ping'), withOrigin(1_000 + id))
    expect(got).toHaveLength(100)
    expect([carrier.originOf(7), carrier.originOf(100)]).toEqual([1_007, undefined])
    expect(errors).toEqual([expect.stringContaining('the rest is not heard')])
  })
})

describe('raw results', () => {
  it.each(['legacy', 'modern'] as const)('of a sloppy %s server come through whole', async (era) => {
    const tools = {
      tools: [{ name: 'good' }, { name: 7 }, null, 'x', { name: 'bad', inputSchema: 'no' }],
      nextCursor: '',
      _meta: { theirs: true },
    }
    const result = { content: 'just text', structuredContent: [1], isError: 'maybe' }
    const { client } = await connect(era, { 'tools/list': { result: tools }, 'tools/call': { result } })
    expect(await list(client)).toEqual(tools)
    expect(await call(client)).toEqual(result)
    await client.close()
  })

  it.each(['legacy', 'modern'] as const)('without the carrier the SDK refuses them: %s', async (era) => {
    const bare = openScriptedServer(era, ({ method }) =>
      method === 'tools/list'
        ? {
            result: {
              tools: [{ name: 'good', inputSchema: { type: 'object' } }, { name: 7 }],
              resultType: 'complete',
              ttlMs: 0,
              cacheScope: 'private',
            },
          }
        : undefined,
    )
    const client = new Client(INFO, era === 'modern' ? { versionNegotiation: { mode: 'auto' } } : {})
    await client.connect(bare.transport)
    await expect(client.request({ method: 'tools/list' })).rejects.toThrow(/[Ii]nvalid/)
    await client.close()
  })

  it('of the SDK’s own server come through whole, and calls cross none', async () => {
    const server = new McpServer({ name: 'real', version: '1' })
    server.registerTool('echo', { description: 'Echo' }, () => ({ content: [{ type: 'text', text: 'hi' }] }))
    const [near, far] = InMemoryTransport.createLinkedPair()
    await server.connect(far)
    const client = new Client(INFO)
    await client.connect(new CarrierTransport(near))
    expect(await list(client)).toMatchObject({ tools: [{ name: 'echo', description: 'Echo' }] })
    const results = await Promise.all(
      Array.from({ length: 50 }, async () =>
        rawResultOf(await client.callTool({ name: 'echo', arguments: {} })),
      ),
    )
    expect(results).toEqual(Array.from({ length: 50 }, () => ({ content: [{ type: 'text', text: 'hi' }] })))
    await client.close()
  })

  it('leave errors as they are', async () => {
    const { client } = await connect('legacy', {
      'tools/call': { error: { code: -32602, message: 'Unknown tool' } },
    })
    await expect(call(client)).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('Unknown tool') as string,
    })
    await client.close()
  })

  it('of a kind that an old server cannot name come back as the SDK read them', async () => {
    const { client } = await connect('legacy', {
      'tools/call': { result: { resultType: 'something_new', content: [{ type: 'text', text: 'hi' }] } },
    })
    expect(await call(client)).toMatchObject({ content: [{ type: 'text', text: 'hi' }] })
    await client.close()
  })

  it.each(['input_required', 'task'])('of a call that is not done (%s) come raw', async (resultType) => {
    const { client } = await connect('modern', {
      'tools/call': { result: { resultType, inputRequests: {} } },
    })
    expect(await call(client)).toEqual({ resultType, inputRequests: {} })
    await client.close()
  })

  it('that are no complete ones reach the SDK, which says so', async () => {
    const { client } = await connect('modern', {
      'tools/call': { result: { resultType: 'something_new' } },
      'tools/list': { result: { resultType: 'something_new' } },
    })
    await expect(call(client)).rejects.toMatchObject({ code: 'UNSUPPORTED_RESULT_TYPE' })
    await expect(list(client)).rejects.toMatchObject({ code: 'UNSUPPORTED_RESULT_TYPE' })
    await client.close()
  })
})

describe('the results that open a connection', () => {
  it.each<[string, JsonObject, object]>([
    [
      'without serverInfo',
      { protocolVersion: '2025-11-25', capabilities: {} },
      { name: 'unnamed', version: 'unknown' },
    ],
    [
      'without a version',
      { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'a', title: 'T' } },
      { name: 'a', version: 'unknown', title: 'T' },
    ],
    [
      'with a number for a version',
      { protocolVersion: '2025-11-25', serverInfo: { name: 'a', version: 2 } },
      { name: 'a', version: 'unknown' },
    ],
    [
      'with serverInfo that is text',
      { protocolVersion: '2025-11-25', capabilities: [], serverInfo: 'me' },
      { name: 'unnamed', version: 'unknown' },
    ],
    ['that are right', LEGACY_HELLO, LEGACY_HELLO.serverInfo],
  ])('%s are repaired (initialize)', async (_what, result, serverInfo) => {
    const { client } = await connect('legacy', { initialize: { result } })
    expect(client.getServerVersion()).toEqual(serverInfo)
    await client.close()
  })

  it.each<[string, JsonObject]>([
    ['with nothing but versions', { supportedVersions: ['2026-07-28'] }],
    ['with odd freshness', { ...MODERN_HELLO, ttlMs: -5, cacheScope: 'everyone' }],
    ['with freshness that is text', { ...MODERN_HELLO, ttlMs: 'x', capabilities: null }],
    ['that are right', { ...MODERN_HELLO, ttlMs: 60_000, cacheScope: 'public' }],
  ])('%s are repaired (server/discover)', async (_what, result) => {
    const { client } = await connect('modern', { 'server/discover': { result } })
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
    await client.close()
  })

  it('keep what was right', () => {
    const t = plain()
    void t.carrier.send(request(1, 'server/discover'))
    t.answer({
      id: 1,
      result: { supportedVersions: [], ttlMs: 5, cacheScope: 'public', capabilities: { tools: {} }, more: 1 },
    })
    expect(t.got).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        result: {
          supportedVersions: [],
          ttlMs: 5,
          cacheScope: 'public',
          capabilities: { tools: {} },
          more: 1,
          resultType: 'complete',
        },
      },
    ])
  })
})

describe('everything else', () => {
  it('passes through unchanged, in both directions', async () => {
    const t = plain()
    const options = { relatedRequestId: 1 }
    await t.carrier.start()
    await t.carrier.send(request(1, 'ping'))
    await t.carrier.send(request(2, 'toString'), options)
    await t.carrier.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await t.carrier.send({ jsonrpc: '2.0', id: 9, result: {} })
    await t.carrier.close()
    expect(t.inner.log).toEqual([
      'start',
      request(1, 'ping'),
      [request(2, 'toString'), options],
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 9, result: {} },
      'close',
    ])
    const messages: JsonObject[] = [
      { id: 1, result: { a: 1 } },
      { id: 2, result: { content: [] } },
      { id: 7, result: { content: [] } },
      { method: 'notifications/message', params: {} },
      { id: 3, method: 'roots/list' },
      { error: { code: 1, message: 'no id' } },
    ]
    for (const message of messages) t.answer(message)
    expect(t.got).toEqual(messages.map((message) => ({ jsonrpc: '2.0', ...message })))
  })

  it('hands on the extra of a message, errors and the end', () => {
    const { inner, carrier, got } = plain()
    const seen: unknown[] = []
    carrier.onerror = (error) => seen.push(error.message)
    carrier.onclose = () => seen.push('closed')
    const extra = { authInfo: { token: 't', clientId: 'c', scopes: [] } }
    inner.onmessage?.(request(1, 'ping'), extra)
    inner.onerror?.(new Error('odd'))
    inner.onclose?.()
    expect(got).toEqual([[request(1, 'ping'), extra]])
    expect(seen).toEqual(['odd', 'closed'])
  })

  it('says nothing where nobody listens', () => {
    const inner = new Plain()
    const carrier = new CarrierTransport(inner)
    inner.onmessage?.(request(1, 'ping'))
    inner.onerror?.(new Error('odd'))
    inner.onclose?.()
    expect(carrier.onmessage).toBeUndefined()
  })

  it('shows what the transport within is', () => {
    const http = Object.assign(new Plain(), {
      sessionId: 'abc',
      hasPerRequestStream: true,
      version: '',
      setProtocolVersion(version: string) {
        this.version = version
      },
    })
    const carrier = new CarrierTransport(http)
    expect(carrier.sessionId).toBe('abc')
    expect(carrier.hasPerRequestStream).toBe(true)
    carrier.setProtocolVersion('2026-07-28')
    expect(http.version).toBe('2026-07-28')
    expect('pid' in carrier).toBe(false)

    const stdio = Object.assign(new Plain(), { pid: 1 as number | null, stderr: null })
    const wrapped = new CarrierTransport(stdio) as unknown as typeof stdio
    expect('pid' in wrapped && 'stderr' in wrapped).toBe(true)
    stdio.pid = 4711
    expect(wrapped.pid).toBe(4711)
    expect(wrapped.stderr).toBeNull()
    expect(new CarrierTransport(stdio).sessionId).toBeUndefined()
    expect(new CarrierTransport(stdio).hasPerRequestStream).toBe(false)
    new CarrierTransport(stdio).setProtocolVersion('2025-11-25')
  })
})

describe('requests in flight', () => {
  const answerTo = (id: number): JsonObject => ({ id, result: { content: [] } })
  const isCarried = (value: unknown): boolean => JSON.stringify(value).includes('dsh/raw')

  it('are carried once: a second answer to one id is nothing special', async () => {
    const t = plain()
    await t.carrier.send(request(1, 'tools/call'))
    t.answer(answerTo(1))
    t.answer(answerTo(1))
    expect(t.got.map(isCarried)).toEqual([true, false])
  })

  it('are forgotten when they are cancelled', async () => {
    const t = plain()
    const controller = new AbortController()
    await t.carrier.send(request(1, 'tools/call'))
    await t.carrier.send(request(2, 'tools/call'), { requestSignal: controller.signal })
    await t.carrier.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await t.carrier.send({ jsonrpc: '2.0', method: 'notifications/cancelled' })
    controller.abort()
    t.answer(answerTo(1))
    t.answer(answerTo(2))
    expect(t.got.map(isCarried)).toEqual([false, false])
  })

  it('are forgotten when they fail', async () => {
    const t = plain()
    await t.carrier.send(request(1, 'tools/list'))
    t.answer({ id: 1, error: { code: -32603, message: 'no' } })
    t.answer({ id: 1, result: { tools: [] } })
    expect(t.got.map(isCarried)).toEqual([false, false])
  })

  it('are forgotten when they cannot be sent', async () => {
    const t = plain()
    t.inner.send = () => Promise.reject(new Error('the pipe is full'))
    await expect(t.carrier.send(request(1, 'tools/list'))).rejects.toThrow('the pipe is full')
    t.answer({ id: 1, result: { tools: [] } })
    expect(t.got.map(isCarried)).toEqual([false])
  })

  it('are found where the server gives the number back as text', async () => {
    const { client, server } = await connect('legacy', {})
    const pending = list(client)
    await settled()
    const { id } = server.received.at(-1) as unknown as { id: number }
    await server.send({ id: String(id), result: { tools: [{ name: 7 }] } })
    expect(await pending).toEqual({ tools: [{ name: 7 }] })
    await client.close()
  })

  it('are let go by the SDK when a call is aborted', async () => {
    const { client, server } = await connect('legacy', {})
    const controller = new AbortController()
    const pending = call(client, { signal: controller.signal })
    await settled()
    controller.abort()
    await expect(pending).rejects.toThrow()
    await settled()
    expect(server.received.at(-1)).toMatchObject({ method: 'notifications/cancelled' })
    await client.close()
  })
})
