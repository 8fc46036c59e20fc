/**
 * Owns the rows of cordis.yml: the host around the plugin, the rows under test, and how they are written.
 */
import { fileURLToPath } from 'node:url'
import type { StdioServer } from '../stdio-server.ts'

export const MCP_CLIENT = '@deepseek-ai/dsh-mcp-client'
const MCP_CLIENT_SOURCE = fileURLToPath(new URL('../../../mcp/mcp-client/src/index.ts', import.meta.url))
const SCRIPTED_MODEL = fileURLToPath(new URL('../scripted-model.ts', import.meta.url))

/** One row of cordis.yml. */
export interface Row {
  /** Default: `mcp-<serverName>`, or the plugin's name. */
  readonly id?: string
  /** Plugin: package name or absolute path. Default: the MCP client. */
  readonly name?: string
  readonly config?: Readonly<Record<string, unknown>>
  readonly disabled?: boolean
}

export type Mode = 'native' | 'code' | 'both'
export type Extra = 'approval' | 'commands' | 'spill' | 'credentials' | 'userQuestions' | 'timeoutPolicy'

/** A row for a scripted stdio server; `config` has the other keys of the row. */
export function stdioRow(serverName: string, server: StdioServer, config: Row['config'] = {}): Row {
  const { command, args, env } = server
  return { config: { transport: 'stdio', serverName, command, args, env, ...config } }
}

/** A row for a Streamable HTTP server; for HTTP+SSE give `{ transport: 'sse' }`. */
export function httpRow(serverName: string, url: string, config: Row['config'] = {}): Row {
  return { config: { transport: 'streamable-http', serverName, url, ...config } }
}

const dsh = (id: string, config?: Row['config'], name = id): Row => ({
  id,
  name: `@deepseek-ai/dsh-${name}`,
  ...(config === undefined ? {} : { config }),
})

export interface HostShape {
  readonly mode: Mode
  readonly hmr: boolean
  readonly attachments: boolean
  readonly extra: readonly Extra[]
  readonly dshHome: string
  readonly persona?: string
}

/** The rows of the host, in the order of the product. */
export function hostRows(shape: HostShape): Row[] {
  const { mode, hmr, attachments, extra, dshHome } = shape
  const extras: Record<Extra, readonly Row[]> = {
    userQuestions: [dsh('user-questions')],
    approval: [dsh('user-approval', { policy: 'ask' })],
    commands: [dsh('commands')],
    credentials: [dsh('credentials-local', { dshHome })],
    spill: [dsh('spill-local', { root: `${dshHome}/spills` }), dsh('spill-policy', { maxInlineBytes: 2000 })],
    timeoutPolicy: [dsh('tool-call-timeout-policy')],
  }
  return [
    { id: 'timer', name: '@deepseek-ai/cordis-plugin-timer' },
    ...(hmr ? [{ id: 'hmr', name: '@deepseek-ai/cordis-plugin-hmr', config: { root: ['.'] } }] : []),
    dsh('llm'),
    dsh('session'),
    dsh('system-prompt', { persona: shape.persona ?? 'You are a test agent.' }),
    dsh('code-runtime-worker-thread'),
    dsh('tools', { mode }),
    ...(attachments ? [dsh('attachment-local', { dshHome })] : []),
    dsh('agent'),
    dsh('agent-loop'),
    { id: 'scripted-model', name: SCRIPTED_MODEL },
    ...extra.flatMap((name) => extras[name]),
  ]
}

/** Rows as YAML. `client` is what a row without a name loads. */
export function toYaml(rows: readonly Row[], client: 'built' | 'source' = 'built'): string {
  const name = client === 'built' ? MCP_CLIENT : MCP_CLIENT_SOURCE
  return rows.map((row) => `- ${block({ id: rowId(row), name, ...row }, '  ').trimStart()}`).join('')
}

function rowId({ id, name, config }: Row): string {
  return id ?? (config?.['serverName'] === undefined ? String(name) : `mcp-${String(config['serverName'])}`)
}

function block(value: object, indent: string): string {
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${indent}${scalar(key)}:${node(member, indent)}`)
    .join('')
}

/** Mappings in block style, the rest in flow style (JSON), which every YAML reader takes. */
function node(value: unknown, indent: string): string {
  const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (isMapping && Object.keys(value).length > 0) return `\n${block(value, `${indent}  `)}`
  return ` ${typeof value === 'string' ? scalar(value) : JSON.stringify(value)}\n`
}

const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z_][\w-]*$/i

function scalar(value: string): string {
  return PLAIN.test(value) ? value : JSON.stringify(value)
}
