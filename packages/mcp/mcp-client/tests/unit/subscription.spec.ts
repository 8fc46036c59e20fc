/** Owns the tests of the change subscription: the real SDK client, a scripted server, the SDK's own server; time is ours. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { McpServer, SUBSCRIPTION_ID_META_KEY, createMcpHandler } from '@modelcontextprotocol/server'
import { describe, expect, it, vi } from 'vitest'
import { openSubscription } from '../../src/connection/subscription.ts'
import { FakeClock, settled } from './fake-clock.ts'
import { openScriptedServer } from './scripted-server.ts'

/** `accept`, or how the server refuses the next stream; `ignore` never answers. */
type Mood = 'accept' | 'refuse' | 'ignore'

async function setup(mood: Mood = 'accept') {
  const clock = new FakeClock()
  const seen = { mood, changes: 0, streams: [] as string[], notes: [] as string[] }
  const server = openScriptedServer('modern', ({ id, method }, { send }) => {
    if (method !== 'subscriptions/listen') return undefined
    seen.streams.push(String(id))
    if (seen.mood === 'refuse') return { error: { code: -32601, message: 'no \u001b[31mtoken s3cret' } }
    if (seen.mood === 'accept') {
      const params = { _meta: { [SUBSCRIPTION_ID_META_KEY]: id }, notifications: { toolsListChanged: true } }
      setImmediate(() => void send({ method: 'notifications/subscriptions/acknowledged', params }))
    }
    return undefined
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(server.transport)
  const subscription = openSubscription(
    client,
    {
      onDown: () => {},
      onToolsChanged: () => void (seen.changes += 1),
      onNote: (level, text) => seen.notes.push(`${level}: ${text}`),
    },
    clock,
  )
  /** The answer of the server is a turn of the loop away, and so is what follows from it. */
  const answered = async (): Promise<void> => {
    for (let turn = 0; turn < 4; turn++) await settled()
  }
  await answered()
  return {
    clock,
    seen,
    server,
    client,
    subscription,
    answered,
    /** The server ends the latest stream. */
    async end(): Promise<void> {
      await server.send({ id: seen.streams.at(-1), result: { resultType: 'complete' } })
      await answered()
    },
    async advance(ms: number): Promise<void> {
      await clock.advance(ms)
      await answered()
    },
  }
}

describe('openSubscription', () => {
  it('listens once and asks for no list while the stream stands', async () => {
    const t = await setup()
    await t.advance(600_000)
    expect(t.seen).toMatchObject({ streams: ['listen:0'], changes: 0, notes: [] })
    expect(t.clock.pending()).toEqual([])
    await t.subscription.close()
    await t.client.close()
  })

  it('opens the stream again when it ends, and has the list read then', async () => {
    const t = await setup()
    await t.end()
    expect(t.clock.pending()).toEqual([1_000])
    expect(t.seen.changes).toBe(0)
    await t.advance(1_000)
    expect(t.seen).toMatchObject({ streams: ['listen:0', 'listen:1'], changes: 1 })
    await t.subscription.close()
  })

  it('backs off from a server that ends each stream at once, up to a minute', async () => {
    const t = await setup()
    const delays: number[] = []
    for (let round = 0; round < 9; round++) {
      await t.end()
      const [delay = 0] = t.clock.pending()
      delays.push(delay)
      await t.advance(delay)
    }
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
    expect(t.seen.notes).toEqual([])
    await t.subscription.close()
  })

  it('forgets the failures of before a stream that stood', async () => {
    const t = await setup()
    for (const delay of [1_000, 2_000]) {
      await t.end()
      await t.advance(delay)
    }
    await t.advance(30_000)
    await t.end()
    expect(t.clock.pending()).toEqual([1_000])
    await t.subscription.close()
  })

  it('asks three times and no more where it is refused, and repeats no word of the server', async () => {
    const t = await setup('refuse')
    await t.advance(1_000)
    expect(t.subscription.isOff()).toBe(false)
    await t.advance(2_000)
    await t.advance(600_000)
    expect(t.seen.streams).toHaveLength(3)
    expect(t.seen.notes).toEqual(['warn: change notifications are off: the server refuses them (-32601)'])
    expect(t.subscription.isOff()).toBe(true)
    expect(t.clock.pending()).toEqual([])
    await t.subscription.close()
    await t.subscription.close()
  })

  it('counts only refusals in a row', async () => {
    const t = await setup('refuse')
    await t.advance(1_000)
    t.seen.mood = 'accept'
    await t.advance(2_000)
    t.seen.mood = 'refuse'
    await t.end()
    await t.advance(4_000)
    await t.advance(8_000)
    expect(t.seen.notes).toEqual([])
    t.seen.mood = 'accept'
    await t.advance(16_000)
    expect(t.seen.streams).toHaveLength(6)
    await t.subscription.close()
  })

  it.each<[string, Mood, number]>([
    ['while the stream stands', 'accept', 0],
    ['while the server has not answered', 'ignore', 0],
    ['while it waits for the next try', 'refuse', 1],
  ])('closes %s', async (_when, mood, timers) => {
    const t = await setup(mood)
    expect(t.clock.pending()).toHaveLength(timers)
    await t.subscription.close()
    expect(t.clock.pending()).toEqual([])
    await t.advance(600_000)
    expect(t.seen.streams).toHaveLength(1)
    expect(t.seen.notes).toEqual([])
  })

  it('settles its close after the connection is gone', async () => {
    const t = await setup()
    await t.server.close()
    await t.answered()
    await t.subscription.close()
    expect(t.clock.pending()).toEqual([])
  })

  it('hears a change of the real server', async () => {
    const handler = createMcpHandler(() => {
      const server = new McpServer(
        { name: 'real', version: '1' },
        { capabilities: { tools: { listChanged: true } } },
      )
      return server
    })
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    const opened = Promise.withResolvers<void>()
    await client.connect(
      new StreamableHTTPClientTransport(new URL('http://in.process/mcp'), {
        fetch: async (url, init) => {
          const response = await handler.fetch(new Request(url, init))
          if (String(init?.body).includes('subscriptions/listen')) opened.resolve()
          return response
        },
      }),
    )
    const changed = Promise.withResolvers<void>()
    client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve())
    const onNote = vi.fn<() => void>()
    const events = { onDown: () => {}, onToolsChanged: () => {}, onNote }
    const subscription = openSubscription(client, events, new FakeClock())
    await opened.promise
    handler.notify.toolsChanged()
    await changed.promise
    expect(onNote).not.toHaveBeenCalled()
    await subscription.close()
    await client.close()
    await handler.close()
  })
})
