/**
 * Owns the time of one call: the caller's signal, the silence limit that progress resets, and the absolute wall,
 * fused into one signal. Created with the call, closed with it; leaves no timer and no listener.
 */
import type { McpError } from '../errors.ts'

/** Largest delay a Node timer takes; above it a timer fires at once. */
const MAX_TIMER_MS = 0x7fff_ffff

export type Ending = 'aborted' | 'silence' | 'wall'

export interface Deadline {
  /** Aborts at the ending; its reason is the error that `ended` rejects with. */
  readonly signal: AbortSignal
  /** Rejects at the ending, and never resolves. */
  readonly ended: Promise<never>
  /** Arm the silence limit when the request is sent, and again at each progress. */
  touch(): void
  close(): void
}

export interface DeadlineSpec {
  readonly caller: AbortSignal
  readonly silenceMs: number
  readonly wallMs: number
  /** The error of an ending. */
  readonly toError: (ending: Ending) => McpError
}

export function createDeadline(spec: DeadlineSpec): Deadline {
  const controller = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {}) // the call may have settled before anyone waits
  let silence: NodeJS.Timeout | undefined

  const close = (): void => {
    clearTimeout(wall)
    clearTimeout(silence)
    spec.caller.removeEventListener('abort', onAbort)
  }
  const end = (ending: Ending): void => {
    close()
    const error = spec.toError(ending)
    // The caller learns first: the session's own rejection to the signal says less.
    reject(error)
    controller.abort(error)
  }
  const onAbort = (): void => end('aborted')
  const wall = setTimeout(() => end('wall'), Math.min(spec.wallMs, MAX_TIMER_MS))
  spec.caller.addEventListener('abort', onAbort, { once: true })
  if (spec.caller.aborted) onAbort()

  return {
    signal: controller.signal,
    ended: promise,
    touch() {
      if (controller.signal.aborted) return
      if (silence === undefined)
        silence = setTimeout(() => end('silence'), Math.min(spec.silenceMs, MAX_TIMER_MS))
      else silence.refresh()
    },
    close,
  }
}
