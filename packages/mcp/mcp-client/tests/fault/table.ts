/**
 * Owns a spec of the fault table: the rows of some groups over their transports and eras, several at once, with what can
 * only be seen of the process as a whole: timers, sockets, rejections, and how long the event loop stood still.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { expectNoLeftovers, faults, leftovers } from '@dsh-mcp/testkit'
import type { FaultGroup, FaultRow, Leftovers } from '@dsh-mcp/testkit'
import { playRow } from './scene.ts'

const ROW_LIMIT_MS = 90_000
// faults.md says a second; coverage and shared cores stretch that. What has no bound is far above this.
const MAX_BLOCK_MS = 6_000

/** Declare the tests of some groups. */
export function describeFaults(...groups: readonly FaultGroup[]): void {
  const home = mkdtempSync(join(tmpdir(), 'mcp-fault-'))
  const rejections: unknown[] = []
  const onRejection = (reason: unknown): void => void rejections.push(reason)
  const watch = watchLoop()
  const before: { home: string | undefined; left?: Leftovers } = { home: process.env['DSH_HOME'] }

  beforeAll(() => {
    process.env['DSH_HOME'] = home
    process.on('unhandledRejection', onRejection)
    before.left = leftovers()
    watch.start()
  })
  afterAll(async () => {
    watch.stop()
    process.off('unhandledRejection', onRejection)
    if (before.home === undefined) delete process.env['DSH_HOME']
    else process.env['DSH_HOME'] = before.home
    rmSync(home, { recursive: true, force: true })
    assert.deepEqual(rejections, [])
    assert.ok(watch.longestMs() < MAX_BLOCK_MS, `the event loop stood still for ${watch.longestMs()} ms`)
    if (before.left !== undefined) await expectNoLeftovers(before.left)
  })

  describe.concurrent.each(groups)('%s', (group) => {
    for (const row of faults[group] as readonly FaultRow[]) {
      for (const transport of row.transports ?? ['stdio', 'http']) {
        for (const era of row.eras ?? ['legacy', 'modern']) {
          it(`${row.title}: ${row.right} [${row.id} ${transport} ${era}]`, { timeout: ROW_LIMIT_MS }, () =>
            playRow(row, transport, era),
          )
        }
      }
    }
  })
}

interface LoopWatch {
  start(): void
  stop(): void
  longestMs(): number
}

/**
 * The histogram of the loop sees every pause, also those of a machine that is busy with something else. A pause counts
 * as ours only as far as this process used the processor in it.
 */
function watchLoop(): LoopWatch {
  const histogram = monitorEventLoopDelay({ resolution: 20 })
  let timer: NodeJS.Timeout | undefined
  let longest = 0
  let usage = process.cpuUsage()
  const sample = (): void => {
    const { user, system } = process.cpuUsage(usage)
    usage = process.cpuUsage()
    longest = Math.max(longest, Math.min(histogram.max / 1e6, (user + system) / 1e3))
    histogram.reset()
  }
  return {
    start() {
      usage = process.cpuUsage()
      histogram.enable()
      timer = setInterval(sample, 100).unref()
    },
    stop() {
      sample()
      clearInterval(timer)
      histogram.disable()
    },
    longestMs: () => longest,
  }
}
