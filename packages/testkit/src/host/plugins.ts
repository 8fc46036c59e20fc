/**
 * Owns plugins that live in the test: the loader loads a small file from the host's folder, which calls back into the
 * test through a service, so that the test keeps its variables.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'

/** A plugin of the test. `apply` runs in the test's own module graph. */
export interface LocalPlugin {
  /** Row id. */
  readonly id: string
  readonly inject?: readonly string[]
  readonly config?: unknown
  readonly apply: (ctx: Context, config: unknown) => void | Promise<void>
  /** Mounted before the rows (default) or after them. */
  readonly after?: boolean
}

/** Name of the service that leads back into the test. */
export const LOCAL_PLUGINS = 'testkitLocalPlugins'

/** Source of the file that the loader loads for this plugin. */
export function localPluginSource({ id, inject = [] }: LocalPlugin): string {
  return [
    `export const name = ${JSON.stringify(id)}`,
    `export const inject = ${JSON.stringify(inject)}`,
    `export async function apply(ctx, config) {`,
    `  await ctx.get(${JSON.stringify(LOCAL_PLUGINS)})[${JSON.stringify(id)}](ctx, config)`,
    `}`,
    '',
  ].join('\n')
}

/** A native tool of the host, which answers with text. */
export function nativeTool(
  name: string,
  answer: (args: unknown) => string | Promise<string> = () => `native ${name}`,
): LocalPlugin {
  const definition: ToolDefinition = {
    name,
    description: `The native tool ${name}`,
    parameters: { type: 'object', properties: {} },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: String(value) }] },
    execute: async (args) => answer(args),
  }
  return {
    id: `native-${name}`,
    inject: ['tools'],
    apply(ctx) {
      ctx.effect(() => ctx.tools.register(definition), `native tool ${name}`)
    },
  }
}
