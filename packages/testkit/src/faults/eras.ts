/**
 * Owns the rows of the border between the eras: the probe, the fallback, the pins.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { NO_ANSWER, RpcError, tool } from '../behaviour.ts'
import { failed, hasNoTools, hasTools, succeeded, told, untilTold } from './checks.ts'
import { named } from './named.ts'
import type { FaultRow } from './row.ts'

const LEGACY = ['legacy'] as const
const MODERN = ['modern'] as const
const HTTP = ['http'] as const
const NO_RETRY = { reconnect: { enabled: false } } as const

export const eras: readonly FaultRow[] = [
  {
    id: 'modern-only',
    title: 'speaks 2026-07-28 only',
    right: 'reached in that era; initialize is not sent',
    eras: MODERN,
    async check(scene) {
      succeeded(await scene.call('echo', { message: 'modern' }), /modern/)
      assert.ok(!(await scene.received()).some(({ method }) => method === 'initialize'))
    },
  },
  {
    id: 'modern-only-slow',
    title: 'speaks 2026-07-28 only and answers the first message later than a probe waits',
    right: 'reached in that era all the same',
    eras: MODERN,
    server: () => {
      let answered = false
      return {
        async onMessage() {
          if (!answered) await delay(2_300)
          answered = true
          return false
        },
      }
    },
    config: { startup: { waitMs: 20_000, timeoutMs: 20_000 } },
    async check(scene) {
      succeeded(await scene.call('echo', { message: 'modern' }), /modern/)
    },
  },
  {
    id: 'modern-only-pinned-legacy',
    title: 'speaks 2026-07-28 only; the row is pinned to legacy',
    right: 'a clear error that says which versions the server offers',
    eras: MODERN,
    config: { protocol: 'legacy', ...NO_RETRY },
    async check(scene) {
      hasNoTools(scene)
      told(scene, /2026-07-28/)
    },
  },
  {
    id: 'legacy-only-pinned-modern',
    title: 'speaks only legacy; the row is pinned to 2026-07-28',
    right: 'a clear error; no fallback',
    eras: LEGACY,
    config: { protocol: '2026-07-28', ...NO_RETRY },
    async check(scene) {
      hasNoTools(scene)
      assert.ok(!(await scene.received()).some(({ method }) => method === 'initialize'))
      assert.ok(scene.logs.length > 0)
    },
  },
  {
    id: 'silent-on-probe',
    title: 'legacy server that never answers an unknown request before initialize',
    right: 'falls back in bounded time, in the same process',
    eras: LEGACY,
    server: () => named('silent', { methods: ['server/discover'] }),
    async check(scene) {
      hasTools(scene, ['echo'])
      assert.ok(scene.startMs < 6_000, `${scene.startMs} ms`)
      succeeded(await scene.call('echo', { message: 'old' }), /old/)
    },
  },
  {
    id: 'dies-on-probe',
    title: 'legacy server that dies on an unknown request',
    right: 'reached by a second start without the probe; a third does not probe again',
    transports: ['stdio'],
    eras: LEGACY,
    server: () => ({
      tools: [tool('echo'), tool('crash')],
      onMessage({ method }, peer) {
        if (method === 'server/discover') peer.exit(2)
        return false
      },
      calls: {
        crash(_args, peer) {
          peer.exit(3)
          return NO_ANSWER
        },
      },
    }),
    async check(scene) {
      hasTools(scene, ['echo', 'crash'])
      assert.equal(await scene.starts(), 2)
      failed(await scene.call('crash'), /./)
      await untilTold(scene, /reconnected and re-synced tools/)
      assert.equal(await scene.starts(), 3)
    },
  },
  {
    id: 'probe-500',
    title: 'legacy HTTP server that answers the probe with 500, then with HTML and 200',
    right: 'reached all the same',
    transports: HTTP,
    eras: LEGACY,
    http: () => ({
      intercept(_req, res, { message }) {
        if (message?.method !== 'server/discover') return false
        res.writeHead(500, { 'content-type': 'text/html' }).end('<html>oops</html>')
        return true
      },
    }),
    async check(scene) {
      succeeded(await scene.call('echo', { message: 'reached' }), /reached/)
    },
  },
  {
    id: 'probe-html',
    title: 'legacy HTTP server that answers the probe with an HTML page and 200',
    right: 'reached all the same',
    transports: HTTP,
    eras: LEGACY,
    http: () => ({
      intercept(_req, res, { message }) {
        if (message?.method !== 'server/discover') return false
        res.writeHead(200, { 'content-type': 'text/html' }).end('<html>welcome</html>')
        return true
      },
    }),
    async check(scene) {
      succeeded(await scene.call('echo', { message: 'reached' }), /reached/)
    },
  },
  {
    id: 'probe-400',
    title: 'legacy HTTP server that answers the probe with 400 and an empty body',
    right: 'falls back to initialize',
    transports: HTTP,
    eras: LEGACY,
    http: () => ({
      intercept(_req, res, { message }) {
        if (message?.method !== 'server/discover') return false
        res.writeHead(400).end()
        return true
      },
    }),
    async check(scene) {
      succeeded(await scene.call('echo', { message: 'reached' }), /reached/)
    },
  },
  {
    id: 'future-only',
    title: 'discover refused with -32022, supported: a future version only',
    right: 'clear error that names the versions; no fallback to initialize',
    eras: MODERN,
    server: () => ({
      discover() {
        throw new RpcError(-32022, 'Unsupported protocol version', {
          supported: ['2031-01-01'],
          requested: '?',
        })
      },
    }),
    config: NO_RETRY,
    async check(scene) {
      hasNoTools(scene)
      told(scene, /2031-01-01/)
      assert.ok(!(await scene.received()).some(({ method }) => method === 'initialize'))
    },
  },
]
