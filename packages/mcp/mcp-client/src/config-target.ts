/**
 * Owns what one row says about reaching its server: command or URL, with variables filled in and every text checked
 * for what a process or HTTP cannot carry. Pure.
 */
import type { HttpRow, StdioRow } from './config-schema.ts'
import { entryPath } from './config-reader.ts'
import type { Fault } from './config-reader.ts'
import { expand, holdsReference } from './expansion.ts'
import type { Environment } from './expansion.ts'
import { isCredentialName } from './secrets.ts'
import type { AuthSpec, HttpTarget, StdioTarget, Target } from './types.ts'

export interface ResolvedTarget {
  readonly target: Target
  /** Values of credential variables that were filled in, wherever they went. */
  readonly secrets: readonly string[]
  /** Paths of values that still hold `${NAME}`. */
  readonly unexpanded: readonly string[]
}

interface Filling {
  readonly fill: (text: string, path: string) => string
  readonly fault: Fault
}

/** Resolve the target of a row that has been read. Throws what `fault` makes. */
export function resolveTarget(row: StdioRow | HttpRow, env: Environment, fault: Fault): ResolvedTarget {
  const secrets: string[] = []
  const unexpanded: string[] = []
  const fill = (text: string, path: string): string => {
    if (!row.expandVars) {
      if (holdsReference(text)) unexpanded.push(path)
      return text
    }
    const expansion = expand(text, env)
    switch (expansion.kind) {
      case 'missing':
        throw fault(
          path,
          `needs the environment variable ${expansion.name}, which is not set; set it or write \${NAME:-default}`,
        )
      case 'malformed':
        throw fault(path, 'holds a ${ that starts no ${NAME} or ${NAME:-default}; write $${ for a literal ${')
      case 'text':
        secrets.push(...expansion.used.filter(([name]) => isCredentialName(name)).map(([, value]) => value))
        return expansion.text
    }
  }
  const filling = { fill, fault }
  const target = isStdio(row) ? stdioTarget(row, filling) : httpTarget(row, filling)
  return { target, secrets, unexpanded }
}

function isStdio(row: StdioRow | HttpRow): row is StdioRow {
  return row['command'] !== undefined
}

function stdioTarget(row: StdioRow, { fill, fault }: Filling): StdioTarget {
  const take = (text: string, path: string): string => {
    const filled = fill(text, path)
    if (filled.includes('\0')) throw fault(path, 'holds a NUL byte, which no process can be given; remove it')
    return filled
  }
  const command = take(row.command, 'command')
  if (command.trim() === '') throw fault('command', 'must be the program to start, not an empty string')
  const args = row.args.map((arg, index) => take(arg, `args[${index}]`))
  const env = Object.entries(row.env).map(([name, value], index) => {
    const path = entryPath('env', name, index)
    if (name === '' || /[=\0]/.test(name) || name === '__proto__') {
      throw fault(path, 'has a name that no variable can have; write NAME: value')
    }
    return [name, take(value, path)] as const
  })
  const cwd = take(row.cwd, 'cwd')
  const inheritEnv = row.inheritEnv.map((name, index) => {
    if (/^[^=\0]+$/.test(name)) return name
    throw fault(`inheritEnv[${index}]`, 'must be the name of a variable, without a value')
  })
  return {
    kind: 'stdio',
    command,
    args,
    env: Object.fromEntries(env),
    ...(cwd === '' ? {} : { cwd }),
    inheritEnv,
  }
}

function httpTarget(row: HttpRow, { fill, fault }: Filling): HttpTarget {
  const url = URL.parse(fill(row.url, 'url'))
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw fault('url', 'must be an absolute URL that starts with http:// or https://')
  }
  if (url.username !== '' || url.password !== '') {
    throw fault('url', 'must not hold user info; put credentials into headers')
  }
  const seen = new Set<string>()
  const headers = Object.entries(row.headers).map(([name, value], index) => {
    const path = entryPath('headers', name, index)
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || name === '__proto__') {
      throw fault(path, 'has a name that no HTTP header can have; write Name: value')
    }
    if (seen.has(name.toLowerCase())) throw fault(path, 'is there twice; the case of letters does not count')
    seen.add(name.toLowerCase())
    // fetch trims these itself: a token read from a file ends with a line break.
    const filled = fill(value, path).replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, '')
    if (/[^\t\x20-\x7e\x80-\xff]/.test(filled)) {
      throw fault(path, 'holds a line break or another character that HTTP headers cannot carry; remove it')
    }
    return [name, filled] as const
  })
  const flavour = row.transport ?? 'auto'
  const headersCommand = commandOf('headersCommand', row.headersCommand, { fill, fault })
  const auth = { ...resolveAuth(row.auth, { fill, fault }), headersCommand }
  return { kind: 'http', flavour, url: url.href, headers: Object.fromEntries(headers), auth }
}

