/** Owns the cap on calls in flight at one server: a fair queue whose waiting ends with the caller's signal. */

export interface CallGate {
  /**
   * Wait for a place, in order of arrival. Resolves with the release of that place, to be called once; rejects with
   * the signal's reason when it aborts first.
   */
  enter(signal: AbortSignal): Promise<() => void>
}

/** A gate with `limit` places. Owns no timer. */
export function createGate(limit: number): CallGate {
  let free = limit
  const waiting = new Set<() => void>()

  const release = (): void => {
    const [next] = waiting
    if (next === undefined) free += 1
    else next()
  }

  return {
    enter(signal) {
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      if (signal.aborted) {
        reject(signal.reason as Error)
      } else if (free > 0) {
        free -= 1
        resolve(once(release))
      } else {
        const leave = (): void => {
          waiting.delete(take)
          reject(signal.reason as Error)
        }
        const take = (): void => {
          waiting.delete(take)
          signal.removeEventListener('abort', leave)
          resolve(once(release))
        }
        waiting.add(take)
        signal.addEventListener('abort', leave, { once: true })
      }
      return promise
    },
  }
}

function once(release: () => void): () => void {
  let isOpen = true
  return () => {
    if (isOpen) release()
    isOpen = false
  }
}
