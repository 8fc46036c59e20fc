/**
 * Owns how long the schemas of one server may hold the event loop: each is bounded by itself, but a server may list ten
 * thousand that each take a hundred times longer than any honest one. Decides by time, and says no.
 */

/** What a tool takes without being counted, in milliseconds: an honest one takes a tenth of it. */
const FREE_MS = 2
/** What the rest of all tools together may take, in milliseconds. */
const BUDGET_MS = 3_000
/** Share of the time that passes which is given back: a server that changes its list for ever gets no more than that. */
const REFUND = 0.02

export interface Budget {
  /** Do the work and count it; `undefined` without doing it where the budget is spent. */
  spend<T>(work: () => T): T | undefined
}

/** @param now monotonic milliseconds */
export function createBudget(now: () => number): Budget {
  let spentMs = 0
  let countedAt = now()
  return {
    spend(work) {
      const start = now()
      spentMs = Math.max(0, spentMs - (start - countedAt) * REFUND)
      countedAt = start
      if (spentMs >= BUDGET_MS) return undefined
      try {
        return work()
      } finally {
        countedAt = now()
        spentMs += Math.max(0, countedAt - start - FREE_MS)
      }
    },
  }
}
