/**
 * Owns the choice of secrets in one target: every header and env value with the part behind its scheme, user info and
 * query of URLs, arguments that a flag calls a credential. Left out are values under a harmless name that are plainly
 * no secret: a word such as `us-east-1`, a small number, a path, the origin of a URL. Pure.
 */
import { isCommon } from './redaction.ts'
import type { AuthSpec, Target } from './types.ts'

/** Names that announce a credential: of variables, headers, flags, query keys. */
const CREDENTIAL_NAME = /KEY|PASS|PWD|SECRET|TOKEN|AUTH|CREDENTIAL|COOKIE|DSN|SESSION|SIGNATURE|WEBHOOK/i
const HARMLESS_HEADER = /^(?:accept(?:-\w+)?|content-type|user-agent|cache-control|origin|referer|host)$/i
/** Longest value that counts as a plain word. */
const MAX_WORD = 11

/** Tell whether a name announces a credential. */
export function isCredentialName(name: string): boolean {
  return CREDENTIAL_NAME.test(name)
}

/**
 * Every text of a target that must not leave. May hold duplicates.
 * @param env where the values of inherited variables are
 */
export function secretsOf(target: Target, env: Readonly<Record<string, string | undefined>> = {}): string[] {
  if (target.kind === 'http') {
    return [
      ...Object.entries(target.headers).flatMap(([name, value]) => namedSecrets(name, value)),
      ...urlSecrets(target.url),
      ...(target.auth === undefined ? [] : authSecrets(target.auth)),
    ]
  }
  return [
    ...Object.entries(target.env).flatMap(([name, value]) => namedSecrets(name, value)),
    ...target.inheritEnv.flatMap((name) => namedSecrets(name, env[name] ?? '')),
    ...target.args.flatMap((arg, index) => argumentSecrets(arg, target.args[index - 1] ?? '')),
  ]
}

function authSecrets({ clientSecret, privateKey, idp, ...commands }: AuthSpec): string[] {
  const given = [clientSecret, privateKey, idp?.clientSecret].filter((secret) => secret !== undefined)
  const argvs = [commands.headersCommand, commands.assertionCommand]
  return [
    ...given.flatMap((secret) => [secret, ...partsOf(secret)]),
    ...argvs.flatMap((argv) => argv.flatMap((arg, index) => argumentSecrets(arg, argv[index - 1] ?? ''))),
  ]
}

function namedSecrets(name: string, value: string): string[] {
  if (!isCredentialName(name) && isPlain(name, value)) return urlSecrets(value)
  return [value, ...partsOf(value)]
}

/** Pieces of a secret that may show up without the rest. */
function partsOf(value: string): string[] {
  const lines = value.includes('\n') ? value.split(/\r?\n/).filter((line) => !line.startsWith('-----')) : []
  const [, scheme, credentials] = /^([A-Za-z][\w-]*) +(\S+)$/.exec(value) ?? []
  if (credentials === undefined) return [...lines, ...urlSecrets(value)]
  if (scheme?.toLowerCase() !== 'basic') return [credentials]
  const pair = Buffer.from(credentials, 'base64').toString()
  return [credentials, pair, pair.slice(pair.indexOf(':') + 1)]
}

/** `--token VALUE`, `--api-key=VALUE`, `TOKEN=VALUE`, `Authorization: Bearer VALUE`, a URL with secrets. */
function argumentSecrets(arg: string, before: string): string[] {
  const [, name = '', value = ''] = /^-{0,2}([\w-]+)(?:=|:\s*)(.+)$/s.exec(arg) ?? []
  if (isCredentialName(name)) return [value, ...partsOf(value)]
  if (/^--?[\w-]+$/.test(before) && isCredentialName(before) && !arg.startsWith('-'))
    return [arg, ...partsOf(arg)]
  // `--db=postgres://user:password@host/`: the flag is no secret, the URL behind it has one.
  return [...urlSecrets(arg), ...urlSecrets(value)]
}

/** User info, query values and token-like path segments of an absolute URL; nothing for another text. */
function urlSecrets(text: string): string[] {
  const url = /^[a-z][\w+.-]*:\/\//i.test(text) ? URL.parse(text) : null
  if (!url) return []
  const query = [...url.searchParams].filter(([name, value]) => isCredentialName(name) || !isWord(value))
  return [
    url.password,
    ...decoded(url.password),
    ...(url.password ? [] : [url.username, ...decoded(url.username)]),
    ...query.map(([, value]) => value),
    ...url.pathname.split('/').filter(looksRandom),
  ]
}

function decoded(text: string): string[] {
  try {
    return [decodeURIComponent(text)]
  } catch {
    return [] // not percent-encoded: the text itself is in the list already
  }
}

function isPlain(name: string, value: string): boolean {
  return isCommon(value) || HARMLESS_HEADER.test(name) || isWord(value) || isPath(value) || isOrigin(value)
}

/** One or more short words and small numbers: `us-east-1`, `en_US.UTF-8`, `8080`. */
function isWord(value: string): boolean {
  if (value.length > MAX_WORD) return false
  return value.split(/[-_.,:]/).every((part) => /^(?:[a-z]+|[A-Z][a-z]*|[A-Z]+|\d{0,7})$/.test(part))
}

function isPath(value: string): boolean {
  const rooted = /^(?:(?:~|\.{1,2})?\/|[A-Za-z]:[\\/])[\w.@+~ :;()\\/-]*$/.test(value)
  return rooted && !value.split(/[\\/:;]/).some(looksRandom)
}

function isOrigin(value: string): boolean {
  return /^https?:\/\/[\w.-]+(?::\d+)?\/?$/i.test(value)
}

/** A piece that mixes letters and digits over 16 characters, or a UUID: a key rather than a name. */
function looksRandom(segment: string): boolean {
  if (/^[0-9a-f-]{32,36}$/i.test(segment)) return true
  return segment.split(/[-_.]/).some((part) => part.length >= 16 && /\d/.test(part) && /[A-Za-z]/.test(part))
}
