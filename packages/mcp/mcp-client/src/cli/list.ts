/** Owns `dsh-mcp list`: the servers of a source, what they are started with, and on request what they offer. */
import { keptLogin, takesLogin } from '../bridge-login.ts'
import { cleanLine } from '../text.ts'
import { EXIT } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { loginHostOf } from './login-host.ts'
import { keptWord } from './login-screen.ts'
import type { Output } from './output.ts'
import { inOrder } from './queue.ts'
import type { Row, RowSource } from './rows/source.ts'
import { openServer } from './server.ts'
import { targetOf, transportOf } from './target.ts'

export interface ListOptions {
  readonly connect?: boolean
  readonly timeout?: number
}

/** Stable shape of one server in `--json`. */
interface ListedServer {
  readonly name: string
  readonly id: string
  /** `unknown` where the row is refused. */
  readonly transport: string
  readonly target?: string
  readonly disabled: boolean
  /** Why the row is refused. */
  readonly fault?: string
  /** Where a login is kept for it. */
  readonly login?: ReturnType<typeof keptWord>
  /** With --connect: `ready`, or `failed`. */
  readonly state?: string
  readonly error?: { readonly code: string; readonly message: string }
  readonly tools?: readonly string[]
}

const CONCURRENCY = 4
const MIN_TARGET_CHARS = 24

export async function runList(source: RowSource, options: ListOptions, output: Output): Promise<ExitCode> {
  const { signal } = output.io
  const describe = async (row: Row): Promise<ListedServer> => {
    const base = { ...describeRow(row), ...(await loginOf(row, output)) }
    if (options.connect !== true || !row.resolved.ok || row.disabled || signal.aborted) return base
    const server = await openServer(row.resolved.spec, {
      timeoutMs: options.timeout,
      signal,
      login: loginHostOf(row.resolved.spec, output.io),
    })
    const error = server.failure ?? server.status().lastError
    const tools = server.definitions().map(({ name }) => cleanLine(name, 64))
    await server.close()
    if (error === undefined) return { ...base, state: 'ready', tools }
    return { ...base, state: 'failed', error: { code: error.code, message: error.message } }
  }
  const servers = await output.progress(
    options.connect === true ? `connecting to ${source.rows.length} servers` : 'reading the rows',
    () => inOrder(source.rows, CONCURRENCY, describe),
  )
  output.json({ source: source.label, servers, notes: source.notes })
  for (const text of source.notes) output.note(`note: ${text}`)
  if (servers.length === 0) {
    output.line(`no row of @deepseek-ai/dsh-mcp-client in ${source.label}`)
    output.line('add one by hand, or with: dsh-mcp import')
  } else for (const line of screen(servers, options, output)) output.line(line)
  const isBad = servers.some(({ fault, state }) => fault !== undefined || state === 'failed')
  return isBad ? EXIT.failed : EXIT.ok
}

function describeRow({ id, name, disabled, resolved }: Row): ListedServer {
  if (!resolved.ok) return { name, id, transport: 'unknown', disabled, fault: resolved.fault }
  const { spec } = resolved
  return { name, id, transport: transportOf(spec), target: targetOf(spec), disabled }
}

/** What is kept of a login; nothing is asked of the server. */
async function loginOf({ resolved }: Row, { io }: Output): Promise<Pick<ListedServer, 'login'>> {
  if (!resolved.ok || !takesLogin(resolved.spec)) return {}
  const { spec } = resolved
  // A store that cannot be read is told where a login is wanted.
  const kept = await keptLogin(spec, loginHostOf(spec, io)).catch(() => undefined)
  return kept === undefined ? {} : { login: keptWord(kept, Date.now()) }
}

function screen(servers: readonly ListedServer[], { connect }: ListOptions, output: Output): string[] {
  const head = ['SERVER', 'TRANSPORT', 'STATE', ...(connect === true ? ['TOOLS'] : [])]
  const cells = servers.map((server) => [
    server.name,
    server.transport,
    stateOf(server),
    ...(connect === true ? [server.tools === undefined ? '-' : String(server.tools.length)] : []),
  ])
  // The target has what the other columns leave.
  const used = head.map((word, column) =>
    Math.max(word.length, ...cells.map((row) => String(row[column]).length)),
  )
  const room = output.width - used.reduce((sum, width) => sum + width + 2, 0)
  const rows = servers.map((server, index) => {
    const [name, transport, state, ...tools] = cells[index] as [string, string, string, ...string[]]
    return [
      name,
      transport,
      coloured(state, output),
      ...tools,
      shown(server, Math.max(MIN_TARGET_CHARS, room)),
    ]
  })
  const named = servers.filter(({ tools }) => tools !== undefined && tools.length > 0)
  return [
    ...output.table([...head, 'TARGET'], rows),
    ...named.flatMap(({ name, tools = [] }) => [
      '',
      output.style('bold', name),
      ...tools.map((tool) => `  ${tool}`),
    ]),
  ]
}

const COLOURS: Readonly<Record<string, 'red' | 'green' | 'dim'>> = {
  refused: 'red',
  failed: 'red',
  ready: 'green',
  'logged in': 'green',
  'login over': 'red',
  disabled: 'dim',
}

function stateOf({ disabled, fault, state, login }: ListedServer): string {
  if (fault !== undefined) return 'refused'
  return disabled ? 'disabled' : (state ?? login ?? 'enabled')
}

function coloured(state: string, output: Output): string {
  const colour = COLOURS[state]
  return colour === undefined ? state : output.style(colour, state)
}

function shown({ target = '', fault, error }: ListedServer, maxChars: number): string {
  return cleanLine(fault ?? error?.message ?? target, maxChars)
}
