/**
 * Owns what a tool's text means: its literal terms, and the concepts of the lexicon that its words and phrases name.
 * Pure.
 */
import { lexicon } from './concepts.ts'
import type { Meaning } from './phrases.ts'
import { runTerms, tokensOf } from './tokens.ts'
import type { Token } from './tokens.ts'

/** Where the lexicon knows a word or a phrase. */
export interface Place {
  readonly meanings: readonly Meaning[]
  /** Index of its first token, or of the token of its run. */
  readonly at: number
  /** Tokens that it takes. */
  readonly length: number
}

/** Words that say nothing about what is wanted, as stems. */
const EMPTY_WORDS = new Set(
  `a an the this that these those it its of in on at to for from by with and or but if then than so as is are was were be
  been am do doe did done have ha had i me my mine we us our you your he she they them their his her who what which
  when where why how can could would should will shall may might must want need like pleas just some any all also
  there here up out about into over not no yes let get got hey ok thank im ive id dont cant isnt whats thats one
  know tell give help thing stuff something really now still too very via per etc eg ie using us use everyth
  everyone everybody anyth anyone anybody noth nobody someone somebody far few more most new old two three five
  first second next last soon again only own same other another mean ever never always make sur put see look call
  name say`
    .split(/\s+/)
    .filter((word) => word !== ''),
)
/** Tokens of a name that are read. */
const MAX_NAME_TOKENS = 24

/** Whether a token alone is worth a search. */
export function isTelling({ text }: Token): boolean {
  return !EMPTY_WORDS.has(text)
}

/** Terms of a tool's text, concepts included, each as often as it occurs. */
export function termsOf(tokens: readonly Token[]): string[] {
  const terms: string[] = []
  for (const { meanings } of placesOf(tokens)) {
    for (const { concept, isCue } of meanings) if (!isCue) terms.push(concept)
  }
  for (const token of tokens) {
    if (token.kind === 'run') terms.push(...runTerms(token.text))
    else if (isTelling(token)) terms.push(token.text)
  }
  return terms
}

/** The words of a name, each with its concepts behind it. */
export function nameWords(name: string): string[][] {
  const tokens = tokensOf(name, MAX_NAME_TOKENS)
  const words = tokens.map(({ text }) => [text])
  for (const { at, length, meanings } of placesOf(tokens)) {
    const concepts = meanings.flatMap(({ concept, isCue }) => (isCue ? [] : [concept]))
    for (const word of words.slice(at, at + length)) word.push(...concepts)
  }
  return words.filter((_word, at) => isTelling(tokens[at] as Token))
}

/** Where the lexicon knows something, in order. What lies within a longer phrase is part of it. */
export function placesOf(tokens: readonly Token[]): Place[] {
  const { english, chinese } = lexicon()
  const places: Place[] = []
  let taken = 0
  for (const [at, token] of tokens.entries()) {
    if (token.kind === 'run') {
      for (const meanings of chinese.longest(token.text)) places.push({ meanings, at, length: 1 })
      continue
    }
    if (at < taken) continue
    const found = english.longest(tokens, at)
    if (found === undefined) continue
    places.push({ ...found, at })
    if (found.meanings.some(({ isCue }) => !isCue)) taken = at + found.length
    // A phrase that only hints leaves its first word its own meaning.
    else if (found.length > 1) {
      const word = english.meaningsOf(token.text)
      if (word !== undefined) places.push({ meanings: word, at, length: 1 })
    }
  }
  return places
}
