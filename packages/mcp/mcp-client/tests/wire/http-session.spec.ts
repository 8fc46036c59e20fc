/** Lost sessions, streams that are resumed, the notification stream, authorization: the long life of a connection. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { HttpSession } from '../../src/connection/http-session.ts'
import { fromForeign } from '../../src/foreign.ts'
import {
  SESSION,
  ManualClock,
  answer,
  connect,
  event,
  json,
  legacy,
  result,
  settle,
  stream,
  text,
} from './http-server.ts'
import type { Handler, Seen } from './http-server.ts'

async function refused(work: Promise<unknown>) {
  const error: unknown = await work.then(
    () => {
      throw new Error('should have failed')
    },
    (reason: unknown) => reason,
  )
  const { code, message, data } = fromForeign(error, {
    server: 'test',
    stage: 'execution',
    redact: (value) => value,
  })
  return { code, message, data }
}

const CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }

/** A server whose sessions can be forgotten: `forget()` makes it refuse those it gave so far. */
function sessions(refuse: Handler, reopen?: Handler) {
  let current = 0
  let valid = 1
  const check =
    (then: Handler): Handler =>
    (seen) => {
      if (seen.headers['mcp-session-id'] === `session-${valid}`) then(seen)
      else refuse(seen)
    }
  const initialize: Handler = (seen) => {
    current += 1
    if (current > 1 && reopen !== undefined) return reopen(seen)
    valid = current
    const info = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 't', version: '1' } }
    result(seen, info, { 'mcp-session-id': `session-${current}` })
  }
  return {
    forget: () => (valid = -1),
    table: {
      initialize,
      'notifications/initialized': check(({ res }) => void res.writeHead(202).end()),
      'tools/call': check((seen) => result(seen, text(String(seen.headers['mcp-session-id'])))),
    } as Record<string, Handler>,
  }
}

