/** Owns the tests of a connection that is not made: which failure is told, and what is tried after it. */
import { afterEach, describe, expect, it } from 'vitest'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { resolveConfig } from '../../src/config.ts'
import { openSession } from '../../src/connection/open-session.ts'
import type { Session } from '../../src/types.ts'
import { PRELUDE } from './fixtures/prelude.ts'
import { json, legacy, openServer } from './http-server.ts'
import type { TestServer } from './http-server.ts'

let server: TestServer | undefined
let session: Session | undefined

afterEach(async () => {
  await session?.close()
  await server?.close()
  server = undefined
  session = undefined
})

async function open(
  config: Readonly<Record<string, unknown>>,
  options: { readonly probeTimeoutMs?: number } = {},
): Promise<Session> {
  session = await openSession(resolveConfig({ serverName: 'demo', ...config }).spec, {
    generation: 1,
    signal: new AbortController().signal,
    clock: SYSTEM_CLOCK,
    clientVersion: '0',
    era: { verdict: () => undefined, remember: () => undefined, forget: () => undefined, now: () => 0 },
    events: { onDown: () => undefined, onToolsChanged: () => undefined, onNote: () => undefined },
    ...options,
  })
  return session
}

describe('a failed try', () => {
  it('is told by what the server said, and not by the end that follows', async () => {
    server = await openServer(({ res }) => void res.writeHead(401).end('no'))
    await expect(open({ url: server.url })).rejects.toMatchObject({
      code: 'MCP_AUTH_REQUIRED',
      data: { status: 401 },
    })
    expect(server.seen.map(({ what }) => what)).toEqual(['server/discover'])
  })

  it('is no reason for initialize where the server names the revisions it speaks', async () => {
    const data = { supported: ['2099-01-01'], requested: '2026-07-28' }
    server = await openServer((seen) => {
      json(seen, { jsonrpc: '2.0', id: seen.rpc.id, error: { code: -32022, message: 'no', data } }, {}, 400)
    })
    await expect(open({ url: server.url })).rejects.toMatchObject({
      code: 'MCP_PROTOCOL_UNSUPPORTED',
      message: expect.stringContaining('2099-01-01') as string,
    })
    expect(server.seen.map(({ what }) => what)).not.toContain('initialize')
  })

  it('is told by how the process ended where nothing else is known', async () => {
    const script = `${PRELUDE} lines(() => { console.error('no disk'); process.exit(3) })`
    await expect(open({ command: process.execPath, args: ['-e', script] })).rejects.toMatchObject({
      code: 'MCP_CONNECTION_CLOSED',
      message: 'the server process ended with exit code 3; last stderr: no disk',
    })
  })

  it('leaves no process where it is aborted before the handshake', async () => {
    const controller = new AbortController()
    const pids: number[] = []
    const given = openSession(
      resolveConfig({
        serverName: 'demo',
        command: process.execPath,
        args: ['-e', 'process.stdin.resume()'],
      }).spec,
      {
        generation: 1,
        signal: controller.signal,
        clock: SYSTEM_CLOCK,
        clientVersion: '0',
        era: { verdict: () => undefined, remember: () => undefined, forget: () => undefined, now: () => 0 },
        events: { onDown: () => undefined, onToolsChanged: () => undefined, onNote: () => undefined },
        trace: (event) => {
          if (event.kind === 'try') controller.abort(new Error('enough'))
          if (event.kind === 'started') pids.push(1)
        },
      },
    )
    await expect(given).rejects.toMatchObject({ message: expect.stringContaining('enough') as string })
    expect(pids).toEqual([])
  })

  it('is told by its own error where nothing was opened', async () => {
    await expect(open({ command: '/no/such/program' })).rejects.toMatchObject({ code: 'MCP_SPAWN_FAILED' })
  })

  it('comes after the given time where the probe is not answered', async () => {
    server = await legacy({ 'server/discover': () => undefined })
    const { facts } = await open({ url: server.url }, { probeTimeoutMs: 50 })
    expect(facts.era).toBe('legacy')
    expect(server.seen[0]?.what).toBe('server/discover')
  })
})
