/**
 * Owns the floor of the host: the hand-written client behind the same registry and attachment store. The least that a
 * plugin must pay there; it checks nothing and survives nothing.
 */
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import type { Contender, Target } from '../contender.ts'
import { bootHost } from './host.ts'
import type { Host } from './host.ts'
import { openWire } from './wire.ts'
import type { CallResult, ListedTool, Wire } from './wire.ts'

let host: Host

export const floor: Contender = {
  async prepare() {
    host = await bootHost()
  },
  load: () => Promise.resolve(),
  async open(targets) {
    await Promise.all(targets.map((target) => serve(target)))
    return host.connection()
  },
}

/** Connect, publish, and do it again when the server ends. */
async function serve(target: Target): Promise<void> {
  const { tools } = host.ctx
  const registered = new Map<string, { readonly text: string; readonly dispose: () => void }>()
  let wire: Wire | undefined
  const refresh = async (): Promise<void> => {
    const { tools: listed } = (await (wire as Wire).request('tools/list')) as { tools: ListedTool[] }
    const texts = new Map(listed.map((tool) => [tool.name, JSON.stringify(tool)]))
    for (const [name, { text, dispose }] of registered) {
      if (texts.get(name) === text) continue
      dispose()
      registered.delete(name)
    }
    // Each registration captures stacks for its errors.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    for (const tool of listed) {
      if (registered.has(tool.name)) continue
      const definition = define(target.name, tool, () => wire as Wire)
      registered.set(tool.name, { text: texts.get(tool.name) as string, dispose: tools.register(definition) })
    }
    Error.stackTraceLimit = stackTraceLimit
  }
  const connect = async (): Promise<void> => {
    wire = await openWire(target, {
      onNotification: (method) => {
        if (method === 'notifications/tools/list_changed') void refresh()
      },
      onEnd: () => void (host.ctx.fiber.uid === null ? undefined : connect()),
    })
    await refresh()
  }
  await connect()
  host.ctx.effect(() => () => wire?.close(), 'floor')
}

function define(server: string, tool: ListedTool, wire: () => Wire): ToolDefinition {
  /** Content of results with pictures, by call, until the host has asked for it. */
  const pictures = new Map<symbol, ContentBlock[]>()
  return {
    name: `mcp__${server}__${tool.name}`,
    description: tool.description,
    parameters: tool.inputSchema as ToolDefinition['parameters'],
    output: { schema: {}, render: (_args, value) => plain(value as unknown as CallResult) },
    async execute(args, exec) {
      const result = (await wire().request('tools/call', { name: tool.name, arguments: args })) as CallResult
      if (result.content.some(({ type }) => type === 'image'))
        pictures.set(exec.token, await withImages(result))
      return result as never
    },
    finalizeContent(exec) {
      const content = pictures.get(exec.token)
      pictures.delete(exec.token)
      return content
    },
  }
}

function plain({ content }: CallResult): ContentBlock[] {
  return content.map(({ text = '' }) => ({ type: 'text', text }))
}

async function withImages({ content }: CallResult): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = []
  for (const { data, mimeType } of content) {
    const bytes = Buffer.from(data ?? '', 'base64')
    const [attachment] = await host.ctx.attachments.saveImages([
      { data: bytes, mediaType: mimeType } as never,
    ])
    blocks.push({ type: 'image', attachment: attachment as NonNullable<typeof attachment> })
  }
  return blocks
}
