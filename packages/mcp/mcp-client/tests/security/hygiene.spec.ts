/**
 * Owns the tests that no hidden or terminal character of a server gets out: to the model, into results, errors, lines
 * for the operator, or the status. One server puts them into every text it can send.
 */
import { fileURLToPath } from 'node:url'
import { httpRow, startHttpServer, stdioRow, stdioServer } from '@dsh-mcp/testkit'
import type { HttpServer } from '@dsh-mcp/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { openWireHost } from '../wire/wire-host.ts'
import type { WireHost } from '../wire/wire-host.ts'
import { MARKED_TOOLS, MARKS, marked, markedBehaviour, stringsOf } from './fixtures/marked.ts'

const FIXTURE = fileURLToPath(new URL('fixtures/marked.ts', import.meta.url))
const SHORT = { toolCallTimeoutMs: 400, reconnect: { enabled: false } }

let host: WireHost | undefined
let server: HttpServer | undefined
afterEach(async () => {
  await host?.close()
  await server?.close()
  host = server = undefined
})

/** The texts of a value that hold a mark, shown so that a person sees which. */
function marksIn(value: unknown): string[] {
  return stringsOf(value).filter((text) => MARKS.test(text.replaceAll('\r\n', '\n')))
}

async function openStdio(): Promise<WireHost> {
  return (host = await openWireHost(stdioRow('kit', stdioServer(FIXTURE), SHORT)))
}

async function openHttp(era: 'legacy' | 'modern', config: object = {}): Promise<WireHost> {
  server = await startHttpServer({ ...markedBehaviour(), era })
  return (host = await openWireHost(httpRow('kit', server.url, { ...SHORT, ...config })))
}

const WAYS: Readonly<Record<string, () => Promise<WireHost>>> = {
  stdio: openStdio,
  'legacy HTTP': () => openHttp('legacy'),
  'modern HTTP': () => openHttp('modern'),
}

describe.each(Object.entries(WAYS))('over %s, a marked text', (_way, open) => {
  it('is in no definition: name, description, schema, card', async () => {
    const { ctx } = await open()
    const schemas = ctx.tools.schemas()
    expect(schemas.length).toBeGreaterThan(MARKED_TOOLS.length)
    expect(marksIn(schemas)).toEqual([])
    for (const { name } of schemas) {
      const definition = ctx.tools.get(name)
      expect(marksIn(definition?.presentCall?.({ [marked('key')]: marked('value') })?.title)).toEqual([])
      expect(marksIn(definition?.output)).toEqual([])
    }
  })

  it.each(MARKED_TOOLS)('is in no outcome of a call: %s', async (name) => {
    const { call, lines, bridge } = await open()
    const result = await call(name, { args: { plain: 'x' } })
    expect(result.content.length).toBeGreaterThan(0)
    expect(marksIn(result.content)).toEqual([])
    if (result.isError) expect(marksIn(result.error)).toEqual([])
    expect(marksIn(lines)).toEqual([])
    expect(marksIn(bridge.status())).toEqual([])
  })

  it('is in no line for the operator and not in the status, which tell of the server all the same', async () => {
    const { lines, bridge } = await open()
    expect(marksIn(lines)).toEqual([])
    const status = bridge.status()
    expect(marksIn(status)).toEqual([])
    expect(status.facts?.serverInfo).toEqual({ name: 's erver', version: '1 .0', title: 'S erver' })
    expect(status.tools.quarantined.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['b roken', 's hapeless']),
    )
  })

  it('is flagged: which tools, how many characters, where', async () => {
    const { lines, bridge } = await open()
    const { flagged } = bridge.status().tools
    expect(flagged.map(({ name }) => name)).toEqual(expect.arrayContaining([...MARKED_TOOLS, 'h idden']))
    const one = flagged.find(({ name }) => name === 'h idden')
    expect(one?.hidden).toBeGreaterThan(50)
    expect(one?.places).toEqual(expect.arrayContaining(['name', 'title', 'description', 'annotations/title']))
    expect(flagged.find(({ name }) => name === 'text')?.places).not.toContain('name')
    expect(lines.filter((line) => line.includes('hidden characters were removed'))).toHaveLength(1)
  })

  it('is still in the value that a program gets', async () => {
    const { call } = await open()
    const result = await call('text', { args: { plain: 'x' } })
    expect(result).toMatchObject({ value: { content: [{ type: 'text', text: marked('text') }] } })
  })
})

describe('a marked answer of HTTP itself', () => {
  const ANSWERS: Readonly<Record<string, [number, Record<string, string>, string]>> = {
    'a page': [
      500,
      { 'content-type': 'text/html' },
      `<html><title>${marked('down')}</title>${marked('x')}</html>`,
    ],
    'an error text': [403, { 'content-type': 'text/plain' }, marked('forbidden')],
    'an error answer': [
      400,
      { 'content-type': 'application/json' },
      JSON.stringify({
        jsonrpc: '2.0',
        id: 0,
        error: { code: -32000, message: marked('no'), data: marked('d') },
      }),
    ],
    'a challenge': [
      401,
      { 'www-authenticate': 'Bearer realm="a\u009b31m", scope="b\u0085\u00ad"' },
      marked('auth'),
    ],
    'a redirect': [302, { location: 'http://evil.test/\u009b31m' }, ''],
    'another type': [200, { 'content-type': 'text/x-\u009b31m' }, marked('not json')],
    'a broken stream': [
      200,
      { 'content-type': 'text/event-stream' },
      `event: ${marked('e')}\nid: ${marked('i')}\ndata: {"broken ${marked('d')}\n\n`,
    ],
    'a wait': [429, { 'retry-after': 'soon \u009b31m' }, marked('slow down')],
    'a session id': [200, { 'content-type': 'application/json', 'mcp-session-id': 'a\u009b31m' }, '{}'],
  }

  it.each(Object.entries(ANSWERS))(
    'is clean in the outcome of a call: %s',
    async (_what, [status, headers, body]) => {
      const { call, lines, bridge } = await openHttp('legacy')
      const http = server as HttpServer
      http.intercept = (_req, res, { message }) => {
        if (message?.method !== 'tools/call') return false
        res.writeHead(status, headers).end(body)
        return true
      }
      const result = await call('text', { args: { plain: 'x' }, signal: AbortSignal.timeout(5_000) })
      expect(result.isError).toBe(true)
      expect(marksIn(result)).toEqual([])
      expect(marksIn(lines)).toEqual([])
      expect(marksIn(bridge.status())).toEqual([])
    },
  )

  it.each(Object.entries(ANSWERS))(
    'is clean in a failed start: %s',
    async (_what, [status, headers, body]) => {
      server = await startHttpServer(markedBehaviour())
      server.intercept = (_req, res, { message }) => {
        if (message?.method !== 'initialize') return false
        res.writeHead(status, headers).end(body)
        return true
      }
      const row = httpRow('kit', server.url, { ...SHORT, startup: { timeoutMs: 3_000 } })
      const failure: unknown = await openWireHost(row).then(
        () => 'it opened',
        (error: unknown) => error,
      )
      expect(failure).toBeInstanceOf(Error)
      expect(marksIn(failure)).toEqual([])
    },
  )
})
