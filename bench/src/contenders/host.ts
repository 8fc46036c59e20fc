/** Owns the real host around a plugin: context, system prompt, tool registry and attachment store. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/dsh-attachment'
import type {} from '@deepseek-ai/dsh-tools'
import type { Connection, Order, Outcome } from '../contender.ts'

const MIB = 1024 * 1024

export interface Host {
  readonly ctx: Context
  /** A folder of this host; removed at its end. Also DSH_HOME. */
  readonly home: string
  connection(): Connection
}

/** Boot it. What a picture may be is set wider than the default, which ends at 3.5 MiB. */
export async function bootHost(): Promise<Host> {
  const home = mkdtempSync(join(tmpdir(), 'dsh-bench-'))
  process.on('exit', () => rmSync(home, { recursive: true, force: true }))
  process.env['DSH_HOME'] = home
  const { Context } = await import('@deepseek-ai/cordis')
  const { default: SystemPrompt } = await import('@deepseek-ai/dsh-system-prompt')
  const { default: ToolRuntime } = await import('@deepseek-ai/dsh-tools')
  const { default: LocalAttachmentStore } = await import('@deepseek-ai/dsh-attachment-local')
  const { CallId } = await import('@deepseek-ai/dsh-llm')
  const ctx = new Context()
  await ctx.plugin(SystemPrompt, { persona: 'You are a benchmark.' })
  await ctx.plugin(ToolRuntime, { mode: 'native' })
  await ctx.plugin(LocalAttachmentStore, {
    dshHome: home,
    maxImageBytes: 64 * MIB,
    maxMessageImageBytes: 64 * MIB,
    maxImageDimension: 65_535,
    maxImagePixels: 1e9,
  })
  let events = 0
  ctx.on('tools/change', () => void (events += 1))
  let calls = 0
  const idle = new AbortController()

  async function call(server: string, at: number, order: Order, signal = idle.signal): Promise<Outcome> {
    const result = await ctx.tools.execute({
      callId: CallId(`call-${++calls}`),
      name: `mcp__${server}__tool_${at}`,
      arguments: order,
      signal,
    })
    if (result.isError) throw new Error(result.error.message)
    const { content } = result.value as { content: { type: string; text?: string }[] }
    if (process.env['BENCH_DEBUG']) console.log(JSON.stringify(result).slice(-600))
    let imageBytes = 0
    for (const block of result.content) {
      if (block.type !== 'image') continue
      const stored = await ctx.attachments.readImage(block.attachment)
      imageBytes += stored.data.length
    }
    return { text: content.map(({ text = '' }) => text).join(''), imageBytes }
  }

  return {
    ctx,
    home,
    connection: () => ({
      tools: () => ctx.tools.schemas().length,
      call,
      events: () => events,
      definitionBytes: () => Buffer.byteLength(JSON.stringify(ctx.tools.schemas())),
      close: () => ctx.fiber.dispose(),
    }),
  }
}
