/** Owns the tests of reading a server's list over its sessions, which are made by hand here; time is ours. */
import { describe, expect, it } from 'vitest'
import { createReader } from '../../src/discovery/reader.ts'
import { QUIET_MS } from '../../src/discovery/sync.ts'
import { McpError } from '../../src/errors.ts'
import type { McpErrorCode } from '../../src/errors.ts'
import type { Catalog, JsonObject, ServerSpec, Session } from '../../src/types.ts'
import { makeSession, makeSpec } from '../composition/registry-host.ts'
import { FakeClock, settled } from './fake-clock.ts'

const TIMEOUT_MS = 20_000

function failure(code: McpErrorCode, text: string = code): McpError {
  return new McpError(text, { code, server: 'demo', stage: 'discovery' })
}

interface List {
  readonly cursor: string | undefined
  readonly signal: AbortSignal
  answer(page: JsonObject): Promise<void>
  fail(error: unknown): Promise<void>
}

interface Listing extends Session {
  readonly lists: List[]
  last(): List
}

/** A session whose lists the test answers; an abort is obeyed. */
function listing(capabilities: JsonObject = { tools: { listChanged: true } }): Listing {
  const lists: List[] = []
  return {
    ...makeSession(() => ({})),
    facts: { era: 'legacy', revision: '2025-11-25', capabilities },
    lists,
    last: () => lists.at(-1) as List,
    listTools(cursor, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
      signal.addEventListener('abort', () => reject(signal.reason))
      lists.push({
        cursor,
        signal,
        answer: (page) => (resolve(page), settled()),
        fail: (error) => (reject(error), settled()),
      })
      return promise
    },
  }
}

const tools = (...names: readonly string[]): JsonObject => ({ tools: names.map((name) => ({ name })) })

function setup(over: Partial<ServerSpec> = {}) {
  const clock = new FakeClock()
  const adopted: string[][] = []
  const said: string[] = []
  const host: { current: Session | undefined; refuse: McpError | undefined } = {
    current: undefined,
    refuse: undefined,
  }
  const reader = createReader({
    spec: makeSpec({
      startup: { waitMs: 1, timeoutMs: TIMEOUT_MS, mode: 'eager' },
      limits: { ...makeSpec().limits, pages: 3, tools: 10 },
      ...over,
    }),
    clock,
    current: () => host.current,
    adopt(catalog: Catalog) {
      if (host.refuse !== undefined) throw host.refuse
      adopted.push(catalog.entries.map(({ rawName }) => rawName))
    },
    say: ({ level, text }) => said.push(`${level}: ${text}`),
  })
  const controller = new AbortController()
  const never = controller.signal
  return {
    clock,
    reader,
    adopted,
    said,
    host,
    controller,
    /** First read, begun. */
    begin(session: Session): Promise<McpError | undefined> {
      const first = reader.first(session, never)
      first.catch(() => undefined)
      return first
    },
    /** A session with a list, which takes calls now. */
    async ready(...names: readonly string[]): Promise<Listing> {
      const session = listing()
      const first = this.begin(session)
      await settled()
      await session.last().answer(tools(...names))
      expect(await first).toBeUndefined()
      host.current = session
      reader.ready()
      await clock.advance(QUIET_MS)
      return session
    },
  }
}

