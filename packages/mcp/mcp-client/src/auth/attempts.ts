/** Owns the count of attempts in a stretch of time: a server that always refuses must not keep us busy. */
import type { Clock } from '../clock.ts'

/** Says whether one more attempt is allowed, and counts it then. */
export function createAllowance(clock: Clock, max: number, windowMs: number): () => boolean {
  let times: number[] = []
  return () => {
    const now = clock.now()
    times = times.filter((time) => now - time < windowMs)
    if (times.length >= max) return false
    times.push(now)
    return true
  }
}
