/**
 * Owns the reading of what a person writes behind a prompt's command: arguments by name (`city=Paris`), by position, or
 * mixed, with quotes where a value has spaces. A prompt of one argument takes the rest of the line as it is. Pure.
 */
import { nearest } from '../distance.ts'
import { cleanLine } from '../text.ts'
import type { PromptArgument } from './prompt.ts'

const MAX_SHOWN_CHARS = 80

export type Values = Readonly<Record<string, string>>

export type Given =
  | { readonly ok: true; readonly values: Values }
  | {
      readonly ok: false
      /** A sentence without a full stop. */
      readonly fault: string
      /** Exact name of the argument that has no value. */
      readonly about?: string
      /** What was understood. */
      readonly values: Values
    }

/** Read the rest of a command line for a prompt that takes these arguments. */
export function readArguments(rawInput: string, known: readonly PromptArgument[]): Given {
  const rest = rawInput.trim()
  const [only] = known
  return only !== undefined && known.length === 1 ? readOne(rest, only) : readSeveral(rest, known)
}

/** `New York`, `"New York"` and `city=New York` are the same. */
function readOne(rest: string, only: PromptArgument): Given {
  const named = nameOf(rest)
  const isMeant = named?.toLowerCase() === only.name.toLowerCase()
  if (named !== undefined && !isMeant && nearest(named, [only.name]) !== undefined) {
    return refuse(new Map(), `it takes no ${quoted(named)}: did you mean ${JSON.stringify(only.shownName)}`)
  }
  const value = named !== undefined && isMeant ? rest.slice(named.length + 1).trim() : rest
  const values = new Map<string, string>()
  if (value !== '' || isMeant) {
    const [token, ...others] = tokensOf(value) ?? []
    values.set(only.name, token !== undefined && others.length === 0 ? token.text : value)
  }
  return complete(values, [only])
}

function readSeveral(rest: string, known: readonly PromptArgument[]): Given {
  const values = new Map<string, string>()
  const tokens = tokensOf(rest)
  if (tokens === undefined) return refuse(values, 'a quote is not closed')
  const positional: string[] = []
  for (const { text, isQuoted } of tokens) {
    const name = isQuoted ? undefined : nameOf(text)
    const exact = known.find((one) => one.name.toLowerCase() === name?.toLowerCase())
    if (name === undefined) {
      positional.push(text)
    } else if (exact === undefined) {
      return refuse(values, unknownName(name, known))
    } else if (values.has(exact.name)) {
      return refuse(values, `${JSON.stringify(exact.shownName)} is given twice`)
    } else {
      values.set(exact.name, text.slice(name.length + 1))
    }
  }
  const open = known.filter(({ name }) => !values.has(name))
  const [last] = open
  if (last !== undefined && open.length === 1 && positional.length > 0) {
    // What is left goes to the only one that is left, as a person means it who writes a sentence.
    values.set(last.name, positional.join(' '))
  } else if (positional.length > open.length) {
    return refuse(values, takes(known))
  } else {
    for (const [at, { name }] of open.slice(0, positional.length).entries())
      values.set(name, String(positional[at]))
  }
  return complete(values, known)
}

function complete(values: ReadonlyMap<string, string>, known: readonly PromptArgument[]): Given {
  const missing = known.filter(({ name, required }) => required && !values.has(name))
  const [first] = missing
  if (first === undefined) return { ok: true, values: Object.fromEntries(values) }
  return { ...refuse(values, `it needs ${missing.map(describe).join(' and ')}`), about: first.name }
}

function refuse(values: ReadonlyMap<string, string>, fault: string): Given & { readonly ok: false } {
  return { ok: false, fault, values: Object.fromEntries(values) }
}

function takes(known: readonly PromptArgument[]): string {
  if (known.length === 0) return 'it takes no arguments'
  const names = known.map(({ shownName }) => shownName).join(', ')
  return `it takes ${known.length} arguments (${names}); a value with spaces goes in quotes`
}

function unknownName(name: string, known: readonly PromptArgument[]): string {
  const meant = known.find((one) => one.name === nearest(name, namesOf(known)))
  const end = meant === undefined ? 'a value with = goes in quotes' : `did you mean "${meant.shownName}"`
  return known.length === 0 ? 'it takes no arguments' : `it takes no ${quoted(name)}: ${end}`
}

function namesOf(known: readonly PromptArgument[]): readonly string[] {
  return known.map(({ name }) => name)
}

/** What stands before the first `=`, where it looks like a name: an address with a query has none. */
function nameOf(text: string): string | undefined {
  return /^([\p{L}_][\p{L}\p{N}_.-]*)=/u.exec(text)?.[1]
}

interface Token {
  readonly text: string
  /** Begins with a quote: never a name. */
  readonly isQuoted: boolean
}

const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”' }

/** Words, with quoted parts as one; a backslash takes a quote, a space or another one as it is. Undefined for an open quote. */
function tokensOf(line: string): readonly Token[] | undefined {
  const tokens: Token[] = []
  let current: { text: string; isQuoted: boolean } | undefined
  let closing: string | undefined
  const chars = Array.from(line)
  for (let at = 0; at < chars.length; at++) {
    const char = String(chars[at])
    if (closing === undefined && /\s/.test(char)) {
      if (current !== undefined) tokens.push(current)
      current = undefined
      continue
    }
    const opened = closing === undefined ? QUOTES[char] : undefined
    const isFirst = current === undefined
    current ??= { text: '', isQuoted: opened !== undefined }
    if (char === '\\' && closing !== "'" && isEscapable(chars[at + 1])) {
      current.text += String(chars[++at])
    } else if (char === closing) {
      closing = undefined
    } else if (opened !== undefined && (isFirst || current.text.endsWith('='))) {
      // At the start of a word or of a value: the apostrophe of "don't" and the inches of 3" are none.
      closing = opened
    } else {
      current.text += char
    }
  }
  if (closing !== undefined) return undefined
  if (current !== undefined) tokens.push(current)
  return tokens
}

/** Paths of Windows keep their backslashes. */
function isEscapable(char: string | undefined): boolean {
  return char === '"' || char === "'" || char === '\\' || char === ' '
}

function describe({ shownName, description }: PromptArgument): string {
  return description === '' ? shownName : `${shownName} (${description})`
}

function quoted(name: string): string {
  return JSON.stringify(cleanLine(name, MAX_SHOWN_CHARS))
}
