/**
 * Owns the likeness of names: which known ones an unknown one may have meant, by the pairs of letters that they share.
 * Pure; the work is linear in the names, whatever was asked.
 */

/** Characters of a name that are compared. */
const MAX_CHARS = 160
/** Less alike is not a near miss. */
const MIN_LIKENESS = 0.3

/** The names most like this one, best first, at most `limit`; of equals the first of `names`. */
export function nearestNames(name: string, names: readonly string[], limit: number): string[] {
  const asked = pairsOf(name)
  return names
    .map((known) => ({ known, likeness: likeness(asked, pairsOf(known)) }))
    .filter(({ likeness }) => likeness >= MIN_LIKENESS)
    .toSorted((a, b) => b.likeness - a.likeness)
    .slice(0, limit)
    .map(({ known }) => known)
}

/** Pairs of neighbouring letters and digits; how a name is separated and cased is no difference. */
function pairsOf(name: string): Set<string> {
  const letters = name
    .slice(0, MAX_CHARS)
    .toLowerCase()
    .replace(/^mcp__/, '')
    .replace(/[^\p{L}\p{N}]/gu, '')
  const pairs = new Set<string>()
  for (let at = 0; at + 1 < letters.length; at += 1) pairs.add(letters.slice(at, at + 2))
  return pairs
}

/** Dice: 1 for the same pairs, 0 for none in common. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0
  for (const pair of a) if (b.has(pair)) shared += 1
  return shared === 0 ? 0 : (2 * shared) / (a.size + b.size)
}
