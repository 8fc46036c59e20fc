/**
 * Owns the reading of a server in the shape that most clients share: a command with args and env, or a URL with headers,
 * and the keys that some of them add. Keys that have no place in a row are told, each with its reason.
 */
import type { Entry } from './entry.ts'
import { ImportFault } from './foreign-server.ts'
import type { ForeignServer, ForeignTarget, NamedTemplate, Template } from './foreign-server.ts'
import { readTemplate } from './template.ts'
import type { Scope } from './template.ts'

/** How one client deviates. */
export interface Traits {
  /** Its `timeout` is the limit of a call in milliseconds. */
  readonly hasCallTimeout: boolean
  /** `type: http` also tries SSE. */
  readonly isHttpLenient: boolean
}

/** Keys that carry nothing a row needs. */
const SILENT = [
  'description',
  'name',
  'title',
  'icon',
  'gallery',
  'version',
  'extensionName',
  'note',
  '$schema',
]
/** What is said of keys that several clients have. */
export const OAUTH = 'Signing in (OAuth) is not carried: the row has none yet.'
export const APPROVALS = 'Approvals are not carried: the harness asks by its own rules, see tools.approval.'
const SANDBOX = 'The sandbox of the other client is not carried.'

const TOLD: Readonly<Record<string, string>> = {
  oauth: OAUTH,
  auth: OAUTH,
  authProviderType: OAUTH,
  headersHelper: 'The program that makes headers is neither run nor carried: set the headers in the row.',
  alwaysAllow: APPROVALS,
  autoApprove: APPROVALS,
  alwaysLoad: 'alwaysLoad is not carried: tools.alwaysDirect is its counterpart.',
  dev: 'The development mode (watch, debug) is not carried.',
  sandbox: SANDBOX,
  sandboxEnabled: SANDBOX,
}

/** Read one entry. Throws ImportFault. */
export function readServerEntry(entry: Entry, scope: Scope, traits: Traits, notes: string[]): ForeignServer {
  const target = targetOf(entry, scope, traits)
  const isDisabled = disabledOf(entry)
  const allow = entry.list('includeTools') ?? entry.list('enabledTools')
  const deny = entry.list('excludeTools') ?? entry.list('disabledTools')
  if (entry.flag('trust') === true) {
    scope.note('trust: true is not carried: the calls of this server are not exempt from being asked about.')
  }
  const callTimeoutMs = timeoutOf(entry, scope, traits)
  tell(entry, scope, TOLD)
  return {
    name: scope.server,
    serverName: scope.serverName,
    target,
    isDisabled,
    ...(callTimeoutMs === undefined ? {} : { callTimeoutMs }),
    ...(allow === undefined ? {} : { allow: allow.map(withoutArguments) }),
    ...(deny === undefined ? {} : { deny: deny.map(withoutArguments) }),
    notes,
  }
}

/** Switched off by `disabled: true` or `enabled: false`. */
export function disabledOf(entry: Entry): boolean {
  const disabled = entry.flag('disabled')
  return entry.flag('enabled') === false || disabled === true
}

/** Tell of all keys that are left: those known by their sentence, others by name. */
export function tell(entry: Entry, scope: Scope, told: Readonly<Record<string, string>>): void {
  for (const key of entry.rest()) {
    if (SILENT.includes(key)) continue
    const known = Object.hasOwn(told, key) ? told[key] : undefined
    if (isNothing(entry.raw(key))) continue
    scope.note(known ?? `${plainKey(key)} is not known here and is left out.`)
  }
}

/** Read each text of a mapping. */
export function templates(map: readonly (readonly [string, string])[], scope: Scope): NamedTemplate[] {
  return map.map(([name, value]) => [name, readTemplate(value, scope)])
}

/** Switched off, or empty: nothing is lost. */
function isNothing(value: unknown): boolean {
  return value === false || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}

function plainKey(key: string): string {
  return /^[\w.$-]{1,40}$/.test(key) ? `The key ${key}` : 'A key'
}

/** Gemini CLI writes `tool(argument)` too, and means the tool. */
function withoutArguments(name: string): string {
  return name.replace(/\(.*$/s, '')
}

function timeoutOf(entry: Entry, scope: Scope, traits: Traits): number | undefined {
  const value = entry.positive('timeout')
  if (value === undefined || traits.hasCallTimeout) return value
  scope.note(
    `timeout is not carried: ${scope.client} gives it no unit that is certain. Set toolCallTimeoutMs.`,
  )
  return undefined
}

function targetOf(entry: Entry, scope: Scope, traits: Traits): ForeignTarget {
  const type = (entry.text('type') ?? entry.text('transport') ?? entry.text('transportType'))?.toLowerCase()
  const command = entry.text('command')
  const httpUrl = entry.text('httpUrl')
  const url = entry.text('serverUrl') ?? entry.text('url')
  const flavour = flavourOf(type, traits)
  if (command !== undefined && (flavour === undefined || (url ?? httpUrl) === undefined)) {
    if ((url ?? httpUrl) !== undefined) scope.note('It has a command and a URL: the command is taken.')
    return {
      kind: 'stdio',
      command: readTemplate(command, scope),
      args: (entry.list('args') ?? []).map((arg) => readTemplate(arg, scope)),
      env: templates(entry.map('env'), scope),
      ...cwdOf(entry, scope),
    }
  }
  const address = httpUrl ?? url
  if (address === undefined) throw new ImportFault('It has no command and no URL.')
  if (entry.raw('env') !== undefined)
    scope.note('env is left out: a server at a URL has no environment of ours.')
  return {
    kind: 'http',
    flavour: httpUrl === undefined ? (flavour ?? 'auto') : 'streamable-http',
    url: readTemplate(address, scope),
    headers: templates(entry.map('headers'), scope),
  }
}

function cwdOf(entry: Entry, scope: Scope): { readonly cwd?: Template } {
  const cwd = entry.text('cwd')
  return cwd === undefined ? {} : { cwd: readTemplate(cwd, scope) }
}

/** Undefined for stdio and for no type at all. */
function flavourOf(type: string | undefined, traits: Traits): 'streamable-http' | 'sse' | 'auto' | undefined {
  switch (type) {
    case undefined:
    case 'stdio':
    case 'local':
      return undefined
    case 'sse':
      return 'sse'
    case 'http':
    case 'streamable-http':
    case 'streamable_http':
    case 'streamablehttp':
    case 'remote':
      return traits.isHttpLenient && type === 'http' ? 'auto' : 'streamable-http'
    default:
      throw new ImportFault('Its type is none of stdio, http and sse: this client has no such transport.')
  }
}
