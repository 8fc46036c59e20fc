/**
 * Owns a server's text on its way into a prompt: clean, capped, and unable to break what the host builds from it.
 * Code Mode renders descriptions, names and enum values into a section that the host scans for `{{variable}}`
 * references: one `{{` with a `}}` anywhere behind it fails the whole prompt. Pure.
 */
import { cleanText, cutBytes } from '../text.ts'

const ELLIPSIS = '…'
/** Removing a character can uncover another; three passes settle every text seen, the fourth is reserve. */
const MAX_PASSES = 4
const PLAIN_BREAKS = /[\t\n\r]/g
/** Most texts: ASCII without braces and back-ticks, which stays as it is. */
const PLAIN = /^[\t\n\r -_a-z|~]*$/

/**
 * A server's prose for the model: no hidden characters, at most `maxBytes` UTF-8 bytes, and inert: braces that stand
 * together get a space between them, fences of back-ticks become quotes. `*` before `/` stays: globs need it, and the
 * host escapes it in the typings. Applying it twice changes nothing.
 */
export function safeText(text: string, maxBytes: number): string {
  if (text.length <= maxBytes && PLAIN.test(text)) return text.trim()
  // Reading a little past the limit bounds the work on a huge text.
  const window = text.slice(0, maxBytes + 4_096)
  const clean = inert(settled(window)).trim()
  if (window.length === text.length && Buffer.byteLength(clean) <= maxBytes) return clean
  return maxBytes < 3 ? '' : `${cutBytes(clean, maxBytes - 3).trimEnd()}${ELLIPSIS}`
}

/** True where a value or a name can stand in a prompt exactly as it is; JSON escapes its line breaks there. */
export function isSafeValue(text: string): boolean {
  return PLAIN.test(text) || (!hasBraces(text) && isVisible(text))
}

/** True where nothing in it is hidden, so that a person and the model read the same. */
export function isVisible(text: string): boolean {
  const plain = text.replace(PLAIN_BREAKS, ' ')
  return cleanText(plain) === plain
}

/** True where the host would look for a template variable in it. */
export function hasBraces(text: string): boolean {
  return text.includes('{{') || text.includes('}}')
}

/** A JSON scalar or structure as a short, inert text. */
export function quoted(value: unknown, maxBytes: number): string {
  return safeText(JSON.stringify(value), maxBytes)
}

/** `text (hint; hint)`: what a schema says in words, with what the provider profile cannot say otherwise. */
export function withHints(text: string, hints: readonly string[], maxBytes: number): string {
  const told = safeText([...new Set(hints)].join('; '), Math.floor(maxBytes / 2))
  if (told === '') return safeText(text, maxBytes)
  const room = maxBytes - Buffer.byteLength(told) - 3
  const lead = room < 8 ? '' : safeText(text, room)
  return lead === '' ? `(${told})` : `${lead} (${told})`
}

function settled(text: string): string {
  let clean = cleanText(text)
  for (let pass = 1, before = text; pass < MAX_PASSES && clean !== before; pass += 1) {
    before = clean
    clean = cleanText(before)
  }
  return clean
}

function inert(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/\{(?=\{)/g, '{ ')
    .replace(/\}(?=\})/g, '} ')
    .replace(/`{3,}/g, "'''")
}
