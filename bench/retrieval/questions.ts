/** Owns the reading and checking of the questions. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

export const LANGUAGES = ['en', 'zh'] as const
export const SPLITS = ['tune', 'held', 'tune2', 'exam'] as const
export type Language = (typeof LANGUAGES)[number]
export type Split = (typeof SPLITS)[number]

export interface Question {
  readonly id: string
  readonly lang: Language
  /** Failures of `held` and `exam` are never shown: nothing is tuned by them. */
  readonly split: Split
  readonly question: string
  /** `server/rawName` of each tool that does it. */
  readonly answers: readonly string[]
}

/**
 * The questions of a file.
 * @param tools `server/rawName` of every tool there is
 */
export function readQuestions(path: string, tools: ReadonlySet<string>): Question[] {
  const [, ...lines] = readFileSync(path, 'utf8').trim().split('\n')
  const questions = lines.map((line) => parse(line))
  for (const { id, split, answers } of questions) {
    if (split !== splitOf(id)) throw new Error(`${id} belongs to ${splitOf(id)}`)
    const unknown = answers.filter((answer) => !tools.has(answer))
    if (unknown.length > 0) throw new Error(`${id}: no server lists ${unknown.join(', ')}`)
  }
  return questions
}

/**
 * Which questions are held apart, by the hash of their ids: no one chose which. A third of the first ones (q); half of
 * those of the examiner (x), who did not know the lexicon.
 */
export function splitOf(id: string): Split {
  const number = createHash('sha256').update(id).digest().readUInt8(0)
  if (id.startsWith('x')) return number % 2 === 0 ? 'exam' : 'tune2'
  return number % 3 === 0 ? 'held' : 'tune'
}

function parse(line: string): Question {
  const [id = '', lang, split, question = '', answers = ''] = line.split('\t')
  return { id, lang: lang as Language, split: split as Split, question, answers: answers.split(' ') }
}
