/** Owns the tests of translating errors that are not ours: those of the real SDK, of real sockets, and of plain code. */
import { inspect } from 'node:util'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/client'
import type { ClientOptions } from '@modelcontextprotocol/client'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { InboundRefusal, McpError, OWN_CODE } from '../../src/errors.ts'
import type { Stage } from '../../src/errors.ts'
import { codeOfStatus, fromForeign } from '../../src/foreign.ts'
import { loadSdk, loadedSdk } from '../../src/sdk.ts'
import { openScriptedServer } from './scripted-server.ts'
import type { Answer } from './scripted-server.ts'

const INFO = { name: 'test', version: '1' }

function translate(error: unknown, stage: Stage = 'connect'): McpError {
  return fromForeign(error, {
    server: 'demo',
    stage,
    redact: (text) => text.replaceAll('s3cret', '[redacted]'),
  })
}

async function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable('it succeeded'),
    (error: unknown) => error,
  )
}

/** What connecting to a scripted server, or a request after that, throws. */
async function scripted(
  answers: Readonly<Record<string, Answer>>,
  options: ClientOptions = {},
  act: (client: Client, close: () => Promise<void>) => Promise<unknown> = async () => undefined,
): Promise<unknown> {
  const era = options.versionNegotiation === undefined ? 'legacy' : 'modern'
  const server = openScriptedServer(era, ({ method }) => answers[method])
  const client = new Client(INFO, options)
  const error = await thrownBy(client.connect(server.transport).then(() => act(client, server.close)))
  await client.close()
  return error
}

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function listenHttp(handler: RequestListener): Promise<string> {
  const server = createServer(handler)
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function listenTcp(handler: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    handler(socket)
  })
  closers.push(() => server.close())
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** What the real HTTP transport of the SDK throws for an answer. */
async function overHttp(
  status: number,
  body: string,
  headers: Record<string, string> = {},
  options: ClientOptions = {},
): Promise<unknown> {
  const host = await listenHttp((_request, response) => response.writeHead(status, headers).end(body))
  const client = new Client(INFO, options)
  return thrownBy(client.connect(new StreamableHTTPClientTransport(new URL(`http://${host}/mcp`))))
}

const PROBE: ClientOptions = { versionNegotiation: { mode: 'auto' } }
const PIN: ClientOptions = { versionNegotiation: { mode: { pin: '2026-07-28' } } }

describe('before the SDK is loaded', () => {
  it('an error is what it says', () => {
    expect(loadedSdk()).toBeUndefined()
    expect(translate(new TypeError('odd'))).toMatchObject({ code: 'MCP_CONNECTION_CLOSED', message: 'odd' })
  })

  it('the SDK is loaded once', async () => {
    const loading = loadSdk()
    expect(loadSdk()).toBe(loading)
    expect((await loading).Client).toBe(Client)
    expect(loadedSdk()).toBe(await loading)
  })
})

describe('errors of ours', () => {
  const ours = new McpError('ours', { code: 'MCP_MESSAGE_TOO_LARGE', server: 'demo', stage: 'execution' })

  it.each<[string, unknown]>([
    ['themselves', ours],
    ['as a cause', new Error('outer', { cause: new Error('middle', { cause: ours }) })],
    ['in an AggregateError', new AggregateError([new Error('x'), ours], 'all')],
    [
      'in the data of an SDK error',
      new SdkError(SdkErrorCode.EraNegotiationFailed, 'probe failed', { cause: ours }),
    ],
  ])('come back %s', (_how, error) => {
    expect(translate(error)).toBe(ours)
  })

  it('are not searched for without end', () => {
    const circle = new Error('round') as Error & { cause?: unknown }
    circle.cause = circle
    expect(translate(circle).message).toBe('round')
    let deep: unknown = ours
    for (let level = 0; level < 40; level++) deep = new Error(`level ${level}`, { cause: deep })
    expect(translate(deep).message).toBe('level 39')
  })
})

