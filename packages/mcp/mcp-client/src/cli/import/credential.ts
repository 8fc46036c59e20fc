/**
 * Owns which parts of a foreign value look like a credential. Stricter than secrets.ts, which cuts values out of logs
 * and may cut too much: what is found here costs its owner a variable to set. Names and URLs are judged by secrets.ts.
 * Pure.
 */
import { isCommon } from '../../redaction.ts'
import { isCredentialName, secretsOf } from '../../secrets.ts'
import type { Place } from './foreign-server.ts'

/** A part of a text that must not be written down; `label` names it. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly label: string
}

/** Names that hold a place or a kind rather than a credential, such as TOKEN_FILE, AUTH_URL, SESSION_TYPE. */
const HARMLESS_NAME =
  /(?:FILE|PATH|DIR|FOLDER|URL|URI|ENDPOINT|HOST|PORT|TYPE|MODE|METHOD|SCHEME|REGION|PROVIDER|ENABLED)$/i
/** Names that hold nothing but a secret, however short it is. */
const SECRET_NAME =
  /(?:^|[_-])(?:PASSWORDS?|PASSWD|PASSPHRASE|PASS|SECRETS?|CREDENTIALS?|CREDS|PIN|OTP)$|[_-]PWD$/i
/** Names of a number, such as MAX_TOKENS or SESSION_TIMEOUT. */
const NUMBER_NAME = /MAX|MIN|LIMIT|COUNT|SIZE|TIMEOUT|TTL|TOKENS|LENGTH|BUDGET/i
/** How the tokens of well-known services begin. */
const KNOWN_TOKEN =
  /(?:^|[^A-Za-z0-9])(?:(?:sk|pk|rk|key|secret|ntn|npm|hf|figd|sbp|tvly|pplx|fc|xai|gsk|re|tok|pat|whsec|lin_api|dop_v1|glpat|github_pat|gh[pousr]|xox[a-z]|xapp|shpat)[-_]|AKIA|ASIA|AIza|ya29\.|eyJ|SG\.)[\w.=-]{8,}/
/** A name of a credential with its value behind it, as in JSON or in a header. */
const LABELLED =
  /(?:api[-_ ]?key|token|secret|passw(?:or)?d|pwd|authorization|credential)s?["']?\s*[:=]\s*["']?[^\s"',;]{4,}|\b(?:bearer|basic)\s+[\w.~+/=-]{6,}/i
/** Content hashes: an image by digest, a commit. They are long and random, and no secret. */
const DIGEST = /\bsha(?:256|384|512)[:-][0-9A-Za-z+/=]{40,}|#[0-9a-f]{7,40}$/g
const SCHEME = /^(?:bearer|basic|token|bot|apikey|api-key|key)$/i

/** The parts of a literal text that look like a credential. Sorted, without overlaps. */
export function credentialSpans(text: string, place: Place): Span[] {
  switch (place.kind) {
    case 'env':
    case 'header':
      return namedSpans(place.name, text, 0)
    case 'argument':
      return argumentSpans(text, place.before)
    case 'url':
      return urlSpans(text)
    default:
      return looksLikeCredential(text) ? [{ start: 0, end: text.length, label: place.kind }] : []
  }
}

/** Whether a value under that name is a credential. */
export function isCredential(name: string, value: string): boolean {
  if (SECRET_NAME.test(name) && !/^(?:|true|false)$/i.test(value)) return true
  if (isCommon(value)) return false
  if (!isCredentialName(name)) return looksLikeCredential(value)
  if (HARMLESS_NAME.test(name) || /^(?:\d{1,9}|true|false)$/i.test(value)) {
    return (
      looksLikeCredential(value) ||
      (/^\d+$/.test(value) && !NUMBER_NAME.test(name) && !HARMLESS_NAME.test(name))
    )
  }
  return true
}

