/**
 * Owns what tells the configuration files of other clients apart: names, keys, variables, and which reader takes their
 * entries. A row a client.
 */
import { isJsonObject } from '../../json.ts'
import { readCodex } from './codex-entry.ts'
import { readServerEntry } from './server-entry.ts'
import type { Traits } from './server-entry.ts'
import type { Entry } from './entry.ts'
import type { ForeignServer } from './foreign-server.ts'
import { readOpencode } from './opencode-entry.ts'
import type { Scope, Syntax } from './template.ts'

type Dict = Readonly<Record<string, unknown>>

export interface Dialect {
  /** What `--from` takes. */
  readonly name: string
  /** What people call the client. */
  readonly client: string
  readonly syntax: Syntax
  /** The client leaves `${NAME}` as it is; whoever writes it means the variable all the same. */
  readonly isLenient: boolean
  /** Base names and marked folders of its files, as in a path with `/`. */
  readonly files: RegExp
  /** Paths of the mapping of servers within the file, the first that is there counts. */
  readonly keys: readonly (readonly string[])[]
  readonly read: (entry: Entry, scope: Scope, notes: string[]) => ForeignServer
}

const shared =
  (traits: Traits): Dialect['read'] =>
  (entry, scope, notes) =>
    readServerEntry(entry, scope, traits, notes)

const plain = shared({ hasCallTimeout: false, isHttpLenient: false })
const timed = shared({ hasCallTimeout: true, isHttpLenient: false })
const SERVERS = [['mcpServers']] as const

export const DIALECTS: readonly Dialect[] = [
  {
    name: 'claude-desktop',
    client: 'Claude Desktop',
    syntax: 'dollar',
    isLenient: true,
    files: /(?:^|\/)claude_desktop_config\.json$/i,
    keys: SERVERS,
    read: plain,
  },
  {
    name: 'vscode',
    client: 'VS Code',
    syntax: 'editor',
    isLenient: true,
    files: /(?:^|\/)(?:\.vscode|Code(?: - Insiders)?\/User)\/(?:mcp|settings)\.json$/i,
    keys: [['servers'], ['mcp', 'servers'], ['mcpServers']],
    read: shared({ hasCallTimeout: false, isHttpLenient: true }),
  },
  {
    name: 'cursor',
    client: 'Cursor',
    syntax: 'editor',
    isLenient: true,
    files: /(?:^|\/)\.cursor\/mcp\.json$/,
    keys: SERVERS,
    read: plain,
  },
  {
    name: 'windsurf',
    client: 'Windsurf',
    syntax: 'editor',
    isLenient: true,
    files: /(?:^|\/)mcp_config\.json$/,
    keys: SERVERS,
    read: plain,
  },
  {
    name: 'codex',
    client: 'Codex',
    syntax: 'none',
    isLenient: false,
    files: /\.toml$/i,
    keys: [['mcp_servers']],
    read: readCodex,
  },
  {
    name: 'gemini',
    client: 'Gemini CLI',
    syntax: 'bare',
    isLenient: false,
    files: /(?:^|\/)\.gemini\/settings\.json$/,
    keys: SERVERS,
    read: timed,
  },
  {
    name: 'opencode',
    client: 'OpenCode',
    syntax: 'braces',
    isLenient: false,
    files: /(?:^|\/)opencode\.jsonc?$/,
    keys: [['mcp', 'servers'], ['mcp']],
    read: readOpencode,
  },
  {
    name: 'claude-code',
    client: 'Claude Code',
    syntax: 'dollar',
    isLenient: false,
    files: /(?:^|\/)(?:\.mcp|\.claude)\.json$/,
    keys: SERVERS,
    read: timed,
  },
]

/** The dialect of that name. */
export function dialectNamed(name: string): Dialect | undefined {
  return DIALECTS.find((dialect) => dialect.name === name)
}

/** The dialect of a file: by where it lies, then by what it holds; `.mcp.json` is the form that others share. */
export function detectDialect(path: string, value: unknown): Dialect {
  const place = path.replaceAll('\\', '/')
  return (
    DIALECTS.find(({ files, keys }) => files.test(place) && serversAt(value, keys) !== undefined) ??
    DIALECTS.find(({ files }) => files.test(place)) ??
    dialectOfContent(value)
  )
}

/** The mapping of servers in a file, or undefined where it has none. A bare mapping of servers counts as one. */
export function serversOf(value: unknown, dialect: Dialect): Dict | undefined {
  const found = serversAt(value, dialect.keys) ?? serversAt(value, SERVERS)
  if (found !== undefined || !isJsonObject(value)) return found
  const entries = Object.values(value)
  const isBare =
    entries.length > 0 &&
    entries.every((entry) => isJsonObject(entry) && ('command' in entry || 'url' in entry))
  return isBare ? value : undefined
}

function serversAt(value: unknown, keys: Dialect['keys']): Dict | undefined {
  for (const path of keys) {
    let at: unknown = value
    for (const key of path) at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
    if (isJsonObject(at)) return at
  }
  return undefined
}

/** Keys that only one client writes. */
function dialectOfContent(value: unknown): Dialect {
  const name = nameOfContent(value)
  const dialect = dialectNamed(name)
  /* v8 ignore next -- each name is one of the table */
  if (dialect === undefined) throw new Error(`no dialect ${name}`)
  return dialect
}

function nameOfContent(value: unknown): string {
  if (serversAt(value, [['mcp_servers']])) return 'codex'
  if (serversAt(value, [['servers'], ['mcp', 'servers']])) {
    const isOpencode = hasEntry(serversAt(value, [['mcp', 'servers']]), (entry) =>
      Array.isArray(entry['command']),
    )
    return isOpencode ? 'opencode' : 'vscode'
  }
  if (hasEntry(serversAt(value, [['mcp']]), ({ type }) => type === 'local' || type === 'remote'))
    return 'opencode'
  const servers = serversAt(value, SERVERS)
  if (hasEntry(servers, (entry) => 'serverUrl' in entry || 'disabledTools' in entry)) return 'windsurf'
  const gemini = ['httpUrl', 'includeTools', 'excludeTools', 'trust']
  return hasEntry(servers, (entry) => gemini.some((key) => key in entry)) ? 'gemini' : 'claude-code'
}

function hasEntry(servers: Dict | undefined, matches: (entry: Dict) => boolean): boolean {
  return Object.values(servers ?? {}).some((entry) => isJsonObject(entry) && matches(entry))
}
