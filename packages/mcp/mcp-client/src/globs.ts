/**
 * Owns the matching of names against the globs of a row. A server chooses the names, so a match takes time linear in the
 * name for each star of the pattern: regular expressions made of globs (picomatch) took 13 seconds for `*a*a*a*a*b` and
 * 200 characters. A name is no path: `*` matches `/`, line breaks and a leading dot, too. Pure.
 */

type Token =
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | {
      readonly kind: 'set'
      readonly isNegated: boolean
      readonly ranges: readonly (readonly [string, string])[]
    }

/** What `{a,b}` may multiply a pattern to. */
const MAX_ALTERNATIVES = 256
const MAX_PATTERN_CHARS = 1_024

/** A pattern that cannot be read; the message goes on from the pattern's path in the row. */
class GlobFault extends Error {}

/**
 * One test for all patterns: whether any of them matches a whole name, by case. `*` is any text, `?` one character,
 * `[a-z]`, `[!a]`, `{get,list}`; a backslash takes the next character as it is.
 * @throws Error for a pattern that {@link globFault} finds fault with
 */
export function createGlobs(patterns: readonly string[]): (name: string) => boolean {
  const compiled = patterns.flatMap((pattern) => alternativesOf(pattern).map(tokensOf))
  return (name) => {
    const chars = Array.from(name)
    return compiled.some((tokens) => matches(tokens, chars))
  }
}

/** What is wrong with a pattern, in words that follow its path in the row; undefined where it can be read. */
export function globFault(pattern: string): string | undefined {
  try {
    createGlobs([pattern])
    return undefined
  } catch (error) {
    return (error as GlobFault).message
  }
}

/** Greedy with one way back, to the last star: an earlier star never needs to be tried again. */
function matches(tokens: readonly Token[], chars: readonly string[]): boolean {
  let token = 0
  let star = -1
  let mark = 0
  for (let at = 0; at < chars.length;) {
    const wanted = tokens[token]
    if (wanted?.kind === 'star') {
      star = token
      mark = at
      token += 1
    } else if (wanted !== undefined && accepts(wanted, String(chars[at]))) {
      token += 1
      at += 1
    } else if (star >= 0) {
      mark += 1
      at = mark
      token = star + 1
    } else {
      return false
    }
  }
  return tokens.slice(token).every(({ kind }) => kind === 'star')
}

function accepts(token: Exclude<Token, { kind: 'star' }>, char: string): boolean {
  switch (token.kind) {
    case 'any':
      return true
    case 'char':
      return token.char === char
    case 'set':
      return token.ranges.some(([from, to]) => from <= char && char <= to) !== token.isNegated
  }
}

/** The pattern without braces: each of its ways to be read. */
function alternativesOf(pattern: string): string[] {
  if (pattern === '') throw new GlobFault('must not be empty; write * for every name')
  if (pattern.length > MAX_PATTERN_CHARS) {
    throw new GlobFault(`must have at most ${MAX_PATTERN_CHARS} characters`)
  }
  if (pattern.startsWith('!'))
    throw new GlobFault('must not begin with !; use tools.deny, or \\! for the character')
  if (/(?<!\\)[?*+@!]\(/.test(pattern)) throw new GlobFault('must not hold ?( *( +( @( or !(; write {a,b}')
  let pending = [pattern]
  for (;;) {
    const next = pending.flatMap(splitBrace)
    if (next.length > MAX_ALTERNATIVES) {
      throw new GlobFault(`must not stand for more than ${MAX_ALTERNATIVES} patterns`)
    }
    if (next.length === pending.length && next.every((text, index) => text === pending[index])) return next
    pending = next
  }
}

/** Resolve the first brace: `a{b,c}d` is `abd` and `acd`. A brace without a comma stands for its content. */
function splitBrace(pattern: string): string[] {
  const cuts: number[] = []
  let depth = 0
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern.charAt(at)
    if (char === '\\') at += 1
    else if (char === '[') at = setEnd(pattern, at)
    else if (char === '{' && ++depth === 1) cuts.push(at)
    else if (char === ',' && depth === 1) cuts.push(at)
    else if (char === '}') {
      depth -= 1
      if (depth < 0) throw new GlobFault('has a } without a {')
      if (depth > 0) continue
      const tail = pattern.slice(at + 1)
      const head = pattern.slice(0, cuts[0])
      return cuts.map((cut, index) => head + pattern.slice(cut + 1, cuts[index + 1] ?? at) + tail)
    }
  }
  if (depth > 0) throw new GlobFault('has a { without a }')
  return [pattern]
}

/** Index of the bracket that closes a set; one right behind the opening stands for itself. */
function setEnd(pattern: string, start: number): number {
  const first = /^\[[!^]?/.exec(pattern.slice(start)) as RegExpExecArray
  const end = pattern.indexOf(']', start + first[0].length + 1)
  if (end < 0) throw new GlobFault('has a [ without a ]')
  return end
}

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < pattern.length;) {
    const char = String.fromCodePoint(Number(pattern.codePointAt(at)))
    at += char.length
    if (char === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' })
    } else if (char === '?') {
      tokens.push({ kind: 'any' })
    } else if (char === '[') {
      const end = setEnd(pattern, at - 1)
      tokens.push(setOf(pattern.slice(at, end)))
      at = end + 1
    } else if (char === '\\') {
      const escaped = pattern.codePointAt(at)
      if (escaped === undefined) throw new GlobFault('must not end with a backslash')
      tokens.push({ kind: 'char', char: String.fromCodePoint(escaped) })
      at += String.fromCodePoint(escaped).length
    } else {
      tokens.push({ kind: 'char', char })
    }
  }
  return tokens
}

function setOf(body: string): Token {
  const isNegated = /^[!^]/.test(body)
  const members = isNegated ? body.slice(1) : body
  const ranges = Array.from(members.matchAll(/(.)-(.)|(.)/gsu), ([, from, to, single]) => {
    const range = [from ?? String(single), to ?? String(single)] as const
    if (range[0] > range[1]) throw new GlobFault(`has a range that runs backwards: ${range.join('-')}`)
    return range
  })
  return { kind: 'set', isNegated, ranges }
}
