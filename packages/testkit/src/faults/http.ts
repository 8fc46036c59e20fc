/**
 * Owns the rows of HTTP: statuses, redirects, bodies, sessions and sockets.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { text } from '../behaviour.ts'
import type { Message, Params } from '../behaviour.ts'
import { startHttpServer } from '../servers/http.ts'
import type { HttpServer } from '../servers/http.ts'
import { failed, hasNoTools, hasTools, succeeded, told, untilTool } from './checks.ts'
import type { FaultRow, HttpFault, Scene } from './row.ts'

const HTTP = ['http'] as const
const LEGACY = ['legacy'] as const
const NO_RETRY = { reconnect: { enabled: false } } as const

const isCall = (message: Message | undefined): boolean => message?.method === 'tools/call'

const isOpening = (message: Message | undefined): boolean =>
  message?.method === 'initialize' || message?.method === 'server/discover'

/** Answer these messages by hand; the rest is healthy. */
function onMessage(
  matches: (message: Message | undefined) => boolean,
  respond: (
    res: ServerResponse,
    message: Message,
    headers: Readonly<Record<string, unknown>>,
  ) => void | Promise<void>,
): HttpFault {
  return () => ({
    async intercept(_req, res, { message, headers }) {
      if (message === undefined || !matches(message)) return false
      await respond(res, message, headers)
      return true
    },
  })
}

/** The first call only. */
function onFirstCall(respond: (res: ServerResponse, message: Message) => void | Promise<void>): HttpFault {
  return (era) => {
    let done = false
    const isFirst = (message: Message | undefined): boolean => {
      if (!isCall(message) || done) return false
      done = true
      return true
    }
    return onMessage(isFirst, respond)(era)
  }
}

function answerStatus(status: number, body = 'no', type = 'text/plain') {
  return (res: ServerResponse): void => void res.writeHead(status, { 'content-type': type }).end(body)
}

function resultOf({ id }: Message, result: Params): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } })
}

/** Each status to the opening request: named, and not asked for ever. */
function refusedOpening(status: number, body: string, type: string): FaultRow {
  return {
    id: `opening-${status}`,
    title: `every request answered with HTTP ${status}`,
    right: 'clear failure that names the status; bounded retries',
    transports: HTTP,
    http: onMessage(() => true, answerStatus(status, body, type)),
    config: { reconnect: { initialDelayMs: 20, maxDelayMs: 40, maxAttempts: 2 } },
    async check(scene) {
      await scene.until(() => scene.logs.some((line) => /giving up|for good|authorization/.test(line)))
      hasNoTools(scene)
      told(scene, new RegExp(String(status)))
      assert.ok(scene.http().requests.length <= 12, `${scene.http().requests.length} requests`)
      assert.ok(!scene.logs.some((line) => line.length > 3_000), 'a long line of log')
    },
  }
}

/** Every request redirected to another origin that would take it: nothing may arrive there. */
function redirectedElsewhere(status: number): FaultRow {
  const others = new Map<string, HttpServer>()
  return {
    id: `redirect-${status}-elsewhere`,
    title: `${status} to another origin`,
    right: 'not followed: no credential, no body to the other origin; the error names the redirect',
    transports: HTTP,
    http: (era) => ({
      async intercept(_req, res) {
        const other = others.get(era) ?? (await startHttpServer({ era }))
        others.set(era, other)
        res.writeHead(status, { location: other.url }).end()
        return true
      },
    }),
    config: NO_RETRY,
    async check(scene) {
      const other = others.get(scene.era)
      await other?.close()
      hasNoTools(scene)
      told(scene, /redirect/i)
      assert.deepEqual(other?.requests, [])
    },
  }
}

async function failsAtOnce(scene: Scene, why = /./): Promise<void> {
  const outcome = await scene.call('echo', { message: 'one' })
  failed(outcome, why)
  assert.ok(outcome.ms < 8_000, `only after ${outcome.ms} ms`)
  succeeded(await scene.call('echo', { message: 'two' }), /two/)
}