describe('a session that the server lost', () => {
  const rpcError = (message: string, id: unknown = null) => ({
    jsonrpc: '2.0',
    id,
    error: { code: -32000, message },
  })
  it.each<[string, Handler]>([
    ['404', ({ res }) => void res.writeHead(404).end()],
    ['404 with a JSON-RPC error', (seen) => json(seen, rpcError('Session not found', seen.rpc.id), {}, 404)],
    [
      '400 that says not initialized',
      (seen) => json(seen, rpcError('Bad Request: Server not initialized'), {}, 400),
    ],
    [
      '400 that says no valid session',
      (seen) => json(seen, rpcError('Bad Request: No valid session ID provided'), {}, 400),
    ],
    ['400 that says session expired', ({ res }) => void res.writeHead(400).end('The session has expired')],
    [
      '400 that says invalid session',
      ({ res }) => void res.writeHead(400).end('Invalid or expired session ID'),
    ],
  ])('by %s: one new session for all, only what was refused is sent again', async (_, refuse) => {
    const { forget, table } = sessions(refuse)
    const server = await legacy(table)
    const connection = await connect(server.url)
    expect(await connection.call()).toBe('session-1')
    forget()
    const calls = await Promise.all([connection.call(), connection.call(), connection.call()])
    expect(calls).toEqual(['session-2', 'session-2', 'session-2'])
    expect(server.count('initialize')).toBe(2)
    expect(server.count('notifications/initialized')).toBe(2)
    expect(server.count('tools/call')).toBe(7)
    expect(connection.resyncs()).toBe(1)
    expect(connection.transport.sessionId).toBe('session-2')
    const [first, second] = server.seen.filter(({ what }) => what === 'initialize')
    expect(second?.rpc).toEqual({ ...first?.rpc, id: 'dsh-session-1' })
    expect(second?.headers).not.toHaveProperty('mcp-session-id')
    expect(second?.headers).not.toHaveProperty('mcp-protocol-version')
    await server.asked('GET', 2)
    expect(connection.notes).toContain('info: the server had lost the session; a new one was made')
    expect(JSON.stringify([connection.notes, connection.errors])).not.toContain('session-1')
    await connection.end(server)
    expect(server.seen.at(-1)?.headers['mcp-session-id']).toBe('session-2')
    await server.close()
  })

  it('is made anew over an event stream, and without an id where the server gives none', async () => {
    const { forget, table } = sessions(
      ({ res }) => void res.writeHead(404).end(),
      (seen) => {
        const info = {
          protocolVersion: '2025-11-25',
          capabilities: {},
          serverInfo: { name: 't', version: '1' },
        }
        stream(seen)(event(CHANGED) + event({ jsonrpc: '2.0', id: seen.rpc.id, result: info }))
        seen.res.end()
      },
    )
    const server = await legacy({
      ...table,
      'notifications/initialized': ({ res }) => void res.writeHead(202).end(),
      'tools/call': (seen) =>
        seen.headers['mcp-session-id'] === undefined
          ? result(seen, text('none'))
          : (table['tools/call'] as Handler)(seen),
    })
    const connection = await connect(server.url)
    forget()
    expect(await connection.call()).toBe('none')
    await connection.end(server)
    expect(server.count('DELETE')).toBe(0)
    await server.close()
  })

  it.each<[string, Handler, string]>([
    [
      'refuses',
      ({ res }) => void res.writeHead(503).end('down'),
      'the server answered HTTP 503 Service Unavailable: down',
    ],
    [
      'answers with an error to',
      (seen) => json(seen, rpcError('no s3cret today', seen.rpc.id)),
      'initialize was refused: no [redacted] today',
    ],
    [
      'answers with another revision to',
      (seen) => result(seen, { protocolVersion: '2024-11-05' }),
      'the protocol revision changed from 2025-11-25 to 2024-11-05',
    ],
    ['does not answer', ({ res }) => void res.writeHead(204).end(), 'HTTP 204'],
    // One line for the log, whatever the server writes.
    [
      'refuses at length',
      ({ res }) => void res.writeHead(400).end('no\n[E] all is lost'),
      ': no [E] all is lost',
    ],
    [
      'gives a bad id to',
      (seen) => result(seen, {}, { 'mcp-session-id': 'a b' }),
      'session id that cannot be used',
    ],
  ])('that %s the new handshake: the calls fail, the transport is down', async (_, reopen, message) => {
    const { forget, table } = sessions(({ res }) => void res.writeHead(404).end(), reopen)
    const server = await legacy(table)
    const connection = await connect(server.url)
    await connection.call()
    forget()
    const failures = await Promise.all([refused(connection.call()), refused(connection.call())])
    expect(failures[0]).toMatchObject({
      code: 'MCP_SESSION_LOST',
      message: expect.stringContaining(message) as string,
    })
    expect(failures[1]).toEqual(failures[0])
    await connection.transport.close()
    expect(connection.transport.downReason?.code).toBe('MCP_SESSION_LOST')
    expect(connection.resyncs()).toBe(0)
    await connection.end(server)
    expect(server.count('DELETE')).toBe(0)
    await server.close()
  })

  it('that never answers the new handshake is given up in time', async () => {
    const clock = new ManualClock()
    const { forget, table } = sessions(
      ({ res }) => void res.writeHead(404).end(),
      () => undefined,
    )
    const server = await legacy(table)
    const connection = await connect(server.url, { clock })
    forget()
    const call = refused(connection.call())
    await server.asked('initialize', 2)
    await clock.fire(15_000)
    expect(await call).toMatchObject({
      code: 'MCP_SESSION_LOST',
      message: expect.stringContaining('within 15000 ms') as string,
    })
    await connection.end(server)
    await server.close()
  })

  it('a message is healed once: a server that refuses it for ever gets two sessions, not more', async () => {
    const { table } = sessions(({ res }) => void res.writeHead(404).end())
    const server = await legacy({
      ...table,
      'tools/call': ({ res }) => void res.writeHead(404).end('nothing here'),
    })
    const connection = await connect(server.url)
    expect(await refused(connection.call())).toMatchObject({
      code: 'MCP_HTTP_REJECTED',
      message: 'the server answered HTTP 404 Not Found: nothing here',
    })
    expect(server.count('initialize')).toBe(2)
    expect(server.count('tools/call')).toBe(2)
    await connection.end(server)
    await server.close()
  })

  it('a call that comes while a session is made waits for it, and may be cancelled meanwhile', async () => {
    const held: Seen[] = []
    const { forget, table } = sessions(
      ({ res }) => void res.writeHead(404).end(),
      (seen) => void held.push(seen),
    )
    const server = await legacy({
      ...table,
      'notifications/initialized': ({ res }) => void res.writeHead(202).end(),
      'tools/call': (seen) =>
        seen.headers['mcp-session-id'] === 'session-9'
          ? result(seen, text('healed'))
          : (table['tools/call'] as Handler)(seen),
    })
    const connection = await connect(server.url)
    forget()
    const first = connection.call()
    await server.asked('initialize', 2)
    const second = connection.call()
    const abort = new AbortController()
    const third = connection.call('echo', abort.signal)
    await settle()
    abort.abort(new Error('enough'))
    await expect(third).rejects.toThrow('enough')
    expect(server.count('tools/call')).toBe(1)
    result(held[0] as Seen, { protocolVersion: '2025-11-25' }, { 'mcp-session-id': 'session-9' })
    expect(await Promise.all([first, second])).toEqual(['healed', 'healed'])
    await connection.end(server)
    await server.close()
  })

  it('is told by the notification stream as well, when it was open before', async () => {
    const clock = new ManualClock()
    const { forget, table } = sessions(({ res }) => void res.writeHead(404).end())
    let gets = 0
    const server = await legacy({
      ...table,
      GET: (seen) => {
        gets += 1
        if (gets === 2) return seen.res.writeHead(404).end()
        stream(seen)(': open\n\n')
        return undefined
      },
    })
    const connection = await connect(server.url, { clock })
    const { res } = await server.asked('GET')
    forget()
    res.end()
    await clock.fire(1_000)
    await server.asked('GET', 3)
    expect(connection.resyncs()).toBe(1)
    expect(await connection.call()).toBe('session-2')
    await connection.end(server)
    await server.close()
  })

  it('is told by the notification stream, and no new one is made: down', async () => {
    const clock = new ManualClock()
    const refuse: Handler = ({ res }) => void res.writeHead(404).end()
    const { table } = sessions(refuse, refuse)
    let gets = 0
    const server = await legacy({
      ...table,
      GET: (seen) => {
        gets += 1
        if (gets > 1) refuse(seen)
        else stream(seen)(': open\n\n')
      },
    })
    const connection = await connect(server.url, { clock })
    const { res } = await server.asked('GET')
    res.end()
    await clock.fire(1_000)
    await server.quiet()
    await connection.transport.close()
    expect(connection.transport.downReason?.code).toBe('MCP_SESSION_LOST')
    await connection.end(server)
    await server.close()
  })

  it.each([
    ['12 KB with tabs and commas', 'a,\t'.repeat(4_000)],
    ['9 KB', 'a'.repeat(9_000)],
    ['a blank', 'a b'],
  ])('id of %s is refused clearly', async (_, id) => {
    const server = await legacy({
      initialize: (seen) =>
        result(
          seen,
          { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 't', version: '1' } },
          { 'mcp-session-id': id },
        ),
    })
    const failure = await refused(connect(server.url))
    expect(failure).toMatchObject({
      code: 'MCP_HTTP_REJECTED',
      message: expect.stringContaining(`it has ${id.length}`) as string,
    })
    await server.quiet()
    await server.close()
  })

  it('that there never was is not made anew, and one attempt is shared', async () => {
    let reopened = 0
    const session = new HttpSession('test', async () => {
      reopened += 1
    })
    await session.heal('other')
    expect(reopened).toBe(0)
    session.adopt({ 'mcp-session-id': 'one' }, { jsonrpc: '2.0', id: 1, method: 'initialize' })
    const attempt = session.heal('one')
    expect(session.heal('one')).toBe(attempt)
    expect(session.replacement).toBe(attempt)
    await attempt
    expect(session.replacement).toBeUndefined()
    expect(reopened).toBe(1)
  })

  it('changes of the id on later replies do not count', async () => {
    const server = await legacy({
      'tools/call': (seen) => result(seen, text('ok'), { 'mcp-session-id': 'evil' }),
    })
    const connection = await connect(server.url)
    await connection.call()
    await connection.call()
    expect(server.seen.at(-1)?.headers).toMatchObject(SESSION)
    await connection.end(server)
    await server.close()
  })
})

