/** Owns running work over a list a few at a time. */

/** Results in the order of the items; at most `limit` run at once. Rejects with the first rejection. */
export async function inOrder<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = Array.from<Result>({ length: items.length })
  const pending = items.entries()
  const worker = async (): Promise<void> => {
    // Shared by all workers: each takes the next one.
    for (const [index, item] of pending) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
  return results
}
