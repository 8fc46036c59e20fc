/** Owns the question which known word a person meant. Pure. */

/** Longer words are not compared: each costs the product of both lengths. */
const MAX_CHARS = 64

/** The known word nearest to `word`, where it is near enough to be a slip; the first of equals. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const limit = word.length <= 3 ? 1 : Math.min(3, Math.floor(word.length / 3) + 1)
  let best: string | undefined
  let bestDistance = limit + 1
  for (const candidate of known) {
    if (candidate === word || Math.abs(candidate.length - word.length) > limit) continue
    const distance = distanceOf(word.toLowerCase(), candidate.toLowerCase())
    if (distance >= bestDistance) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
export function distanceOf(from: string, to: string): number {
  if (from.length > MAX_CHARS || to.length > MAX_CHARS) return Number.POSITIVE_INFINITY
  let before: number[] = []
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current.push(
        Math.min(
          Number(previous[column]) + 1,
          Number(current[column - 1]) + 1,
          Number(previous[column - 1]) + (isSame ? 0 : 1),
          ...(isSwap && row > 1 && column > 1 ? [Number(before[column - 2]) + 1] : []),
        ),
      )
    }
    before = previous
    previous = current
  }
  return Number(previous[to.length])
}
