/** Owns the reading of one server of OpenCode, of the first and of the second form of its file. */
import { OAUTH, disabledOf, tell, templates } from './server-entry.ts'
import { openEntry } from './entry.ts'
import type { Entry } from './entry.ts'
import { ImportFault } from './foreign-server.ts'
import type { ForeignServer, ForeignTarget } from './foreign-server.ts'
import { isJsonObject } from '../../json.ts'
import { readTemplate } from './template.ts'
import type { Scope } from './template.ts'

const TOLD: Readonly<Record<string, string>> = {
  oauth: OAUTH,
  codemode: 'codemode is not carried: tools.exposure decides that here.',
}

/** Read one entry. Throws ImportFault. */
export function readOpencode(entry: Entry, scope: Scope, notes: string[]): ForeignServer {
  const type = entry.text('type')
  const target = isJsonList(entry.raw('command'))
    ? localTarget(entry, scope)
    : remoteTarget(entry, scope, type)
  const isDisabled = disabledOf(entry)
  const limits = timeouts(entry, scope)
  tell(entry, scope, TOLD)
  return { name: scope.server, serverName: scope.serverName, target, isDisabled, ...limits, notes }
}

function isJsonList(value: unknown): boolean {
  return Array.isArray(value)
}

function localTarget(entry: Entry, scope: Scope): ForeignTarget {
  const [command, ...args] = (entry.list('command') as readonly string[]).map((text) =>
    readTemplate(text, scope),
  )
  if (command === undefined) throw new ImportFault('Its command is an empty list.')
  const cwd = entry.text('cwd')
  return {
    kind: 'stdio',
    command,
    args,
    env: templates(entry.map('environment'), scope),
    ...(cwd === undefined ? {} : { cwd: readTemplate(cwd, scope) }),
  }
}

function remoteTarget(entry: Entry, scope: Scope, type: string | undefined): ForeignTarget {
  const url = entry.text('url')
  if (url === undefined) {
    // An entry with nothing but `enabled` switches a server of another file.
    throw new ImportFault(type === 'local' ? 'Its command must be a list.' : 'It has no command and no url.')
  }
  return {
    kind: 'http',
    flavour: 'auto',
    url: readTemplate(url, scope),
    headers: templates(entry.map('headers'), scope),
  }
}

/** A number is the limit of the first tool list; the second form has one for each step. */
function timeouts(entry: Entry, scope: Scope): { startupTimeoutMs?: number; callTimeoutMs?: number } {
  if (!isJsonObject(entry.raw('timeout'))) {
    const startupTimeoutMs = entry.positive('timeout')
    return startupTimeoutMs === undefined ? {} : { startupTimeoutMs }
  }
  const limits = openEntry(entry.raw('timeout'), scope.note)
  const startup = limits.positive('startup')
  const call = limits.positive('execution') ?? limits.positive('request')
  if (limits.raw('catalog') !== undefined)
    scope.note('timeout.catalog is not carried: startup.timeoutMs covers it.')
  return {
    ...(startup === undefined ? {} : { startupTimeoutMs: startup }),
    ...(call === undefined ? {} : { callTimeoutMs: call }),
  }
}
