/**
 * Owns what a question asks for: its words and phrases, each with everything that it may be called in a tool, and how
 * much each way of calling it counts. Pure.
 */
import { lexicon } from './concepts.ts'
import { isTelling, placesOf } from './meaning.ts'
import type { Meaning } from './phrases.ts'
import { shapesOf } from './shapes.ts'
import { runTerms, tokensOf } from './tokens.ts'
import type { Token } from './tokens.ts'

/** One word or phrase of a question: the weight of each term; a tool is credited for the best one that it has. */
export type Unit = ReadonlyMap<string, number>

/** Tuned on the questions of bench/retrieval that are for tuning; a literal word weighs 1. */
const WEIGHT = {
  concept: 0.7,
  cue: 0.7,
  /** Factor of a phrase of several words: it is rarely meant otherwise. */
  phrase: 1.5,
  /** A single word of such a phrase. */
  phraseWord: 0.5,
  /** Factor of a phrase that has other words in it. */
  split: 1.6,
  shape: 0.85,
} as const
/** A word with many meanings counts less for each: 1 / meanings ** this. */
const SHARE = 0.3
/** Words that may stand in a phrase. */
const MAX_GAP = 6
const NUMBER = /^\d+$/

/** The units of a question, from at most `maxTokens` tokens. */
export function unitsOf(question: string, maxTokens: number): Unit[] {
  const tokens = tokensOf(question, maxTokens)
  const units: Unit[] = []
  /** Tokens whose literal word is in the unit of a phrase. */
  const named = new Set<number>()
  for (const { meanings, at, length } of placesOf(tokens)) {
    const unit = weigh(meanings, length > 1 ? WEIGHT.phrase : 1)
    const words = tokens.slice(at, at + length).filter((token) => token.kind === 'word')
    if (meanings.some(({ isCue }) => !isCue)) {
      for (const [offset, word] of words.entries()) {
        named.add(at + offset)
        if (isTelling(word)) unit.set(word.text, length > 1 ? WEIGHT.phraseWord : 1)
      }
    }
    units.push(unit)
  }
  for (const meanings of splitPhrases(tokens)) units.push(weigh(meanings, WEIGHT.split))
  for (const concept of shapesOf(question)) units.push(new Map([[concept, WEIGHT.shape]]))
  for (const [at, token] of tokens.entries()) {
    if (token.kind === 'run') units.push(...runTerms(token.text).map(literal))
    else if (!named.has(at) && isTelling(token) && !NUMBER.test(token.text)) units.push(literal(token.text))
  }
  return units
}

function literal(term: string): Unit {
  return new Map([[term, 1]])
}

function weigh(meanings: readonly Meaning[], factor: number): Map<string, number> {
  const share = factor / meanings.length ** SHARE
  return new Map(
    meanings.map(({ concept, isCue }) => [concept, (isCue ? WEIGHT.cue : WEIGHT.concept) * share]),
  )
}

/** Phrases with other words in them: "take the old one out". */
function splitPhrases(tokens: readonly Token[]): (readonly Meaning[])[] {
  const { split } = lexicon()
  return tokens.flatMap(({ text }, at) => {
    const ends = split.get(text)
    if (ends === undefined) return []
    for (let from = at + 1; from <= Math.min(at + 1 + MAX_GAP, tokens.length - 1); from += 1) {
      const end = ends.longest(tokens, from)
      if (end !== undefined) return [end.meanings]
    }
    return []
  })
}