describe('a reply stream that was cut after an event with an id', () => {
  it('is resumed after the time of the server', async () => {
    const clock = new ManualClock()
    const tokens: string[] = []
    const server = await legacy({
      'tools/call': (seen) => {
        stream(seen)('id: e1\nretry: 700\ndata:\n\n')
        seen.res.end()
      },
      GET: (seen) => {
        if (seen.headers['last-event-id'] === undefined) return seen.res.writeHead(405).end()
        stream(seen)(answer(server.seen.find(({ what }) => what === 'tools/call') as Seen, 'resumed', 'e2'))
        return undefined
      },
    })
    const connection = await connect(server.url, { clock })
    const call = connection.client.callTool(
      { name: 'x', arguments: {} },
      { onresumptiontoken: (token) => tokens.push(token) },
    )
    await clock.fire(700)
    expect(await call).toEqual(text('resumed'))
    expect(server.seen.find(({ headers }) => headers['last-event-id'] === 'e1')?.headers).toMatchObject(
      SESSION,
    )
    expect(tokens).toEqual(['e1', 'e2'])
    await connection.end(server)
    await server.close()
  })

  it('goes on as long as each resumption brings something, and gives up after five that do not', async () => {
    const clock = new ManualClock()
    let gets = 0
    const server = await legacy({
      'tools/call': (seen) => {
        stream(seen)('id: e0\nretry: 1\ndata:\n\n')
        setImmediate(() => seen.res.destroy())
      },
      GET: (seen) => {
        if (seen.headers['last-event-id'] === undefined) return seen.res.writeHead(405).end()
        gets += 1
        if (gets === 2) return seen.req.socket.destroy()
        if (gets === 3) return seen.res.writeHead(503).end()
        const write = stream(seen)
        if (gets === 4) write('id: e1\ndata:\n\n')
        return seen.res.end()
      },
    })
    const connection = await connect(server.url, { clock })
    const call = refused(connection.call())
    // The floor under the server's own time, then doubled; anew after the one that brought something.
    for (const delayMs of [100, 200, 400, 800, 100, 200, 400, 800, 1600]) await clock.fire(delayMs)
    expect(await call).toMatchObject({ code: 'MCP_OUTCOME_UNKNOWN' })
    expect(gets).toBe(9)
    await connection.end(server)
    await server.close()
  })

  it.each<[string, Handler]>([
    ['refuses', ({ res }) => void res.writeHead(404).end()],
    ['answers otherwise', (seen) => json(seen, {})],
    ['uses an unknown encoding', (seen) => void stream(seen, { 'content-encoding': 'zstd' })('x')],
  ])('by a server that %s to resume it: the call fails at once', async (_, get) => {
    const clock = new ManualClock()
    const server = await legacy({
      'tools/call': (seen) => {
        stream(seen)('id: e1\ndata:\n\n')
        seen.res.end()
      },
      GET: (seen) =>
        seen.headers['last-event-id'] === undefined ? seen.res.writeHead(405).end() : get(seen),
    })
    const connection = await connect(server.url, { clock })
    const call = refused(connection.call())
    await clock.fire(1_000)
    expect(await call).toMatchObject({ code: 'MCP_OUTCOME_UNKNOWN' })
    await connection.end(server)
    await server.close()
  })

  it('cannot be resumed without a token: the reason is told', async () => {
    const clock = new ManualClock()
    let tokens = 4
    const server = await legacy({
      'tools/call': (seen) => {
        stream(seen)('id: e1\ndata:\n\n')
        seen.res.end()
      },
    })
    const authorizer = {
      headers: async () => {
        tokens -= 1
        if (tokens >= 0) return {}
        throw new Error('no token')
      },
      recover: async () => false,
    }
    const connection = await connect(server.url, { clock, http: { authorizer } })
    await server.asked('GET')
    const call = connection.call()
    const rejected = expect(call).rejects.toThrow('no token')
    await clock.fire(1_000)
    await rejected
    await connection.end(server)
    await server.close()
  })

  it('too large when resumed, or cancelled while it waits', async () => {
    const clock = new ManualClock()
    const server = await legacy({
      'tools/call': (seen) => {
        stream(seen)('id: e1\ndata:\n\n')
        seen.res.end()
      },
      GET: (seen) => {
        if (seen.headers['last-event-id'] === undefined) return seen.res.writeHead(405).end()
        stream(seen)(`data: ${'x'.repeat(3 * 1024 * 1024)}`)
        return undefined
      },
    })
    const connection = await connect(server.url, { clock })
    const call = refused(connection.call())
    await clock.fire(1_000)
    expect(await call).toMatchObject({ code: 'MCP_MESSAGE_TOO_LARGE' })
    const abort = new AbortController()
    const waiting = connection.call('echo', abort.signal)
    await clock.armedFor(1_000)
    abort.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await connection.end(server)
    await server.close()
  })
})

