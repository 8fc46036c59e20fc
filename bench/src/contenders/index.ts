/** Owns the list of contenders. */
import type { Contender } from '../contender.ts'

export const CONTENDERS = [
  'raw',
  'floor',
  'ours',
  'dsh',
  'sdk1',
  'sdk2',
  'ai-sdk',
  'mcp-use',
  'langchain',
] as const
/** `base` is another build of ours, see `--base`. */
export type ContenderName = (typeof CONTENDERS)[number] | 'base'

/** Those that run inside the real host. */
export const HOSTED: ReadonlySet<ContenderName> = new Set(['floor', 'ours', 'base', 'dsh'])

/** Imports the adapter of one contender and nothing of the others. */
export async function contenderOf(name: ContenderName, base: string | undefined): Promise<Contender> {
  switch (name) {
    case 'raw':
      return (await import('./raw.ts')).raw
    case 'floor':
      return (await import('./floor.ts')).floor
    case 'ours':
      return (await import('./plugin.ts')).pluginContender('@deepseek-ai/dsh-mcp-client', true)
    case 'base':
      return (await import('./plugin.ts')).pluginContender(base ?? '', true)
    case 'dsh':
      return (await import('./plugin.ts')).pluginContender('dsh-peer', false)
    case 'sdk1':
      return (await import('./sdk.ts')).sdk1
    case 'sdk2':
      return (await import('./sdk.ts')).sdk2
    case 'ai-sdk':
      return (await import('./others.ts')).aiSdkMcp
    case 'mcp-use':
      return (await import('./others.ts')).mcpUse
    case 'langchain':
      return (await import('./others.ts')).langchain
  }
}
