/**
 * Owns the showing of a foreign text to somebody who must judge it: what `cleanText` would take away stands there as its
 * code instead, since what is hidden may be the whole point. Pure.
 */
import { cleanText } from './text.ts'

const CONTROL_END = 0x20
const DELETE = 0x7f

/** The text with each hidden character as `\u200b`; line feeds and tabs stay. */
export function visibleText(text: string): string {
  if (cleanText(text) === text) return text
  let shown = ''
  for (const char of text.toWellFormed()) shown += isHidden(char) ? codeOf(char) : char
  return shown
}

/** {@link visibleText} without secrets: a hidden character inside one must not save it. */
export function visibleSafe(text: string, redact: (text: string) => string): string {
  const once = redact(text)
  const clean = cleanText(once)
  const twice = redact(clean)
  return twice === clean ? redact(visibleText(once)) : `${twice} (with hidden characters)`
}

function isHidden(char: string): boolean {
  const point = Number(char.codePointAt(0))
  if (char === '\n' || char === '\t') return false
  if (point < CONTROL_END) return true
  return point >= DELETE && cleanText(char) === ''
}

function codeOf(char: string): string {
  const hex = Number(char.codePointAt(0)).toString(16)
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`
}

/**
 * JSON for a terminal, of the same value. JSON escapes the controls below a space alone, and a terminal obeys others; what
 * a server hid in a text shows nothing there, or turns it around.
 */
export function visibleJson(json: string): string {
  return json.replaceAll(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu, (char) =>
    Array.from(
      { length: char.length },
      (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}
