/** Owns the tests that no configured secret leaves: not in errors, not in lines for the operator, not in the status. */
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { httpRow, startHttpServer, stdioRow, stdioServer, tool } from '@dsh-mcp/testkit'
import type { HttpServer } from '@dsh-mcp/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { textOf } from '../composition/registry-host.ts'
import { openWireHost } from './wire-host.ts'
import type { WireHost } from './wire-host.ts'

const FIXTURE = fileURLToPath(new URL('fixtures/tells-secrets.ts', import.meta.url))
const SECRET = 'tok-9f8e7d6c5b4a39281706'
const HIDDEN = '[redacted]'

let host: WireHost | undefined
let server: HttpServer | undefined
afterEach(async () => {
  await host?.close()
  await server?.close()
  host = server = undefined
})

/** Everything that leaves beside the result. */
function told(): string {
  return inspect([host?.lines, host?.bridge.status()], { depth: 10 })
}

async function openStdio(config: object = {}): Promise<WireHost> {
  const row = stdioRow('kit', stdioServer(FIXTURE, { env: { API_TOKEN: SECRET } }), {
    reconnect: { enabled: false },
    ...config,
  })
  return (host = await openWireHost(row))
}

describe('a stdio server that tells its token', () => {
  it.each([
    ['error', 'MCP_TOOL_FAILED', `token ${HIDDEN} refused`],
    ['refusal', 'MCP_REQUEST_REJECTED', `bad token ${HIDDEN}`],
    ['odd-content', 'MCP_RESULT_INVALID', 'ran, but answered with a result whose content is no list'],
    ['progress', 'MCP_CALL_TIMEOUT', `Its last progress was 1: with ${HIDDEN}`],
    ['death', 'MCP_CONNECTION_CLOSED', `panic: ${HIDDEN}`],
  ])('in its %s is not heard', async (name, code, words) => {
    const { call, lines } = await openStdio({ toolCallTimeoutMs: 300 })
    const result = await call(name)
    expect(result).toMatchObject({ isError: true, error: { info: { code } } })
    expect(textOf(result)).toContain(words)
    expect(inspect(result, { depth: 10 })).not.toContain(SECRET)
    expect(told()).not.toContain(SECRET)
    expect(told()).toContain(HIDDEN)
    if (name === 'odd-content' || name === 'death') {
      // The operator reads the sentence of the caller.
      const [message = ''] = textOf(result).replace('Error: ', '').split('\n')
      expect(lines).toContainEqual(expect.stringContaining(`(${code}): ${message}`))
    }
  })

  it('in a result that succeeded gives it to the caller: the value is the data of the tool', async () => {
    const { call } = await openStdio()
    const result = await call('result')
    expect(textOf(result)).toBe(`token ${SECRET}`)
    expect(result.value).toEqual({ content: [{ type: 'text', text: `token ${SECRET}` }] })
    expect(told()).not.toContain(SECRET)
  })
})

describe('an HTTP server that echoes the Authorization header', () => {
  const open = async (status: number, headers: Record<string, string>, method: string): Promise<WireHost> => {
    server = await startHttpServer({ tools: [tool('work')] })
    server.intercept = (_req, res, { message, headers: sent }) => {
      if (message?.method !== method) return false
      res.writeHead(status, {
        'content-type': 'text/plain',
        'x-echo': String(sent.authorization),
        ...headers,
      })
      res.end(`you sent ${String(sent.authorization)}, that is ${encodeURIComponent(SECRET)}`)
      return true
    }
    const row = httpRow('web', server.url, {
      headers: { Authorization: `Bearer ${SECRET}` },
      reconnect: { enabled: false },
    })
    return (host = await openWireHost(row))
  }
  const ANSWERS: [number, Record<string, string>][] = [
    [400, {}],
    [401, { 'www-authenticate': `Bearer realm="${SECRET}"` }],
    [403, { 'www-authenticate': `Bearer error="insufficient_scope", scope="${SECRET}"` }],
    [404, {}],
    [429, { 'retry-after': '0' }],
    [500, {}],
    [200, {}],
    [302, { location: `http://127.0.0.1:1/?token=${SECRET}` }],
  ]

  it.each(ANSWERS)('to a call, with %i', async (status, headers) => {
    const { call } = await open(status, headers, 'tools/call')
    const result = await call('work', { signal: AbortSignal.timeout(5_000) })
    expect(result.isError).toBe(true)
    expect(inspect(result, { depth: 10 })).not.toContain(SECRET)
    expect(told()).not.toContain(SECRET)
  })

  it.each(ANSWERS)('to initialize, with %i: not in the error nor in its causes', async (status, headers) => {
    const error: unknown = await open(status, headers, 'initialize').then(
      () => 'it opened',
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(Error)
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(SECRET)
  })
})