function resolveAuth(row: HttpRow['auth'], { fill, fault }: Filling): Omit<AuthSpec, 'headersCommand'> {
  const { mode, algorithm, scopes, callbackPort } = row
  const take = (key: 'clientId' | 'clientSecret' | 'clientMetadataUrl' | 'privateKey' | 'issuer'): string =>
    fill(row[key], `auth.${key}`).trim()
  const [clientId, clientSecret, clientMetadataUrl, privateKey, issuer] = [
    take('clientId'),
    take('clientSecret'),
    take('clientMetadataUrl'),
    take('privateKey'),
    take('issuer'),
  ]
  const document = clientMetadataUrl === '' ? undefined : URL.parse(clientMetadataUrl)
  if (
    document === null ||
    (document !== undefined && (document.protocol !== 'https:' || document.pathname === '/'))
  )
    throw fault('auth.clientMetadataUrl', 'must be an https URL with a path')
  if (issuer !== '' && URL.parse(issuer) === null) throw fault('auth.issuer', 'must be the URL of an issuer')
  if ((mode === 'client-credentials' || mode === 'jwt-bearer') && clientId === '')
    throw fault('auth.clientId', `is missing; ${mode} needs a registered client`)
  if (mode === 'jwt-bearer' && row.assertionCommand.length === 0)
    throw fault('auth.assertionCommand', 'is missing; jwt-bearer needs it')
  if (mode === 'client-credentials' && clientSecret === '' && privateKey === '')
    throw fault('auth.clientSecret', 'is missing; client-credentials needs it, or auth.privateKey')
  if (clientSecret !== '' && clientId === '')
    throw fault('auth.clientId', 'is missing beside auth.clientSecret')
  return {
    mode,
    algorithm,
    scopes,
    callbackPort,
    assertionCommand: commandOf('auth.assertionCommand', row.assertionCommand, { fill, fault }),
    ...idpOf(row.idp, { fill, fault }),
    ...(clientId === '' ? {} : { clientId }),
    ...(clientSecret === '' ? {} : { clientSecret }),
    ...(clientMetadataUrl === '' ? {} : { clientMetadataUrl }),
    ...(privateKey === '' ? {} : { privateKey }),
    ...(issuer === '' ? {} : { issuer }),
  }
}

function commandOf(path: string, argv: readonly string[], { fill, fault }: Filling): string[] {
  return argv.map((arg, index) => {
    const filled = fill(arg, `${path}[${index}]`)
    if (filled.includes('\0') || (index === 0 && filled.trim() === ''))
      throw fault(`${path}[${index}]`, 'must be a program or an argument that a process can be given')
    return filled
  })
}

function idpOf(row: HttpRow['auth']['idp'], { fill, fault }: Filling): Pick<AuthSpec, 'idp'> {
  const tokenEndpoint = fill(row.tokenEndpoint, 'auth.idp.tokenEndpoint').trim()
  const clientId = fill(row.clientId, 'auth.idp.clientId').trim()
  const clientSecret = fill(row.clientSecret, 'auth.idp.clientSecret').trim()
  if (tokenEndpoint === '' && clientId === '' && clientSecret === '') return {}
  if (URL.parse(tokenEndpoint) === null) throw fault('auth.idp.tokenEndpoint', 'must be a URL')
  if (clientId === '') throw fault('auth.idp.clientId', 'is missing beside auth.idp.tokenEndpoint')
  return { idp: { tokenEndpoint, clientId, ...(clientSecret === '' ? {} : { clientSecret }) } }
}
