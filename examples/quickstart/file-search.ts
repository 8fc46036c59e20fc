/** Owns a native tool of the host, `search`: files of the example's folder by name. No MCP in it. */
import { readdir } from 'node:fs/promises'
import type { Context } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/dsh-tools'

export const name = 'file-search'
export const inject = ['tools']

export async function apply(ctx: Context): Promise<void> {
  ctx.tools.register({
    name: 'search',
    description: 'Find files by name.',
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', description: 'Part of the file name' } },
      required: ['query'],
    },
    output: {
      schema: { type: 'array', items: { type: 'string' } },
      render: (_args, value) => [{ type: 'text', text: (value as string[]).join('\n') }],
    },
    async execute(args) {
      const { query } = args as { query: string }
      const files = await readdir(process.env['QUICKSTART_FILES'] ?? '.')
      return files.filter((file) => file.includes(query))
    },
  })
}
