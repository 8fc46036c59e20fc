/** Owns the tests of how long a list is taken for fresh, and what is done when it is no more; time is ours. */
import { describe, expect, it } from 'vitest'
import { MAX_FRESH_MS, walkPages } from '../../src/discovery/pages.ts'
import { MIN_FRESH_MS, createReader } from '../../src/discovery/reader.ts'
import type { Era, JsonObject, JsonValue, Session } from '../../src/types.ts'
import { makeSession, makeSpec } from '../composition/registry-host.ts'
import { FakeClock, settled } from './fake-clock.ts'

async function freshMsOf(...ttls: readonly (JsonValue | undefined)[]): Promise<number> {
  let at = 0
  const walk = await walkPages('tools', { pages: 10, items: 10, chars: 1_000 }, async () => {
    const ttlMs = ttls[at++]
    return {
      tools: [],
      ...(ttlMs === undefined ? {} : { ttlMs }),
      ...(at < ttls.length ? { nextCursor: String(at) } : {}),
    }
  })
  return walk.freshMs
}

describe('the freshness of a list', () => {
  it.each<[string, (JsonValue | undefined)[], number]>([
    ['as the server says', [5_000], 5_000],
    ['the shortest of its pages', [5_000, 2_000, 9_000], 2_000],
    ['unknown where one page does not say', [5_000, undefined], 0],
    ['unknown where it is absent', [undefined], 0],
    ['unknown below zero', [-5], 0],
    ['unknown at zero', [0], 0],
    ['unknown where it is text', ['x'], 0],
    ['unknown where it is null', [null], 0],
    ['a day at most', [1e308], MAX_FRESH_MS],
    ['a day for a day', [86_400_000], MAX_FRESH_MS],
  ])('is %s', async (_what, ttls, freshMs) => {
    expect(await freshMsOf(...ttls)).toBe(freshMs)
  })
})

/** A session whose lists say `ttlMs`; `fails` lets the next ones fail. */
function setup(ttlMs: JsonValue, { era = 'modern' as Era, hears = false } = {}) {
  const clock = new FakeClock()
  const said: string[] = []
  const seen = { lists: 0, fails: false, hears }
  const session: Session = {
    ...makeSession(() => ({})),
    facts: { era, revision: '2026-07-28', capabilities: { tools: {} } },
    hearsChanges: () => seen.hears,
    async listTools(): Promise<JsonObject> {
      seen.lists += 1
      if (seen.fails) throw new Error('out of order')
      return { tools: [{ name: 'a' }], ttlMs }
    },
  }
  const host: { current: Session | undefined } = { current: undefined }
  const reader = createReader({
    spec: makeSpec({
      startup: { waitMs: 1, timeoutMs: 20_000, mode: 'eager' },
      limits: { ...makeSpec().limits, pages: 3, tools: 10 },
    }),
    clock,
    current: () => host.current,
    adopt: () => {},
    say: ({ level, text }) => said.push(`${level}: ${text}`),
  })
  return {
    clock,
    reader,
    seen,
    said,
    host,
    async ready(): Promise<void> {
      await reader.first(session, new AbortController().signal)
      host.current = session
      reader.ready()
      await clock.advance(100)
    },
    async touch(times = 1): Promise<number> {
      for (let i = 0; i < times; i++) reader.touch()
      await settled()
      return seen.lists
    },
  }
}

describe('a list that was said to be fresh for a while', () => {
  it('is read again by the first use after that, once, in the background', async () => {
    const t = setup(5_000)
    await t.ready()
    await t.clock.advance(4_899)
    expect(await t.touch(10)).toBe(1)
    await t.clock.advance(1)
    expect(await t.touch(10)).toBe(2)
    expect(t.said).toEqual(['debug: the tool list is older than 5000 ms, re-syncing'])
    await t.clock.advance(4_999)
    expect(await t.touch()).toBe(2)
    await t.clock.advance(1)
    expect(await t.touch()).toBe(3)
    expect(t.clock.pending()).toEqual([])
  })

  it('is not said to have changed where a change came before the session', async () => {
    const t = setup(5_000)
    t.reader.request()
    await t.ready()
    await t.clock.advance(5_000)
    expect(await t.touch()).toBe(2)
    expect(t.said).toEqual(['debug: the tool list is older than 5000 ms, re-syncing'])
  })

  it('is not read again while nobody uses it', async () => {
    const t = setup(5_000)
    await t.ready()
    await t.clock.advance(600_000)
    expect(t.seen.lists).toBe(1)
  })

  it('is stale at once when its server says that it changed', async () => {
    const t = setup(60_000)
    await t.ready()
    t.reader.request()
    await settled()
    expect(t.seen.lists).toBe(2)
    expect(t.said).toEqual(['info: tool list changed, re-syncing'])
  })

  it('is not read for its age where changes are heard of, and is once they are not any more', async () => {
    const t = setup(5_000, { hears: true })
    await t.ready()
    await t.clock.advance(60_000)
    expect(await t.touch()).toBe(1)
    t.seen.hears = false
    expect(await t.touch()).toBe(2)
  })

  it('is asked for again after as long where the read failed', async () => {
    const t = setup(5_000)
    await t.ready()
    await t.clock.advance(5_000)
    t.seen.fails = true
    expect(await t.touch(5)).toBe(2)
    await t.clock.advance(4_999)
    expect(await t.touch(5)).toBe(2)
    await t.clock.advance(1)
    t.seen.fails = false
    expect(await t.touch(5)).toBe(3)
    expect(t.reader.problem()).toBeUndefined()
  })

  it('is not read for its age more often than each second', async () => {
    const t = setup(1)
    await t.ready()
    for (let i = 0; i < 100; i++) {
      await t.touch()
      await t.clock.advance(MIN_FRESH_MS / 10)
    }
    expect(t.seen.lists).toBe(11)
  })

  it.each<[string, JsonValue, Era]>([
    ['says nothing of use', 'x', 'modern'],
    ['says zero', 0, 'modern'],
    ['is of the legacy era', 5_000, 'legacy'],
  ])('is never read for its age where the server %s', async (_what, ttlMs, era) => {
    const t = setup(ttlMs, { era })
    await t.ready()
    await t.clock.advance(10 * MAX_FRESH_MS)
    expect(await t.touch()).toBe(1)
  })

  it('is read again after a day, whatever was said', async () => {
    const t = setup(1e308)
    await t.ready()
    await t.clock.advance(MAX_FRESH_MS)
    expect(await t.touch()).toBe(2)
  })

  it('is let alone without a session, and after the end', async () => {
    const t = setup(5_000)
    await t.touch()
    await t.ready()
    await t.clock.advance(5_000)
    const { current } = t.host
    t.host.current = undefined
    expect(await t.touch()).toBe(1)
    t.host.current = current
    await t.reader.close()
    expect(await t.touch()).toBe(1)
  })
})
