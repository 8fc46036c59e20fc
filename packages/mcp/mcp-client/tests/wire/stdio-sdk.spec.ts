/** Owns the tests of the stdio transport under the SDK's own client: one process, both eras, errors in their places. */
import { createRequire } from 'node:module'
import { Client } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { CHILD_EDGES } from '../../src/connection/stdio-child.ts'
import type { Spawn } from '../../src/connection/stdio-child.ts'
import { OWN_CODE } from '../../src/errors.ts'
import { closePeers, openPeer } from './stdio-peer.ts'

const EVERYTHING = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
)
const newClient = () =>
  new Client({ name: 'test', version: '1' }, { capabilities: {}, versionNegotiation: { mode: 'auto' } })

afterEach(async () => {
  expect(await closePeers()).toEqual([])
})

describe('the SDK client over the stdio transport', () => {
  it('probes the era in place: one process for a real server', async () => {
    const spawn = vi.fn<Spawn>(CHILD_EDGES.spawn)
    const { transport, mark, closes } = openPeer('', { args: [EVERYTHING, 'stdio'], edges: { spawn } })
    const client = newClient()
    await client.connect(transport)
    expect(client.getProtocolEra()).toBe('legacy')
    expect(mark.alive()).toEqual([transport.pid])
    expect((await client.listTools()).tools.length).toBeGreaterThan(5)
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        client.callTool({ name: 'echo', arguments: { message: `m${index} ä` } }),
      ),
    )
    expect(results.map((result) => result.content)).toEqual(
      results.map((_, index) => [{ type: 'text', text: `Echo: m${index} ä` }]),
    )
    await client.close()
    expect([spawn.mock.calls.length, mark.alive(), closes()]).toEqual([1, [], 1])
  })

  it('fails only the call whose answer is too large, at once', async () => {
    const { transport } = openPeer(`lines(({ id, method, params }) => {
      if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }, _meta: {} })
      else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: 'x'.repeat(params.arguments.size) }] } })
      else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } })
    })`)
    const client = newClient()
    await client.connect(transport)
    const call = (size: number) => client.callTool({ name: 't', arguments: { size } })
    const [small, large] = await Promise.allSettled([call(10), call(2_000_000), call(20)])
    expect(small.status).toBe('fulfilled')
    expect(large).toMatchObject({
      status: 'rejected',
      reason: { data: { [OWN_CODE]: 'MCP_MESSAGE_TOO_LARGE' } },
    })
    expect((await call(30)).content).toHaveLength(1)
    await client.close()
  })

  it('rejects pending calls when the process dies', async () => {
    const { transport } = openPeer(`lines(({ id, method, params }) => {
      if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } })
      else if (method === 'tools/call') process.exit(9)
      else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } })
    })`)
    const client = newClient()
    await client.connect(transport)
    await expect(client.callTool({ name: 't' })).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
    expect(transport.diagnostics().exit).toBe('exit code 9')
  })
})