describe('the first read of a session', () => {
  it('takes all pages over at once', async () => {
    const t = setup()
    const session = listing()
    const first = t.begin(session)
    await settled()
    await session.last().answer({ ...tools('b'), nextCursor: '' })
    expect(t.adopted).toEqual([])
    await session.last().answer(tools('a'))
    expect(await first).toBeUndefined()
    expect(t.adopted).toEqual([['a', 'b']])
    expect(session.lists.map(({ cursor }) => cursor)).toEqual([undefined, ''])
    expect(t.said).toEqual([])
    expect(t.clock.pending()).toEqual([])
  })

  it('takes a very long list over in a turn of its own', async () => {
    const t = setup({ limits: { ...makeSpec().limits, tools: 2_000 } })
    const session = listing()
    const first = t.begin(session)
    await settled()
    const names = Array.from({ length: 1_001 }, (_, at) => `t${at}`)
    await session.last().answer(tools(...names))
    expect(t.adopted).toEqual([])
    expect(await first).toBeUndefined()
    expect(t.adopted).toEqual([names.toSorted()])
  })

  it('keeps the connection where only the list is bad, and remembers why', async () => {
    const t = setup()
    const session = listing()
    const first = t.begin(session)
    await settled()
    await session.last().answer(tools('a', 'a'))
    const problem = await first
    expect(problem?.code).toBe('MCP_LIST_INVALID')
    expect(t.reader.problem()).toBe(problem)
    expect(t.said).toEqual([`error: ${problem?.message}`])
    expect(t.adopted).toEqual([])
    // A later list that is good clears it.
    t.host.current = session
    t.reader.request()
    await settled()
    await session.last().answer(tools('a'))
    expect(t.reader.problem()).toBeUndefined()
    expect(t.adopted).toEqual([['a']])
  })

  it('keeps the connection where a name is taken in the host', async () => {
    const t = setup()
    t.host.refuse = failure('MCP_NAME_CONFLICT', 'no tools registered')
    const session = listing()
    const first = t.begin(session)
    await settled()
    await session.last().answer(tools('a'))
    expect((await first)?.code).toBe('MCP_NAME_CONFLICT')
    expect(t.said).toEqual(['error: no tools registered'])
  })

  it.each(['MCP_CONNECTION_CLOSED', 'MCP_LIST_FAILED', 'MCP_AUTH_REQUIRED'] as const)(
    'rejects with %s: the connection is of no use',
    async (code) => {
      const t = setup()
      const session = listing()
      const first = t.begin(session)
      await settled()
      const error = failure(code)
      await session.last().fail(error)
      await expect(first).rejects.toBe(error)
      expect(t.reader.problem()).toBe(error)
      expect(t.said).toEqual([])
    },
  )

  it('never takes half a list over', async () => {
    const t = setup()
    const session = listing()
    const first = t.begin(session)
    await settled()
    await session.last().answer({ ...tools('a'), nextCursor: 'b' })
    await session.last().fail(failure('MCP_CONNECTION_CLOSED'))
    await expect(first).rejects.toMatchObject({ code: 'MCP_CONNECTION_CLOSED' })
    expect(t.adopted).toEqual([])
  })

  it('takes nothing over when the attempt is over before the last page', async () => {
    const t = setup()
    const session = listing()
    const first = t.begin(session)
    await settled()
    const list = session.last()
    const reason = failure('MCP_ABORTED')
    // In this order: the answer is there first, and the promises run after both.
    void list.answer(tools('a'))
    t.controller.abort(reason)
    await expect(first).rejects.toBe(reason)
    expect(t.adopted).toEqual([])
  })

  it('makes an error of ours out of a foreign one, without secrets', async () => {
    const t = setup()
    const session = listing()
    const first = t.begin(session)
    await settled()
    await session.last().fail(new Error('token s3cret refused'))
    await expect(first).rejects.toMatchObject({
      server: 'demo',
      stage: 'discovery',
      message: 'token *** refused',
    })
  })

  it('takes a server without tools for one with an empty list', async () => {
    const t = setup()
    const session = listing({})
    const first = t.begin(session)
    await settled()
    await session.last().fail(failure('MCP_REQUEST_REJECTED', 'Method not found'))
    expect(await first).toBeUndefined()
    expect(t.adopted).toEqual([[]])
    expect(t.reader.problem()).toBeUndefined()
  })

  it('does not forgive the same of a server that announced tools, nor another failure', async () => {
    for (const [capabilities, code] of [
      [{ tools: {} }, 'MCP_REQUEST_REJECTED'],
      [{}, 'MCP_CONNECTION_CLOSED'],
    ] as const) {
      const t = setup()
      const session = listing(capabilities)
      const first = t.begin(session)
      await settled()
      await session.last().fail(failure(code))
      await expect(first).rejects.toMatchObject({ code })
    }
  })

  it('takes a page without its array for a bad list: the last good one stays, the connection too', async () => {
    const t = setup()
    const session = await t.ready('a')
    t.reader.request()
    await settled()
    await session.last().answer({ tools: [{ name: 'b' }], nextCursor: 'next' })
    await session.last().answer({})
    expect(t.adopted).toEqual([['a']])
    expect(t.reader.problem()).toMatchObject({
      code: 'MCP_LIST_INVALID',
      message: 'invalid tool list: page 2 has no tools array',
    })
    expect(t.said.at(-1)).toBe('error: tool re-sync failed: invalid tool list: page 2 has no tools array')
  })

  it.each([
    [{ tools: {} }, 'MCP_LIST_INVALID'],
    [{}, undefined],
  ])('reads nothing at all by what was announced: %j', async (capabilities, code) => {
    const t = setup()
    const session = listing(capabilities)
    const first = t.begin(session)
    await settled()
    await session.last().answer({})
    expect((await first)?.code).toBe(code)
    expect(t.adopted).toEqual(code === undefined ? [[]] : [])
  })

  it('asks a server that announced nothing all the same', async () => {
    const t = setup()
    const session = listing({})
    const first = t.begin(session)
    await settled()
    await session.last().answer(tools('a'))
    await first
    expect(t.adopted).toEqual([['a']])
  })
})

