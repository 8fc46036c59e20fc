/**
 * Owns when a list is read again: one read in flight, one trailing, quiet enough that a storm of notifications costs
 * two reads. Knows nothing of what a read does.
 */
import type { Clock } from '../clock.ts'

/** A trailing read waits until the notifications have been quiet this long, in milliseconds. */
export const QUIET_MS = 100
/** A storm that never ends still gets a read this often, in milliseconds. */
export const MAX_WAIT_MS = 2_000

export interface Refresher {
  /** Ask for a read; many asks become few reads. */
  request(): void
  /** No read starts after this; settles when the one in flight has. */
  close(): Promise<void>
}

type Phase =
  | { readonly name: 'idle' }
  | { readonly name: 'reading' }
  /** Asked again while reading: a trailing read is owed. */
  | { readonly name: 'owing'; readonly firstAsked: number; readonly lastAsked: number }
  | {
      readonly name: 'waiting'
      readonly firstAsked: number
      readonly lastAsked: number
      readonly cancel: () => void
    }
  | { readonly name: 'closed' }

/**
 * @param read one read; must not reject, and must end by itself
 */
export function createRefresher(clock: Clock, read: () => Promise<void>): Refresher {
  let phase: Phase = { name: 'idle' }
  let current: Promise<void> = Promise.resolve()
  let lastStart = Number.NEGATIVE_INFINITY

  function start(): void {
    phase = { name: 'reading' }
    lastStart = clock.now()
    current = read().then(settle)
  }

  function settle(): void {
    if (phase.name === 'owing') wait(phase.firstAsked, phase.lastAsked)
    else if (phase.name === 'reading') phase = { name: 'idle' }
  }

  function wait(firstAsked: number, lastAsked: number): void {
    const due = Math.min(lastAsked + QUIET_MS, firstAsked + MAX_WAIT_MS)
    const cancel = clock.after(Math.max(0, due - clock.now()), () => {
      if (phase.name !== 'waiting') return
      const quiet = clock.now() >= Math.min(phase.lastAsked + QUIET_MS, phase.firstAsked + MAX_WAIT_MS)
      if (quiet) start()
      else wait(phase.firstAsked, phase.lastAsked)
    })
    phase = { name: 'waiting', firstAsked, lastAsked, cancel }
  }

  return {
    request() {
      const now = clock.now()
      switch (phase.name) {
        case 'idle':
          // Reads may be quicker than the notifications of a storm: the one after a read waits for quiet, too.
          return now - lastStart < QUIET_MS ? wait(now, now) : start()
        case 'reading':
          phase = { name: 'owing', firstAsked: now, lastAsked: now }
          return
        case 'owing':
        case 'waiting':
          phase = { ...phase, lastAsked: now }
          return
        case 'closed':
          return
      }
    },
    close() {
      if (phase.name === 'waiting') phase.cancel()
      phase = { name: 'closed' }
      return current
    },
  }
}
