/**
 * Owns the environment of a stdio server: the host's shared scrubbed base, less what is a credential by its shape, with
 * the row's variables over it. What the row names, in `env` or `inheritEnv`, survives. Pure but for its defaults.
 */
import { DSH_ENV_PREFIX, SENSITIVE_ENV_PATTERN, scrubbedParentEnv } from '@deepseek-ai/dsh-subprocess'
import { cleanLine } from './text.ts'
import type { StdioTarget } from './types.ts'

export type Variables = Readonly<Record<string, string | undefined>>

export interface EnvironmentSource {
  /** The host's own variables. */
  readonly ambient?: Variables
  /** The scrubbed ones among them. */
  readonly base?: Readonly<Record<string, string>>
  readonly platform?: NodeJS.Platform
}

export interface ChildEnvironment {
  /** A fresh object. */
  readonly variables: Record<string, string>
  /** Names of the host's variables that the child does not get, in order. */
  readonly withheld: readonly string[]
}

/** Words of a name, between underscores, that announce a credential or a way to one: `NPM_AUTH`, `SSH_AUTH_SOCK`. */
const CREDENTIAL_WORD =
  /(?:^|_)(?:AUTH|AUTHORIZATION|BEARER|CREDS?|DSN|JWT|PASS|PASSWD|PASSPHRASE|PAT|PWD)(?:_|$)/i
/** Addresses that carry a login as a rule, and agents that sign for whoever reaches them. */
const CREDENTIAL_NAME = /(?:^|_)(?:DATABASE_URL|CONNECTION_STRING|CONN_STR|AGENT_(?:INFO|SOCK))$/i
/** Names of files with credentials; a path is none itself, and the file's own mode guards it. */
const CREDENTIAL_FILE = /(?:^|_)(?:CREDENTIALS?|COOKIES?)(?:_|$)/i
/** Where a process is and was: what the shell keeps. */
const SHELL_FOLDER = /^(?:OLD)?PWD$/
/** Words that hold one of the contract's, and mean something else: `KEYBOARD_LAYOUT`, `TOKENIZERS_PARALLELISM`. */
const HARMLESS_WORD =
  /(^|_)(?:KEYBOARDS?|KEYMAPS?|KEYTIMEOUT|HOTKEYS?|KEYNOTE|KEYSTROKES?|KEYWORDS?|MONKEYS?|TURKEY|TOKENIZERS?|SECRETARY)(?=_|$)/gi
const USER_INFO = /:\/\/[^\s/?#@]+@/
/** `Password=…` in a connection string, `access_token=…` in a query. */
const NAMED_VALUE =
  /(?:^|[;?&\s])(?:password|pwd|accountkey|sharedaccess(?:key|signature)|client_secret|(?:access_|auth_)?token|api_?key)=[^;&\s]/i
/** What issuers put in front, so that a leak is seen: GitHub, GitLab, Slack, npm, AWS, model providers, PEM, JWT. */
const TOKEN_SHAPE =
  /^(?:gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|npm_|AKIA|ASIA|sk-|pypi-|hf_|eyJ)[\w.+/=-]{16,}$|-----BEGIN [A-Z ]*PRIVATE KEY-----/

/** What a child gets. On Windows names are the same in any case of letters. */
export function childEnvironment(
  target: StdioTarget,
  { ambient = process.env, base = scrubbedParentEnv(), platform = process.platform }: EnvironmentSource = {},
): ChildEnvironment {
  const keyOf = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name)
  const inherited = new Set(target.inheritEnv.map(keyOf))
  const own = new Set(Object.keys(target.env).map(keyOf))
  const kept: [string, string][] = []
  const withheld: string[] = []
  for (const [name, value] of Object.entries(ambient)) {
    if (value === undefined || own.has(keyOf(name))) continue
    const passes = inherited.has(keyOf(name)) || (isOfBase(name, base) && !isCredential(name, value))
    if (passes) kept.push([name, value])
    else withheld.push(name)
  }
  return { variables: { ...Object.fromEntries(kept), ...target.env }, withheld: withheld.toSorted() }
}

/** The contract's scrub, but for names that only look like it. */
function isOfBase(name: string, base: Readonly<Record<string, string>>): boolean {
  if (Object.hasOwn(base, name)) return true
  if (name.toUpperCase().startsWith(DSH_ENV_PREFIX)) return false
  return !SENSITIVE_ENV_PATTERN.test(name.replace(HARMLESS_WORD, '$1'))
}

/** Tell whether a variable is a credential by its name or by its value. */
export function isCredential(name: string, value: string): boolean {
  if (USER_INFO.test(value) || NAMED_VALUE.test(value) || TOKEN_SHAPE.test(value.trim())) return true
  if (CREDENTIAL_FILE.test(name)) return !/^(?:[/~]|[A-Za-z]:[\\/])/.test(value)
  return !SHELL_FOLDER.test(name) && (CREDENTIAL_WORD.test(name) || CREDENTIAL_NAME.test(name))
}

const MAX_SHOWN = 20
const MAX_NAME_CHARS = 80

/** What an operator looks for whose server does not find its token: one line, names only, or none. */
export function withheldLines(withheld: readonly string[]): string[] {
  // The host's own settings are nobody's token.
  const names = withheld.filter((name) => !name.startsWith(DSH_ENV_PREFIX))
  if (names.length === 0) return []
  const shown = names.slice(0, MAX_SHOWN).map((name) => cleanLine(name, MAX_NAME_CHARS))
  if (names.length > shown.length) shown.push(`${names.length - shown.length} more`)
  const words = 'host variables that the server does not get (env or inheritEnv of the row passes one on)'
  return [`${words}: ${shown.join(', ')}`]
}
