/** Owns the late reading of optional host services: each comes and goes with its own plugin. */
import type { Context } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/dsh-attachment'
import type {} from '@deepseek-ai/dsh-llm'
import type { HostServices, SpillStore } from './projection/host.ts'

export function hostServices(ctx: Context, log: HostServices['log']): HostServices {
  return {
    attachments: () => ctx.get('attachments'),
    llm: () => ctx.get('llm'),
    spillStore: () => ctx.get('spillStore') as SpillStore | undefined,
    log,
  }
}
