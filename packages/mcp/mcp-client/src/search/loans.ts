/**
 * Owns the tools of search that are in the host's registry for a moment: while a call of them is under way, and while
 * the host is asked what an agent may see. Each loan is given back.
 */
import type { Directory, Found } from './directory.ts'

export interface Loans {
  /**
   * Register the tool until the returned function is called. Nothing happens for a direct one.
   * @throws Error what the registry says, such as a name that is taken
   */
  take(found: Found): () => void
  /** Names that are in the registry only because of a loan. */
  names(): ReadonlySet<string>
  /** Whether the registry is changing because of a loan: nothing that an agent sees is another then. */
  isChanging(): boolean
}

export function createLoans(directory: Directory): Loans {
  const holders = new Map<string, number>()
  let depth = 0

  function quietly<T>(work: () => T): T {
    depth += 1
    try {
      return work()
    } finally {
      depth -= 1
    }
  }

  return {
    take({ server, tool }) {
      const { publicName, exposure } = tool
      if (exposure === 'direct') return () => undefined
      const giveBack = quietly(() => server.lend(publicName))
      holders.set(publicName, (holders.get(publicName) ?? 0) + 1)
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        const left = Number(holders.get(publicName)) - 1
        if (left > 0) holders.set(publicName, left)
        else holders.delete(publicName)
        quietly(giveBack)
      }
    },
    names: () =>
      new Set([...holders.keys()].filter((name) => directory.find(name)?.tool.exposure !== 'direct')),
    isChanging: () => depth > 0,
  }
}
