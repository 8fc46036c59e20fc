/** Owns the giving up of a wait at a signal, whatever is waited for. */

/** The work, or a rejection at the signal: who answers need not look at it. */
export async function aborting<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const given = Promise.withResolvers<never>()
  const giveUp = (): void => given.reject(signal.reason)
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  try {
    return await Promise.race([work, given.promise])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** Calls back once all of them have aborted, never for none. Returns what lets go of them. */
export function onceAllAborted(signals: readonly AbortSignal[], callback: () => void): () => void {
  const living = new Set(signals.filter(({ aborted }) => !aborted))
  if (living.size === 0) {
    if (signals.length > 0) callback()
    return () => undefined
  }
  const listeners = [...living].map((signal) => {
    const onAbort = (): void => {
      living.delete(signal)
      if (living.size === 0) callback()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    return () => signal.removeEventListener('abort', onAbort)
  })
  return () => {
    for (const remove of listeners) remove()
  }
}
