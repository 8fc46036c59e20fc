/**
 * Owns the record of one server's calls: who watches one sees it begin and end, and counts and times stay for status.
 * Memory is bounded; nothing of arguments or results is kept.
 */
import type { Clock } from './clock.ts'
import { isMcpError } from './errors.ts'
import type { CallObserver, CallSettled, CallStart, CallTotals, RunningCall } from './types.ts'

/** Settled calls whose times are kept. */
export const KEPT_CALLS = 256
/** Running calls that are shown. */
export const SHOWN_RUNNING = 20

export interface CallRecordOptions {
  readonly serverName: string
  readonly clock: Clock
  /** What is known of the connection when a call begins. */
  about(): Omit<CallStart, 'serverName' | 'tool' | 'callId'>
  observer(): CallObserver | undefined
  settled(call: CallSettled): void
}

export interface CallRecord {
  /** Runs the call and hands on its outcome. */
  watch<T>(tool: string, callId: string, run: () => Promise<T>): Promise<T>
  /** The words of a running call's last progress, made when they are asked for. */
  progress(callId: string, words: () => string): void
  totals(): CallTotals
}

interface Running {
  readonly tool: string
  readonly since: number
  progress: (() => string) | undefined
}

export function createCallRecord(options: CallRecordOptions): CallRecord {
  const { serverName, clock } = options
  const times: number[] = []
  let total = 0
  let failed = 0
  let aborted = 0
  /** By the host's id of the call. */
  const running = new Map<string, Running>()
  let active = 0
  let lastAt: number | undefined

  function settle(call: CallSettled & { readonly callId: string }): void {
    times[total % KEPT_CALLS] = call.durationMs
    active -= 1
    running.delete(call.callId)
    total += 1
    lastAt = Date.now()
    if (call.outcome === 'aborted') aborted += 1
    else if (call.outcome !== 'ok') failed += 1
    options.settled(call)
  }

  return {
    async watch(tool, callId, run) {
      const start = clock.now()
      const which = { serverName, tool, callId }
      const observer = options.observer()
      active += 1
      running.set(callId, { tool, since: Date.now(), progress: undefined })
      try {
        const value = await (observer === undefined
          ? run()
          : observer.around({ ...which, ...options.about() }, run))
        settle({ ...which, durationMs: clock.now() - start, outcome: 'ok' })
        return value
      } catch (error) {
        settle({ ...which, durationMs: clock.now() - start, ...failureOf(error) })
        throw error
      }
    },
    progress(callId, words) {
      const call = running.get(callId)
      if (call !== undefined) call.progress = words
    },
    totals() {
      const counts = { total, failed, aborted, active, ...runningOf([...running.values()]) }
      if (lastAt === undefined) return counts
      const sorted = times.toSorted((a, b) => a - b)
      return { ...counts, p50Ms: percentile(sorted, 0.5), p95Ms: percentile(sorted, 0.95), lastAt }
    },
  }
}

function runningOf(calls: readonly Running[]): { readonly running?: readonly RunningCall[] } {
  if (calls.length === 0) return {}
  const running = calls.slice(0, SHOWN_RUNNING).map(({ tool, since, progress }) => ({
    tool,
    since,
    ...(progress === undefined ? {} : { progress: progress() }),
  }))
  return { running }
}

/** Nearest rank of a sorted list with at least one value, in whole milliseconds. */
function percentile(sorted: readonly number[], share: number): number {
  return Math.round(Number(sorted[Math.ceil(sorted.length * share) - 1]))
}

function failureOf(error: unknown): Pick<CallSettled, 'outcome' | 'code'> {
  /* v8 ignore next -- execution makes an McpError of whatever fails */
  if (!isMcpError(error)) return { outcome: 'failed' }
  const { code } = error
  if (code === 'MCP_TOOL_FAILED') return { outcome: 'tool-failed', code }
  return { outcome: code === 'MCP_ABORTED' ? 'aborted' : 'failed', code }
}
