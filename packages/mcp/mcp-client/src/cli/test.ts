/** Owns `dsh-mcp test`: connect, list the tools, disconnect; one line a server. */
import { safeLine } from '../text.ts'
import { EXIT } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { loginHint } from './login-advice.ts'
import { loginHostOf } from './login-host.ts'
import type { Output } from './output.ts'
import { lookAtPins } from './pinned.ts'
import { inOrder } from './queue.ts'
import { selectRows } from './rows/source.ts'
import type { Row, RowSource } from './rows/source.ts'
import { openServer } from './server.ts'

export interface TestOptions {
  readonly timeout?: number
}

/** Stable shape of one server in `--json`. */
interface Tested {
  readonly name: string
  readonly ok: boolean
  readonly durationMs: number
  readonly tools: number
  /** Not fit for a model. */
  readonly leftOut: number
  /** Withheld until they are approved. */
  readonly held: number
  /** Kept out by the row. */
  readonly denied: number
  readonly revision?: string
  readonly server?: string
  readonly error?: { readonly code: string; readonly message: string }
  /** The command that mends it, where it is a login. */
  readonly next?: string
}

const CONCURRENCY = 4
const MAX_LINE_CHARS = 240

export async function runTest(
  source: RowSource,
  names: readonly string[],
  { timeout }: TestOptions,
  output: Output,
): Promise<ExitCode> {
  const rows = selectRows(source, names)
  if (rows.length === 0) {
    output.json({ source: source.label, servers: [] })
    output.line(`no enabled row of @deepseek-ai/dsh-mcp-client in ${source.label}`)
    return EXIT.usage
  }
  const tested = await output.progress(`testing ${rows.map(({ name }) => name).join(', ')}`, () =>
    inOrder(rows, CONCURRENCY, (row) => testRow(row, timeout, output)),
  )
  output.json({ source: source.label, servers: tested })
  for (const result of tested) output.line(lineOf(result, output))
  return tested.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed
}

async function testRow(row: Row, timeoutMs: number | undefined, output: Output): Promise<Tested> {
  const started = performance.now()
  const durationMs = (): number => Math.round(performance.now() - started)
  if (!row.resolved.ok) {
    const error = { code: 'MCP_CONFIG_INVALID', message: row.resolved.fault }
    return { name: row.name, ok: false, durationMs: 0, tools: 0, leftOut: 0, held: 0, denied: 0, error }
  }
  const { spec } = row.resolved
  const server = await openServer(spec, {
    timeoutMs,
    signal: output.io.signal,
    login: loginHostOf(spec, output.io),
    pins: await lookAtPins(spec, output.io),
  })
  const { facts, tools, lastError } = server.status()
  const next = loginHint(server.failure, spec)
  await server.close()
  const failure = server.failure ?? lastError
  const info = facts?.serverInfo
  return {
    name: row.name,
    ok: failure === undefined && facts !== undefined,
    durationMs: durationMs(),
    tools: tools.registered,
    leftOut: tools.quarantined.length,
    held: tools.held.length,
    denied: tools.denied.length,
    ...(facts === undefined ? {} : { revision: safeLine(facts.revision, spec.redact, 40) }),
    ...(info === undefined ? {} : { server: safeLine(`${info.name} ${info.version}`, spec.redact, 80) }),
    ...(failure === undefined
      ? {}
      : { error: { code: failure.code, message: safeLine(failure.message, spec.redact, MAX_LINE_CHARS) } }),
    ...(next === undefined ? {} : { next }),
  }
}

function lineOf(
  { name, ok, tools, leftOut, held, denied, durationMs, revision, server, error, next }: Tested,
  output: Output,
): string {
  const advice = next === undefined ? '' : `\n  -> ${next}`
  if (!ok) return `${output.style('red', 'FAIL')} ${name}  ${error?.message ?? 'interrupted'}${advice}`
  const out = [
    [leftOut, 'left out'],
    [held, 'withheld'],
    [denied, 'denied'],
  ].flatMap(([count, words]) => (count === 0 ? [] : [`, ${count} ${words}`]))
  const who = server === undefined ? '' : `  ${output.style('dim', server)}`
  return `${output.style('green', 'ok')}   ${name}  ${tools} tools${out.join('')}  ${revision}  ${durationMs} ms${who}`
}