describe('errors of the SDK', () => {
  beforeAll(() => loadSdk())

  it('an answer of the server with an error', async () => {
    const error = await scripted({
      initialize: { error: { code: -32000, message: 'no licence for s3cret' } },
    })
    expect(error).toBeInstanceOf(ProtocolError)
    const translated = translate(error)
    expect(translated).toMatchObject({
      code: 'MCP_REQUEST_REJECTED',
      server: 'demo',
      stage: 'connect',
      data: { rpcCode: -32000 },
    })
    expect(translated.message).toContain('no licence for [redacted]')
    expect(translated.message).not.toContain('s3cret')
  })

  it('an answer that the server was not given', () => {
    const error = new InboundRefusal(-1, 'User rejected sampling request')
    expect(translate(error, 'execution')).toMatchObject({
      code: 'MCP_DENIED',
      message:
        'the server asked for more before it answers, and was not given it: User rejected sampling request',
    })
  })

  it('an answer that our own transport made', async () => {
    const data = { [OWN_CODE]: 'MCP_MESSAGE_TOO_LARGE', bytes: 7 }
    const error = await scripted(
      { ping: { error: { code: -32603, message: 'too large', data } } },
      {},
      (client) => client.ping(),
    )
    expect(translate(error, 'execution')).toMatchObject({ code: 'MCP_MESSAGE_TOO_LARGE', data })
  })

  it.each([
    { dshCode: 'MCP_SPAWN_FAILED' },
    { OWN_CODE: 'MCP_SPAWN_FAILED' },
    { 'Symbol(mcp-client.code)': 'MCP_SPAWN_FAILED' },
    { '@@mcp-client.code': 'MCP_SPAWN_FAILED' },
    'MCP_SPAWN_FAILED',
    null,
  ])('an answer cannot choose its code: %j', async (data) => {
    const error = await scripted(
      { ping: { error: { code: -32603, message: 'x', ...(data === null ? {} : { data }) } } },
      {},
      (client) => client.ping(),
    )
    expect(translate(error, 'execution')).toMatchObject({
      code: 'MCP_REQUEST_REJECTED',
      data: { rpcCode: -32603 },
    })
  })

  it('silence', async () => {
    const silent = (): Promise<unknown> => scripted({}, {}, (client) => client.ping({ timeout: 1 }))
    const message = 'the server did not answer in time'
    expect(translate(await silent())).toMatchObject({ code: 'MCP_CONNECT_TIMEOUT', message })
    expect(translate(await silent(), 'execution')).toMatchObject({ code: 'MCP_CALL_TIMEOUT', message })
  })

  it('an end during a request', async () => {
    const error = await scripted({}, {}, async (client, close) => {
      const pending = client.ping()
      await close()
      return pending
    })
    expect(translate(error, 'execution')).toMatchObject({
      code: 'MCP_CONNECTION_CLOSED',
      message: 'the connection to the server is closed',
    })
  })

  it('a request without a connection', async () => {
    const error = await thrownBy(new Client(INFO).ping())
    expect((error as Error).message).toBe('Not connected')
    expect(translate(error, 'execution')).toMatchObject({
      code: 'MCP_CONNECTION_CLOSED',
      message: 'the connection to the server is closed',
    })
  })

  it('a revision of another time', async () => {
    const error = await scripted({
      initialize: { result: { protocolVersion: '1999-01-01', capabilities: {}, serverInfo: INFO } },
    })
    const translated = translate(error)
    expect(translated.code).toBe('MCP_PROTOCOL_UNSUPPORTED')
    expect(translated.message).toContain('1999-01-01')
  })

  it('a server of future revisions only', async () => {
    const data = { supported: ['2031-01-01', '2032-02-02'], requested: '2026-07-28' }
    const error = await scripted(
      { 'server/discover': { error: { code: -32022, message: 'no', data } } },
      PROBE,
    )
    expect(error).toBeInstanceOf(UnsupportedProtocolVersionError)
    expect(translate(error)).toMatchObject({
      code: 'MCP_PROTOCOL_UNSUPPORTED',
      message: 'the server speaks none of our protocol revisions; it offers 2031-01-01, 2032-02-02',
      data: { supported: data.supported },
    })
  })

  it('a pinned revision that is not offered', async () => {
    const error = await scripted({ 'server/discover': { error: { code: -32601, message: 'no' } } }, PIN)
    const translated = translate(error)
    expect(translated.code).toBe('MCP_PROTOCOL_UNSUPPORTED')
    expect(translated.message).toContain('2026-07-28')
  })

  it('an end during the probe', async () => {
    const server = openScriptedServer('modern', (_request, { close }) => {
      setImmediate(() => void close())
      return undefined
    })
    const client = new Client(INFO, PROBE)
    const error = await thrownBy(client.connect(server.transport))
    expect((error as SdkError).code).toBe(SdkErrorCode.EraNegotiationFailed)
    expect(translate(error)).toMatchObject({
      code: 'MCP_CONNECTION_CLOSED',
      message: 'the server ended the connection while the protocol was probed',
    })
  })

  it('a result that is none', async () => {
    const error = await scripted({ 'tools/list': { result: { tools: 'x' } } }, {}, (client) =>
      client.request({ method: 'tools/list' }),
    )
    const translated = translate(error, 'discovery')
    expect(translated.code).toBe('MCP_RESULT_INVALID')
    expect(translated.message).toMatch(/^the server sent an invalid answer: /)
    expect(translated.message).not.toContain('\n')
  })

  it('a kind of result or a method that is not known here', async () => {
    const unknown = await scripted({ 'tools/list': { result: { resultType: 'new' } } }, PROBE, (client) =>
      client.request({ method: 'tools/list' }),
    )
    expect(translate(unknown, 'execution').code).toBe('MCP_UNSUPPORTED')
    const old = await scripted({}, {}, (client) => client.listen({ toolsListChanged: true }))
    expect(translate(old).code).toBe('MCP_UNSUPPORTED')
  })

  it.each([SdkErrorCode.CapabilityNotSupported, SdkErrorCode.InputRequiredRoundsExceeded])('%s', (code) => {
    expect(translate(new SdkError(code, 'cannot'))).toMatchObject({
      code: 'MCP_UNSUPPORTED',
      message: 'cannot',
    })
  })

  it('one that is of no class of it is read on', () => {
    expect(translate(new RangeError('too deep'))).toMatchObject({
      code: 'MCP_CONNECTION_CLOSED',
      message: 'too deep',
    })
  })
})

