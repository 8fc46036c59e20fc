/**
 * Owns the measurement of what a call through mcp_call costs beside a direct one, with few and with many tools of search:
 * one HTTP server in this process, the real registry, the built package. Prints a table; `node bench/context/call-cost.ts`.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { CallId } from '@deepseek-ai/dsh-llm'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { ToolRuntime } from '@deepseek-ai/dsh-tools'
import * as mcpClient from '@deepseek-ai/dsh-mcp-client'

const CALLS = 300
const SIZES = [10, 1_000, 10_000]

interface Message {
  readonly id?: number
  readonly method: string
}

/** A server with so many tools. */
function serve(count: number): Promise<{ url: string; close: () => void }> {
  const tools = Array.from({ length: count }, (_, at) => ({
    name: `tool_${at}`,
    description: `Does the work number ${at} in some system and returns what came of it`,
    inputSchema: {
      type: 'object',
      properties: { first: { type: 'string', description: 'The first value' }, second: { type: 'integer' } },
    },
  }))
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'many', version: '1' },
    },
    'tools/list': { tools },
    'tools/call': { content: [{ type: 'text', text: 'ok' }] },
  }
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const { id, method } = JSON.parse(body) as Message
      if (id === undefined) return void response.writeHead(202).end()
      const result = results[method]
      const answer =
        result === undefined ? { error: { code: -32601, message: 'no such method' } } : { result }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
    })
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      resolve({
        url: `http://127.0.0.1:${port}/mcp`,
        close() {
          server.closeAllConnections()
          server.close()
        },
      })
    })
  })
}

async function measure(count: number, exposure: 'search' | 'direct'): Promise<Record<string, string>> {
  const server = await serve(count)
  const ctx = new Context()
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRuntime)
  const loading = performance.now()
  await ctx.plugin(mcpClient, { serverName: 'many', url: server.url, tools: { exposure } } as never)
  const loadMs = performance.now() - loading
  const execute = (name: string, args: unknown) =>
    ctx.tools.execute({ callId: CallId('c'), name, arguments: args, signal: new AbortController().signal })
  const run = async (at: number): Promise<void> => {
    const name = `mcp__many__tool_${at % count}`
    const result = await (exposure === 'direct'
      ? execute(name, { second: at })
      : execute('mcp_call', { name, arguments: { second: at } }))
    if (result.isError) throw new Error(result.error.message)
  }
  for (let at = 0; at < 100; at++) await run(at)
  const times: number[] = []
  for (let at = 0; at < CALLS; at++) {
    const before = performance.now()
    await run(at)
    times.push(performance.now() - before)
  }
  let firstMs = 0
  let nextMs = 0
  if (exposure === 'search') {
    const first = performance.now()
    await execute('mcp_search', { query: 'do the work number 7' })
    firstMs = performance.now() - first
    const next = performance.now()
    for (let at = 0; at < 20; at++)
      await execute('mcp_search', { query: `the work number ${at} and its value` })
    nextMs = (performance.now() - next) / 20
  }
  await ctx.fiber.dispose()
  server.close()
  times.sort((a, b) => a - b)
  const ms = (value: number): string => value.toFixed(2)
  return {
    tools: String(count),
    exposure,
    'call p50': ms(Number(times[CALLS / 2])),
    'call p95': ms(Number(times[Math.floor(CALLS * 0.95)])),
    load: ms(loadMs),
    'first search': ms(firstMs),
    'next search': ms(nextMs),
  }
}

const home = mkdtempSync(join(tmpdir(), 'mcp-cost-'))
process.env['DSH_HOME'] = home
try {
  await measure(10, 'search')
  const rows = []
  for (const exposure of ['search', 'direct'] as const) {
    for (const count of SIZES) rows.push(await measure(count, exposure))
  }
  const [head = {}] = rows
  const lines = [
    Object.keys(head),
    Object.keys(head).map(() => '---'),
    ...rows.map((row) => Object.values(row)),
  ]
  process.stdout.write(`${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`)
} finally {
  rmSync(home, { recursive: true, force: true })
}
