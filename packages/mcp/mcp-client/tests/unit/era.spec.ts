/** Owns the tests of the choice of protocol era: the first try, the next one, and how long a verdict is believed. */
import { describe, expect, it } from 'vitest'
import { VERDICT_TTL_MS, firstTry, nextTry } from '../../src/connection/era.ts'
import type { Try, Verdict } from '../../src/connection/era.ts'
import { McpError } from '../../src/errors.ts'
import type { McpErrorCode } from '../../src/errors.ts'
import type { HttpTarget, ServerSpec } from '../../src/types.ts'
import { makeSpec } from '../composition/registry-host.ts'

const NOW = 1_800_000_000_000

function http(flavour: HttpTarget['flavour'], protocol: ServerSpec['protocol'] = 'auto'): ServerSpec {
  return makeSpec({ target: { kind: 'http', flavour, url: 'http://localhost/mcp', headers: {} }, protocol })
}
const stdio = (protocol: ServerSpec['protocol'] = 'auto'): ServerSpec => makeSpec({ protocol })
const legacyAt = (at: number): Verdict => ({ era: 'legacy', at })

function failure(code: McpErrorCode, data: Record<string, unknown> = {}): McpError {
  return new McpError(code, { code, server: 'demo', stage: 'connect', data })
}

describe('firstTry', () => {
  it.each<[string, ServerSpec, Verdict | undefined, Try]>([
    ['asks', stdio(), undefined, { transport: 'stdio', negotiation: { kind: 'probe' }, remembered: false }],
    [
      'asks over HTTP',
      http('streamable-http'),
      undefined,
      { transport: 'streamable-http', negotiation: { kind: 'probe' }, remembered: false },
    ],
    [
      'asks where the transport is open',
      http('auto'),
      undefined,
      { transport: 'streamable-http', negotiation: { kind: 'probe' }, remembered: false },
    ],
    [
      'believes an old server',
      stdio(),
      legacyAt(NOW - 1),
      { transport: 'stdio', negotiation: { kind: 'legacy' }, remembered: true },
    ],
    [
      'believes it to the end',
      stdio(),
      legacyAt(NOW - VERDICT_TTL_MS + 1),
      { transport: 'stdio', negotiation: { kind: 'legacy' }, remembered: true },
    ],
    [
      'and no longer',
      stdio(),
      legacyAt(NOW - VERDICT_TTL_MS),
      { transport: 'stdio', negotiation: { kind: 'probe' }, remembered: false },
    ],
    [
      'does not believe the future',
      stdio(),
      legacyAt(NOW + 1),
      { transport: 'stdio', negotiation: { kind: 'probe' }, remembered: false },
    ],
    [
      'asks a modern one each time',
      stdio(),
      { era: 'modern', at: NOW },
      { transport: 'stdio', negotiation: { kind: 'probe' }, remembered: false },
    ],
    [
      'obeys legacy',
      stdio('legacy'),
      undefined,
      { transport: 'stdio', negotiation: { kind: 'legacy' }, remembered: false },
    ],
    [
      'obeys an old pin',
      stdio('2025-06-18'),
      legacyAt(NOW),
      { transport: 'stdio', negotiation: { kind: 'legacy', revision: '2025-06-18' }, remembered: false },
    ],
    [
      'obeys a new pin',
      stdio('2026-07-28'),
      legacyAt(NOW),
      { transport: 'stdio', negotiation: { kind: 'modern', revision: '2026-07-28' }, remembered: false },
    ],
    [
      'never asks over SSE',
      http('sse'),
      undefined,
      { transport: 'sse', negotiation: { kind: 'legacy' }, remembered: false },
    ],
    [
      'keeps an old pin over SSE',
      http('sse', '2024-11-05'),
      undefined,
      { transport: 'sse', negotiation: { kind: 'legacy', revision: '2024-11-05' }, remembered: false },
    ],
    [
      'has no new era over SSE',
      http('sse', '2026-07-28'),
      undefined,
      { transport: 'sse', negotiation: { kind: 'legacy' }, remembered: false },
    ],
  ])('%s', (_what, spec, verdict, expected) => {
    expect(firstTry(spec, verdict, NOW)).toEqual(expected)
  })
})

