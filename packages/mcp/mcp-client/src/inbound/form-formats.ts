/**
 * Owns the formats and patterns of text in a form. Pure. A pattern is the server's own program, so it runs within a
 * limit, and what cannot be told within it is left to the server.
 */
import { runInNewContext } from 'node:vm'
import type { Format } from './form-schema.ts'

/** A form may have a pattern for each of its fields, and the host stands still meanwhile. */
const PATTERN_LIMIT_MS = 25
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i
const EMAIL = /^[^\s@"<>]+@[^\s@"<>.]+(\.[^\s@"<>.]+)*$/
const SCHEME = /^[a-z][a-z\d+.-]*:/i

interface FormatRule {
  /** What a person reads. */
  readonly words: string
  readonly fits: (text: string) => boolean
}

export const FORMATS: Readonly<Record<Format, FormatRule>> = {
  email: { words: 'an email address', fits: (text) => EMAIL.test(text) },
  uri: {
    words: 'a full address, such as https://example.com/page',
    fits: (text) => SCHEME.test(text) && !/\s/.test(text) && URL.canParse(text),
  },
  date: { words: 'a date, such as 2026-03-31', fits: isDate },
  'date-time': {
    words: 'a date and time, such as 2026-03-31T14:05:00Z',
    fits(text) {
      const [date = '', time = '', ...rest] = text.split(/t/i)
      return rest.length === 0 && isDate(date) && TIME.test(time)
    },
  },
}

function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number)
  if (year === undefined || month === undefined || day === undefined) return false
  // A month of 0 or 13 and the 30th of February become other dates there.
  const date = new Date(Date.UTC(2000, month - 1, day))
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

/** Whether a text fits a server's pattern; true also where it is none, or takes too long. */
export function fitsPattern(pattern: string, text: string): boolean {
  try {
    const answer: unknown = runInNewContext(
      'new RegExp(pattern, "u").test(text)',
      { pattern, text },
      { timeout: PATTERN_LIMIT_MS },
    )
    return answer !== false
  } catch {
    return true // SyntaxError of the pattern, or the limit
  }
}
