/** Owns the reading of one `[mcp_servers.NAME]` table of Codex. Its texts have no variables; names of variables have keys. */
import { APPROVALS, OAUTH, disabledOf, tell, templates } from './server-entry.ts'
import type { Entry } from './entry.ts'
import { ImportFault, literal } from './foreign-server.ts'
import type { ForeignServer, ForeignTarget } from './foreign-server.ts'
import { isJsonObject } from '../../json.ts'
import { isCredentialName } from '../../secrets.ts'
import type { Scope } from './template.ts'

const TOLD: Readonly<Record<string, string>> = {
  oauth: OAUTH,
  oauth_resource: OAUTH,
  scopes: OAUTH,
  auth: OAUTH,
  default_tools_approval_mode: APPROVALS,
  tools: APPROVALS,
  required: 'required is not carried: failOnStartupError is its counterpart.',
  supports_parallel_tool_calls:
    'supports_parallel_tool_calls is not carried: trustAnnotations decides that here.',
  experimental_environment: 'experimental_environment is not carried: the server starts beside the host.',
}
const NAME = /^[A-Za-z_]\w*$/

/** Read one table. Throws ImportFault. */
export function readCodex(entry: Entry, scope: Scope, notes: string[]): ForeignServer {
  const command = entry.text('command')
  const target = command === undefined ? httpTarget(entry, scope) : stdioTarget(command, entry, scope)
  const isDisabled = disabledOf(entry)
  const startupSec = entry.positive('startup_timeout_sec')
  const startupMs = entry.positive('startup_timeout_ms')
  const startupTimeoutMs = startupSec === undefined ? startupMs : startupSec * 1000
  const toolSec = entry.positive('tool_timeout_sec')
  const allow = entry.list('enabled_tools')
  const deny = entry.list('disabled_tools')
  tell(entry, scope, TOLD)
  return {
    name: scope.server,
    serverName: scope.serverName,
    target,
    isDisabled,
    ...(startupTimeoutMs === undefined ? {} : { startupTimeoutMs }),
    ...(toolSec === undefined ? {} : { callTimeoutMs: toolSec * 1000 }),
    ...(allow === undefined ? {} : { allow }),
    ...(deny === undefined ? {} : { deny }),
    notes,
  }
}

function stdioTarget(command: string, entry: Entry, scope: Scope): ForeignTarget {
  const cwd = entry.text('cwd')
  const env = templates(entry.map('env'), scope)
  const inherit = forwarded(entry, scope).filter((name) => !env.some(([own]) => own === name))
  return {
    kind: 'stdio',
    command: literal(command),
    args: (entry.list('args') ?? []).map(literal),
    env,
    ...(inherit.length === 0 ? {} : { inherit }),
    ...(cwd === undefined ? {} : { cwd: literal(cwd) }),
  }
}

/** `env_vars` names what is passed on. A name without the look of a credential is passed on here anyway. */
function forwarded(entry: Entry, scope: Scope): string[] {
  const found = entry.raw('env_vars') ?? []
  if (!Array.isArray(found)) throw new ImportFault('env_vars must be a list of names.')
  return found.flatMap((item: unknown, index): string[] => {
    const name = isJsonObject(item) ? item['name'] : item
    if (typeof name !== 'string' || !NAME.test(name)) {
      throw new ImportFault(`env_vars[${index}] must be the name of a variable.`)
    }
    if (isJsonObject(item) && item['source'] === 'remote') {
      scope.note(`env_vars: ${name} came from another machine; here it is the host's own.`)
    }
    return isCredentialName(name) || name.startsWith('DSH_') ? [name] : []
  })
}

function httpTarget(entry: Entry, scope: Scope): ForeignTarget {
  const url = entry.text('url')
  if (url === undefined) throw new ImportFault('It has no command and no url.')
  const headers = templates(entry.map('http_headers'), scope)
  for (const [name, variable] of entry.map('env_http_headers')) {
    headers.push([name, [variableNamed(variable, 'env_http_headers')]])
  }
  const variable = entry.text('bearer_token_env_var')
  const token = entry.text('bearer_token')
  if (variable !== undefined) {
    headers.push(['Authorization', ['Bearer ', variableNamed(variable, 'bearer_token_env_var')]])
  } else if (token !== undefined) headers.push(['Authorization', literal(`Bearer ${token}`)])
  return { kind: 'http', flavour: 'streamable-http', url: literal(url), headers }
}

function variableNamed(name: string, key: string): { readonly variable: string } {
  if (NAME.test(name)) return { variable: name }
  throw new ImportFault(`${key} must be the name of a variable: letters, digits and _.`)
}
