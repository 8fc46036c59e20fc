/** The scripted stdio server against the real SDK client, in both eras. */
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CONTENT_TOOLS, expectNoLeftovers, leftovers, received, stdioServer, waitFor } from '../src/index.ts'
import type { Leftovers, StdioServer } from '../src/index.ts'

let before: Leftovers
const clients: Client[] = []

beforeEach(() => {
  before = leftovers()
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  await expectNoLeftovers(before)
})

async function connect(server: StdioServer, mode: 'auto' | 'legacy' = 'auto'): Promise<Client> {
  const client = new Client({ name: 'spec', version: '1' }, { versionNegotiation: { mode } })
  clients.push(client)
  const { command, args, env } = server
  await client.connect(
    new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr: 'ignore' }),
  )
  return client
}

describe('a scripted stdio server', () => {
  it.each(['legacy', 'modern', 'dual'] as const)('%s: lists and calls', async (era) => {
    const server = stdioServer('healthy', { era, env: { PLANTED: 'yes' } })
    const client = await connect(server)
    expect(client.getProtocolEra()).toBe(era === 'legacy' ? 'legacy' : 'modern')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['echo'])
    const { content } = await client.callTool({ name: 'echo', arguments: { message: 'hi' } })
    expect(content).toEqual([{ type: 'text', text: 'hi' }])
    await expect(client.callTool({ name: 'none' })).rejects.toThrow('Unknown tool: none')
    const start = await waitFor(server.journal, ({ kind }) => kind === 'start')
    expect(start.env?.['PLANTED']).toBe('yes')
    await waitFor(server.journal, received('tools/call', 'echo'))
  })

  it.each(['legacy', 'modern'] as const)('%s: says that its list changed', async (era) => {
    const client = await connect(stdioServer('settable-list', { era }))
    const changed = Promise.withResolvers<void>()
    client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve())
    if (era === 'modern') await client.listen({ toolsListChanged: true })
    await client.callTool({ name: 'set', arguments: { names: ['x', 'y'] } })
    await changed.promise
    const { tools } = await client.listTools(undefined, { cacheMode: 'refresh' })
    expect(tools.map(({ name }) => name)).toEqual(['set', 'x', 'y'])
  })

  it('pages its list', async () => {
    const server = stdioServer('healthy', { tools: ['a', 'b', 'c'], pageSize: 2 })
    const client = await connect(server, 'legacy')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    const journal = await server.journal()
    expect(journal.filter(received('tools/list'))).toHaveLength(2)
  })

  it('hears of a cancelled call', async () => {
    const server = stdioServer('never-answers')
    const client = await connect(server, 'legacy')
    const call = client.callTool({ name: 'hang' }, { timeout: 100 })
    await expect(call).rejects.toThrow('timed out')
    await waitFor(server.journal, received('notifications/cancelled'))
  })

  it('counts its starts', async () => {
    const server = stdioServer('first-start-exits')
    await expect(connect(server, 'legacy')).rejects.toThrow()
    await connect(server, 'legacy')
    const starts = (await server.journal()).filter(({ kind }) => kind === 'start')
    expect(starts.map((entry) => entry.starts)).toEqual([1, 2])
  })

  it('answers in single bytes and through noise', async () => {
    for (const behaviour of ['byte-by-byte', 'noise'] as const) {
      const client = await connect(stdioServer(behaviour), 'legacy')
      const { content } = await client.callTool({ name: 'echo', arguments: { message: 'x' } })
      expect(content[0]?.type).toBe('text')
    }
  })

  it('asks the client back', async () => {
    const client = await connect(stdioServer('asks-back'), 'legacy')
    const { content } = await client.callTool({ name: 'echo', arguments: { message: 'x' } })
    const [first] = content
    const answers = JSON.parse(first?.type === 'text' ? first.text : '') as { error?: { code: number } }[]
    expect(answers.map(({ error }) => error?.code)).toEqual([-32601, -32601, -32601, -32601])
  })

  it('leaves a helper that outlives it', async () => {
    const server = stdioServer('leaves-a-helper')
    const client = await connect(server, 'legacy')
    const call = client.callTool({ name: 'crash' })
    // The SDK's own transport waits for the pipe, which the helper holds.
    call.catch(() => {})
    const note = await waitFor(server.journal, ({ name }) => name === 'helper')
    const pids = [Number(note.data)]
    await waitFor(server.journal, ({ kind }) => kind === 'exit')
    await expect(expectNoLeftovers(leftovers(), { pids, patienceMs: 50 })).rejects.toThrow('Left behind')
    process.kill(Number(note.data), 'SIGKILL')
    await expect(call).rejects.toThrow()
    await expectNoLeftovers(before, { pids })
  })

  it('has a result of every kind', async () => {
    const client = await connect(stdioServer('content-kinds'), 'legacy')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(CONTENT_TOOLS)
    const { content } = await client.callTool({ name: 'mixed' })
    expect(content.map(({ type }) => type)).toEqual([
      'text',
      'image',
      'text',
      'resource',
      'audio',
      'resource_link',
      'text',
    ])
  })

  it('lives on when it is told to', async () => {
    const server = stdioServer('stubborn')
    const client = await connect(server, 'legacy')
    await client.close()
    const journal = await server.journal()
    expect(journal.map(({ kind }) => kind)).toContain('eof')
    expect(journal.map(({ kind }) => kind)).toContain('signal')
  })
})
