/** Owns the finding of processes that a test has started, children of children too, by a mark in their environment. */
import { randomUUID } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { vi } from 'vitest'

export interface ProcessMark {
  /** Goes into the environment of the first process; its children inherit it. */
  readonly env: Readonly<Record<string, string>>
  /** Ids of live processes with the mark. Dead ones that nobody has reaped have no environment. */
  alive(): number[]
  /** Waits until there are `count`, for a bounded time. */
  until(count: number): Promise<number[]>
  /** Ends what is left after a failed test. */
  clear(): void
}

export function markProcesses(): ProcessMark {
  const mark = `MCP_TEST_MARK=${randomUUID()}`
  const alive = (): number[] =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(mark))
      .map(Number)
  return {
    env: { PATH: process.env['PATH'] ?? '', MCP_TEST_MARK: mark.slice('MCP_TEST_MARK='.length) },
    alive,
    until: (count) =>
      vi.waitFor(
        () => {
          const pids = alive()
          if (pids.length !== count) throw new Error(`${pids.length} processes, not ${count}`)
          return pids
        },
        { timeout: 5_000, interval: 20 },
      ),
    clear: () => {
      for (const pid of alive()) process.kill(pid, 'SIGKILL')
    },
  }
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return '' // gone meanwhile, or not ours
  }
}