/** The stream for notifications is there: GET (legacy) or subscriptions/listen. */
function streamIsOpen(scene: Scene): Promise<void> {
  return scene.until(() => scene.http().openResponses.size > 0)
}

const PATIENT = { toolCallTimeoutMs: 15_000 } as const
/** One that is refused once does not count as done twice. */
const callsOf = (scene: Scene): number =>
  scene.http().requests.filter(({ message }) => isCall(message)).length

export const http: readonly FaultRow[] = [
  refusedOpening(503, '<html>down</html>', 'text/html'),
  refusedOpening(500, 'boom', 'text/plain'),
  refusedOpening(404, `<html>${'not here '.repeat(2_000)}</html>`, 'text/html'),
  refusedOpening(409, '{"error":"conflict"}', 'application/json'),
  refusedOpening(400, '', 'text/plain'),
  refusedOpening(403, 'forbidden', 'text/plain'),
  refusedOpening(429, 'slow down', 'text/plain'),
  redirectedElsewhere(302),
  redirectedElsewhere(307),
  redirectedElsewhere(308),
  {
    id: 'opening-401',
    title: '401 whose resource_metadata points at another origin',
    right: 'clear auth error; the other origin is not asked when no OAuth is configured',
    transports: HTTP,
    http: onMessage(
      () => true,
      (res) =>
        void res
          .writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="http://localhost:9/meta"' })
          .end('{}'),
    ),
    async check(scene) {
      hasNoTools(scene)
      told(scene, /authorization/)
      assert.ok(scene.http().requests.length <= 4, `${scene.http().requests.length} requests`)
      assert.ok(!scene.logs.some((line) => line.includes('ECONNREFUSED')), scene.logs.join('\n'))
    },
  },
  {
    id: 'redirect-same-origin',
    title: '301 from /mcp to /mcp2 on the same origin',
    right: 'followed with the method kept, or a clear error that names the new place',
    transports: HTTP,
    http: () => ({
      path: '/mcp2',
      intercept(_req, res, { path }) {
        if (path !== '/mcp') return false
        res.writeHead(301, { location: '/mcp2' }).end()
        return true
      },
    }),
    config: NO_RETRY,
    async check(scene) {
      if (scene.tools().length === 0) told(scene, /mcp2/)
      else succeeded(await scene.call('echo', { message: 'moved' }), /moved/)
    },
  },
  {
    id: 'redirect-for-ever',
    title: '307 to itself for ever',
    right: 'bounded',
    transports: HTTP,
    http: onMessage(
      () => true,
      (res) => void res.writeHead(307, { location: '/mcp' }).end(),
    ),
    config: NO_RETRY,
    async check(scene) {
      hasNoTools(scene)
      assert.ok(scene.http().requests.length <= 100, `${scene.http().requests.length} requests`)
      assert.ok(scene.logs.length > 0)
    },
  },
  {
    id: 'session-expires',
    title: 'the session expires: 404 to its id',
    right: 'a new initialize without session id; the refused call is sent again',
    transports: HTTP,
    eras: LEGACY,
    async check(scene) {
      const before = [...scene.http().sessions.keys()]
      scene.http().sessions.clear()
      succeeded(await scene.call('echo', { message: 'healed' }), /healed/)
      const opened = scene.http().requests.filter(({ message }) => message?.method === 'initialize')
      assert.equal(opened.length, 2)
      assert.equal(opened[1]?.headers['mcp-session-id'], undefined)
      assert.notDeepEqual([...scene.http().sessions.keys()], before)
    },
  },
  {
    id: 'session-expires-many',
    title: 'the session expires under 20 concurrent calls',
    right: 'one shared re-initialisation; all answered',
    transports: HTTP,
    eras: LEGACY,
    config: PATIENT,
    async check(scene) {
      scene.http().sessions.clear()
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) => scene.call('echo', { message: `number ${index}.` })),
      )
      outcomes.forEach((outcome, index) => succeeded(outcome, new RegExp(`number ${index}\\.`)))
      assert.equal(scene.http().requests.filter(({ message }) => message?.method === 'initialize').length, 2)
    },
  },
  {
    id: 'restart',
    title: 'the server goes away and returns on the same port, sessions forgotten, between two calls',
    right: 'unnoticed by the next call',
    transports: HTTP,
    async check(scene) {
      succeeded(await scene.call('echo', { message: 'before' }), /before/)
      await streamIsOpen(scene)
      await scene.http().restart()
      // The client opens its stream again by itself: then it has seen that its connections are gone.
      const before = scene.http().requests.length
      await scene.until(() => scene.http().requests.length > before)
      succeeded(await scene.call('echo', { message: 'after' }), /after/)
    },
  },
  {
    id: 'away',
    title: 'the server process goes away for a while',
    right: 'calls fail clearly meanwhile; work again afterwards',
    transports: HTTP,
    async check(scene) {
      await scene.http().close()
      failed(await scene.call('echo'), /nothing listens at 127|cut/)
      await scene.until(async () => /nothing listens at 127/.test((await scene.call('echo')).text))
      await scene.http().restart()
      await scene.until(async () => !(await scene.call('echo', { message: 'back' })).isError)
    },
  },
  {
    id: 'call-502',
    title: 'one call answered with 502 and a 2 MB HTML page',
    right: 'short clear error; a call is not repeated blindly',
    transports: HTTP,
    http: onFirstCall(answerStatus(502, `<html>${'x'.repeat(2 * 2 ** 20)}</html>`, 'text/html')),
    config: PATIENT,
    async check(scene) {
      const outcome = await scene.call('echo')
      failed(outcome, /502/)
      assert.ok(outcome.text.length < 10_000, `${outcome.text.length} characters`)
      assert.equal(callsOf(scene), 1)
      await scene.until(async () => !(await scene.call('echo', { message: 'two' })).isError)
    },
  },
  {
    id: 'echoed-secret',
    title: 'an error body echoes the Authorization header, with ANSI and line breaks',
    right: 'configured secrets cut out of errors and logs; no raw control characters in log lines',
    transports: HTTP,
    http: onMessage(
      isCall,
      (res, _message, { authorization }) =>
        void res
          .writeHead(500, { 'content-type': 'text/plain' })
          .end(`\u001b[31mbad ${String(authorization)}\r\nERROR forged`),
    ),
    async check(scene) {
      failed(await scene.call('echo'), /500/)
      failed(await scene.call('echo'), /500|not connected/)
    },
  },
  {
    id: 'opening-echoes-secret',
    title: 'the refusal of the opening echoes the Authorization header',
    right: 'cut out of the log',
    transports: HTTP,
    http: onMessage(
      isOpening,
      (res, _message, { authorization }) =>
        void res
          .writeHead(403, { 'content-type': 'text/plain' })
          .end(`\u001b[31mnot for ${String(authorization)}\r\nforged`),
    ),
    config: NO_RETRY,
    async check(scene) {
      hasNoTools(scene)
      told(scene, /403/)
    },
  },
  {
    id: 'reset-in-body',
    title: 'connection reset in the middle of a JSON body',
    right: 'the call fails at once; the next works',
    transports: HTTP,
    http: onFirstCall(async (res) => {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' })
      res.write('{"jsonrpc":"2.0",')
      await delay(20)
      res.socket?.resetAndDestroy()
    }),
    config: PATIENT,
    check: (scene) => failsAtOnce(scene),
  },
  {
    id: 'reset-before-headers',
    title: 'connection reset before any header',
    right: 'the call fails at once as one that may have run; it is not repeated',
    transports: HTTP,
    http: onFirstCall((res) => void res.socket?.resetAndDestroy()),
    config: PATIENT,
    async check(scene) {
      await failsAtOnce(scene)
      assert.equal(callsOf(scene), 2)
    },
  },
  {
    id: 'headers-never-sent',
    title: 'call accepted, headers never sent',
    right: 'the call times out; the socket is let go',
    transports: HTTP,
    http: onFirstCall(() => {}),
    async check(scene) {
      failed(await scene.call('echo'), /800 ms/)
      await scene.until(() => scene.http().openResponses.size <= 1)
      succeeded(await scene.call('echo', { message: 'two' }), /two/)
    },
  },
  {
    id: 'empty-200',
    title: '200 with empty body and no type',
    right: 'clear error, at once',
    transports: HTTP,
    http: onFirstCall((res) => void res.writeHead(200).end()),
    config: PATIENT,
    check: (scene) => failsAtOnce(scene),
  },
  {
    id: 'html-200',
    title: '200 with an HTML page to a call',
    right: 'clear error, at once',
    transports: HTTP,
    http: onFirstCall(answerStatus(200, '<html>please log in</html>', 'text/html')),
    config: PATIENT,
    check: (scene) => failsAtOnce(scene),
  },
  {
    id: 'broken-json-200',
    title: '200 with JSON that is cut',
    right: 'clear error, at once',
    transports: HTTP,
    http: onFirstCall(answerStatus(200, '{"jsonrpc":"2.0","id":', 'application/json')),
    config: PATIENT,
    check: (scene) => failsAtOnce(scene),
  },
  {
    id: 'no-content',
    title: '204 to a request',
    right: 'clear error, at once',
    transports: HTTP,
    http: onFirstCall((res) => void res.writeHead(204).end()),
    config: PATIENT,
    check: (scene) => failsAtOnce(scene),
  },
  {
    id: 'accepted-only',
    title: '202 to a request, and nothing after it',
    right: 'settles with an error in time',
    transports: HTTP,
    http: onFirstCall((res) => void res.writeHead(202).end()),
    check: (scene) => failsAtOnce(scene),
  },
  {
    id: 'other-id',
    title: 'JSON reply carries another id',
    right: 'not taken; settles',
    transports: HTTP,
    http: onFirstCall((res, message) =>
      answerStatus(200, resultOf({ ...message, id: 987654 }, text('not yours')), 'application/json')(res),
    ),
    async check(scene) {
      const outcome = await scene.call('echo')
      failed(outcome, /./)
      assert.doesNotMatch(outcome.text, /not yours/)
      succeeded(await scene.call('echo', { message: 'two' }), /two/)
    },
  },
  {
    id: 'gzip-bomb',
    title: '200 KB of gzip that inflate to 200 MB',
    right: 'inflated size capped',
    transports: HTTP,
    eras: LEGACY,
    http: () => {
      const bomb = gzipSync(Buffer.alloc(60 * 2 ** 20, 0x20), { level: 1 })
      let done = false
      return {
        intercept(_req, res, { message }) {
          if (!isCall(message) || done) return false
          done = true
          res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb)
          return true
        },
      }
    },
    config: { ...PATIENT, limits: { messageBytes: 4 * 2 ** 20 } },
    async check(scene) {
      const before = process.memoryUsage().rss
      await failsAtOnce(scene, /4194304|messageBytes/)
      assert.ok(process.memoryUsage().rss - before < 250 * 2 ** 20)
    },
  },
  {
    id: 'large-session-id',
    title: 'session id of 8 KB with commas',
    right: 'used verbatim or refused clearly; no crash',
    transports: HTTP,
    eras: LEGACY,
    http: () => {
      const id = 'a,b;'.repeat(2_000)
      return {
        sessions: false,
        intercept(_req, res, { message, headers }) {
          if (message?.method === 'initialize') res.setHeader('mcp-session-id', id)
          else if (headers['mcp-session-id'] !== id) {
            answerStatus(400, 'not the id')(res)
            return true
          }
          return false
        },
      }
    },
    config: NO_RETRY,
    async check(scene) {
      if (scene.tools().length === 0) told(scene, /session|header/i)
      else succeeded(await scene.call('echo', { message: 'kept' }), /kept/)
    },
  },
  {
    id: 'changing-session-id',
    title: 'the server changes Mcp-Session-Id on later replies',
    right: 'the id is assigned at initialize only',
    transports: HTTP,
    eras: LEGACY,
    http: () => ({
      intercept(_req, res, { message }) {
        if (message?.method !== 'initialize') res.setHeader('mcp-session-id', 'another')
        return false
      },
    }),
    async check(scene) {
      succeeded(await scene.call('echo', { message: 'one' }), /one/)
      succeeded(await scene.call('echo', { message: 'two' }), /two/)
      const [id] = scene.http().sessions.keys()
      for (const { message, headers } of scene.http().requests) {
        if (isCall(message)) assert.equal(headers['mcp-session-id'], id)
      }
    },
  },
  {
    id: 'plain-port',
    title: 'https URL to a plain http port',
    right: 'clear failure, fast',
    transports: HTTP,
    eras: LEGACY,
    config: NO_RETRY,
    url: (url) => url.replace('http:', 'https:'),
    async check(scene) {
      hasNoTools(scene)
      assert.ok(scene.startMs < 5_000, `${scene.startMs} ms`)
      told(scene, /SSL|TLS|https/i)
    },
  },
  {
    id: 'dead-port',
    title: 'nothing listens on the port',
    right: 'clear failure that names host and port, fast; bounded retries',
    transports: HTTP,
    eras: LEGACY,
    config: { reconnect: { initialDelayMs: 20, maxDelayMs: 40, maxAttempts: 2 } },
    url: () => 'http://127.0.0.1:9/mcp',
    async check(scene) {
      await scene.until(() => scene.logs.some((line) => line.includes('giving up')))
      hasNoTools(scene)
      told(scene, /nothing listens at 127\.0\.0\.1:9/)
    },
  },
  {
    id: 'kept-alive-drop',
    title: 'drops each kept-alive connection 3 ms after the reply, without saying so',
    right: 'no host crash; each call succeeds or fails clearly at once',
    transports: HTTP,
    http: () => ({
      intercept(_req, res, { message }) {
        const { socket } = res
        if (isCall(message)) res.on('finish', () => setTimeout(() => socket?.resetAndDestroy(), 3))
        return false
      },
    }),
    config: PATIENT,
    async check(scene) {
      let failures = 0
      for (let index = 0; index < 20; index++) {
        const outcome = await scene.call('echo', { message: `m${index}` })
        if (outcome.isError) failures += 1
        assert.ok(outcome.ms < 8_000)
        await delay(index % 7)
      }
      assert.ok(failures <= 10, `${failures} of 20 calls failed`)
    },
  },
  {
    id: 'cool-down',
    title: '429 with Retry-After: 1 to a call',
    right: 'settles clearly or waits within its limit; a later call works',
    transports: HTTP,
    http: onFirstCall(
      (res) => void res.writeHead(429, { 'retry-after': '1', 'content-type': 'text/plain' }).end('slow'),
    ),
    config: PATIENT,
    async check(scene) {
      const outcome = await scene.call('echo', { message: 'one' })
      if (outcome.isError) assert.match(outcome.text, /429/)
      await untilTool(scene, 'echo')
      succeeded(await scene.call('echo', { message: 'two' }), /two/)
    },
  },
  {
    id: 'delete-405',
    title: 'DELETE of the session refused with 405, GET refused too',
    right: 'works without them; disposal settles',
    transports: HTTP,
    eras: LEGACY,
    http: () => ({
      intercept(_req, res, { method }) {
        if (method === 'POST') return false
        res.writeHead(405).end()
        return true
      },
    }),
    async check(scene) {
      hasTools(scene, ['echo'])
      succeeded(await scene.call('echo', { message: 'fine' }), /fine/)
      await scene.dispose()
      const deletes = scene.http().requests.filter(({ method }) => method === 'DELETE')
      assert.equal(deletes.length, 1)
    },
  },
  {
    id: 'delete-hangs',
    title: 'DELETE of the session is never answered',
    right: 'disposal settles within its limit',
    transports: HTTP,
    eras: LEGACY,
    http: () => ({ intercept: (_req, _res, { method }) => method === 'DELETE' }),
    async check(scene) {
      succeeded(await scene.call('echo', { message: 'fine' }), /fine/)
      await scene.dispose()
    },
  },
]
