/** Owns the limit on waiting for a host service: none of them may hold a result back for ever. */

/** The promise, or a rejection after `limitMs`. The promise is not cancelled; its late outcome is ignored. */
export async function withLimit<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}
