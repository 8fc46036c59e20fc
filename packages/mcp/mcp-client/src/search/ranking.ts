/**
 * Owns the ranking of tools by a question: an index over names, titles, descriptions, arguments and server names. Two
 * stages: MiniSearch (BM25) finds candidates, judging.ts looks at the best of them closely. A change of the tools is a
 * new index.
 */
import type { SearchResult } from 'minisearch'
import type { SearchableTool } from './fields.ts'
import { FIELD_WEIGHTS, judge } from './judging.ts'
import { nearestNames } from './nearest.ts'
import { unitsOf } from './question.ts'
import type { Unit } from './question.ts'
import { Shelf } from './shelf.ts'

export type { SearchableTool } from './fields.ts'

export interface Hit {
  readonly publicName: string
  /** Comparable within one search only; 0 for what only the first stage ranked. */
  readonly score: number
}

export interface SearchOptions {
  readonly limit: number
  readonly offset?: number
  /** Exact server name; others are left out. */
  readonly server?: string
  /** Asked for each candidate before the ranking is cut: what it refuses is not counted either. */
  readonly accepts?: (publicName: string) => boolean
}

export interface ToolIndex {
  /**
   * Best first, at most `limit`, from `offset`; `total` counts all that match. A blank query matches every tool, in
   * the order of their names.
   */
  search(query: string, options: SearchOptions): { readonly hits: readonly Hit[]; readonly total: number }
  /** Public names most like an unknown one, best first: for error messages. */
  nearest(name: string, limit: number): readonly string[]
  readonly size: number
}

/** Words of a question that are read. */
export const MAX_QUESTION_TOKENS = 48
/** Candidates of the first stage that are judged. */
export const MAX_JUDGED = 256
/** A word that no tool has may be a misspelled one, from this many characters on. */
const MIN_FUZZY_CHARS = 4
const FUZZY = 0.2

const shelves = new WeakMap<ToolIndex, Shelf>()

/**
 * Index tools; public names are unique. No I/O; about 0.2 ms for each tool.
 * @param before an index that is not used any more: what it shares with the new one is taken over, at no cost
 */
export function createToolIndex(tools: readonly SearchableTool[], before?: ToolIndex): ToolIndex {
  const shelf = (before === undefined ? undefined : shelves.get(before)) ?? new Shelf()
  shelf.hold(tools)
  const index: ToolIndex = {
    size: shelf.size,
    search: (query, options) => search(shelf, query, options),
    nearest: (name, limit) => nearestNames(name, shelf.names, limit),
  }
  shelves.set(index, shelf)
  return index
}

function search(shelf: Shelf, query: string, options: SearchOptions): ReturnType<ToolIndex['search']> {
  const { limit, offset = 0, server, accepts } = options
  const isAccepted = (publicName: string): boolean =>
    (server === undefined || server === shelf.serverOf(publicName)) &&
    (accepts === undefined || accepts(publicName))
  const pageOf = (hits: readonly Hit[]): ReturnType<ToolIndex['search']> => ({
    hits: hits.slice(offset, offset + limit),
    total: hits.length,
  })
  if (query.trim() === '') {
    return pageOf(shelf.names.filter(isAccepted).map((publicName) => ({ publicName, score: 0 })))
  }
  const units = unitsOf(query, MAX_QUESTION_TOKENS)
  const found = candidates(shelf, units).filter(({ id }) => isAccepted(id as string))
  const judged = found.slice(0, MAX_JUDGED).map(({ id, match, score, queryTerms }) => {
    // MiniSearch multiplies by the terms found: a word with many meanings is not worth more here.
    const candidate = { match, name: shelf.wordsOf(id as string), score: score / queryTerms.length }
    return { publicName: id as string, score: judge(candidate, units, (term) => shelf.rarity(term)) }
  })
  const rest = found.slice(MAX_JUDGED).map(({ id }) => ({ publicName: id as string, score: 0 }))
  return pageOf([...judged.toSorted(bestFirst), ...rest])
}

function candidates(shelf: Shelf, units: readonly Unit[]): SearchResult[] {
  const weights = new Map<string, number>()
  for (const [term, weight] of units.flatMap((unit) => [...unit])) {
    weights.set(term, Math.max(weight, weights.get(term) ?? 0))
  }
  const isUnknown = (term: string): boolean =>
    term.length >= MIN_FUZZY_CHARS && !term.startsWith('#') && !shelf.has(term)
  return shelf.mini.search('', {
    tokenize: () => [...weights.keys()],
    boost: FIELD_WEIGHTS,
    boostTerm: (term) => Number(weights.get(term)),
    prefix: isUnknown,
    fuzzy: (term) => (isUnknown(term) ? FUZZY : false),
  })
}

/** Equals in the order of their names, so that the order in which tools came is no part of it. */
function bestFirst(a: Hit, b: Hit): number {
  return b.score - a.score || (a.publicName < b.publicName ? -1 : 1)
}
