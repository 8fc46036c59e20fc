/**
 * Owns the reading of what follows `/mcp`: a server and a verb in either order, with the words a person would guess.
 * Pure; a server wins over a verb of the same name where it comes first.
 */
import { nearest } from './distance.ts'
import { cleanLine } from './text.ts'

export type Verb = 'show' | 'restart' | 'tools' | 'pins' | 'approve' | 'login'

export type Request =
  | { readonly kind: 'overview' }
  | { readonly kind: 'help' }
  | {
      readonly kind: 'server'
      readonly serverName: string
      readonly verb: Verb
      /** Words after both. */
      readonly rest: readonly string[]
    }
  | { readonly kind: 'refused'; readonly text: string }

const VERBS: Readonly<Record<string, Verb>> = {
  show: 'show',
  status: 'show',
  info: 'show',
  get: 'show',
  restart: 'restart',
  reconnect: 'restart',
  reload: 'restart',
  retry: 'restart',
  start: 'restart',
  tools: 'tools',
  tool: 'tools',
  pins: 'pins',
  pin: 'pins',
  diff: 'pins',
  approve: 'approve',
  accept: 'approve',
  login: 'login',
  auth: 'login',
  authorize: 'login',
}
const OVERVIEW = new Set(['list', 'ls', 'status', 'servers'])
const HELP = new Set(['help', '-h', '--help', '?'])
const MAX_WORD_CHARS = 64

/** @param names of the servers there are */
export function parseLine(rawInput: string, names: readonly string[]): Request {
  const words = rawInput.split(/\s+/).filter((word) => word !== '')
  const [first = '', second = '', ...others] = words
  if (words.length === 0) return { kind: 'overview' }
  const server = serverOf(first, names)
  if (server !== undefined) {
    if (second === '') return { kind: 'server', serverName: server, verb: 'show', rest: [] }
    const verb = verbOf(second)
    return verb === undefined
      ? unknownVerb(second)
      : { kind: 'server', serverName: server, verb, rest: others }
  }
  if (HELP.has(first.toLowerCase())) return { kind: 'help' }
  const verb = verbOf(first)
  if (OVERVIEW.has(first.toLowerCase()) && second === '') return { kind: 'overview' }
  if (verb === undefined) return unknownFirst(first, names)
  if (second === '') return withoutServer(verb, first, names)
  const named = serverOf(second, names)
  return named === undefined
    ? unknownServer(second, names)
    : { kind: 'server', serverName: named, verb, rest: others }
}

/** The exact name, or the only one that differs in case alone. */
function serverOf(word: string, names: readonly string[]): string | undefined {
  if (names.includes(word)) return word
  const alike = names.filter((name) => name.toLowerCase() === word.toLowerCase())
  return alike.length === 1 ? alike[0] : undefined
}

function verbOf(word: string): Verb | undefined {
  const known = word.toLowerCase()
  return Object.hasOwn(VERBS, known) ? VERBS[known] : undefined
}

/** `/mcp restart` is plain where there is one server. */
function withoutServer(verb: Verb, word: string, names: readonly string[]): Request {
  const [only] = names
  if (only !== undefined && names.length === 1) return { kind: 'server', serverName: only, verb, rest: [] }
  return { kind: 'refused', text: `Which server? /mcp SERVER ${word.toLowerCase()}. ${knownLine(names)}` }
}

function unknownVerb(word: string): Request {
  const near = nearest(word.toLowerCase(), Object.keys(VERBS))
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`
  return {
    kind: 'refused',
    text: `"${shown(word)}" is nothing that /mcp can do with a server.${meant} /mcp help lists what it can.`,
  }
}

function unknownFirst(word: string, names: readonly string[]): Request {
  const near = nearest(word, [...names, ...Object.keys(VERBS), ...HELP])
  return near === undefined || names.includes(near) ? unknownServer(word, names) : unknownVerb(word)
}

function unknownServer(word: string, names: readonly string[]): Request {
  const near = nearest(word, names)
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`
  return { kind: 'refused', text: `No MCP server is called "${shown(word)}".${meant} ${knownLine(names)}` }
}

function knownLine(names: readonly string[]): string {
  return names.length === 0 ? 'No MCP server is configured.' : `There are: ${names.join(', ')}.`
}

function shown(word: string): string {
  return cleanLine(word, MAX_WORD_CHARS)
}
