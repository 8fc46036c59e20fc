/**
 * Owns the choice which servers' tools are in the request and which are reached by search. Pure: a function of what all
 * servers need, never of the order in which they came.
 */
import type { DefinitionBytes, Exposure } from '../types.ts'

/** One server as the choice sees it. */
export interface Share extends DefinitionBytes {
  readonly serverName: string
  /** As its row says. */
  readonly wanted: Exposure | 'auto'
  /** Of all servers together; the row's own. */
  readonly budgetBytes: number
  /** What was chosen before and holds: a request has gone out with it. */
  readonly settled?: Exposure | undefined
}

/**
 * The exposure of each server, by name. A row that says one has it, a settled one keeps it. The rest is direct while all
 * that is in the request fits the server's own budget; above it the largest goes to search first.
 */
export function allocate(shares: readonly Share[]): Map<string, Exposure> {
  const chosen = new Map(shares.map((share) => [share.serverName, fixedChoice(share) ?? 'direct']))
  const open = shares.filter((share) => fixedChoice(share) === undefined && freed(share) > 0).toSorted(bySize)
  let total = requestBytes(shares, chosen)
  for (const share of open) {
    // A server with a larger budget than others may stay where they go.
    if (total <= share.budgetBytes) continue
    chosen.set(share.serverName, 'search')
    total -= freed(share)
  }
  return chosen
}

/** Bytes of MCP definitions in each request, without those of search itself. */
export function requestBytes(shares: readonly Share[], chosen: ReadonlyMap<string, Exposure>): number {
  return shares.reduce(
    (sum, share) => sum + (chosen.get(share.serverName) === 'search' ? share.fixed : share.total),
    0,
  )
}

function fixedChoice({ wanted, settled }: Share): Exposure | undefined {
  return wanted === 'auto' ? settled : wanted
}

/** What the request saves when the server goes to search. */
function freed({ total, fixed }: Share): number {
  return total - fixed
}

/** The largest first; names have an order that does not depend on a locale. */
function bySize(a: Share, b: Share): number {
  return freed(b) - freed(a) || (a.serverName < b.serverName ? -1 : 1)
}
