/** Owns what a server may use of the host beside the tool registry: commands, the prompt, and who answers its questions. */
import type { Context } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/dsh-agent'
import type { CommandDefinition } from '@deepseek-ai/dsh-commands'
import type {} from '@deepseek-ai/dsh-llm'
import type { PromptContext, PromptSection } from '@deepseek-ai/dsh-system-prompt'
import type {} from '@deepseek-ai/dsh-user-approval'
import type {} from '@deepseek-ai/dsh-user-questions'
import { openSeat } from './host-seat.ts'
import type { InboundHost } from './inbound/host.ts'
import type { Seat } from './seat.ts'

export interface BeyondHost {
  readonly commands: Seat<CommandDefinition>
  readonly sections: Seat<PromptSection>
  readonly contexts: Seat<PromptContext>
  readonly inbound: InboundHost
}

/** For one row; ends with it. */
export function beyondHost(ctx: Context): BeyondHost {
  return {
    commands: openSeat(ctx, 'commands', (inner, command: CommandDefinition) =>
      inner.commands.register(command),
    ),
    sections: openSeat(ctx, 'systemPrompt', (inner, section: PromptSection) =>
      inner.systemPrompt.section(section),
    ),
    contexts: openSeat(ctx, 'systemPrompt', (inner, context: PromptContext) =>
      inner.systemPrompt.context(context),
    ),
    inbound: {
      questions: () => ctx.get('userQuestions'),
      approval: () => ctx.get('approval'),
      llm: () => ctx.get('llm'),
      hasAgents: () => ctx.get('agents') !== undefined,
      cwd: () => process.cwd(),
    },
  }
}
