/**
 * Owns one turn of the real agent loop with a scripted model, and its transcript for snapshots.
 */
import type { Agent } from '@deepseek-ai/dsh-agent'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import type { GenerateOptions } from '@deepseek-ai/dsh-llm'
import { SessionId } from '@deepseek-ai/dsh-session'
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import type { ScriptStep } from '../scripted-model.ts'
import type { Host } from './host.ts'
import { transcriptOf } from './transcript.ts'

export interface TurnOptions {
  /** Default: vision. */
  readonly model?: 'vision' | 'text'
  readonly script: readonly ScriptStep[]
  /** Default: go. */
  readonly prompt?: string
  /** Continue with this agent instead of a new one. */
  readonly agent?: Agent
}

export interface Turn {
  readonly agent: Agent
  /** Events of this turn. */
  readonly events: readonly SessionEvent[]
  /** What the model was asked in this turn. */
  readonly requests: readonly GenerateOptions[]
  /** The turn as text: ids, times and sizes that vary are replaced. */
  readonly transcript: string
}

let sessions = 0

/** A new agent of the host on the scripted model. */
export async function createAgent(host: Host, model: 'vision' | 'text' = 'vision'): Promise<Agent> {
  const { agent } = await host.ctx.agents.create({
    sessionId: SessionId(`session-testkit-${++sessions}`),
    meta: { cwd: host.folder },
    agentOptions: { provider: 'scripted', model },
  })
  await agent.whenIdle()
  return agent
}

/** Drive one turn to its end. */
export async function runTurn(host: Host, options: TurnOptions): Promise<Turn> {
  const agent = options.agent ?? (await createAgent(host, options.model))
  const { script } = host
  const firstRequest = script.requests.length
  const firstEvent = agent.session.events.length
  script.steps.push(...options.script)
  agent.followup(
    createUserMessage({
      content: [{ type: 'text', text: options.prompt ?? 'go' }],
      source: { kind: 'user' },
    }),
  )
  await agent.whenIdle()
  const events = agent.session.events.slice(firstEvent)
  return {
    agent,
    events,
    requests: script.requests.slice(firstRequest),
    transcript: transcriptOf(events, { folder: host.folder }),
  }
}