describe('the notification stream', () => {
  it('delivers, is opened again after a loss with the last id, and asks for a new list then', async () => {
    const clock = new ManualClock()
    const server = await legacy({ GET: (seen) => stream(seen)(event(CHANGED, `g${server.count('GET')}`)) })
    const connection = await connect(server.url, { clock })
    const changed = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    connection.client.setNotificationHandler('notifications/tools/list_changed', () =>
      changed.shift()?.resolve(),
    )
    const [one, two] = changed
    await one?.promise
    expect(connection.transport.diagnostics().listening).toBe(true)
    expect(connection.resyncs()).toBe(0)
    clock.advance(60_000)
    const { res, headers } = await server.asked('GET')
    expect(headers).toMatchObject({
      ...SESSION,
      accept: 'text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    })
    res.end()
    expect(await clock.fire(1_000)).toBe(1_000)
    await two?.promise
    expect(connection.resyncs()).toBe(1)
    expect((await server.asked('GET', 2)).headers['last-event-id']).toBe('g1')
    await connection.end(server)
    await server.close()
  })

  it('that ends at once for ever is opened ever more seldom, whatever the server names', async () => {
    const clock = new ManualClock()
    const server = await legacy({
      GET: (seen) => {
        stream(seen)('retry: 1\n\n')
        seen.res.end()
      },
    })
    const connection = await connect(server.url, { clock })
    for (let doubling = 0; doubling < 12; doubling += 1)
      await clock.fire(Math.min(60_000, 100 * 2 ** doubling))
    await connection.end(server)
    await server.close()
  })

  it('that starts an hour later is tried until then', async () => {
    const clock = new ManualClock()
    let gets = 0
    const server = await legacy({
      GET: (seen) => {
        gets += 1
        if (gets === 1) seen.res.writeHead(503).end()
        else if (gets === 2) seen.req.socket.destroy()
        else if (gets === 3) seen.res.writeHead(429).end()
        else stream(seen)(': open\n\n')
      },
    })
    const connection = await connect(server.url, { clock })
    await clock.fire(1_000)
    await clock.fire(1_900, 2_100)
    await clock.fire(3_900, 4_100)
    await server.asked('GET', 4)
    while (!connection.transport.diagnostics().listening) await settle()
    expect(connection.resyncs()).toBe(0)
    expect(connection.notes.join()).toContain('the notification stream cannot be opened')
    await connection.end(server)
    await server.close()
  })

  it.each<[string, Handler, string]>([
    ['405', ({ res }) => void res.writeHead(405).end(), ''],
    ['404 from the first', ({ res }) => void res.writeHead(404).end(), 'no notification stream (HTTP 404)'],
    ['501', ({ res }) => void res.writeHead(501).end(), 'no notification stream (HTTP 501)'],
    ['JSON', (seen) => json(seen, {}), 'is no event stream'],
    [
      'an unknown encoding',
      (seen) => void stream(seen, { 'content-encoding': 'zstd' })('x'),
      'is no event stream',
    ],
  ])('that the server answers with %s is not asked for again', async (_, get, note) => {
    const server = await legacy({ GET: get })
    const connection = await connect(server.url)
    await server.asked('GET')
    await connection.call()
    if (note !== '') while (!connection.notes.join().includes(note)) await settle()
    expect(connection.notes).toHaveLength(note === '' ? 0 : 1)
    await connection.end(server)
    expect(server.count('GET')).toBe(1)
    expect(server.count('initialize')).toBe(1)
    await server.close()
  })

  it('may carry the answer to a call, held or taken with 202; other answers and junk are ignored', async () => {
    const held: { write?: (value: string) => void } = {}
    const server = await legacy({
      GET: (seen) => {
        held.write = stream(seen)
      },
      'tools/call': (seen) => {
        const { name } = seen.rpc.params as { name: string }
        if (name === 'taken') seen.res.writeHead(202).end()
        const junk = 'data: junk\n\ndata: more junk\n\n' + event({ jsonrpc: '2.0', id: 999, result: {} })
        setImmediate(() => held.write?.(junk + answer(seen, name) + answer(seen, 'twice')))
      },
    })
    const connection = await connect(server.url)
    await server.asked('GET')
    while (!connection.transport.diagnostics().listening) await settle()
    expect(await connection.call('held')).toBe('held')
    expect(await connection.call('taken')).toBe('taken')
    await connection.end(server)
    expect(connection.errors).toEqual([])
    expect(connection.notes.filter((note) => note.includes('not JSON'))).toHaveLength(1)
    expect(connection.notes.join()).toContain('an answer to nothing that was asked')
    await server.close()
  })

  it('that a server without sessions no longer has means no lost session', async () => {
    const clock = new ManualClock()
    const info = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 't', version: '1' } }
    const server = await legacy({
      initialize: (seen) => result(seen, info),
      GET: (seen) => {
        if (server.count('GET') > 1) return seen.res.writeHead(404).end()
        stream(seen)(': open\n\n')
        return seen.res.end()
      },
    })
    const connection = await connect(server.url, { clock })
    await clock.fire(1_000)
    await server.asked('GET', 2)
    expect(await connection.call()).toBe('ok')
    await connection.end(server)
    expect(server.count('initialize')).toBe(1)
    await server.close()
  })

  it('is told of, when what follows its opening goes wrong', async () => {
    const clock = new ManualClock()
    const server = await legacy({
      GET: (seen) => {
        stream(seen)(': open\n\n')
        if (server.count('GET') === 1) seen.res.end()
      },
    })
    const onResync = () => {
      throw new Error('boom')
    }
    const connection = await connect(server.url, { clock, http: { onResync } })
    await clock.fire(1_000)
    while (connection.notes.length === 0) await settle()
    expect(connection.notes).toEqual(['debug: the notification stream failed: boom'])
    await connection.end(server)
    await server.close()
  })

  it('that cannot be asked for, because there is no token, is told', async () => {
    const server = await legacy()
    let tokens = true
    const authorizer = {
      headers: async () => {
        if (tokens) return {}
        throw new Error('no token')
      },
      recover: async () => false,
    }
    const connection = await connect(server.url, { http: { authorizer } })
    await server.asked('GET')
    tokens = false
    await expect(connection.call()).rejects.toThrow('no token')
    tokens = true
    await connection.end(server)
    await server.close()
  })

  it('that carries too large a message is told and opened again', async () => {
    const clock = new ManualClock()
    const server = await legacy({ GET: (seen) => stream(seen)(`data: ${'x'.repeat(3 * 1024 * 1024)}`) })
    const connection = await connect(server.url, { clock })
    await clock.fire(1_000)
    expect(connection.notes.join()).toContain('larger than 1048576 characters')
    await server.asked('GET', 2)
    await connection.end(server)
    await server.close()
  })

  it('asks back: requests of the server are answered', async () => {
    const server = await legacy({
      GET: (seen) =>
        stream(seen)(event({ jsonrpc: '2.0', id: 'srv-1', method: 'sampling/createMessage', params: {} })),
    })
    const connection = await connect(server.url)
    const { rpc } = await server.asked('answer')
    expect(rpc).toMatchObject({ id: 'srv-1', error: { code: -32601 } })
    await connection.end(server)
    await server.close()
  })

  it('does not keep the process alive', async () => {
    const server = await legacy({ GET: (seen) => stream(seen)(': open\n\n') })
    const script = `
      import { HttpTransport } from ${JSON.stringify(new URL('../../src/connection/http.ts', import.meta.url).href)}
      import * as sdk from '@modelcontextprotocol/client'
      const transport = new HttpTransport({ sdk, serverName: 't', url: ${JSON.stringify(server.url)}, headers: {},
        limits: { messageBytes: 1e6 }, redact: (t) => t, onNote() {}, onResync() {}, env: {} })
      await new sdk.Client({ name: 't', version: '1' }, {}).connect(transport)
      const wait = setInterval(() => { if (transport.diagnostics().listening) clearInterval(wait) }, 5)
    `
    const child = spawn(process.execPath, ['--input-type=module', '--no-warnings', '-e', script], {
      stdio: ['ignore', 'inherit', 'inherit'],
      cwd: new URL('../..', import.meta.url),
    })
    expect((await once(child, 'exit')) as unknown[]).toEqual([0, null])
    expect(server.count('GET')).toBe(1)
    await server.close()
  })
})

