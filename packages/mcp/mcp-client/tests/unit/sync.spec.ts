/** Owns the tests of when a list is read again, on time that is ours. */
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { MAX_WAIT_MS, QUIET_MS, createRefresher } from '../../src/discovery/sync.ts'
import { FakeClock, settled } from './fake-clock.ts'

function setup() {
  const clock = new FakeClock()
  const reads: { readonly at: number; readonly end: () => void }[] = []
  const start = clock.now()
  const refresher = createRefresher(clock, () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    reads.push({ at: clock.now() - start, end: resolve })
    return promise
  })
  return {
    clock,
    reads,
    refresher,
    async end(): Promise<void> {
      reads.at(-1)?.end()
      await settled()
    },
  }
}

describe('createRefresher', () => {
  it('reads at once when nothing is going on', async () => {
    const t = setup()
    t.refresher.request()
    expect(t.reads).toHaveLength(1)
    await t.end()
    await t.clock.advance(QUIET_MS)
    t.refresher.request()
    expect(t.reads).toHaveLength(2)
    await t.end()
    expect(t.clock.pending()).toEqual([])
  })

  it('waits for quiet after a read that was quick', async () => {
    const t = setup()
    t.refresher.request()
    await t.end()
    await t.clock.advance(40)
    t.refresher.request()
    expect(t.reads).toHaveLength(1)
    await t.clock.advance(QUIET_MS)
    expect(t.reads.map(({ at }) => at)).toEqual([0, 40 + QUIET_MS])
  })

  it('reads twice for a hundred requests within 50 ms', async () => {
    const t = setup()
    for (let i = 0; i < 100; i++) {
      t.refresher.request()
      if (i % 2 === 1) await t.clock.advance(1)
      if (i === 30) await t.end()
    }
    await t.clock.advance(10_000)
    expect(t.reads.map(({ at }) => at)).toEqual([0, 49 + QUIET_MS])
  })

  it('owes one trailing read for any number of requests during a read', async () => {
    const t = setup()
    t.refresher.request()
    await t.clock.advance(500)
    t.refresher.request()
    t.refresher.request()
    t.refresher.request()
    await t.clock.advance(1_000)
    expect(t.reads).toHaveLength(1)
    await t.end()
    // It has been quiet long enough while the read went on.
    await t.clock.advance(0)
    expect(t.reads).toHaveLength(2)
    await t.end()
    await t.clock.advance(10_000)
    expect(t.reads).toHaveLength(2)
  })

  it('still reads every MAX_WAIT_MS in a storm that never ends', async () => {
    const t = setup()
    for (let ms = 0; ms < 10_000; ms += 10) {
      t.refresher.request()
      await t.end()
      await t.clock.advance(10)
    }
    const gaps = t.reads.slice(1).map(({ at }, index) => at - (t.reads[index]?.at ?? 0))
    expect(t.reads.length).toBeGreaterThanOrEqual(5)
    expect(t.reads.length).toBeLessThanOrEqual(6)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(MAX_WAIT_MS + 20)
    expect(t.reads.length * MAX_WAIT_MS).toBeGreaterThanOrEqual(8_000)
  })

  it('never reads twice at a time', async () => {
    const t = setup()
    t.refresher.request()
    for (let ms = 0; ms < 5_000; ms += 50) {
      t.refresher.request()
      await t.clock.advance(50)
    }
    expect(t.reads).toHaveLength(1)
  })

  it('starts nothing after close, which settles with the read in flight', async () => {
    const t = setup()
    t.refresher.request()
    t.refresher.request()
    let isClosed = false
    void t.refresher.close().then(() => (isClosed = true))
    await settled()
    expect(isClosed).toBe(false)
    await t.end()
    expect(isClosed).toBe(true)
    t.refresher.request()
    await t.clock.advance(10_000)
    expect(t.reads).toHaveLength(1)
    expect(t.clock.pending()).toEqual([])
  })

  it('lets the timer of an owed read go at close', async () => {
    const t = setup()
    t.refresher.request()
    t.refresher.request()
    await t.end()
    expect(t.clock.pending()).toEqual([QUIET_MS])
    await t.refresher.close()
    await t.refresher.close()
    expect(t.clock.pending()).toEqual([])
    expect(t.reads).toHaveLength(1)
  })

  it('closes what was never used', async () => {
    const t = setup()
    await t.refresher.close()
    expect(t.reads).toHaveLength(0)
  })

  it('does nothing for a timer that fires although it was cancelled', async () => {
    const fired: (() => void)[] = []
    const clock: Clock = { now: () => 0, after: (_ms, callback) => (fired.push(callback), () => {}) }
    let reads = 0
    const refresher = createRefresher(clock, async () => void (reads += 1))
    refresher.request()
    refresher.request()
    await settled()
    await refresher.close()
    for (const callback of fired) callback()
    expect(fired).toHaveLength(1)
    expect(reads).toBe(1)
  })
})
