/**
 * Owns the rows of HTTP at the opening of a connection: statuses, redirects, ports that are wrong.
 */
import assert from 'node:assert/strict'
import type { Message } from '../behaviour.ts'
import { startHttpServer } from '../servers/http.ts'
import type { HttpServer } from '../servers/http.ts'
import { hasNoTools, succeeded, told } from './checks.ts'
import { answerStatus, onMessage } from './http-answers.ts'
import type { FaultRow } from './row.ts'

const HTTP = ['http'] as const
const LEGACY = ['legacy'] as const
const NO_RETRY = { reconnect: { enabled: false } } as const

const isOpening = (message: Message | undefined): boolean =>
  message?.method === 'initialize' || message?.method === 'server/discover'

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

export const httpOpening: readonly FaultRow[] = [
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
]
