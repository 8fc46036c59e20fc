/** Owns an agent of the real loop for one conversation. */
import { randomUUID } from 'node:crypto'
import type { Context } from '@deepseek-ai/cordis'
import type { AgentHandle } from '@deepseek-ai/dsh-agent'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { SessionId } from '@deepseek-ai/dsh-session'
import type { SessionEvent } from '@deepseek-ai/dsh-session'

export interface Route {
  readonly provider: string
  readonly model: string
}

export interface Conversation {
  /** All that happened so far. */
  events(): readonly SessionEvent[]
  /** Say something and wait until the agent has nothing more to do. */
  say(text: string): Promise<void>
  /** Break the turn off. */
  cancel(): void
  end(): Promise<void>
}

/** Start an agent. */
export async function openConversation(
  ctx: Context,
  route: Route,
  onEvent?: (event: SessionEvent) => void,
): Promise<Conversation> {
  const handle: AgentHandle = await ctx.agents.create({
    sessionId: SessionId(`session-${randomUUID()}`),
    meta: { cwd: process.cwd() },
    agentOptions: { ...route },
  })
  const { agent } = handle
  const stop = ctx.on('session/event', (session, event) => {
    if (session === agent.session) onEvent?.(event)
  })
  return {
    events: () => agent.session.events,
    async say(text) {
      agent.followup(createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } }))
      await agent.whenIdle()
    },
    cancel: () => agent.cancel({ kind: 'user' }),
    async end() {
      stop()
      await handle.dispose()
    },
  }
}
