/**
 * Owns what a row must know of its own fiber in the host: that it is being disposed or was edited while it starts, and
 * that an update brings nothing new. Cordis runs disposers only after `apply` has returned, loses an edit that comes
 * before that, and restarts a healthy row when the edit of another one is rolled back.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Context, Fiber } from '@deepseek-ai/cordis'
import type { Clock } from './clock.ts'

/** How often a starting row looks whether it was edited, in milliseconds. */
const LOOK_MS = 100
/** FiberState.ACTIVE: cordis exports a const enum, which has no value at run time here. */
const ACTIVE = 2

/**
 * What the loader keeps of a row. Its `fiber` is not the one a plugin sees but an object made from that: an update
 * writes there, config and state of a restart included, and the plugin's own fiber keeps what it was born with.
 */
interface LoaderEntry {
  readonly fiber?: Fiber
}

export interface Row {
  /** Settles when the row is disposed or edited: whatever `apply` waits for is over then. */
  readonly ended: Promise<void>
  /** Whether a newer config waits to be applied. */
  isEdited(): boolean
  /** To be called when `apply` has done its waiting. */
  settle(): void
}

export interface RowOptions {
  readonly clock: Clock
  /** Called once, synchronously, when the row, or what holds it, begins to be disposed. */
  readonly onDisposed: () => void
  /** Whether the row still does its work: an update without a change is then not worth a restart. */
  readonly isHealthy: () => boolean
}

/** Watch a fiber that is starting; to be called from its `apply`. The listeners end with the fiber. */
export function watchRow(ctx: Context, { clock, onDisposed, isHealthy }: RowOptions): Row {
  const { fiber } = ctx
  const driven = (fiber as { readonly entry?: LoaderEntry }).entry?.fiber ?? fiber
  const startedWith: unknown = driven._config
  const { promise, resolve } = Promise.withResolvers<void>()
  const isEdited = (): boolean => driven._config !== startedWith
  let cancel: (() => void) | undefined
  let isEnding = false

  const look = (): void => {
    if (isEdited()) resolve()
    else cancel = clock.after(LOOK_MS, look)
  }
  look()

  ctx.on('internal/plugin', (changed) => {
    if (isEnding || changed.uid !== null || !isWithin(fiber, changed)) return
    isEnding = true
    cancel?.()
    onDisposed()
    resolve()
  })
  ctx.on('internal/status', (changed) => {
    if (changed.ctx !== fiber.ctx || changed.state !== ACTIVE || !isEdited()) return
    // The edit came while the row was starting: cordis kept the new config and forgot to apply it.
    queueMicrotask(() => void applyAgain(driven))
  })
  const unlisten = ctx.on('internal/update', function update(this: Fiber, config: unknown, _noSave, next) {
    return isHealthy() && isDeepStrictEqual(config, this.config) ? undefined : next()
  })
  // Cordis gives this one listener no owner: it would outlive every restart, and all it refers to with it.
  ctx.effect(() => unlisten, 'mcp-client.update')

  return { ended: promise, isEdited, settle: () => cancel?.() }
}

/**
 * Whether a fiber is the other one or below it. The include of cordis.yml waits for its starting rows before it disposes
 * them, so a row must see that its parent ends.
 */
function isWithin(fiber: Fiber, other: Fiber): boolean {
  let at = fiber
  while (at.ctx !== other.ctx && at !== at.parent.fiber) at = at.parent.fiber
  return at.ctx === other.ctx
}

async function applyAgain(fiber: Fiber): Promise<void> {
  if (fiber.uid === null) return
  try {
    await fiber.update(fiber._config, true)
  } catch (error) {
    // The edit itself is bad: said here, since nobody awaits it any more.
    fiber.ctx.logger.error(error)
  }
}