/** Whether a value has the shape of a credential, whatever it is called. */
export function looksLikeCredential(value: string): boolean {
  const text = value.replace(DIGEST, '')
  if (text.includes('-----BEGIN') || KNOWN_TOKEN.test(text) || LABELLED.test(text)) return true
  if (/^[a-z][\w+.-]*:\/\//i.test(text)) return urlSecrets(text).length > 0
  return text.split(/[^A-Za-z0-9_+=-]+/).some(isRandom)
}

/** Long and mixed like a key; words joined by `-` and `_` are none. */
function isRandom(piece: string): boolean {
  if (/^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i.test(piece)) return true
  return piece.split(/[-_=+]/).some((part) => {
    if (part.length < 16) return false
    const kinds = [/\d/, /[a-z]/, /[A-Z]/].filter((kind) => kind.test(part)).length
    const switches = part.match(/\d(?=[A-Za-z])|[A-Za-z](?=\d)/g)?.length ?? 0
    return part.length >= 32 ? kinds > 1 : switches > 1 || kinds === 3
  })
}

/** `Bearer VALUE` keeps its scheme; all else is hidden whole. */
function namedSpans(name: string, value: string, offset: number): Span[] {
  if (!isCredential(name, value)) return []
  const [, scheme = '', space = '', credentials = ''] = /^(\S+)( +)(\S+)$/.exec(value) ?? []
  const start = SCHEME.test(scheme) && credentials !== '' ? scheme.length + space.length : 0
  return [{ start: offset + start, end: offset + value.length, label: name }]
}

function argumentSpans(text: string, before: string): Span[] {
  const [, head = '', name = '', value = ''] = /^(-{0,2}([\w-]+)(?:=|:\s*))(.+)$/s.exec(text) ?? []
  // A URL and a path of Windows are no `name: value`.
  if (name !== '' && !/^(?:\/\/|\\)/.test(value)) return namedSpans(name, value, head.length)
  const flag = /^--?([\w-]+)$/.exec(before)?.[1]
  if (flag !== undefined && !text.startsWith('-') && isCredential(flag, text))
    return namedSpans(flag, text, 0)
  const isPath = /^(?:~|\.{0,2}\/|[A-Za-z]:[\\/])/.test(text) && !KNOWN_TOKEN.test(text)
  return isPath || !looksLikeCredential(text)
    ? []
    : namedSpans(/^[a-z][\w+.-]*:\/\//i.test(text) ? 'URL' : 'VALUE', text, 0)
}

/** Values of the query, segments of the path and the fragment. User info is not looked at. */
function urlSpans(text: string): Span[] {
  const spans: Span[] = []
  const parts = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text) as RegExpExecArray
  const [, base = '', query = '', fragment = ''] = parts
  const origin = /^[a-z][\w+.-]*:\/\/[^/]*/i.exec(base)?.[0].length ?? 0
  for (const match of base.slice(origin).matchAll(/[^/]+/g)) {
    if (urlSecrets(`http://h/${match[0]}`).length > 0)
      spans.push(spanOf(match[0], origin + match.index, 'URL_PATH'))
  }
  for (const match of query.matchAll(/[?&]([^=&]*)=([^&]+)/g)) {
    const [pair, name = '', value = ''] = match
    if (urlSecrets(`http://h/?${name}=${value}`).length === 0 || isCommon(value)) continue
    spans.push(spanOf(value, base.length + match.index + pair.length - value.length, decodedName(name)))
  }
  if (looksLikeCredential(fragment.slice(1)))
    spans.push(spanOf(fragment.slice(1), text.length - fragment.length + 1, 'URL_FRAGMENT'))
  return spans
}

function spanOf(value: string, start: number, label: string): Span {
  return { start, end: start + value.length, label }
}

function decodedName(name: string): string {
  return name.replace(/%[0-9A-Fa-f]{2}/g, '_')
}

function urlSecrets(url: string): string[] {
  return secretsOf({ kind: 'http', flavour: 'auto', url, headers: {} }).filter((secret) => !isCommon(secret))
}
