/**
 * Owns the cutting of configured secrets out of texts that leave: log lines, errors, status. Pure.
 *
 * A redactor that also ate `production` or `/usr/bin` would make a log unreadable, so a value under a harmless name
 * stays when it is plainly no secret; under a name that looks like a credential only very short values and common
 * words stay. Which values of a row are secrets is decided in secrets.ts.
 */

const REPLACEMENT = '[redacted]'
/** Shorter values would hit innocent text. */
const MIN_LENGTH = 4
/** Secrets of one server that came while it lived. */
const MAX_LEARNED = 64

const COMMON_WORDS = new Set(
  (
    'true false null none undefined test tests testing dev development prod production stage staging local localhost ' +
    'default debug info warn warning error trace verbose silent public private enabled disabled auto always never ' +
    'stdio http https redacted bearer basic token password secret anonymous guest root admin user'
  ).split(' '),
)

/** Tell whether a value is too short or too common to be cut out, whatever its name. */
export function isCommon(value: string): boolean {
  return value.length < MIN_LENGTH || COMMON_WORDS.has(value.toLowerCase())
}

/**
 * Make a function that replaces every secret in a text by `[redacted]`, also where it is percent-encoded, escaped for
 * JSON, or at the start of a Base64 text. Overlapping finds are cut as one. Work is linear in the text for a given
 * row: one native search per form. Values that `isCommon` names are left alone. Never throws.
 */
export function createRedactor(secrets: Iterable<string>): (text: string) => string {
  return createRedaction(secrets).redact
}

/** A redactor that learns: tokens are got and commands print headers while a server lives. */
export function createRedaction(secrets: Iterable<string>): {
  readonly redact: (text: string) => string
  /** The latest are kept; older tokens are spent by then. */
  readonly learn: (secret: string) => void
} {
  const forms = new Set<string>()
  const learned = new Map<string, readonly string[]>()
  for (const secret of secrets) if (!isCommon(secret)) for (const form of formsOf(secret)) forms.add(form)
  return {
    redact(text) {
      const found: [number, number][] = []
      for (const form of [...forms, ...[...learned.values()].flat()]) {
        for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) {
          found.push([at, at + form.length])
        }
      }
      return found.length === 0 ? text : cut(text, found)
    },
    learn(secret) {
      if (isCommon(secret)) return
      learned.delete(secret)
      learned.set(secret, formsOf(secret))
      const [oldest] = learned.keys()
      if (learned.size > MAX_LEARNED && oldest !== undefined) learned.delete(oldest)
    },
  }
}

function cut(text: string, found: [number, number][]): string {
  found.sort((a, b) => a[0] - b[0])
  let result = ''
  let end = 0
  for (const [start, stop] of found) {
    if (start >= end) result += text.slice(end, start) + REPLACEMENT
    end = Math.max(end, stop)
  }
  return result + text.slice(end)
}

function formsOf(secret: string): string[] {
  const percent = encodeURIComponent(secret.toWellFormed())
  const lower = percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
  const form = percent.replaceAll('%20', '+')
  const json = JSON.stringify(secret).slice(1, -1)
  return [
    secret,
    percent,
    lower,
    form,
    json,
    stableBase64(secret, 'base64'),
    stableBase64(secret, 'base64url'),
  ]
}

/** The characters of the Base64 form that do not depend on what follows the secret. */
function stableBase64(secret: string, encoding: 'base64' | 'base64url'): string {
  const bytes = Buffer.from(secret)
  const whole = Math.floor((bytes.length * 8) / 6)
  return bytes.toString(encoding).slice(0, whole)
}
