/**
 * Owns waiting that an abort signal ends: for a time, or for what another owner is doing; and the timers of one
 * connection, of which none outlives it.
 */
import type { Clock } from '../clock.ts'

/** Wait for a time. Rejects with the signal's reason when it aborts. */
export function pause(delayMs: number, signal: AbortSignal, clock: Clock): Promise<void> {
  const elapsed = Promise.withResolvers<void>()
  const cancel = clock.after(delayMs, elapsed.resolve)
  return orAbort(elapsed.promise, signal).finally(cancel)
}

/** The outcome of `work`, or the signal's reason as soon as it aborts; `work` itself goes on. */
export function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

export interface Bound {
  readonly timeoutMs: number
  /** What the work is given up with when the time is over. */
  readonly error: () => Error
  /** Ends the work as well, with its own reason. */
  readonly lifetime: AbortSignal
  readonly clock: Clock
}

/** Run with a signal that aborts after a time or when the lifetime ends. */
export async function bounded(bound: Bound, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const { lifetime } = bound
  const controller = new AbortController()
  const abort = (): void => controller.abort(lifetime.reason)
  if (lifetime.aborted) abort()
  lifetime.addEventListener('abort', abort, { once: true })
  const cancel = bound.clock.after(bound.timeoutMs, () => controller.abort(bound.error()))
  try {
    await work(controller.signal)
  } finally {
    cancel()
    lifetime.removeEventListener('abort', abort)
  }
}

/** A clock for one connection: `close()` disarms what is armed, and nothing is armed afterwards. */
export class OwnedClock implements Clock {
  private readonly clock: Clock
  private armed: Set<() => void> | undefined = new Set()

  constructor(clock: Clock) {
    this.clock = clock
  }

  now(): number {
    return this.clock.now()
  }

  after(ms: number, callback: () => void): () => void {
    const { armed } = this
    if (armed === undefined) return () => undefined
    const disarm = this.clock.after(ms, () => {
      armed.delete(cancel)
      callback()
    })
    const cancel = (): void => {
      armed.delete(cancel)
      disarm()
    }
    armed.add(cancel)
    return cancel
  }

  close(): void {
    const { armed } = this
    this.armed = undefined
    armed?.forEach((cancel) => cancel())
  }
}
