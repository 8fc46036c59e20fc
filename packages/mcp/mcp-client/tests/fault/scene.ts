/**
 * Owns running a row of the fault table: one server, one small real host (cordis context, real registry, the plugin's
 * own source), and the invariants that hold in every row.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { Context, Logger } from '@deepseek-ai/cordis'
import type { Exporter } from '@deepseek-ai/cordis'
import { CallId } from '@deepseek-ai/dsh-llm'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { ToolRuntime } from '@deepseek-ai/dsh-tools'
import { FAULT_CHILD, isAlive, startHttpServer, stdioServer } from '@dsh-mcp/testkit'
import type { FaultRow, FaultTransport, HttpServer, Outcome, Scene, StdioServer } from '@dsh-mcp/testkit'
import * as mcpClient from '../../src/index.ts'
import { publicToolName } from '../../src/naming.ts'

export type Era = Scene['era']

const SERVER_NAME = 'fault'
/** In the environment of each child and in a header of each request: it must stand in no log and no failure. */
export const SECRET = 'planted-5ecret-4711'
const CALL_GRACE_MS = 2_000
const START_GRACE_MS = 1_000
const DISPOSE_LIMIT_MS = 5_000
const MAX_LOG_LINES = 200
const MAX_LOG_CHARS = 64 * 1024

const DEFAULTS = {
  toolCallTimeoutMs: 15_000,
  startup: { waitMs: 25_000, timeoutMs: 20_000 },
  reconnect: { initialDelayMs: 100, maxDelayMs: 400, maxAttempts: 5 },
}

interface Limits {
  readonly toolCallTimeoutMs: number
  readonly toolCallMaxMs?: number
  readonly startup: { readonly waitMs: number; readonly timeoutMs: number }
}

/** Play one row; rejects with what is wrong. */
export async function playRow(row: FaultRow, transport: FaultTransport, era: Era): Promise<void> {
  const server = transport === 'stdio' ? stdioSide(row, era) : await httpSide(row, era)
  const limits: Limits = { ...DEFAULTS, ...row.config }
  const logs: string[] = []
  const ctx = new Context()
  let disposal: Promise<void> | undefined
  const watched = new Set<number>()
  try {
    ctx.logger.exporter(exporterTo(logs))
    await ctx.plugin(SystemPrompt)
    await ctx.plugin(ToolRuntime)
    // Held here: after disposal the service must still be asked what is registered.
    const { tools } = ctx
    const names = (): string[] =>
      tools
        .schemas()
        .map(({ name }) => name)
        .filter((name) => name.startsWith(`mcp__${SERVER_NAME}__`))
    const startedAt = performance.now()
    const fiber = ctx.plugin(mcpClient, {
      ...server.target,
      serverName: SERVER_NAME,
      ...DEFAULTS,
      ...row.config,
    } as never)
    await within(limits.startup.timeoutMs + START_GRACE_MS, 'start-up', Promise.resolve(fiber))
    const dispose = (): Promise<void> => {
      disposal ??= within(DISPOSE_LIMIT_MS, 'disposal', fiber.dispose())
      return disposal
    }
    let calls = 0
    const callLimitMs = (limits.toolCallMaxMs ?? limits.toolCallTimeoutMs) + CALL_GRACE_MS
    const scene: Scene = {
      transport,
      era,
      startMs: performance.now() - startedAt,
      logs,
      tools: names,
      async call(rawName, args = { message: 'hello' }, signal = new AbortController().signal) {
        const name = publicToolName(SERVER_NAME, rawName)
        const at = performance.now()
        const running = tools.execute({ callId: CallId(`call-${++calls}`), name, arguments: args, signal })
        const result = await within(callLimitMs, `the call of ${rawName}`, running)
        const outcome: Outcome = {
          isError: result.isError,
          text: result.content
            .map((block) => (block.type === 'text' ? block.text : `<${block.type}>`))
            .join('\n'),
          ms: performance.now() - at,
        }
        assert.ok(!outcome.text.includes(SECRET), 'a planted secret stands in a result')
        return outcome
      },
      until: (holds, limitMs = 10_000) =>
        until(holds, limitMs, () => `${names().join(', ')}\n${logs.join('\n')}`),
      received: server.received,
      notes: server.notes,
      starts: server.starts,
      watch: (pid) => void watched.add(pid),
      dispose,
      http() {
        if (server.http === undefined) throw new Error('a stdio scene has no HTTP server')
        return server.http
      },
    }
    await row.check(scene).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`${reason}\n--- told the operator:\n${logs.join('\n').slice(0, 4_000)}`, {
        cause: error,
      })
    })
    await dispose()
    await within(DISPOSE_LIMIT_MS, 'the second disposal', fiber.dispose())
    assert.deepEqual(names(), [], 'tools are registered after disposal')
    await until(
      async () => [...watched, ...(await server.pids())].every((pid) => !isAlive(pid)),
      2_000,
      () => 'a process is left',
    )
    // The agent lets go of its sockets in the turn after the disposal.
    await until(
      () => server.http === undefined || server.http.socketCount === 0,
      2_000,
      () => 'a socket is left',
    )
    checkLogs(logs)
  } finally {
    await ctx.fiber.dispose()
    for (const pid of [...watched, ...(await server.pids())]) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    await server.http?.close()
  }
}