describe('a change', () => {
  it('is read, said, and taken over', async () => {
    const t = setup()
    const session = await t.ready('a')
    t.reader.request()
    await settled()
    await session.last().answer(tools('a', 'b'))
    expect(t.adopted).toEqual([['a'], ['a', 'b']])
    expect(t.said).toEqual(['info: tool list changed, re-syncing'])
    expect(t.clock.pending()).toEqual([])
  })

  it('that cannot be read leaves the last good list', async () => {
    const t = setup()
    const session = await t.ready('a')
    t.reader.request()
    await settled()
    const error = failure('MCP_REQUEST_REJECTED', 'database is down')
    await session.last().fail(error)
    expect(t.adopted).toEqual([['a']])
    expect(t.said.at(-1)).toBe('error: tool re-sync failed: database is down')
    expect(t.reader.problem()).toBe(error)
    expect(t.clock.pending()).toEqual([])
  })

  it.each<[string, JsonObject, RegExp]>([
    ['names a tool twice', tools('a', 'a'), /tool re-sync failed: server listed tool "a" more than once/],
  ])('that %s leaves the last good list', async (_what, page, words) => {
    const t = setup()
    const session = await t.ready('a')
    t.reader.request()
    await settled()
    await session.last().answer(page)
    expect(t.adopted).toEqual([['a']])
    expect(t.said.at(-1)).toMatch(words)
  })

  it('that is answered with nothing in time is given up', async () => {
    const t = setup()
    const session = await t.ready('a')
    t.reader.request()
    await t.clock.advance(TIMEOUT_MS - 1)
    expect(session.last().signal.aborted).toBe(false)
    await t.clock.advance(1)
    expect(t.said.at(-1)).toBe(
      `error: tool re-sync failed: no tool list within ${TIMEOUT_MS} ms (startup.timeoutMs)`,
    )
    expect(t.reader.problem()?.code).toBe('MCP_LIST_FAILED')
    expect(t.clock.pending()).toEqual([])
  })

  it('seen during the first read is read once the session takes calls', async () => {
    const t = setup()
    const session = listing()
    const first = t.begin(session)
    await settled()
    t.reader.request()
    t.reader.request()
    await session.last().answer(tools('a'))
    await first
    expect(session.lists).toHaveLength(1)
    t.host.current = session
    t.reader.ready()
    await settled()
    expect(session.lists).toHaveLength(2)
    await session.last().answer(tools('b'))
    expect(t.adopted).toEqual([['a'], ['b']])
    t.reader.ready()
    await t.clock.advance(10_000)
    expect(session.lists).toHaveLength(2)
  })

  it('seen before the first read needs no second one', async () => {
    const t = setup()
    t.reader.request()
    const session = await t.ready('a')
    expect(session.lists).toHaveLength(1)
  })

  it('of a hundred becomes two reads', async () => {
    const t = setup()
    const session = await t.ready('a')
    for (let i = 0; i < 100; i++) t.reader.request()
    await settled()
    await session.last().answer(tools('b'))
    await t.clock.advance(QUIET_MS)
    await session.last().answer(tools('c'))
    await t.clock.advance(10_000)
    expect(session.lists).toHaveLength(3)
    expect(t.adopted.at(-1)).toEqual(['c'])
  })

  it('of a session that was replaced meanwhile is thrown away', async () => {
    const t = setup()
    const old = await t.ready('a')
    t.reader.request()
    await settled()
    t.host.current = listing()
    await old.last().answer(tools('old'))
    expect(t.adopted).toEqual([['a']])
    expect(t.said).toEqual(['info: tool list changed, re-syncing'])
  })

  it('of a session that was lost while it waited for quiet is not read', async () => {
    const t = setup()
    const session = await t.ready('a')
    t.reader.request()
    t.reader.request()
    await settled()
    await session.last().answer(tools('b'))
    t.host.current = undefined
    await t.clock.advance(QUIET_MS)
    expect(session.lists).toHaveLength(2)
    expect(t.said).toHaveLength(1)
  })

  it('is read of the new session after a reconnect, when the read of the old one is over', async () => {
    const t = setup()
    const old = await t.ready('a')
    t.reader.request()
    await settled()
    t.host.current = undefined
    const next = listing()
    const first = t.begin(next)
    await settled()
    expect(next.lists).toHaveLength(0)
    await old.last().fail(failure('MCP_CONNECTION_CLOSED'))
    expect(next.lists).toHaveLength(1)
    await next.last().answer(tools('n'))
    await first
    t.host.current = next
    t.reader.ready()
    t.reader.request()
    await settled()
    expect(next.lists).toHaveLength(2)
    expect(old.lists).toHaveLength(2)
  })
})

describe('close', () => {
  it('waits for the read in flight, says nothing of its failure, and reads nothing more', async () => {
    const t = setup()
    const session = await t.ready('a')
    t.reader.request()
    await settled()
    const closed = t.reader.close()
    await session.last().fail(failure('MCP_CONNECTION_CLOSED'))
    await closed
    t.reader.request()
    await t.clock.advance(10_000)
    expect(t.said).toEqual(['info: tool list changed, re-syncing'])
    expect(session.lists).toHaveLength(2)
    expect(t.clock.pending()).toEqual([])
  })

  it('before or between the sessions leaves nothing behind', async () => {
    const t = setup()
    await t.reader.close()
    t.reader.ready()
    const session = listing()
    const first = t.begin(session)
    await settled()
    t.reader.request()
    await session.last().answer(tools('a'))
    await first
    t.host.current = session
    t.reader.ready()
    t.reader.request()
    await t.clock.advance(10_000)
    expect(session.lists).toHaveLength(1)
  })
})
