/** Owns the finding of the longest known phrase at a place, in words and in runs of characters. Pure. */
import type { Token } from './tokens.ts'

/** One way from a phrase to a concept. */
export interface Meaning {
  /** Starts with `#`, as no term of a text does. */
  readonly concept: string
  /** The phrase hints at the concept and does not name it. */
  readonly isCue: boolean
}

export interface Phrase {
  readonly meanings: readonly Meaning[]
  /** Words that it takes. */
  readonly length: number
}

/** English words and phrases, by their stems. */
export class PhraseBook {
  private readonly phrases = new Map<string, Meaning[]>()
  /** Words of the longest phrase that begins with this word: most words begin none. */
  private readonly reach = new Map<string, number>()

  /** @param stems joined with a space */
  learn(stems: string, meaning: Meaning): void {
    learn(this.phrases, stems, meaning)
    const words = stems.split(' ')
    const first = words[0] as string
    this.reach.set(first, Math.max(words.length, this.reach.get(first) ?? 0))
  }

  meaningsOf(stems: string): readonly Meaning[] | undefined {
    return this.phrases.get(stems)
  }

  /** The longest phrase that begins at this token. */
  longest(tokens: readonly Token[], at: number): Phrase | undefined {
    let stems = (tokens[at] as Token).text
    const reach = Math.min(this.reach.get(stems) ?? 0, tokens.length - at)
    let found: Phrase | undefined
    for (let length = 1; length <= reach; length += 1) {
      if (length > 1) stems += ` ${(tokens[at + length - 1] as Token).text}`
      const meanings = this.phrases.get(stems)
      if (meanings !== undefined) found = { meanings, length }
    }
    return found
  }
}

/** Chinese words, which stand in a text without a space. */
export class WordBook {
  private readonly words = new Map<string, Meaning[]>()
  private maxChars = 0

  learn(word: string, meaning: Meaning): void {
    learn(this.words, word, meaning)
    this.maxChars = Math.max(this.maxChars, word.length)
  }

  /** The meanings of every longest word in a run; what lies within a longer one is part of it. */
  longest(run: string): (readonly Meaning[])[] {
    const found: (readonly Meaning[])[] = []
    let end = 0
    for (let at = 0; at < run.length; at += 1) {
      let length = Math.min(this.maxChars, run.length - at)
      while (length > 0 && !this.words.has(run.slice(at, at + length))) length -= 1
      if (length === 0 || at + length <= end) continue
      end = at + length
      found.push(this.words.get(run.slice(at, end)) as Meaning[])
    }
    return found
  }
}

/** What names a concept does not hint at it too: the first meaning of a phrase stays. */
function learn(map: Map<string, Meaning[]>, key: string, meaning: Meaning): void {
  const known = map.get(key) ?? []
  map.set(key, known)
  if (!known.some(({ concept }) => concept === meaning.concept)) known.push(meaning)
}
