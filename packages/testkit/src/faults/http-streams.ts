/**
 * Owns the rows of event streams: replies that are streams, and the notification stream of the legacy revisions.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { NO_ANSWER, text, tool } from '../behaviour.ts'
import type { Era, Message } from '../behaviour.ts'
import { openEventStream } from '../servers/http-wire.ts'
import type { HttpServerOptions } from '../servers/http.ts'
import { failed, hasTools, succeeded, untilTool } from './checks.ts'
import { named } from './named.ts'
import { SHORT_CALL } from './row.ts'
import type { FaultRow } from './row.ts'

const HTTP = ['http'] as const
const LEGACY = ['legacy'] as const
const PATIENT = { toolCallTimeoutMs: 15_000 } as const

function answerTo({ id }: Message, said: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...text(said) } })
}

/** Each call is answered by hand on an open event stream. */
function callStream(respond: (res: ServerResponse, message: Message) => void | Promise<void>) {
  return (_era: Era): HttpServerOptions => ({
    async intercept(_req, res, { message }) {
      if (message?.method !== 'tools/call') return false
      openEventStream(res)
      await respond(res, message)
      return true
    },
  })
}

/** Like callStream, for the first call only. */
function firstCallStream(respond: (res: ServerResponse, message: Message) => void | Promise<void>) {
  return (_era: Era): HttpServerOptions => {
    let done = false
    return {
      async intercept(_req, res, { message }) {
        if (message?.method !== 'tools/call' || done) return false
        done = true
        openEventStream(res)
        await respond(res, message)
        return true
      },
    }
  }
}