describe('answers over HTTP', () => {
  beforeAll(() => loadSdk())

  it.each([
    [503, 'MCP_HTTP_UNAVAILABLE'],
    [429, 'MCP_HTTP_UNAVAILABLE'],
    [403, 'MCP_FORBIDDEN'],
    [404, 'MCP_HTTP_REJECTED'],
    [409, 'MCP_HTTP_REJECTED'],
  ] as const)('%i', async (status, code) => {
    const error = await overHttp(status, 'sorry, s3cret')
    expect(error).toBeInstanceOf(SdkHttpError)
    const translated = translate(error)
    expect(translated).toMatchObject({ code, data: { status } })
    expect(translated.message).toMatch(
      new RegExp(`^the server answered HTTP ${status} .+: sorry, \\[redacted\\]$`),
    )
  })

  it('401', async () => {
    const error = await overHttp(401, '')
    expect(translate(error)).toMatchObject({ code: 'MCP_AUTH_REQUIRED', data: { status: 401 } })
    expect(translate(new UnauthorizedError())).toMatchObject({
      code: 'MCP_AUTH_REQUIRED',
      message: 'the server requires authorization (HTTP 401)',
    })
    expect(translate(await overHttp(401, '', {}, PROBE)).code).toBe('MCP_AUTH_REQUIRED')
  })

  it('503 to the probe', async () => {
    expect(translate(await overHttp(503, '', {}, PROBE))).toMatchObject({
      code: 'MCP_HTTP_UNAVAILABLE',
      data: { status: 503 },
    })
  })

  it('a web page', async () => {
    const html = { 'content-type': 'text/html' }
    expect(translate(await overHttp(200, '<html>', html))).toMatchObject({
      code: 'MCP_HTTP_REJECTED',
      message: 'the server did not answer with JSON or an event stream',
    })
    expect(translate(await overHttp(200, '<html>', html, PROBE)).code).toBe('MCP_HTTP_REJECTED')
  })

  it('without a status text or a body say the status', () => {
    const error = new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'x', { status: 418, text: ' \n' })
    expect(translate(error).message).toBe('the server answered HTTP 418')
  })

  it('have a meaning each', () => {
    const codes = [400, 401, 403, 404, 405, 408, 409, 410, 425, 429, 500, 502, 504, 599].map(codeOfStatus)
    const [auth, forbidden, rejected, unavailable] = [
      'AUTH_REQUIRED',
      'FORBIDDEN',
      'HTTP_REJECTED',
      'HTTP_UNAVAILABLE',
    ]
    expect(codes.map((code) => code.slice(4))).toEqual([
      rejected,
      auth,
      forbidden,
      rejected,
      rejected,
      unavailable,
      rejected,
      rejected,
      unavailable,
      unavailable,
      unavailable,
      unavailable,
      unavailable,
      unavailable,
    ])
  })
})

