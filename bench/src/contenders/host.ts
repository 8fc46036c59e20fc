/** Owns the real host around a plugin: context, system prompt, tool registry and attachment store. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
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
  const { default: LlmRuntime, CallId, LlmAdapter } = await import('@deepseek-ai/dsh-llm')
  const ctx = new Context()
  await ctx.plugin(SystemPrompt, { persona: 'You are a benchmark.' })
  await ctx.plugin(ToolRuntime, { mode: 'native' })
  await ctx.plugin(LlmRuntime)
  await ctx.plugin(LocalAttachmentStore, {
    dshHome: home,
    maxImageBytes: 64 * MIB,
    maxMessageImageBytes: 64 * MIB,
    maxImageDimension: 65_535,
    maxImagePixels: 1e9,
  })
  class Seeing extends LlmAdapter {
    override resolveModel(provider: string, id: string) {
      return Promise.resolve({ provider, id, name: id, inputModalities: ['text' as const, 'image' as const] })
    }
    // Never asked: no turn is run here.
    override async *stream(): AsyncGenerator<never> {}
  }
  ctx.llm.registerAdapter(['bench'], new Seeing())
  // What a plugin reads of the calling agent: a route whose model takes pictures.
  const agent = {
    ctx,
    options: { provider: 'bench', model: 'seeing' },
    session: { requestHeader: () => undefined },
  } as unknown as Agent
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
      // Only where it matters: the small calls are those of a program.
      ...(order.op === 'image' ? { agent } : {}),
    })
    if (result.isError) throw new Error(result.error.message)
    const { content } = result.value as { content: { type: string; text?: string }[] }
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
