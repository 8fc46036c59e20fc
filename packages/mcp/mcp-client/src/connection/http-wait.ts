/** Owns waiting that an abort signal ends: for a time, or for what another owner is doing. */
import type { Clock } from '../clock.ts'

/** Wait for a time; at once where it is zero or less. Rejects with the signal's reason when it aborts. */
export function pause(delayMs: number, signal: AbortSignal, clock: Clock): Promise<void> {
  if (delayMs <= 0) return orAbort(Promise.resolve(), signal)
  let cancel = (): void => undefined
  const elapsed = new Promise<void>((resolve) => (cancel = clock.after(delayMs, resolve)))
  return orAbort(elapsed, signal).finally(() => cancel())
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