describe('an authorizer', () => {
  const guarded: Handler = (seen) => {
    if (seen.headers.authorization === 'Bearer 2') result(seen, text('in'))
    else seen.res.writeHead(401, { 'www-authenticate': 'Bearer scope="x"' }).end('out')
  }

  it('gives headers that win, is asked about 401, and the request is sent again', async () => {
    let token = 1
    const challenges: unknown[] = []
    const server = await legacy({
      'tools/call': guarded,
      GET: (seen) =>
        seen.headers.authorization === 'Bearer 2' ? stream(seen)(': in\n\n') : seen.res.writeHead(403).end(),
    })
    const authorizer = {
      headers: async () => ({ Authorization: `Bearer ${token}`, 'Mcp-Session-Id': 'mine' }),
      recover: async ({ status, headers }: { status: number; headers: Record<string, unknown> }) => {
        challenges.push([status, headers['www-authenticate']])
        token = 2
        return true
      },
    }
    const connection = await connect(server.url, {
      http: { headers: { authorization: 'Bearer row' }, authorizer },
    })
    await server.asked('GET', 2)
    token = 1
    expect(await connection.call()).toBe('in')
    expect(challenges).toEqual([
      [403, undefined],
      [401, 'Bearer scope="x"'],
    ])
    expect(server.seen.at(-1)?.headers).toMatchObject(SESSION)
    await connection.end(server)
    await server.close()
  })

  it('is asked twice at most, and may say no', async () => {
    let asked = 0
    const server = await legacy({ 'tools/call': guarded, GET: ({ res }) => void res.writeHead(401).end() })
    const authorizer = { headers: async () => ({}), recover: async () => ++asked > 0 }
    const connection = await connect(server.url, { http: { authorizer } })
    await server.asked('GET', 3)
    while (connection.notes.length === 0) await settle()
    asked = 0
    expect(await refused(connection.call())).toMatchObject({ code: 'MCP_AUTH_REQUIRED' })
    expect(asked).toBe(2)
    const first = server.count('GET')
    authorizer.recover = async () => false
    await connection.transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await server.asked('GET', first + 1)
    while (connection.notes.length < 2) await settle()
    expect(server.count('GET')).toBe(first + 1)
    expect(await refused(connection.call())).toMatchObject({
      code: 'MCP_AUTH_REQUIRED',
      message: expect.stringContaining('401') as string,
    })
    await connection.end(server)
    await server.close()
  })
})
