/**
 * Owns what a row must know of its own fiber in the host while it starts: that it is being disposed, and that its
 * config was edited. Cordis runs disposers only after `apply` has returned, and loses an edit that comes before.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { Clock } from './clock.ts'

/** How often a waiting row looks whether it was edited, in milliseconds. */
const LOOK_MS = 100
/** FiberState.ACTIVE: cordis exports a const enum, which has no value at run time here. */
const ACTIVE = 2

export interface Row {
  /** Settles when the row is disposed or edited: whatever `apply` waits for is over then. */
  readonly ended: Promise<void>
  /** Stop looking. To be called when `apply` has done its waiting. */
  settle(): void
}

/**
 * Watch a fiber that is starting.
 * @param onDisposed called once, synchronously, when the row begins to be disposed
 */
export function watchRow(ctx: Context, clock: Clock, onDisposed: () => void): Row {
  const { fiber } = ctx
  const startedWith: unknown = fiber._config
  const { promise, resolve } = Promise.withResolvers<void>()
  let cancel = (): void => undefined

  const look = (): void => {
    if (fiber._config !== startedWith) resolve()
    else cancel = clock.after(LOOK_MS, look)
  }
  look()

  ctx.on('internal/plugin', (changed) => {
    if (changed !== fiber || fiber.uid !== null) return
    cancel()
    onDisposed()
    resolve()
  })
  ctx.on('internal/status', (changed) => {
    if (changed !== fiber || fiber.state !== ACTIVE || fiber._config === startedWith) return
    // The edit came while the row was starting: cordis kept the new config and forgot to apply it.
    queueMicrotask(() => {
      if (fiber.uid !== null)
        void Promise.resolve(fiber.update(fiber._config, true)).catch((error: unknown) =>
          ctx.logger.error(error),
        )
    })
  })

  return { ended: promise, settle: () => cancel() }
}
