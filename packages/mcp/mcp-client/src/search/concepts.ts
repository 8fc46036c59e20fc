/**
 * Owns the lexicon: the concepts that MCP servers' tools are about, with the words that mean them in English and in
 * Chinese. A question and a description that share no word meet where they share a concept. Pure.
 *
 * A line of a table is `id: English words | Chinese words | cues`. Words mean the concept wherever they stand. Cues are
 * of either language, count in questions only and weigh less: they are what a person says who wants it. `_` joins the
 * words of a phrase; other words may stand at a `~`, which counts in questions only. A word may be in several lines.
 */
import { ACTIONS } from './lexicon/actions.ts'
import { CODE } from './lexicon/code.ts'
import { DATA } from './lexicon/data.ts'
import { FILES } from './lexicon/files.ts'
import { LIFE } from './lexicon/life.ts'
import { MEDIA } from './lexicon/media.ts'
import { PEOPLE } from './lexicon/people.ts'
import { SAYINGS } from './lexicon/sayings.ts'
import { WEB } from './lexicon/web.ts'
import { PhraseBook, WordBook } from './phrases.ts'
import { stemOf } from './stem.ts'

export interface Lexicon {
  readonly english: PhraseBook
  readonly chinese: WordBook
  /** By the first word of a phrase that others may stand in: "take" has "out" of "take the bin out". */
  readonly split: ReadonlyMap<string, PhraseBook>
  /** Number of concepts. */
  readonly size: number
}

const TABLES = [ACTIONS, CODE, DATA, FILES, LIFE, MEDIA, PEOPLE, SAYINGS, WEB]
const HAN = /\p{Script=Han}/u

/** Read tables of the format above. */
export function readLexicon(tables: readonly string[]): Lexicon {
  const english = new PhraseBook()
  const chinese = new WordBook()
  const split = new Map<string, PhraseBook>()
  const concepts = new Set<string>()
  for (const line of tables.flatMap((table) => table.trim().split('\n'))) {
    const [head = '', han = '', cues = ''] = line.split('|')
    const [id = '', words = ''] = head.split(':')
    const concept = `#${id}`
    concepts.add(concept)
    const learn = (phrase: string, isCue: boolean): void => {
      const meaning = { concept, isCue }
      const [start = '', end] = phrase.split('~').map(stemsOf)
      if (HAN.test(phrase)) chinese.learn(phrase, meaning)
      else if (end === undefined) english.learn(start, meaning)
      else {
        const book = split.get(start) ?? new PhraseBook()
        split.set(start, book)
        book.learn(end, meaning)
      }
    }
    for (const phrase of [...wordsOf(words), ...wordsOf(han)]) learn(phrase, false)
    for (const phrase of wordsOf(cues)) learn(phrase, true)
  }
  return { english, chinese, split, size: concepts.size }
}

let own: Lexicon | undefined

/** The lexicon of this package, read at its first use. */
export function lexicon(): Lexicon {
  own ??= readLexicon(TABLES)
  return own
}

function wordsOf(text: string): string[] {
  return text.split(' ').filter((word) => word !== '')
}

function stemsOf(phrase: string): string {
  return phrase.split('_').map(stemOf).join(' ')
}
