/**
 * Owns the making of a row from a foreign server whose references all have names. A row that our own resolve step would
 * refuse is not made. Pure.
 */
import { MAX_TIMER_MS } from '../../config-schema.ts'
import { resolveConfig } from '../../config.ts'
import { isMcpError } from '../../errors.ts'
import { ImportFault } from './foreign-server.ts'
import type { ForeignServer, NamedTemplate, Piece, Template } from './foreign-server.ts'

export const PLUGIN = '@deepseek-ai/dsh-mcp-client'

/** One entry of a cordis.yml, keys in the order in which they are written. */
export interface Row {
  readonly id: string
  readonly name: typeof PLUGIN
  readonly disabled?: true
  readonly config: Readonly<Record<string, unknown>> & { readonly serverName: string }
}

export interface MadeRow {
  readonly row: Row
  readonly notes: readonly string[]
}

/** Make the row of one server. Throws ImportFault where the row would be refused. */
export function makeRow(server: ForeignServer): MadeRow {
  const { serverName } = server
  const notes: string[] = []
  if (serverName !== server.name)
    notes.push(`The server is called ${serverName} here: a name has 1 to 32 letters, digits, _ or -.`)
  const expands = hasReference(server)
  const write = (template: Template): string => template.map((piece) => pieceText(piece, expands)).join('')
  const config = {
    serverName,
    ...targetOf(server, write),
    ...(expands ? { expandVars: true } : {}),
    ...timeouts(server, notes),
    ...toolsOf(server),
  }
  windowsNote(server, notes)
  check(config, server)
  const disabled = server.isDisabled ? ({ disabled: true } as const) : {}
  if (server.isDisabled) notes.push('It is switched off there, so the row is disabled: true.')
  return { row: { id: `mcp-${serverName}`, name: PLUGIN, ...disabled, config }, notes }
}

/** A name as a glob that matches it alone. */
export function exactGlob(name: string): string {
  return name.replace(/[\\*?[\]{}(]/g, '\\$&').replace(/^!/, '\\!')
}

function pieceText(piece: Piece, expands: boolean): string {
  if (typeof piece === 'string') return expands ? piece.replaceAll('${', () => '$${') : piece
  /* v8 ignore next -- all references are named before a row is made */
  if ('wanted' in piece) throw new ImportFault('A reference has no name.')
  return piece.fallback === undefined ? `\${${piece.variable}}` : `\${${piece.variable}:-${piece.fallback}}`
}

function templatesOf({ target }: ForeignServer): Template[] {
  const values = (list: readonly NamedTemplate[]): Template[] => list.map(([, value]) => value)
  return target.kind === 'http'
    ? [target.url, ...values(target.headers)]
    : [target.command, ...target.args, ...values(target.env), target.cwd ?? []]
}

function hasReference(server: ForeignServer): boolean {
  return templatesOf(server).some((template) => template.some((piece) => typeof piece !== 'string'))
}

function targetOf({ target }: ForeignServer, write: (template: Template) => string): object {
  const mapping = (list: readonly NamedTemplate[]): Record<string, string> =>
    Object.fromEntries(list.map(([name, value]) => [name, write(value)]))
  if (target.kind === 'http') {
    return {
      ...(target.flavour === 'auto' ? {} : { transport: target.flavour }),
      url: write(target.url),
      ...(target.headers.length === 0 ? {} : { headers: mapping(target.headers) }),
    }
  }
  return {
    transport: 'stdio',
    command: write(target.command),
    ...(target.args.length === 0 ? {} : { args: target.args.map(write) }),
    ...(target.env.length === 0 ? {} : { env: mapping(target.env) }),
    ...(target.inherit === undefined ? {} : { inheritEnv: target.inherit }),
    ...(target.cwd === undefined ? {} : { cwd: write(target.cwd) }),
  }
}

function timeouts(server: ForeignServer, notes: string[]): object {
  const bounded = (value: number | undefined, key: string): number | undefined => {
    if (value === undefined || value <= MAX_TIMER_MS) return value
    notes.push(`${key} is left at its default: the other client's limit is longer than a timer can be.`)
    return undefined
  }
  const call = bounded(server.callTimeoutMs, 'toolCallTimeoutMs')
  const startup = bounded(server.startupTimeoutMs, 'startup.timeoutMs')
  return {
    ...(call === undefined ? {} : { toolCallTimeoutMs: call }),
    ...(startup === undefined ? {} : { startup: { timeoutMs: startup } }),
  }
}

function toolsOf({ allow, deny }: ForeignServer): object {
  const denied = deny?.map(exactGlob) ?? []
  const tools = {
    // An empty list takes no tool, here as there.
    ...(allow === undefined ? {} : { allow: allow.map(exactGlob) }),
    ...(denied.length === 0 ? {} : { deny: denied }),
  }
  return Object.keys(tools).length === 0 ? {} : { tools }
}

function windowsNote({ target }: ForeignServer, notes: string[]): void {
  const [first] = target.kind === 'stdio' ? target.command : []
  if (typeof first !== 'string' || !/(?:^|[\\/])cmd(?:\.exe)?$/i.test(first)) return
  notes.push(
    'cmd /c is for Windows alone, and not needed there: name the program itself as the command, such as npx.',
  )
}

/** The resolve step with a stand-in for each variable, so that the row is judged and not this machine. */
function check(config: unknown, server: ForeignServer): void {
  const env: Record<string, string> = {}
  const [first] = server.target.kind === 'http' ? server.target.url : []
  for (const template of templatesOf(server)) {
    for (const piece of template)
      if (typeof piece !== 'string' && 'variable' in piece) env[piece.variable] = 'x'
  }
  if (first !== undefined && typeof first !== 'string' && 'variable' in first)
    env[first.variable] = 'http://x'
  try {
    resolveConfig(config, env)
  } catch (error) {
    /* v8 ignore next -- the resolve step throws nothing else */
    if (!isMcpError(error)) throw error
    throw new ImportFault(`The row would be refused: ${error.message.replace(/^mcp-client\([^)]*\): /, '')}.`)
  }
}
