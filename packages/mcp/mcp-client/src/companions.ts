/**
 * Owns what lives once beside all rows of an app: it comes with the first row and goes with the last. Each companion is
 * a plugin of its own on the app's root, so that no row is its owner. They are loaded while the first server starts:
 * no server waits for what only looks at it.
 */
import type { Context, Fiber } from '@deepseek-ai/cordis'

export interface Companion {
  readonly name: string
  readonly inject?: readonly string[]
  apply(ctx: Context): Promise<void> | void
}

export interface Companions {
  /** Cheap ones, there before the first server starts. */
  readonly first: readonly Companion[]
  /** Loads the others. */
  load(): Promise<readonly Companion[]>
}

export interface Mount {
  /** Load the others too; settles when they are mounted, or nobody needs them any more. Rejects as `load` does. */
  complete(): Promise<void>
  /** Let them go; may be called more than once. */
  release(): void
}

interface Mounted {
  fibers: readonly Fiber[]
  rest: Promise<void> | undefined
  rows: number
}

/** Per app root, since several apps may live in one process. */
const mounts = new WeakMap<object, Mounted>()

/** Mount the companions for one row. */
export function mountCompanions(root: Context, { first, load }: Companions): Mount {
  const plug = (companions: readonly Companion[]): Fiber[] =>
    companions.map((companion) => root.plugin(companion as never, undefined as never))
  const mounted = mounts.get(root) ?? { rows: 0, fibers: plug(first), rest: undefined }
  mounts.set(root, mounted)
  mounted.rows += 1
  let isHeld = true

  async function mountRest(): Promise<void> {
    const companions = await load()
    // The last row may have gone meanwhile.
    if (mounted.rows === 0) return
    const fibers = plug(companions)
    mounted.fibers = [...mounted.fibers, ...fibers]
    await Promise.all(fibers)
  }

  return {
    complete: () => (mounted.rest ??= mountRest()),
    release() {
      if (!isHeld) return
      isHeld = false
      mounted.rows -= 1
      if (mounted.rows > 0) return
      mounts.delete(root)
      for (const fiber of mounted.fibers) void fiber.dispose()
    },
  }
}
