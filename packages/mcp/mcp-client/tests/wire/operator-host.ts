/**
 * Owns the host of the operator's tests: the plugin from the source in a context with the real registry, command service,
 * sessions and agents, so that coverage sees what the composition tests show through the loader.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import type { Fiber } from '@deepseek-ai/cordis'
import { AgentRegistry } from '@deepseek-ai/dsh-agent'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { AgentLoop } from '@deepseek-ai/dsh-agent-loop'
import { CommandRuntime } from '@deepseek-ai/dsh-commands'
import type { CommandResult } from '@deepseek-ai/dsh-commands'
import { CallId, createUserMessage, LlmRuntime } from '@deepseek-ai/dsh-llm'
import { SessionId, SessionStore } from '@deepseek-ai/dsh-session'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { ToolRuntime } from '@deepseek-ai/dsh-tools'
import { stdioServer } from '@dsh-mcp/testkit'
import * as mcpClient from '../../src/index.ts'

export interface OperatorHost {
  readonly ctx: Context
  readonly logs: readonly string[]
  /** Mount a row; `config` has its other keys. Resolves when its activation is over. */
  row(config: object): Promise<Fiber>
  agent(meta?: object): Promise<Agent>
  /** What the command said. */
  run(line: string, agent?: Agent, signal?: AbortSignal): Promise<CommandResult>
  call(
    name: string,
    args?: object,
    signal?: AbortSignal,
    agent?: Agent,
  ): Promise<{ readonly isError: boolean; readonly content: readonly object[] }>
  until(predicate: () => boolean): Promise<void>
  close(): Promise<void>
}

export interface OperatorHostOptions {
  /** Default: true. */
  readonly commands?: boolean
  /** Whether somebody reads the log. Default: true. */
  readonly exporter?: boolean
  /** DSH_HOME. Default: a folder of this host, removed at its end. */
  readonly home?: string
}

let count = 0

export async function openOperatorHost(options: OperatorHostOptions = {}): Promise<OperatorHost> {
  const home = process.env['DSH_HOME']
  const folder = mkdtempSync(join(tmpdir(), 'mcp-operator-'))
  process.env['DSH_HOME'] = options.home ?? folder
  const ctx = new Context()
  const logs: string[] = []
  if (options.exporter !== false) {
    ctx.logger.exporter({
      levels: { default: 3 },
      export: ({ type, args }) => void logs.push(`${type}: ${args.map(String).join(' ')}`),
    })
  }
  await ctx.plugin(LlmRuntime)
  await ctx.plugin(SessionStore)
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRuntime)
  await ctx.plugin(AgentRegistry)
  await ctx.plugin(AgentLoop)
  if (options.commands !== false) await ctx.plugin(CommandRuntime)
  let person: Promise<Agent> | undefined
  const host: OperatorHost = {
    ctx,
    logs,
    async row(config) {
      const fiber = ctx.plugin(mcpClient, config as never)
      await fiber
      return fiber
    },
    async agent(meta = {}) {
      const { agent } = await ctx.agents.create({
        sessionId: SessionId(`session-operator-${++count}`),
        meta: { cwd: folder, ...meta },
        agentOptions: { provider: 'none', model: 'none' },
      })
      await agent.whenIdle()
      return agent
    },
    async run(line, agent, signal = new AbortController().signal) {
      const asking = agent ?? (await (person ??= host.agent()))
      const execution = await ctx.commands.execute(asking, line, [], signal)
      if (execution === undefined) throw new Error(`no command: ${line}`)
      return execution.result
    },
    call: (name, args = {}, signal = new AbortController().signal, agent = undefined) =>
      ctx.tools.execute({
        callId: CallId(`call-${++count}`),
        name,
        arguments: args,
        signal,
        ...(agent === undefined ? {} : { agent }),
      }),
    async until(predicate) {
      while (!predicate()) await new Promise((resolve) => setImmediate(resolve))
    },
    async close() {
      await ctx.fiber.dispose()
      rmSync(folder, { recursive: true, force: true })
      if (home === undefined) delete process.env['DSH_HOME']
      else process.env['DSH_HOME'] = home
    },
  }
  return host
}

/** A row of a scripted server. */
export function serverRow(
  serverName: string,
  behaviour: Parameters<typeof stdioServer>[0] = 'healthy',
  config: object = {},
): object {
  const { command, args, env } = stdioServer(behaviour)
  return { serverName, command, args, env, ...config }
}

/** One message of a person; waits for the end of the turn, however it ends. */
export async function say(agent: Agent): Promise<void> {
  agent.followup(createUserMessage({ content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } }))
  await agent.whenIdle()
}
