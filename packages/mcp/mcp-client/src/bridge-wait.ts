/** Owns waiting for something that a caller may give up. */

/** Waits for the work, or until the caller gives up; leaves no listener behind. */
export async function settledOrAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const given = Promise.withResolvers<void>()
  const giveUp = (): void => given.resolve()
  signal.addEventListener('abort', giveUp, { once: true })
  /* v8 ignore next -- the registry refuses a call that is aborted already */
  if (signal.aborted) giveUp()
  await Promise.race([work, given.promise])
  signal.removeEventListener('abort', giveUp)
}
