/**
 * Owns what may be shown of a foreign text: hidden characters out, terminal sequences out, well-formed, cut on
 * character boundaries. Pure, and linear in the text: a server may send 64 MiB of any of it.
 */

/** UTF-16 units that show nothing or turn the text around; `\t`, `\n` and `\r` are plain text. */
const HIDDEN_RANGES: readonly (readonly [from: number, to: number])[] = [
  [0x0000, 0x0008],
  [0x000b, 0x000c],
  [0x000e, 0x001f],
  [0x007f, 0x009f],
  [0x00ad, 0x00ad],
  [0x034f, 0x034f],
  [0x061c, 0x061c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
]
/** High surrogates of the planes that have hidden characters: musical controls, tags and selectors. */
const MUSIC = 0xd834
const TAGS = 0xdb40

/** One test tells most texts clean; the table is for the rest, since a pattern for each unit would cost seconds. */
const SUSPECT = new RegExp(
  `[${[...HIDDEN_RANGES, [MUSIC, MUSIC], [TAGS, TAGS]].map(([from = 0, to = 0]) => `${escape(from)}-${escape(to)}`).join('')}]`,
)
const HIDDEN = new Uint8Array(0x1_0000)
for (const [from, to] of HIDDEN_RANGES) HIDDEN.fill(1, from, to + 1)

const ESC = 0x1b
const CSI = 0x9b
const JOINER = 0x200d
const NON_JOINER = 0x200c
/** Longest operating system command or device string that is taken for one: the rest is text. */
const MAX_STRING_SEQUENCE = 4_096
/** A terminal goes back to the start of the line there, and the rest hides what stood before it. */
const LONE_RETURN = /\r(?!\n)/g
/** From this many units on a text is looked at four bytes at a time first, which takes a third of what the patterns do. */
const LONG_TEXT = 4_096
const WINDOW = new Int32Array(4_096)
const WINDOW_BYTES = new Uint8Array(WINDOW.buffer)
const ENCODER = new TextEncoder()
const LINE_BREAKS = /[\s\u0085\u2028\u2029]+/g

/** A cleaned text and how many hidden characters it had; terminal sequences are not counted. */
export interface Cleaned {
  readonly text: string
  readonly hidden: number
}

/**
 * Without control, bidi, zero-width, tag and other invisible characters, without terminal sequences, with lone
 * surrogates replaced. Line breaks, tabs and the joiners that scripts and emoji need stay; a carriage return without a
 * line feed becomes one.
 */
export function inspectText(raw: string): Cleaned {
  if (raw.length >= LONG_TEXT && isPlainAscii(raw)) return { text: raw, hidden: 0 }
  // Halves of a pair go first: without what lies between them they would make a hidden character.
  const text = raw.toWellFormed().replace(LONE_RETURN, '\n')
  if (!SUSPECT.test(text)) return { text, hidden: 0 }
  const units = new Uint16Array(text.length)
  let length = 0
  let hidden = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    const last = Number(units[length - 1])
    if (unit === ESC || unit === CSI) {
      const end = sequenceEnd(text, at)
      if (end === at) hidden += 1
      else at = end
    } else if ((unit === TAGS || unit === MUSIC) && isHiddenAstral(Number(text.codePointAt(at)), last)) {
      hidden += 1
      at += 1
    } else if (HIDDEN[unit] === 1 && !isNeeded(text, at, last)) {
      hidden += 1
    } else {
      units[length] = unit
      length += 1
    }
  }
  return { text: Buffer.from(units.buffer, 0, length * 2).toString('utf16le'), hidden }
}

/** True for printable ASCII with tabs and line feeds and nothing else: it is clean. */
function isPlainAscii(text: string): boolean {
  for (let start = 0; start < text.length; start += WINDOW_BYTES.length) {
    const part = text.slice(start, start + WINDOW_BYTES.length)
    const { read, written } = ENCODER.encodeInto(part, WINDOW_BYTES)
    // Anything but ASCII takes more than one byte: then a part of the text may have found no room, and was not read.
    if (read !== part.length || written !== part.length) return false
    WINDOW_BYTES.fill(0x20, part.length)
    for (let at = 0; at < WINDOW.length; at += 1) {
      const four = Number(WINDOW[at])
      // The high bit of a byte comes up where it is below a space, or DEL; what it carries on only looks once too often.
      if ((((four - 0x20202020) | (four + 0x01010101)) & 0x80808080) !== 0 && hidesOne(at * 4)) return false
    }
  }
  return true
}

/** Whether one of four bytes of the window is no plain character. */
function hidesOne(start: number): boolean {
  for (let at = start; at < start + 4; at += 1) {
    const byte = WINDOW_BYTES[at]
    if (byte === 0x0d || HIDDEN[Number(byte)] === 1) return true
  }
  return false
}

/** {@link inspectText} where nobody counts. */
export function cleanText(text: string): string {
  return inspectText(text).text
}

