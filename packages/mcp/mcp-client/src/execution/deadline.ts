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
  /**
   * A person is being waited for: silence does not count until the returned function is called, and then begins anew.
   * The wall stays.
   */
  hold(): () => void
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
  const { caller, silenceMs, wallMs } = spec
  const controller = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {}) // the call may have settled before anyone waits
  const startedAt = performance.now()
  /** When the limit on silence began to count; never before the request is sent. */
  let heardAt: number | undefined
  /** Waits for a person that are not over. */
  let held = 0
  let timer: NodeJS.Timeout | undefined

  const close = (): void => {
    clearTimeout(timer)
    caller.removeEventListener('abort', onAbort)
  }
  const end = (ending: Ending): void => {
    close()
    const error = spec.toError(ending)
    // The caller learns first: the session's own rejection to the signal says less.
    reject(error)
    controller.abort(error)
  }
  const onAbort = (): void => end('aborted')
  /** One timer for both limits: it looks, when it fires, how much is left of them. */
  const watch = (): void => {
    const now = performance.now()
    const wallLeft = startedAt + wallMs - now
    const silenceLeft = (held > 0 ? now : (heardAt ?? now)) + silenceMs - now
    if (wallLeft <= 0) end('wall')
    else if (silenceLeft <= 0) end('silence')
    else timer = setTimeout(watch, Math.min(Math.ceil(Math.min(wallLeft, silenceLeft)), MAX_TIMER_MS))
  }
  caller.addEventListener('abort', onAbort, { once: true })
  if (caller.aborted) onAbort()
  else timer = setTimeout(watch, Math.min(wallMs, silenceMs, MAX_TIMER_MS))

  return {
    signal: controller.signal,
    ended: promise,
    touch() {
      heardAt = performance.now()
    },
    hold() {
      held += 1
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        held -= 1
        heardAt = performance.now()
      }
    },
    close,
  }
}