describe('errors of the network', () => {
  beforeAll(() => loadSdk())

  it('nothing listens', async () => {
    const host = await listenTcp(() => {})
    closers.splice(0).forEach((close) => close())
    const translated = translate(await thrownBy(fetch(`http://${host}/`)))
    expect(translated).toMatchObject({
      code: 'MCP_HTTP_UNAVAILABLE',
      message: `nothing listens at ${host} (ECONNREFUSED)`,
      data: { cause: 'ECONNREFUSED' },
    })
    const probed = await thrownBy(
      new Client(INFO, PROBE).connect(new StreamableHTTPClientTransport(new URL(`http://${host}/mcp`))),
    )
    expect(translate(probed).message).toBe(`nothing listens at ${host} (ECONNREFUSED)`)
  })

  it('a reset', async () => {
    const host = await listenTcp((socket) => socket.once('data', () => void socket.resetAndDestroy()))
    expect(translate(await thrownBy(fetch(`http://${host}/`)))).toMatchObject({
      code: 'MCP_HTTP_UNAVAILABLE',
      message: 'the connection was reset by the server (ECONNRESET)',
    })
  })

  it('an end without an answer', async () => {
    const host = await listenTcp((socket) => socket.once('data', () => void socket.end()))
    expect(translate(await thrownBy(fetch(`http://${host}/`)))).toMatchObject({
      code: 'MCP_HTTP_UNAVAILABLE',
      message: 'the connection was closed by the server (UND_ERR_SOCKET)',
    })
  })

  it('TLS to a plain port', async () => {
    const host = await listenHttp((_request, response) => response.end())
    const translated = translate(await thrownBy(fetch(`https://${host}/`)))
    expect(translated.code).toBe('MCP_HTTP_UNAVAILABLE')
    expect(translated.message).toMatch(/^TLS failed: /)
    expect(translated.data['cause']).toMatch(/^ERR_SSL_/)
  })

  it.each<[string, object, string]>([
    [
      'a name nobody knows',
      { code: 'ENOTFOUND', hostname: 'no.invalid' },
      'the host name is not known: no.invalid (ENOTFOUND)',
    ],
    [
      'a name server that is away',
      { code: 'EAI_AGAIN', hostname: 'a.b' },
      'the host name cannot be resolved now: a.b (EAI_AGAIN)',
    ],
    [
      'an address',
      { code: 'EHOSTUNREACH', address: '10.0.0.1', port: 80 },
      'no route to 10.0.0.1:80 (EHOSTUNREACH)',
    ],
    ['a pipe', { code: 'EPIPE' }, 'the connection was closed by the server (EPIPE)'],
    ['a certificate', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'TLS failed: inner'],
  ])('%s', (_what, facts, message) => {
    const error = new TypeError('fetch failed', { cause: Object.assign(new Error('inner'), facts) })
    expect(translate(error)).toMatchObject({ code: 'MCP_HTTP_UNAVAILABLE', message })
  })

  it('one of several addresses', () => {
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED', address: '::1', port: 1 })
    const error = new TypeError('fetch failed', { cause: new AggregateError([refused]) })
    expect(translate(error).message).toBe('nothing listens at ::1:1 (ECONNREFUSED)')
  })

  it('a code that is none of the network', () => {
    const error = Object.assign(new Error('no such file\nat line 2'), { code: 'ENOENT' })
    expect(translate(error)).toMatchObject({ code: 'MCP_CONNECTION_CLOSED', message: 'no such file' })
  })
})

describe('anything else', () => {
  it.each<[unknown, string]>([
    ['text', 'text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [{ code: 7 }, '[object Object]'],
  ])('%j', (thrown, message) => {
    expect(translate(thrown)).toMatchObject({ code: 'MCP_CONNECTION_CLOSED', message })
    expect(translate(thrown, 'execution')).toMatchObject({ code: 'MCP_RESULT_INVALID', message })
  })

  it('keeps what it came from', () => {
    const error = new Error('x', { cause: new AggregateError([new Error('y')]) })
    expect(translate(error).cause).toBe(error)
  })

  it.each([
    ['a secret', new Error('for s3cret')],
    ['a secret with a hidden character', new Error('for s3c\u200bret')],
    ['a secret in a cause', new Error('x', { cause: new Error('y', { cause: { text: 'for s3cret' } }) })],
    ['a secret in a part', new AggregateError([new Error('for s3cret')])],
    ['a flood', new Error('x'.repeat(1_000_000))],
  ])('but not where it would print %s', (_what, error) => {
    const translated = translate(error)
    expect(translated.cause).toBeUndefined()
    expect(inspect(translated, { depth: 10 })).not.toMatch(/s3c/)
  })

  it('takes no network code from the data of a server', async () => {
    await loadSdk()
    const data = { cause: { code: 'ECONNREFUSED', address: 'elsewhere', port: 1 } }
    const error = new SdkError(SdkErrorCode.EraNegotiationFailed, 'probe failed', data)
    expect(translate(error)).toMatchObject({ code: 'MCP_PROTOCOL_UNSUPPORTED', message: 'probe failed' })
  })
})

describe('the text', () => {
  const hostile = 'one\r\n\u001b[31mtwo\u001b[0m \u202ethree s3\u200bcret'

  it('of a connection is one clean line without secrets, also one that hides behind invisible characters', () => {
    expect(translate(new ProtocolError(-1, hostile)).message).toBe('one two three [redacted]')
    const long = translate(new ProtocolError(-1, 'x'.repeat(100_000))).message
    expect(long).toHaveLength(2_000)
  })

  it('of a failed call keeps its lines for the model', () => {
    expect(translate(new ProtocolError(-1, hostile), 'execution').message).toBe('one\r\ntwo three [redacted]')
  })
})
