/** Owns the host of the search tests: a context with the real registry, and rows of the source behind real HTTP servers. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { CallId } from '@deepseek-ai/dsh-llm'
import { createScope } from '@deepseek-ai/dsh-scope'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { ToolRuntime } from '@deepseek-ai/dsh-tools'
import type { ToolExecutionInput, ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { startHttpServer } from '@dsh-mcp/testkit'
import type { Behaviour, HttpServer } from '@dsh-mcp/testkit'
import * as mcpClient from '../../src/index.ts'

type Agent = NonNullable<ToolExecutionInput['agent']>

export interface HostOptions {
  /** Default: native. */
  readonly mode?: 'native' | 'code' | 'both'
  /** Of the code runtime. */
  readonly language?: string
}

export interface SearchHost {
  readonly ctx: Context
  readonly logs: string[]
  /** Load a row for a server. */
  row(serverName: string, behaviour: Behaviour, options?: RowOptions): Promise<LoadedRow>
  /** Names in the registry, as an agent sees them. */
  names(agent?: Agent): string[]
  execute(name: string, args?: unknown, more?: Partial<ToolExecutionInput>): Promise<ToolExecutionResult>
  /** Value of an mcp_search. @throws Error what it failed of */
  search(args: Record<string, unknown>, agent?: Agent): Promise<Record<string, unknown>>
  /** A scope of this agent, such as its host makes one. */
  scope(agent: Agent): Promise<ReturnType<typeof createScope>>
  /** Another host over the same files and servers. */
  restart(): Promise<void>
  close(): Promise<void>
}

export interface RowOptions {
  /** Default: the root. */
  readonly on?: Context
  /** Default: exposure search. */
  readonly tools?: Record<string, unknown>
  readonly config?: Record<string, unknown>
  /** A server that runs already. */
  readonly server?: HttpServer
}

export interface LoadedRow {
  readonly server: HttpServer
  dispose(): Promise<void>
}

export async function openSearchHost(options: HostOptions = {}): Promise<SearchHost> {
  const home = process.env['DSH_HOME']
  const folder = mkdtempSync(join(tmpdir(), 'mcp-search-'))
  process.env['DSH_HOME'] = folder
  const logs: string[] = []
  const servers: HttpServer[] = []
  let ctx = await openContext(options, logs)
  let calls = 0

  const execute: SearchHost['execute'] = (name, args = {}, more = {}) =>
    ctx.tools.execute({
      callId: CallId(`call-${++calls}`),
      name,
      arguments: args,
      signal: new AbortController().signal,
      ...more,
    })

  return {
    get ctx() {
      return ctx
    },
    logs,
    async row(serverName, behaviour, { on = ctx, tools = { exposure: 'search' }, config = {}, server } = {}) {
      const used = server ?? (await startHttpServer(behaviour))
      if (server === undefined) servers.push(used)
      const fiber = on.plugin(mcpClient, { serverName, url: used.url, tools, ...config } as never)
      await fiber
      return { server: used, dispose: async () => void (await fiber.dispose()) }
    },
    names: (agent) => ctx.tools.schemas(agent).map(({ name }) => name),
    execute,
    async search(args, agent) {
      const result = await execute('mcp_search', args, agent === undefined ? {} : { agent })
      if (result.isError) throw new Error(result.error.message)
      return result.value as Record<string, unknown>
    },
    async scope(agent) {
      const made = Promise.withResolvers<ReturnType<typeof createScope>>()
      const apply = (child: Context): void => made.resolve(createScope(child, agent))
      await ctx.plugin({ name: 'agents', inject: ['tools'], apply })
      return made.promise
    },
    async restart() {
      await ctx.fiber.dispose()
      ctx = await openContext(options, logs)
    },
    async close() {
      await ctx.fiber.dispose()
      for (const server of servers) await server.close()
      rmSync(folder, { recursive: true, force: true })
      if (home === undefined) delete process.env['DSH_HOME']
      else process.env['DSH_HOME'] = home
    },
  }
}

async function openContext({ mode = 'native', language }: HostOptions, logs: string[]): Promise<Context> {
  const ctx = new Context()
  ctx.logger.exporter({
    levels: { default: 3 },
    export: ({ type, args }) => void logs.push(`${type}: ${args.map(String).join(' ')}`),
  })
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRuntime, { mode, maxParallelSubCalls: 10 })
  if (language !== undefined) ctx.provide('codeRuntime', { language } as never)
  return ctx
}

/** All text of a result. */
export function textOf(result: ToolExecutionResult): string {
  return result.content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
}