describe('nextTry', () => {
  const probe = (transport: Try['transport'] = 'stdio'): Try => ({
    transport,
    negotiation: { kind: 'probe' },
    remembered: false,
  })
  const legacy = (transport: Try['transport'] = 'stdio'): Try => ({
    transport,
    negotiation: { kind: 'legacy' },
    remembered: false,
  })

  const refusal = failure('MCP_PROTOCOL_UNSUPPORTED', { supported: ['2031-01-01', '2026-07-28'] })
  const modern: Try = { ...probe(), negotiation: { kind: 'modern', revision: '2026-07-28' } }

  it('takes the new era from a server that was slower than the probe and refuses the old one', () => {
    expect(nextTry(stdio(), probe(), refusal)).toEqual(modern)
  })

  it('takes it from a server that was upgraded since the verdict', () => {
    expect(nextTry(stdio(), { ...legacy(), remembered: true }, refusal)).toEqual(modern)
  })

  it.each<[string, ServerSpec, Try, McpError]>([
    ['not twice', stdio(), modern, refusal],
    ['not over SSE', http('auto'), legacy('sse'), refusal],
    ['not against a row that wants the old era', stdio('legacy'), legacy(), refusal],
    [
      'not a revision of the future',
      stdio(),
      probe(),
      failure('MCP_PROTOCOL_UNSUPPORTED', { supported: ['2031-01-01'] }),
    ],
    ['not where none is named', stdio(), probe(), failure('MCP_PROTOCOL_UNSUPPORTED')],
    [
      'not on another failure',
      stdio(),
      legacy(),
      failure('MCP_REQUEST_REJECTED', { supported: ['2026-07-28'] }),
    ],
  ])('takes the new era %s', (_what, spec, failed, error) => {
    expect(nextTry(spec, failed, error)).toBeUndefined()
  })

  it.each<[string, ServerSpec, Try, McpError, Try | undefined]>([
    ['a server that dies of the probe', stdio(), probe(), failure('MCP_CONNECTION_CLOSED'), legacy()],
    ['a server that is silent', stdio(), probe(), failure('MCP_CONNECT_TIMEOUT'), legacy()],
    [
      'a server that answers 500',
      http('streamable-http'),
      probe('streamable-http'),
      failure('MCP_HTTP_UNAVAILABLE', { status: 500 }),
      legacy('streamable-http'),
    ],
    [
      'a server that answers HTML',
      http('streamable-http'),
      probe('streamable-http'),
      failure('MCP_HTTP_REJECTED'),
      legacy('streamable-http'),
    ],
    [
      'a server that is not there',
      http('auto'),
      probe('streamable-http'),
      failure('MCP_HTTP_UNAVAILABLE', { cause: 'ECONNREFUSED' }),
      undefined,
    ],
    ['a server of another revision', stdio(), probe(), failure('MCP_PROTOCOL_UNSUPPORTED'), undefined],
    ['a command that cannot be started', stdio(), probe(), failure('MCP_SPAWN_FAILED'), undefined],
    ['an attempt that was ended', stdio(), probe(), failure('MCP_ABORTED'), undefined],
    ['a second death', stdio(), legacy(), failure('MCP_CONNECTION_CLOSED'), undefined],
    [
      '404 with the transport open',
      http('auto'),
      probe('streamable-http'),
      failure('MCP_HTTP_REJECTED', { status: 404 }),
      legacy('sse'),
    ],
    [
      '405 of initialize with the transport open',
      http('auto'),
      legacy('streamable-http'),
      failure('MCP_HTTP_REJECTED', { status: 405 }),
      legacy('sse'),
    ],
    [
      '400 with the transport open',
      http('auto'),
      legacy('streamable-http'),
      failure('MCP_HTTP_REJECTED', { status: 400 }),
      legacy('sse'),
    ],
    ['404 of SSE too', http('auto'), legacy('sse'), failure('MCP_HTTP_REJECTED', { status: 404 }), undefined],
    [
      '404 with the transport named',
      http('streamable-http'),
      legacy('streamable-http'),
      failure('MCP_HTTP_REJECTED', { status: 404 }),
      undefined,
    ],
    [
      '409',
      http('auto'),
      legacy('streamable-http'),
      failure('MCP_HTTP_REJECTED', { status: 409 }),
      undefined,
    ],
    ['401', http('auto'), probe('streamable-http'), failure('MCP_AUTH_REQUIRED', { status: 401 }), undefined],
  ])('after %s', (_what, spec, failed, error, expected) => {
    expect(nextTry(spec, failed, error)).toEqual(expected)
  })

  it('ends: no row of tries goes round', () => {
    for (const spec of [stdio(), http('auto'), http('streamable-http'), http('sse')]) {
      for (const code of ['MCP_CONNECTION_CLOSED', 'MCP_HTTP_REJECTED', 'MCP_CONNECT_TIMEOUT'] as const) {
        for (const data of [{}, { status: 404 }, { status: 500 }]) {
          let attempt: Try | undefined = firstTry(spec, undefined, NOW)
          let tries = 0
          while (attempt !== undefined && tries < 10) {
            attempt = nextTry(spec, attempt, failure(code, data))
            tries += 1
          }
          expect(tries).toBeLessThanOrEqual(3)
        }
      }
    }
  })
})
