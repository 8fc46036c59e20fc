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

describe('watched resources', () => {
  /** A server that honours the filter, or all of it but the resources. */
  async function watching(lists = { tools: true, prompts: true }, honoursResources = true) {
    const clock = new FakeClock()
    const seen = {
      told: [] as string[],
      filters: [] as unknown[],
      cancelled: [] as unknown[],
      isRefusing: false,
      refuses: (_filter: Record<string, unknown>): boolean => false,
    }
    let last = ''
    const server = openScriptedServer('modern', ({ id, method, params }, { send }) => {
      if (method !== 'subscriptions/listen') return undefined
      const wanted = (params?.['notifications'] ?? {}) as Record<string, unknown>
      if (seen.isRefusing || seen.refuses(wanted)) return { error: { code: -32601, message: 'no' } }
      last = String(id)
      seen.filters.push(wanted)
      const { resourceSubscriptions, ...others } = wanted
      const notifications = {
        ...others,
        ...(honoursResources && resourceSubscriptions !== undefined ? { resourceSubscriptions } : {}),
      }
      const acknowledged = { _meta: { [SUBSCRIPTION_ID_META_KEY]: id }, notifications }
      setImmediate(
        () => void send({ method: 'notifications/subscriptions/acknowledged', params: acknowledged }),
      )
      return undefined
    })
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(server.transport)
    const subscription = openSubscription(
      client,
      {
        onDown: () => {},
        onToolsChanged: () => seen.told.push('tools'),
        onPromptsChanged: () => seen.told.push('prompts'),
        onResourceUpdated: (uri) => seen.told.push(uri),
        onNote: (level, text) => seen.told.push(`${level}: ${text}`),
      },
      clock,
      lists,
    )
    const answered = async (): Promise<void> => {
      for (let turn = 0; turn < 6; turn++) await settled()
    }
    await answered()
    return {
      clock,
      seen,
      server,
      subscription,
      answered,
      cancelled: () =>
        server.received.flatMap(({ method, params }) =>
          method === 'notifications/cancelled' ? [params] : [],
        ),
      async end(): Promise<void> {
        await server.send({ id: last, result: { resultType: 'complete' } })
        await answered()
      },
    }
  }

  it('are heard of on the next stream, which stands before the last one is closed', async () => {
    const t = await watching()
    const agreed = t.subscription.watch(['a:1'])
    expect(t.cancelled()).toEqual([])
    expect(await agreed).toBe(true)
    await t.answered()
    expect(t.seen.filters).toEqual([
      { toolsListChanged: true, promptsListChanged: true },
      { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['a:1'] },
    ])
    expect(t.cancelled()).toMatchObject([{ requestId: 'listen:0' }])
    expect(t.seen.told).toEqual([])
    await t.subscription.close()
  })

  it('may all have changed when a stream comes back', async () => {
    const t = await watching()
    await t.subscription.watch(['a:1', 'a:2'])
    await t.end()
    await t.clock.advance(1_000)
    await t.answered()
    expect(t.seen.told).toEqual(['tools', 'prompts', 'a:1', 'a:2'])
    await t.subscription.close()
  })

  it('are not promised where the server does not take them', async () => {
    const t = await watching({ tools: true, prompts: false }, false)
    expect(await t.subscription.watch(['a:1'])).toBe(false)
    await t.subscription.close()
  })

  it('need no stream where there are none and nothing else is announced', async () => {
    const t = await watching({ tools: false, prompts: false })
    expect(t.seen.filters).toEqual([])
    expect(await t.subscription.watch(['a:1'])).toBe(true)
    expect(await t.subscription.watch([])).toBe(true)
    await t.answered()
    expect(t.cancelled()).toHaveLength(1)
    await t.end()
    expect(t.clock.pending()).toEqual([])
    expect(await t.subscription.watch(['a:2'])).toBe(true)
    await t.end()
    await t.clock.advance(1_000)
    await t.answered()
    expect(t.seen.told).toEqual(['a:2'])
    await t.subscription.close()
  })

  it('of an older wish are not promised once there is a newer one', async () => {
    const t = await watching()
    const first = t.subscription.watch(['a:1'])
    const second = t.subscription.watch(['a:2'])
    expect(await first).toBe(false)
    expect(await second).toBe(true)
    await t.subscription.close()
  })

  it('are refused after the server refused the stream for good, and after the end', async () => {
    const t = await watching()
    t.seen.isRefusing = true
    expect(await t.subscription.watch(['a:1'])).toBe(false)
    for (let round = 0; round < 6; round++) {
      await t.clock.advance(60_000)
      await t.answered()
    }
    expect(t.seen.told).toEqual([
      'info: changes of resources are not told: the server refuses it (-32601)',
      'warn: change notifications are off: the server refuses them (-32601)',
    ])
    expect(t.subscription.isOff()).toBe(true)
    expect(await t.subscription.watch(['a:1'])).toBe(false)
    expect(await t.subscription.watch([])).toBe(true)
    await t.subscription.close()
    const other = await watching()
    await other.subscription.close()
    expect(await other.subscription.watch(['a:1'])).toBe(false)
  })

  it('do not cost the lists their stream where only they are refused', async () => {
    const t = await watching()
    t.seen.refuses = ({ resourceSubscriptions }) => resourceSubscriptions !== undefined
    expect(await t.subscription.watch(['a:1'])).toBe(false)
    for (let round = 0; round < 3; round++) {
      await t.clock.advance(60_000)
      await t.answered()
    }
    expect(t.seen.filters).toHaveLength(2)
    expect(t.seen.told).toEqual([
      'info: changes of resources are not told: the server refuses it (-32601)',
      'tools',
      'prompts',
    ])
    expect(t.subscription.isOff()).toBe(false)
    t.seen.refuses = () => false
    expect(await t.subscription.watch(['a:2'])).toBe(true)
    await t.subscription.close()
  })

  it('of a newer wish are asked for, although those of the last were refused for good', async () => {
    const t = await watching()
    let newer: Promise<boolean> | undefined
    let tries = 0
    t.seen.refuses = ({ resourceSubscriptions }) => {
      if (!Array.isArray(resourceSubscriptions) || resourceSubscriptions[0] !== 'a:1') return false
      tries += 1
      if (tries === 3) newer = t.subscription.watch(['a:2'])
      return true
    }
    expect(await t.subscription.watch(['a:1'])).toBe(false)
    for (let round = 0; round < 3; round++) {
      await t.clock.advance(60_000)
      await t.answered()
    }
    expect(tries).toBe(3)
    expect(await newer).toBe(true)
    expect(t.seen.filters.at(-1)).toMatchObject({ resourceSubscriptions: ['a:2'] })
    await t.subscription.close()
  })

  it('are given up where they alone would need a stream, and asked for again with another wish', async () => {
    const t = await watching({ tools: false, prompts: false })
    t.seen.isRefusing = true
    expect(await t.subscription.watch(['a:1'])).toBe(false)
    for (let round = 0; round < 3; round++) {
      await t.clock.advance(60_000)
      await t.answered()
    }
    expect(t.clock.pending()).toEqual([])
    expect(t.subscription.isOff()).toBe(false)
    t.seen.isRefusing = false
    expect(await t.subscription.watch(['a:2'])).toBe(true)
    expect(t.seen.filters).toEqual([{ resourceSubscriptions: ['a:2'] }])
    await t.subscription.close()
  })

  it('that are wished for between two streams are not promised, but asked for with the next', async () => {
    const t = await watching()
    await t.end()
    expect(await t.subscription.watch(['a:1'])).toBe(false)
    await t.clock.advance(1_000)
    await t.answered()
    expect(t.seen.filters.at(-1)).toMatchObject({ resourceSubscriptions: ['a:1'] })
    expect(t.seen.told).toEqual(['tools', 'prompts', 'a:1'])
    await t.subscription.close()
  })

  it('are no longer waited for at the end', async () => {
    const t = await watching()
    const agreed = t.subscription.watch(['a:1'])
    await t.subscription.close()
    expect(await agreed).toBe(false)
  })
})
