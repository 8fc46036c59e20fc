/** Owns the scene of the tests of what a server asks: a host of plain functions, one caller, and what was said. */
import type { GenerateOptions, StreamChunk } from '@deepseek-ai/dsh-llm'
import type { ApprovalOutcome, ApprovalRequest } from '@deepseek-ai/dsh-user-approval'
import type { AskUserQuestionAnswerItem } from '@deepseek-ai/dsh-user-questions'
import type { AskUserQuestionRequest } from '@deepseek-ai/dsh-user-questions'
import type { InboundHost } from '../../src/inbound/host.ts'
import { createInbound } from '../../src/inbound/inbound.ts'
import type { RowInbound } from '../../src/inbound/inbound.ts'
import type { Agent, Caller, InboundMethod, JsonObject, ServerSpec } from '../../src/types.ts'
import { makeAgent, makeSpec } from '../composition/registry-host.ts'
import { FakeClock } from './fake-clock.ts'

/** What a person says to one batch of questions, by their ids; a label or, with `=` before it, typed text. */
export type Says = Readonly<Record<string, string | readonly string[]>>

export interface Scene {
  readonly inbound: RowInbound
  readonly clock: FakeClock
  readonly agent: Agent
  readonly caller: Caller
  readonly lines: string[]
  /** Each call of the question service. */
  readonly asked: AskUserQuestionRequest[]
  readonly approvals: ApprovalRequest[]
  readonly calls: GenerateOptions[]
  /** Waits for a person that are not over. */
  held(): number
  send(
    method: InboundMethod,
    params?: JsonObject,
    over?: { caller?: Caller | undefined; signal?: AbortSignal },
  ): Promise<JsonObject>
}

export interface SceneOptions {
  readonly spec?: Partial<ServerSpec>
  readonly host?: Partial<InboundHost>
  /** What the person says to one batch after the other; an error is thrown. */
  readonly says?: readonly (Says | Error)[]
  readonly approve?: (request: ApprovalRequest) => Promise<ApprovalOutcome>
  readonly model?: (options: GenerateOptions) => AsyncIterable<StreamChunk>
  readonly cwd?: string
}

export function openScene({ spec, host, says = [], approve, model, cwd }: SceneOptions = {}): Scene {
  const clock = new FakeClock()
  const lines: string[] = []
  const asked: AskUserQuestionRequest[] = []
  const approvals: ApprovalRequest[] = []
  const calls: GenerateOptions[] = []
  const replies = [...says]
  let held = 0
  const inbound = createInbound({
    spec: makeSpec({ serverName: 'kit', ...spec }),
    clock,
    say: (level, text) => void lines.push(`${level}: ${text}`),
    host: {
      questions: () => ({
        async ask(request) {
          asked.push(request)
          const reply = replies.shift()
          if (reply === undefined) return new Promise(() => undefined)
          if (reply instanceof Error) throw reply
          return { answers: request.questions.map(({ id }) => answerOf(id, reply[id])) }
        },
      }),
      approval: () => ({
        async request(request) {
          approvals.push(request)
          return approve === undefined ? 'allowed-once' : approve(request)
        },
      }),
      llm: () => ({
        stream(options) {
          calls.push(options)
          return (model ?? modelSays('hello'))(options)
        },
      }),
      hasAgents: () => true,
      cwd: () => '/host',
      ...host,
    },
  })
  const agent = agentAt(cwd)
  const caller: Caller = {
    agent,
    callId: 'call-1',
    hold() {
      held += 1
      return () => void (held -= 1)
    },
  }
  return {
    inbound,
    clock,
    agent,
    caller,
    lines,
    asked,
    approvals,
    calls,
    held: () => held,
    send: (method, params = {}, over = {}) =>
      inbound.answer({ method, params }, { signal: new AbortController().signal, caller, ...over }),
  }
}

/** A model that answers with these texts and then ends. */
export function modelSays(...texts: string[]): (options: GenerateOptions) => AsyncIterable<StreamChunk> {
  return async function* () {
    for (const text of texts) yield { type: 'text-delta', index: 0, text }
    yield { type: 'finish', reason: { kind: 'stop' } }
  }
}

export function agentAt(cwd: string | undefined): Agent {
  const agent = makeAgent('small', { provider: 'test', model: 'large' })
  Object.assign(agent.session.header, { cwd })
  return agent
}

function answerOf(id: string, said: Says[string] | undefined): AskUserQuestionAnswerItem {
  if (said === undefined) return { id, selected: [] }
  if (typeof said === 'string' && said.startsWith('=')) return { id, selected: [], custom: said.slice(1) }
  return { id, selected: typeof said === 'string' ? [said] : [...said] }
}

/** As the question service fails. */
export function questionError(code: string): Error {
  return Object.assign(new Error(`no answer (${code})`), { code })
}
