/**
 * Owns the rows of HTTP replies to one call: statuses, bodies, cuts.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { text } from '../behaviour.ts'
import type { Message, Params } from '../behaviour.ts'
import { failed, succeeded, untilTool } from './checks.ts'
import { answerStatus, isCall, onFirstCall, onMessage } from './http-answers.ts'
import { SHORT_CALL } from './row.ts'
import type { FaultRow, Scene } from './row.ts'

const HTTP = ['http'] as const
const LEGACY = ['legacy'] as const

function resultOf({ id }: Message, result: Params): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } })
}

async function failsAtOnce(scene: Scene, why = /./): Promise<void> {
  const outcome = await scene.call('echo', { message: 'one' })
  failed(outcome, why)
  assert.ok(outcome.ms < 8_000, `only after ${outcome.ms} ms`)
  succeeded(await scene.call('echo', { message: 'two' }), /two/)
}

const PATIENT = { toolCallTimeoutMs: 15_000 } as const
/** One that is refused once does not count as done twice. */
const callsOf = (scene: Scene): number =>
  scene.http().requests.filter(({ message }) => isCall(message)).length

export const http: readonly FaultRow[] = [
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
    config: SHORT_CALL,
    async check(scene) {
      failed(await scene.call('echo'), /2000 ms/)
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
    config: SHORT_CALL,
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
    config: SHORT_CALL,
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
]
