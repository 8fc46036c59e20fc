/**
 * Owns the rows of HTTP sessions and connections: expired, restarted, away, ended.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { failed, hasTools, succeeded, told } from './checks.ts'
import { answerStatus, isCall } from './http-answers.ts'
import type { FaultRow, Scene } from './row.ts'

const HTTP = ['http'] as const
const LEGACY = ['legacy'] as const
const NO_RETRY = { reconnect: { enabled: false } } as const
const PATIENT = { toolCallTimeoutMs: 15_000 } as const

/** The stream for notifications is there: GET (legacy) or subscriptions/listen. */
function streamIsOpen(scene: Scene): Promise<void> {
  return scene.until(() => scene.http().openResponses.size > 0)
}

export const httpSessions: readonly FaultRow[] = [
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
