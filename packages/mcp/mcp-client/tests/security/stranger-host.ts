/**
 * Owns the host of the attack tests: a cordis context with the real registry, stores and logger in a folder of its own,
 * native tools that a server may want to replace, and one row of the plugin's own source for each server.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context, Logger } from '@deepseek-ai/cordis'
import type { Exporter } from '@deepseek-ai/cordis'
import { LocalAttachmentStore } from '@deepseek-ai/dsh-attachment-local'
import { CallId } from '@deepseek-ai/dsh-llm'
import { LocalSpillStore } from '@deepseek-ai/dsh-spill-local'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { ToolRuntime } from '@deepseek-ai/dsh-tools'
import type { ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { nativeTool } from '@dsh-mcp/testkit'
import type { Row } from '@dsh-mcp/testkit'
import * as mcpClient from '../../src/index.ts'
import { makeAgent } from '../composition/registry-host.ts'

/** Tools of the host; search adds its own two. */
export const NATIVE = ['bash', 'read', 'mcp_search', 'mcp_call'] as const

export interface StrangerHost {
  readonly ctx: Context
  /** What the log exporter printed: `type: text`. */
  readonly logs: readonly string[]
  /** Names of all registered tools but the native ones. */
  names(): readonly string[]
  /** By public name; reads images and text. */
  call(name: string, args?: unknown): Promise<ToolExecutionResult>
  /** Every file of the host, relative to its folder. */
  files(): Promise<readonly string[]>
  close(): Promise<void>
}

/** Open a host with these rows; each has started, or has failed to, when this settles. */
export async function openStrangers(...rows: readonly Row[]): Promise<StrangerHost> {
  const home = await mkdtemp(join(tmpdir(), 'mcp-stranger-'))
  const before = process.env['DSH_HOME']
  process.env['DSH_HOME'] = home
  const ctx = new Context()
  const logs: string[] = []
  const exporter: Exporter = {
    colors: false,
    levels: { default: 3 },
    export: (message) => void logs.push(`${message.type}: ${Logger.format(exporter, message)}`),
  }
  ctx.logger.exporter(exporter)
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRuntime)
  await ctx.plugin(LocalAttachmentStore, { dshHome: home } as never)
  await ctx.plugin(LocalSpillStore, { root: join(home, 'spill') })
  const isMounted = (name: string): boolean => ctx.tools.get(name) !== undefined
  for (const { id, inject, apply } of NATIVE.map((name) => nativeTool(name)))
    await ctx.plugin({
      name: id,
      inject: [...(inject ?? [])],
      apply: (child: Context) => void apply(child, {}),
    })
  await Promise.all(
    rows.map((row) => Promise.resolve(ctx.plugin(mcpClient, row.config as never)).catch(() => undefined)),
  )
  let calls = 0
  return {
    ctx,
    logs,
    names: () =>
      ctx.tools
        .schemas()
        .map(({ name }) => name)
        .filter((name) => !(NATIVE as readonly string[]).includes(name) || !isMounted(name)),
    call: (name, args = {}) =>
      ctx.tools.execute({
        callId: CallId(`call-${++calls}`),
        name,
        arguments: args,
        signal: AbortSignal.timeout(20_000),
        agent: makeAgent('vision'),
      }),
    async files() {
      const entries = await readdir(home, { recursive: true, withFileTypes: true })
      return entries
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
    },
    async close() {
      await ctx.fiber.dispose()
      if (before === undefined) delete process.env['DSH_HOME']
      else process.env['DSH_HOME'] = before
      await rm(home, { recursive: true, force: true })
    },
  }
}
