/** The named faults misbehave as they say. */
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectNoLeftovers, leftovers, received, stdioServer, waitFor } from '../src/index.ts'
import type { BehaviourName, JournalEntry, Leftovers } from '../src/index.ts'

let before: Leftovers
const clients: Client[] = []

beforeEach(() => {
  before = leftovers()
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  await expectNoLeftovers(before)
})

interface Opened {
  readonly client: Client
  readonly journal: () => Promise<JournalEntry[]>
}

async function open(name: BehaviourName, options: Record<string, unknown> = {}): Promise<Opened> {
  const client = new Client({ name: 'spec', version: '1' })
  clients.push(client)
  const { command, args, journal } = stdioServer(name, options)
  await client.connect(new StdioClientTransport({ command, args: [...args], stderr: 'ignore' }), {
    timeout: options['connectMs'] === undefined ? 5000 : Number(options['connectMs']),
  })
  return { client, journal }
}

const listed = async ({ client }: Opened): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name)

describe('a named fault', () => {
  it.each(['exits-at-once', 'exits-on-first-request', 'refuses-initialize', 'odd-version'] as const)(
    '%s: does not connect',
    async (name) => {
      await expect(open(name)).rejects.toThrow()
    },
  )

  // The SDK drops a first line with a BOM.
  it.each(['silent', 'bom'] as const)('%s: is never understood', async (name) => {
    await expect(open(name, { connectMs: 300 })).rejects.toThrow('timed out')
  })

  it('exits-between-pages: closes in the middle of the list', async () => {
    const opened = await open('exits-between-pages')
    await expect(listed(opened)).rejects.toThrow()
    expect((await opened.journal()).filter(received('tools/list'))).toHaveLength(2)
  })

  it('other-tools-after-crash: another list in the next start', async () => {
    const server = stdioServer('other-tools-after-crash')
    const transport = () => new StdioClientTransport({ command: server.command, args: [...server.args] })
    const client = new Client({ name: 'spec', version: '1' })
    clients.push(client)
    await client.connect(transport())
    await expect(client.callTool({ name: 'crash' })).rejects.toThrow()
    await client.connect(transport())
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['both', 'new'])
  })

  it('deaf: reads no more after the list', async () => {
    const opened = await open('deaf')
    await listed(opened)
    await expect(
      opened.client.callTool({ name: 'echo', arguments: { message: 'x'.repeat(4e6) } }, { timeout: 300 }),
    ).rejects.toThrow('timed out')
    expect((await opened.journal()).filter(received('tools/call'))).toEqual([])
  })

  it('list-storm: the final list wins', async () => {
    const opened = await open('list-storm', { count: 200 })
    let changes = 0
    opened.client.setNotificationHandler('notifications/tools/list_changed', () => void (changes += 1))
    await opened.client.callTool({ name: 'storm' })
    expect(changes).toBe(200)
    expect(await listed(opened)).toEqual(['storm', 'final'])
  })

  it('duplicate-names, odd-names, number-cursor: lists as broken as they say', async () => {
    expect(await listed(await open('duplicate-names'))).toEqual(['twin', 'twin', 'single'])
    expect(await listed(await open('odd-names'))).toContain('__proto__')
    await expect(listed(await open('number-cursor'))).rejects.toThrow()
  })

  it.each(['endless-pages', 'repeated-cursor'] as const)('%s: never ends', async (name) => {
    await expect(listed(await open(name))).rejects.toThrow(/Pages/)
  })

  it('vanishing-tool, list-fails-later: what was listed is gone', async () => {
    const { client } = await open('vanishing-tool')
    await expect(client.callTool({ name: 'gone' })).rejects.toThrow('Unknown tool: gone')
    const later = await open('list-fails-later')
    await listed(later)
    await later.client.callTool({ name: 'break' })
    await expect(listed(later)).rejects.toThrow('out of order')
  })

  it('floods: answers after all of it', async () => {
    const stderr = await open('stderr-flood', { bytes: 300_000 })
    expect((await stderr.client.callTool({ name: 'echo' })).content).toEqual([
      { type: 'text', text: 'flooded' },
    ])
    const logs = await open('log-flood', { count: 2500 })
    let count = 0
    logs.client.setNotificationHandler('notifications/message', () => void (count += 1))
    await logs.client.callTool({ name: 'echo' })
    expect(count).toBe(2500)
  })

  it('huge-line: goes past the cap of the reader', async () => {
    const { client } = await open('huge-line', { bytes: 12e6 })
    await expect(client.callTool({ name: 'echo' }, { timeout: 5000 })).rejects.toThrow()
  })

  it('progress-for-ever: progress and no answer', async () => {
    const { client } = await open('progress-for-ever', { ms: 20 })
    let last = 0
    const call = client.callTool(
      { name: 'work' },
      { timeout: 400, onprogress: ({ progress }) => void (last = progress) },
    )
    await expect(call).rejects.toThrow('timed out')
    expect(last).toBeGreaterThan(3)
  })

  it('malformed-answers, answers-twice, late, batch, refuses-calls: as they say', async () => {
    const malformed = await open('malformed-answers')
    for (const name of ['null-id', 'neither', 'odd-error']) {
      await expect(malformed.client.callTool({ name }, { timeout: 200 })).rejects.toThrow()
    }
    const twice = await open('answers-twice')
    expect((await twice.client.callTool({ name: 'echo' })).content).toEqual([
      { type: 'text', text: 'the first' },
    ])
    const late = await open('late', { ms: 150 })
    await expect(late.client.callTool({ name: 'late' }, { timeout: 50 })).rejects.toThrow('timed out')
    await waitFor(
      late.journal,
      ({ kind, message }) => kind === 'sent' && JSON.stringify(message).includes('late answer'),
    )
    await expect((await open('batch')).client.callTool({ name: 'echo' }, { timeout: 200 })).rejects.toThrow()
    await expect((await open('refuses-calls')).client.callTool({ name: 'echo' })).rejects.toThrow(
      'Bad argument: city',
    )
  })

  it('environment: tells what it was given', async () => {
    const { client } = await open('environment')
    const { content } = await client.callTool({ name: 'env' })
    expect(JSON.stringify(content)).toContain('PATH')
  })
})
