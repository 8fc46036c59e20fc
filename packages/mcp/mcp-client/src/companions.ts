/**
 * Owns what lives once beside all rows of an app: it comes with the first row and goes with the last. Each companion is
 * a plugin of its own on the app's root, so that no row is its owner.
 */
import type { Context, Fiber } from '@deepseek-ai/cordis'

export interface Companion {
  readonly name: string
  readonly inject?: readonly string[]
  apply(ctx: Context): Promise<void> | void
}

interface Mounted {
  readonly fibers: readonly Fiber[]
  rows: number
}

/** Per app root, since several apps may live in one process. */
const mounts = new WeakMap<object, Mounted>()

/**
 * Mount the companions for one row.
 * @returns lets them go; may be called more than once
 */
export function mountCompanions(root: Context, companions: readonly Companion[]): () => void {
  const mounted = mounts.get(root) ?? mount(root, companions)
  mounts.set(root, mounted)
  mounted.rows += 1
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    mounted.rows -= 1
    if (mounted.rows > 0) return
    mounts.delete(root)
    for (const fiber of mounted.fibers) void fiber.dispose()
  }
}

function mount(root: Context, companions: readonly Companion[]): Mounted {
  return { rows: 0, fibers: companions.map((companion) => root.plugin(companion as never, undefined as never)) }
}
