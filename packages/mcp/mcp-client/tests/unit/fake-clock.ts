/** Owns the clock of the unit tests: time moves only when a test says so. */
import type { Clock } from '../../src/clock.ts'

interface Timer {
  readonly due: number
  readonly ms: number
  readonly callback: () => void
}

export class FakeClock implements Clock {
  private time = 1_000
  private readonly timers = new Set<Timer>()

  now(): number {
    return this.time
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { due: this.time + ms, ms, callback }
    this.timers.add(timer)
    return () => void this.timers.delete(timer)
  }

  /** Delays of the timers that are armed, in order of their making. */
  pending(): number[] {
    return [...this.timers].map(({ ms }) => ms)
  }

  /** Let all promises settle, then move on timer by timer. */
  async advance(ms: number): Promise<void> {
    await settled()
    const end = this.time + ms
    for (;;) {
      const [next] = [...this.timers].filter(({ due }) => due <= end).toSorted((a, b) => a.due - b.due)
      if (next === undefined) break
      this.timers.delete(next)
      this.time = Math.max(this.time, next.due)
      next.callback()
      await settled()
    }
    this.time = end
    await settled()
  }
}

/** Everything that waits only for promises has gone on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
