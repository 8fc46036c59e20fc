/**
 * Owns the cutting of text into tokens: names by their humps and separators, English words by their stems, Chinese as
 * runs that its readers cut further. Pure. The work is bounded by a cap on tokens, however long the text is.
 */
import { stemOf } from './stem.ts'

/** A word of an alphabet, or a run of characters that are written without spaces. */
export interface Token {
  readonly kind: 'word' | 'run'
  /** The stem of a word; the characters of a run. */
  readonly text: string
}

/** Characters read for each token that may come of them: names and prose have fewer. */
const CHARS_PER_TOKEN = 16
/** A longer word is data, not a word: it is cut. */
const MAX_WORD_CHARS = 40
/** A run is cut into pieces of this many characters. */
const MAX_RUN_CHARS = 64

/** Words of ASCII need no look at scripts. */
const ASCII_TOKEN = /[a-z\d]+/g
const HUMP = /(\p{Ll}|\d)(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu
const RUN = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}'
const TOKEN = new RegExp(`[${RUN}]{1,${MAX_RUN_CHARS}}|(?:(?![${RUN}])[\\p{L}\\p{N}])+`, 'gu')
const IS_RUN = new RegExp(`^[${RUN}]`, 'u')
const ASCII = /^[\0-\x7f]*$/
const MARKS = /\p{M}+/gu
/** Names with a hump that are one word: whoever says GitHub does not mean git. */
const ONE_WORD =
  /GitHub|GitLab|BitBucket|MongoDB|MariaDB|DynamoDB|PostgreSQL|MySQL|GraphQL|JavaScript|TypeScript|YouTube|PayPal|LinkedIn|WhatsApp|HubSpot|ClickUp|OpenAI/g
const APOSTROPHE = /[’']s?(?=\s|$)|(?<=\p{L})[’'](?=\p{L})/gu

/** The tokens of a text in order, at most `maxTokens`. */
export function tokensOf(text: string, maxTokens: number): Token[] {
  const tokens: Token[] = []
  const plain = fold(text.slice(0, maxTokens * CHARS_PER_TOKEN))
  for (const [part] of plain.matchAll(ASCII.test(plain) ? ASCII_TOKEN : TOKEN)) {
    if (tokens.length === maxTokens) break
    tokens.push(
      part.charCodeAt(0) > 0x2e7f && IS_RUN.test(part)
        ? { kind: 'run', text: part }
        : { kind: 'word', text: stemOf(part.slice(0, MAX_WORD_CHARS)) },
    )
  }
  return tokens
}

/** Lower case without accents, humps and apostrophes; full-width characters as plain ones. */
function fold(text: string): string {
  const plain = ASCII.test(text) ? text : text.normalize('NFKD').replace(MARKS, '').normalize('NFC')
  return plain
    .replace(APOSTROPHE, '')
    .replace(ONE_WORD, (name) => name.charAt(0) + name.slice(1).toLowerCase())
    .replace(HUMP, '$& ')
    .toLowerCase()
}

let segmenter: Intl.Segmenter | undefined

/**
 * The terms of a run: the words of it by the segmenter of the platform, and pairs of neighbours where it sees only
 * single characters.
 */
export function runTerms(run: string): string[] {
  const terms: string[] = []
  segmenter ??= new Intl.Segmenter('zh', { granularity: 'word' })
  let single = ''
  for (const { segment } of segmenter.segment(run)) {
    const isSingle = [...segment].length === 1
    if (!isSingle) terms.push(segment)
    else if (single !== '') terms.push(single + segment)
    single = isSingle ? segment : ''
  }
  return terms.length === 0 ? [run] : terms
}