export const httpStreams: readonly FaultRow[] = [
  {
    id: 'get-405',
    title: 'GET stream refused with 405 (legal)',
    right: 'works without it',
    transports: HTTP,
    eras: LEGACY,
    http: () => ({ getStream: false }),
    async check(scene) {
      succeeded(await scene.call('echo', { message: 'fine' }), /fine/)
      assert.ok(scene.http().requests.filter(({ method }) => method === 'GET').length <= 1)
    },
  },
  {
    id: 'get-hot-loop',
    title: 'GET stream opens, tells retry: 1, closes at once, for ever',
    right: 'reconnects with back-off, not in a hot loop',
    transports: HTTP,
    eras: LEGACY,
    http: () => ({
      intercept(_req, res, { method }) {
        if (method !== 'GET') return false
        openEventStream(res)
        res.end('retry: 1\n\n')
        return true
      },
    }),
    async check(scene) {
      const at = performance.now()
      await scene.until(() => performance.now() - at > 2_000)
      const streams = scene.http().requests.filter(({ method }) => method === 'GET').length
      assert.ok(streams <= 12, `${streams} streams in 2 s`)
      succeeded(await scene.call('echo', { message: 'fine' }), /fine/)
    },
  },
  {
    id: 'get-reset',
    title: 'the GET stream is cut; the list changes meanwhile',
    right: 'opened again and followed by a fresh list',
    transports: HTTP,
    eras: LEGACY,
    server: () => {
      let names = ['old']
      return {
        tools: () => names.map((name) => tool(name)),
        calls: {
          old(_args, peer) {
            names = ['new']
            setTimeout(() => peer.exit(), 50)
            return text('changed')
          },
        },
      }
    },
    async check(scene) {
      await scene.until(() => [...scene.http().sessions.values()].some(({ streams }) => streams.size > 0))
      succeeded(await scene.call('old'), /changed/)
      await untilTool(scene, 'new')
      hasTools(scene, ['new'])
    },
  },
  {
    id: 'stream-cut',
    title: 'event stream of a call cut in mid-event, no event id',
    right: 'the call fails at once, not only by timeout; it is not sent again',
    transports: HTTP,
    http: firstCallStream(async (res) => {
      res.write('data: {"jsonrpc":"2.0",')
      await delay(20)
      res.socket?.resetAndDestroy()
    }),
    config: PATIENT,
    async check(scene) {
      const outcome = await scene.call('echo')
      failed(outcome, /may have run|cut|ended/i)
      assert.ok(outcome.ms < 8_000, `only after ${outcome.ms} ms`)
      assert.equal(scene.http().requests.filter(({ message }) => message?.method === 'tools/call').length, 1)
      succeeded(await scene.call('echo', { message: 'two' }), /two/)
    },
  },
  {
    id: 'stream-ended',
    title: 'event stream of a call ends properly without the answer',
    right: 'the call fails at once',
    transports: HTTP,
    http: firstCallStream((res) => void res.end(': nothing\n\n')),
    config: PATIENT,
    async check(scene) {
      const outcome = await scene.call('echo')
      failed(outcome, /./)
      assert.ok(outcome.ms < 8_000, `only after ${outcome.ms} ms`)
      succeeded(await scene.call('echo', { message: 'two' }), /two/)
    },
  },
  {
    id: 'stream-resumed',
    title: 'event stream of a call cut after an event with id; the answer waits for Last-Event-ID',
    right: 'resumed by GET with Last-Event-ID',
    transports: HTTP,
    eras: LEGACY,
    http: () => {
      let waiting: Message | undefined
      return {
        intercept(_req, res, { method, message, headers }) {
          if (message?.method === 'tools/call') {
            waiting = message
            openEventStream(res)
            res.write('id: event-1\nretry: 50\ndata: \n\n')
            setTimeout(() => res.end(), 50)
            return true
          }
          if (method !== 'GET' || headers['last-event-id'] !== 'event-1' || waiting === undefined)
            return false
          openEventStream(res)
          res.end(`id: event-2\ndata: ${answerTo(waiting, 'resumed')}\n\n`)
          return true
        },
      }
    },
    config: PATIENT,
    async check(scene) {
      succeeded(await scene.call('echo'), /resumed/)
    },
  },
  {
    id: 'odd-stream',
    title: 'legal but odd event stream: BOM, CRLF, CR, comments, other event types, data over several lines',
    right: 'answer found',
    transports: HTTP,
    http: callStream((res, message) => {
      const answer = answerTo(message, 'found')
      const middle = answer.indexOf(',') + 1
      res.end(
        `\uFEFF: a comment\r\n\r\nevent: ping\r\ndata: {}\r\n\r\nevent: message\rdata: ${answer.slice(0, middle)}\r` +
          `data: ${answer.slice(middle)}\r\r: end\n\n`,
      )
    }),
    config: PATIENT,
    async check(scene) {
      succeeded(await scene.call('echo'), /found/)
    },
  },
  {
    id: 'stream-bytes',
    title: 'event stream of a call in pieces of three bytes, with multi-byte text',
    right: 'answer found',
    transports: HTTP,
    http: callStream(async (res, message) => {
      const bytes = Buffer.from(`data: ${answerTo(message, 'grüße 工具 🧰')}\n\n`)
      for (let at = 0; at < bytes.length; at += 3) {
        res.write(bytes.subarray(at, at + 3))
        await delay(0)
      }
      res.end()
    }),
    config: PATIENT,
    async check(scene) {
      succeeded(await scene.call('echo'), /grüße 工具 🧰/)
    },
  },
  {
    id: 'stream-stays-open',
    title: 'the answer arrives, but the stream stays open',
    right: 'answer taken at once; streams do not pile up',
    transports: HTTP,
    http: callStream((res, message) => void res.write(`data: ${answerTo(message, 'taken')}\n\n`)),
    config: PATIENT,
    async check(scene) {
      for (let index = 0; index < 10; index++) {
        const outcome = await scene.call('echo')
        succeeded(outcome, /taken/)
        assert.ok(outcome.ms < 5_000)
      }
      await scene.until(() => scene.http().openResponses.size <= 2)
    },
  },
  {
    id: 'answer-on-get',
    title: 'the answer to a call comes on the GET stream',
    right: 'settles',
    transports: HTTP,
    eras: LEGACY,
    server: () => ({
      callTool(_params, peer, { id }) {
        peer.note('asked', id)
        return NO_ANSWER
      },
    }),
    config: SHORT_CALL,
    async check(scene) {
      await scene.until(() => [...scene.http().sessions.values()].some(({ streams }) => streams.size > 0))
      const call = scene.call('echo')
      await scene.until(async () => (await scene.notes('asked')).length > 0)
      const [id] = await scene.notes('asked')
      for (const { streams } of scene.http().sessions.values()) {
        for (const stream of streams) {
          stream.write(`data: ${answerTo({ id: id as number }, 'by the other way')}\n\n`)
        }
      }
      const { isError, text: said } = await call
      if (!isError) assert.match(said, /by the other way/)
    },
  },
  {
    id: 'many-streams',
    title: '50 concurrent calls by event stream',
    right: 'all answered, none crossed',
    transports: HTTP,
    server: () => named('delayed', { ms: 50 }),
    http: () => ({ reply: 'sse' }),
    config: { ...PATIENT, limits: { concurrency: 50 } },
    async check(scene) {
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, index) => scene.call('echo', { message: `number ${index}.` })),
      )
      outcomes.forEach((outcome, index) => succeeded(outcome, new RegExp(`number ${index}\\.`)))
    },
  },
  {
    id: 'endless-event',
    title: 'an event stream of a call that never ends its event',
    right: 'the reader stops at its cap; clear error; memory bounded',
    transports: HTTP,
    http: firstCallStream(async (res) => {
      const chunk = Buffer.alloc(1 << 20, 'x')
      res.write('data: {"jsonrpc":"2.0","result":"')
      for (let left = 64; left > 0 && !res.destroyed; left--) {
        if (!res.write(chunk))
          await Promise.race([delay(100), new Promise((resolve) => res.once('drain', resolve))])
      }
      res.end()
    }),
    config: { ...PATIENT, limits: { messageBytes: 4 * 2 ** 20 } },
    async check(scene) {
      failed(await scene.call('echo'), /4194304|messageBytes/)
      succeeded(await scene.call('echo', { message: 'two' }), /two/)
    },
  },
  {
    id: 'keep-alive-comments',
    title: 'comments for a while before the answer',
    right: 'no answer is made of them; the silence limit holds or the answer is taken',
    transports: HTTP,
    http: callStream(async (res, message) => {
      for (let index = 0; index < 5; index++) {
        res.write(': keep alive\n\n')
        await delay(50)
      }
      res.end(`data: ${answerTo(message, 'at last')}\n\n`)
    }),
    config: PATIENT,
    async check(scene) {
      succeeded(await scene.call('echo'), /at last/)
    },
  },
]
