/** Owns the tests of one session over a real wire: what it tells its owner of late answers, its end, and the era. */
import { startHttpServer } from '@dsh-mcp/testkit'
import { describe, expect, it, vi } from 'vitest'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { resolveConfig } from '../../src/config.ts'
import { openSession } from '../../src/connection/open-session.ts'
import type { EraMemory } from '../../src/connection/session.ts'
import type { McpError } from '../../src/errors.ts'
import { PRELUDE } from './fixtures/prelude.ts'
import { event, legacy, openServer, stream } from './http-server.ts'

const SECRET = 'k3y-0f-the-house'

/** Answers a call only when it was given up, at length and with the secret in two halves. */
const LATE = `lines(({ id, method, params }) => {
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } })
  else if (method === 'tools/call') send({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: 1 } })
  else if (method === 'notifications/cancelled') {
    const secret = process.env.API_KEY
    const text = secret.slice(0, 4) + '\\u200b' + secret.slice(4) + ' ' + secret + '\\n' + 'x'.repeat(100000)
    send({ id: params.requestId, result: { content: [{ type: 'text', text }] } })
  }
})`

async function open(config: Readonly<Record<string, unknown>>, verdict?: EraMemory['verdict']) {
  const notes: string[] = []
  const downs: McpError[] = []
  const era = {
    verdict: vi.fn<EraMemory['verdict']>(verdict),
    remember: vi.fn<EraMemory['remember']>(),
    forget: vi.fn<EraMemory['forget']>(),
    now: () => 1_000,
  }
  const session = await openSession(resolveConfig({ serverName: 'demo', ...config }).spec, {
    generation: 1,
    signal: new AbortController().signal,
    clock: SYSTEM_CLOCK,
    clientVersion: '0',
    era,
    events: {
      onDown: (reason) => downs.push(reason),
      onToolsChanged: () => undefined,
      onNote: (level, text) => notes.push(`${level}: ${text}`),
    },
  })
  return { session, notes, downs, era }
}

const TOOL = { rawName: 'echo', inputSchema: { type: 'object' } }

describe('a session', () => {
  it('quotes an answer that comes too late in one short line without secrets', async () => {
    const { session, notes } = await open({
      command: process.execPath,
      args: ['-e', PRELUDE + LATE],
      env: { API_KEY: SECRET },
      protocol: 'legacy',
    })
    const controller = new AbortController()
    const onProgress = (): void => controller.abort()
    const call = session.callTool(TOOL, {}, { signal: controller.signal, onProgress })
    await expect(call).rejects.toMatchObject({ code: 'MCP_ABORTED' })
    await vi.waitFor(() => expect(notes).toHaveLength(1))
    expect(notes[0]).toMatch(
      /^debug: Received a response for an unknown message ID: .*\[redacted\] \[redacted\].*…$/,
    )
    expect(notes[0]?.length).toBeLessThan(520)
    await session.close()
  })

  it('tells the reason that its transport ended for', async () => {
    let opened = 0
    const server = await legacy({
      initialize({ res, rpc }) {
        opened += 1
        if (opened > 1) return void res.writeHead(400).end('no')
        const info = {
          protocolVersion: '2025-11-25',
          capabilities: {},
          serverInfo: { name: 't', version: '1' },
        }
        res.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' })
        res.end(JSON.stringify({ jsonrpc: '2.0', id: rpc.id, result: info }))
      },
      'tools/call': ({ res }) => void res.writeHead(404).end(),
    })
    const { session, downs } = await open({ url: server.url, protocol: 'legacy' })
    await expect(session.callTool(TOOL, {}, { signal: new AbortController().signal })).rejects.toMatchObject({
      code: 'MCP_SESSION_LOST',
    })
    await vi.waitFor(() => expect(downs).toHaveLength(1))
    expect(downs[0]).toMatchObject({
      code: 'MCP_SESSION_LOST',
      message: expect.stringContaining('the server lost the session and no new one could be made') as string,
    })
    await session.close()
    await server.close()
  })

  it('takes the end of its stream for a lost connection of the call that waits, whatever the reason', async () => {
    let say: (text: string) => void = () => undefined
    const info = { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 't', version: '1' } }
    const server = await openServer((seen) => {
      if (seen.what === 'GET') {
        say = stream(seen)
        return say('event: endpoint\ndata: /post\n\n')
      }
      seen.res.writeHead(202).end()
      if (seen.what === 'initialize') say(event({ jsonrpc: '2.0', id: seen.rpc.id, result: info }))
      if (seen.what === 'tools/call') say(`data: ${'x'.repeat(50_000)}`)
    })
    const { session, downs } = await open({
      url: server.url,
      transport: 'sse',
      limits: { messageBytes: 10_000 },
    })
    const message = 'a message is larger than limits.messageBytes allows (10000 bytes)'
    const call = session.callTool(TOOL, {}, { signal: new AbortController().signal })
    await expect(call).rejects.toMatchObject({ code: 'MCP_CONNECTION_CLOSED', message, stage: 'execution' })
    expect(downs).toMatchObject([{ code: 'MCP_MESSAGE_TOO_LARGE', message }])
    await session.close()
    await server.close()
  })

  it('calls in the modern era without asking for progress where nobody listens to it', async () => {
    const server = await startHttpServer({ era: 'modern' })
    const { session } = await open({ url: server.url, protocol: '2026-07-28' })
    const { signal } = new AbortController()
    const result = await session.callTool(TOOL, { message: 'quiet' }, { signal })
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'quiet' }] })
    const sent = server.requests.find(({ message }) => message?.method === 'tools/call')?.message
    expect(sent?.params?.['_meta']).not.toHaveProperty('progressToken')
    await session.close()
    await server.close()
  })

  it('remembers the era that a probe found, and gives a believed one no new date', async () => {
    const server = await legacy()
    const probed = await open({ url: server.url })
    expect(probed.era.remember.mock.calls).toEqual([['legacy']])
    await probed.session.close()
    const believed = await open({ url: server.url }, () => ({ era: 'legacy', at: 999 }))
    expect(believed.era.remember).not.toHaveBeenCalled()
    expect(believed.era.forget).not.toHaveBeenCalled()
    await believed.session.close()
    await server.close()
  })
})
