/**
 * Owns how many lines one server may cost the log: plenty at once, then a few a minute of each level, and a count of
 * what was left out. Errors have their own share, so that noise never hides them.
 */
import type { Clock } from './clock.ts'

const BURST = 100
/** One more line each time this is over, in milliseconds. */
const REFILL_MS = 5_000

/** Pass lines on as far as their level has room; `rest` is told how many were left out when there is room again. */
export function limitLines<Level extends string>(
  clock: Clock,
  say: (line: { readonly level: Level; readonly text: string }) => void,
): (line: { readonly level: Level; readonly text: string }) => void {
  const shares = new Map<Level, { room: number; at: number; left: number }>()
  return (line) => {
    const now = clock.now()
    const share = shares.get(line.level) ?? { room: BURST, at: now, left: 0 }
    shares.set(line.level, share)
    share.room = Math.min(BURST, share.room + (now - share.at) / REFILL_MS)
    share.at = now
    if (share.room < 1) {
      share.left += 1
      return
    }
    share.room -= 1
    const { left } = share
    share.left = 0
    say(
      left === 0 ? line : { ...line, text: `${line.text} (${left} more lines of this level were left out)` },
    )
  }
}
