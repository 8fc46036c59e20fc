/** Owns the figures of a ranking: recall, reciprocal rank and their confidence intervals. Pure. */
import type { Question } from './questions.ts'

/** Answers a question with `server/rawName`, best first. */
export type Ranker = (question: string) => readonly string[]

export interface Ranked {
  readonly question: Question
  /** The rank of the best acceptable tool from 1 on; Infinity where none is found. */
  readonly rank: number
  readonly top: readonly string[]
}

export interface Estimate {
  readonly value: number
  readonly low: number
  readonly high: number
}

export interface Figures {
  readonly count: number
  readonly recallAt1: Estimate
  readonly recallAt5: Estimate
  readonly mrr: Estimate
}

const RESAMPLES = 2_000
const SEED = 20_261_201

export function rankAll(questions: readonly Question[], ranker: Ranker): Ranked[] {
  return questions.map((question) => {
    const found = ranker(question.question)
    const at = found.findIndex((name) => question.answers.includes(name))
    return { question, rank: at === -1 ? Number.POSITIVE_INFINITY : at + 1, top: found.slice(0, 5) }
  })
}

export function figuresOf(ranked: readonly Ranked[]): Figures {
  const estimate = (score: (rank: number) => number): Estimate =>
    bootstrap(ranked.map(({ rank }) => score(rank)))
  return {
    count: ranked.length,
    recallAt1: estimate((rank) => (rank <= 1 ? 1 : 0)),
    recallAt5: estimate((rank) => (rank <= 5 ? 1 : 0)),
    mrr: estimate((rank) => 1 / rank),
  }
}

/** The mean and its 95 % interval by resampling questions; the same numbers at every run. */
function bootstrap(scores: readonly number[]): Estimate {
  const random = generator(SEED)
  const mean = (of: () => number): number => {
    let sum = 0
    for (let at = 0; at < scores.length; at += 1) sum += of()
    return sum / scores.length
  }
  const means = Array.from({ length: RESAMPLES }, () =>
    mean(() => scores[Math.floor(random() * scores.length)] ?? 0),
  ).toSorted((a, b) => a - b)
  let at = 0
  return {
    value: mean(() => scores[at++] ?? 0),
    low: means[Math.floor(RESAMPLES * 0.025)] ?? 0,
    high: means[Math.floor(RESAMPLES * 0.975)] ?? 0,
  }
}

/** Mulberry32: numbers from 0 up to 1. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