/** One clean line for a log or a status: white space runs become one space; at most `maxChars` UTF-16 units. */
export function cleanLine(text: string, maxChars: number): string {
  // Reading a little past the limit bounds the work on a huge text, whatever is removed from it.
  const window = text.slice(0, maxChars * 4 + MAX_STRING_SEQUENCE)
  // Once more after cleaning: what is removed may have kept two spaces apart.
  const line = cleanText(window.replace(LINE_BREAKS, ' ')).replace(LINE_BREAKS, ' ').trim()
  if (line.length <= maxChars && window.length === text.length) return line
  return `${line.slice(0, Math.max(0, maxChars - 1)).replace(/[\ud800-\udbff]$/, '')}…`
}

/**
 * {@link cleanLine} of a foreign text without its secrets. Redacted before cleaning, which changes white space, and after
 * it, since a hidden character inside a secret must not save it; before the cut, since half a secret is one too.
 */
export function safeLine(text: string, redact: (text: string) => string, maxChars: number): string {
  const window = redact(text.slice(0, maxChars * 4 + MAX_STRING_SEQUENCE))
  return cleanLine(redact(cleanLine(window, window.length)), maxChars)
}

/** The longest start of a well-formed text that has at most `maxBytes` UTF-8 bytes. */
export function cutBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(0, maxBytes + 1))
  if (bytes.length <= maxBytes) return text
  let end = maxBytes
  while (end > 0 && isContinuation(bytes.readUInt8(end))) end -= 1
  return bytes.toString('utf8', 0, end)
}

/** The longest end of a well-formed text that has at most `maxBytes` UTF-8 bytes. */
export function cutBytesEnd(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(Math.max(0, text.length - maxBytes - 1)))
  if (bytes.length <= maxBytes) return text
  let start = bytes.length - maxBytes
  while (start < bytes.length && isContinuation(bytes.readUInt8(start))) start += 1
  return bytes.toString('utf8', start)
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

/** Index of the last unit of the terminal sequence at `at`, or `at` where it is only an introducer. */
function sequenceEnd(text: string, at: number): number {
  const isCsi = text.charCodeAt(at) === CSI
  const next = isCsi ? '[' : text.charAt(at + 1)
  const body = isCsi ? at + 1 : at + 2
  if (next === '[') {
    let end = body
    while (end < text.length && inRange(text.charCodeAt(end), 0x20, 0x3f)) end += 1
    return inRange(text.charCodeAt(end), 0x40, 0x7e) ? end : at
  }
  if (next !== '' && ']PX^_'.includes(next)) {
    const limit = Math.min(text.length, body + MAX_STRING_SEQUENCE)
    for (let end = body; end < limit; end += 1) {
      const unit = text.charCodeAt(end)
      if (unit === 0x07) return end
      if (unit === ESC) return text.charAt(end + 1) === '\\' ? end + 1 : at
    }
    return at
  }
  if (inRange(next.charCodeAt(0), 0x20, 0x2f)) return inRange(text.charCodeAt(body), 0x30, 0x7e) ? body : at
  return inRange(next.charCodeAt(0), 0x30, 0x7e) ? at + 1 : at
}

/** False for NaN, which `charCodeAt` gives past the end. */
function inRange(unit: number, from: number, to: number): boolean {
  return unit >= from && unit <= to
}

/** Tags, variation selectors of the supplement (kept after Han, where they choose a glyph), musical controls. */
function isHiddenAstral(point: number, last: number): boolean {
  if (point >= 0xe0100 && point <= 0xe01ef) return !inRange(last, 0x3400, 0x9fff)
  return inRange(point, 0xe0000, 0xe0fff) || inRange(point, 0x1d173, 0x1d17a)
}

/**
 * Joiners between letters of joining scripts or emoji, and selectors right behind what they vary, are text.
 * @param last the last unit that stayed
 */
function isNeeded(text: string, at: number, last: number): boolean {
  const unit = text.charCodeAt(at)
  const next = text.charCodeAt(at + 1)
  // A selector that stayed is part of an emoji.
  if (unit === JOINER || unit === NON_JOINER) return (last === 0xfe0f || isJoinable(last)) && isJoinable(next)
  if (unit === 0xfe0e || unit === 0xfe0f) return isSymbol(last) || next === 0x20e3
  return inRange(unit, 0xfe00, 0xfe02) && (isSymbol(last) || inRange(last, 0x3400, 0x9fff))
}

function isJoinable(unit: number): boolean {
  if (HIDDEN[unit] === 1) return false
  // Arabic to Khmer and the later Indic blocks.
  return inRange(unit, 0x0600, 0x17af) || inRange(unit, 0xa800, 0xabff) || isSymbol(unit)
}

/** Signs of the basic plane, and the surrogates of emoji. */
function isSymbol(unit: number): boolean {
  const isSign = unit === 0xa9 || unit === 0xae || inRange(unit, 0x2010, 0x33ff)
  return isSign || inRange(unit, 0xd83c, 0xd83e) || inRange(unit, 0xdc00, 0xdfff)
}

function escape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
