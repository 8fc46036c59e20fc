/**
 * Owns the close look at a candidate: how well one tool answers the units of a question, given which terms were found
 * in which of its fields. Pure.
 */
import type { FieldName } from './fields.ts'
import type { Unit } from './question.ts'

/** A candidate of the first stage. */
export interface Candidate {
  /** The fields in which each found term stands; a term that was not asked for is a near miss. */
  readonly match: Readonly<Record<string, readonly string[]>>
  /** Its score there, which breaks ties. */
  readonly score: number
  /** The words of its name, each with its concepts. */
  readonly name: readonly (readonly string[])[]
}

/** Tuned on the questions of bench/retrieval that are for tuning. */
export const FIELD_WEIGHTS: Readonly<Record<FieldName, number>> = {
  name: 0.65,
  title: 0.68,
  lead: 0.55,
  rest: 0.3,
  args: 0.3,
  argTexts: 0.25,
  // Whoever names a product means it.
  server: 1.5,
}
const WEIGHT = {
  /** A term that stands in further fields, for each of their weights. */
  further: 0.11,
  near: 0.1,
  /** Share of a score that a tool loses whose name says only what was not asked for. */
  name: 0.4,
  firstStage: 0.01,
} as const

/**
 * The score of a candidate: for each unit the best of its terms, rare ones more.
 * @param rarity of a term among the tools
 */
export function judge(
  candidate: Candidate,
  units: readonly Unit[],
  rarity: (term: string) => number,
): number {
  const { match } = candidate
  let sum = 0
  const asked = new Set<string>()
  for (const unit of units) {
    let best = 0
    for (const [term, weight] of unit) {
      asked.add(term)
      const fields = Object.hasOwn(match, term) ? match[term] : undefined
      if (fields !== undefined) best = Math.max(best, weight * rarity(term) * weightOf(fields))
    }
    sum += best
  }
  for (const [term, fields] of Object.entries(match)) {
    if (!asked.has(term)) sum += WEIGHT.near * rarity(term) * weightOf(fields)
  }
  const share = 1 - WEIGHT.name + WEIGHT.name * askedShare(candidate, rarity)
  return sum * share + WEIGHT.firstStage * candidate.score
}

function weightOf(fields: readonly string[]): number {
  const weights = fields.map((field) => FIELD_WEIGHTS[field as FieldName])
  const best = Math.max(...weights)
  return best + WEIGHT.further * (weights.reduce((sum, weight) => sum + weight, 0) - best)
}

/** How much of a name was asked for: "create_issue" is nearer to a question for an issue than "create_issue_label". */
function askedShare({ name, match }: Candidate, rarity: (term: string) => number): number {
  let all = 0
  let asked = 0
  for (const terms of name) {
    const weight = rarity(terms[0] as string)
    all += weight
    if (terms.some((term) => Object.hasOwn(match, term))) asked += weight
  }
  return all === 0 ? 0 : asked / all
}
