/**
 * Owns what becomes of progress notifications besides the clock: a line at debug level now and then, and the last of
 * them for the error of a call that ran out of time. The host has no place where a running call could show more.
 */
import { cleanLine } from '../text.ts'
import type { Progress } from '../types.ts'

/** A server may report a million times; the log has one line of a call in this time, in milliseconds. */
const LINE_EVERY_MS = 1_000
const MAX_MESSAGE_CHARS = 200

export interface ProgressRecord {
  take(progress: Progress): void
  /** The last progress in words; `undefined` where there was none. */
  last(): string | undefined
}

/** Start the record of one call. `say` gets a clean line, with the server's words as they came otherwise. */
export function createProgressRecord(say: (text: string) => void): ProgressRecord {
  let latest: Progress | undefined
  let saidAt = -Infinity
  return {
    take(progress) {
      latest = progress
      const now = performance.now()
      if (now - saidAt < LINE_EVERY_MS) return
      saidAt = now
      say(formatProgress(progress))
    },
    last: () => (latest === undefined ? undefined : formatProgress(latest)),
  }
}

/** `3 of 10: indexing`. Pure. */
export function formatProgress({ progress, total, message }: Progress): string {
  const amount = total === undefined ? String(progress) : `${progress} of ${total}`
  const words = message === undefined ? '' : cleanLine(message, MAX_MESSAGE_CHARS)
  return words === '' ? amount : `${amount}: ${words}`
}
