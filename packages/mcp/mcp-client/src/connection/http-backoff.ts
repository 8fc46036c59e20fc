/** Owns how long to wait before a stream is opened again. Pure. */

/** Floor under what a server names as its reconnection time, in milliseconds. */
const MIN_DELAY_MS = 100
const DEFAULT_DELAY_MS = 1_000
const MAX_DELAY_MS = 60_000

export interface BackoffOptions {
  /** Attempts that came to nothing so far. */
  readonly attempt: number
  /** Reconnection time of the server, if it named one. */
  readonly retryMs: number | undefined
  /** 0 to 1. */
  readonly random: () => number
}

/** The server's own time at first, exactly; then doubled each time, with a fifth of jitter, up to a minute. */
export function backoffMs({ attempt, retryMs, random }: BackoffOptions): number {
  const base = Math.min(MAX_DELAY_MS, Math.max(MIN_DELAY_MS, retryMs ?? DEFAULT_DELAY_MS))
  if (attempt === 0) return base
  return Math.min(MAX_DELAY_MS, base * 2 ** Math.min(attempt, 20)) * (0.9 + random() * 0.2)
}