interface Side {
  readonly target: Readonly<Record<string, unknown>>
  readonly http?: HttpServer
  readonly received: Scene['received']
  readonly notes: Scene['notes']
  readonly starts: Scene['starts']
  /** Of every start. */
  pids(): Promise<number[]>
}

function stdioSide(row: FaultRow, era: Era): Side {
  const server: StdioServer = stdioServer(FAULT_CHILD, { row: row.id, era })
  const starts = async () => (await server.journal()).filter(({ kind }) => kind === 'start')
  return {
    target: {
      transport: 'stdio',
      command: row.command ?? server.command,
      args: server.args,
      env: { FAULT_TOKEN: SECRET },
    },
    async received() {
      const entries = await server.journal()
      return entries.flatMap(({ kind, message }) =>
        kind === 'received' && message !== undefined ? [message] : [],
      )
    },
    async notes(name) {
      const entries = await server.journal()
      return entries.flatMap((entry) => (entry.kind === 'note' && entry.name === name ? [entry.data] : []))
    },
    starts: async () => (await starts()).length,
    pids: async () => (await starts()).map(({ pid }) => pid),
  }
}

async function httpSide(row: FaultRow, era: Era): Promise<Side> {
  const behaviour = { ...row.server?.({ starts: 1 }, {}), era }
  const http = await startHttpServer(behaviour, row.http?.(era) ?? {})
  return {
    target: {
      transport: 'streamable-http',
      url: row.url?.(http.url) ?? http.url,
      headers: { Authorization: `Bearer ${SECRET}` },
    },
    http,
    received: async () => http.requests.flatMap(({ message }) => (message === undefined ? [] : [message])),
    notes: async (name) => http.notes.flatMap((note) => (note.name === name ? [note.data] : [])),
    starts: () => Promise.reject(new Error('an HTTP server is not started by its client')),
    pids: () => Promise.resolve([]),
  }
}

function exporterTo(logs: string[]): Exporter {
  const exporter: Exporter = {
    colors: false,
    levels: { default: 3 },
    export: (message) => void logs.push(`${message.type}: ${Logger.format(exporter, message)}`),
  }
  return exporter
}

/** Bounded, without the planted secret, without raw control characters. */
export function checkLogs(logs: readonly string[]): void {
  assert.ok(logs.length <= MAX_LOG_LINES, `${logs.length} log lines: ${logs.slice(0, 3).join('\n')}`)
  const chars = logs.reduce((sum, line) => sum + line.length, 0)
  assert.ok(chars <= MAX_LOG_CHARS, `${chars} characters of log`)
  for (const line of logs) {
    assert.ok(!line.includes(SECRET), `a planted secret stands in the log: ${line.slice(0, 300)}`)
    // oxlint-disable-next-line no-control-regex -- that is what is looked for
    assert.ok(
      !/[\u0000-\u001f\u007f-\u009f]/.test(line),
      `raw control characters in ${JSON.stringify(line.slice(0, 300))}`,
    )
  }
}

async function within<T>(limitMs: number, what: string, work: Promise<T>): Promise<T> {
  const late = new AbortController()
  const limit = delay(limitMs, undefined, { signal: late.signal }).then(() => {
    throw new Error(`${what} did not settle within ${limitMs} ms`)
  })
  limit.catch(() => undefined)
  try {
    return await Promise.race([work, limit])
  } finally {
    late.abort()
  }
}

async function until(
  holds: () => boolean | Promise<boolean>,
  limitMs: number,
  explain: () => string,
): Promise<void> {
  const end = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${String(holds)}\n${explain()}`)
    await delay(10)
  }
}
