/**
 * Owns the host of the tests of what servers ask: the real question, approval and model services, real agents and turns,
 * and one server behind a real session. The test is the client that shows questions, with the rules of the web client.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { AgentRegistry } from '@deepseek-ai/dsh-agent'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { AgentLoop } from '@deepseek-ai/dsh-agent-loop'
import { CallId, createUserMessage, LlmAdapter, LlmRuntime } from '@deepseek-ai/dsh-llm'
import type { GenerateOptions, StreamChunk } from '@deepseek-ai/dsh-llm'
import { SessionId, SessionStore } from '@deepseek-ai/dsh-session'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { ToolRuntime } from '@deepseek-ai/dsh-tools'
import type { ToolRunContext } from '@deepseek-ai/dsh-tools'
import { ApprovalService } from '@deepseek-ai/dsh-user-approval'
import type { ApprovalOutcome } from '@deepseek-ai/dsh-user-approval'
import { UserQuestionError, UserQuestionService } from '@deepseek-ai/dsh-user-questions'
import type { AskUserQuestionAnswerItem, AskUserQuestionItem } from '@deepseek-ai/dsh-user-questions'
import type { Row } from '@dsh-mcp/testkit'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { resolveConfig } from '../../src/config.ts'
import { openSession } from '../../src/connection/open-session.ts'
import { callTool } from '../../src/execution/call.ts'
import { createGate } from '../../src/execution/gate.ts'
import { policyOf } from '../../src/execution/policy.ts'
import { createInbound } from '../../src/inbound/inbound.ts'
import type { RowInbound } from '../../src/inbound/inbound.ts'
import type { JsonObject, Session } from '../../src/types.ts'
import { makeEntry } from '../composition/registry-host.ts'

/** What a person does with one question: chooses labels, types (`=text`), or skips it. */
export type Move = string | readonly string[] | undefined
export type Person = (question: AskUserQuestionItem) => Move

/** Thrown by a person who closes the dialogue. */
export const CLOSED = new UserQuestionError('the user cancelled ask_user_question', 'ASK_CANCELLED')

export interface InboundHost {
  readonly ctx: Context
  readonly folder: string
  readonly session: Session
  readonly inbound: RowInbound
  readonly lines: readonly string[]
  readonly questions: readonly AskUserQuestionItem[]
  /** What the model was asked on behalf of the server. */
  readonly sampled: readonly GenerateOptions[]
  agent(over?: { readonly owner?: Agent; readonly cwd?: string }): Promise<Agent>
  /** A turn of an agent that calls one tool of the server; the text that the tool came to. */
  call(tool: string, args?: JsonObject, agent?: Agent): Promise<string>
  close(): Promise<void>
}

export interface InboundHostOptions {
  /** Without one there is no client. */
  readonly person?: Person
  readonly approve?: ApprovalOutcome
  /** Default: true. */
  readonly hasQuestions?: boolean
}

/** The turn's own steps, and the answers to a server. */
class Models extends LlmAdapter {
  readonly sampled: GenerateOptions[] = []
  next: { readonly tool: string; readonly args: JsonObject } | undefined

  override resolveModel(provider: string, model: string) {
    return Promise.resolve({ provider, id: model, name: model })
  }

  override async *stream(options: GenerateOptions): AsyncIterable<StreamChunk> {
    const { next } = this
    const isTurn = (options.tools?.length ?? 0) > 0
    if (!isTurn) this.sampled.push(options)
    this.next = isTurn ? undefined : next
    if (isTurn && next !== undefined) {
      const call = {
        type: 'tool-call',
        id: CallId('call-1'),
        name: 'call',
        arguments: JSON.stringify(next),
      } as const
      yield { type: 'block-start', index: 0, blockType: 'tool-call' }
      yield { type: 'block-end', index: 0, block: call }
      yield { type: 'finish', reason: { kind: 'tool-calls' } }
      return
    }
    yield { type: 'text-delta', index: 0, text: isTurn ? 'done' : 'forty-two' }
    yield { type: 'finish', reason: { kind: 'stop' } }
  }
}

let count = 0

export async function openInboundHost(row: Row, options: InboundHostOptions = {}): Promise<InboundHost> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-inbound-'))
  const ctx = new Context()
  await ctx.plugin(LlmRuntime)
  await ctx.plugin(SessionStore)
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRuntime)
  await ctx.plugin(AgentRegistry)
  await ctx.plugin(AgentLoop)
  if (options.hasQuestions !== false) await ctx.plugin(UserQuestionService)
  await ctx.plugin(ApprovalService, {})
  const models = new Models()
  const questions: AskUserQuestionItem[] = []
  await ctx.plugin({
    name: 'client',
    inject: ['llm'],
    apply(child: Context) {
      child.llm.registerAdapter(['test'], models)
      const { person, approve } = options
      if (person !== undefined)
        ctx.userQuestions.registerProvider({
          async ask(request) {
            questions.push(...request.questions)
            return { answers: request.questions.map((question) => answerOf(question, person(question))) }
          },
        })
      if (approve !== undefined) child.on('approval/request', () => Promise.resolve(approve))
    },
  })

  const { spec } = resolveConfig(row.config)
  const lines: string[] = []
  const say = (level: string, text: string): void => void lines.push(`${level}: ${text}`)
  const inbound = createInbound({
    spec,
    say,
    host: {
      questions: () => ctx.get('userQuestions'),
      approval: () => ctx.get('approval'),
      llm: () => ctx.get('llm'),
      hasAgents: () => ctx.get('agents') !== undefined,
      cwd: () => folder,
    },
  })
  const session = await openSession(spec, {
    generation: 1,
    signal: new AbortController().signal,
    clock: SYSTEM_CLOCK,
    clientVersion: '0',
    era: { verdict: () => undefined, remember: () => undefined, forget: () => undefined, now: Date.now },
    events: { onDown: () => undefined, onToolsChanged: () => undefined, onNote: () => undefined },
    inbound,
  })
  const gate = createGate(4)
  let outcome = ''
  ctx.tools.register({
    name: 'call',
    description: 'Call a tool of the server',
    parameters: { type: 'object', properties: {} },
    output: { schema: {}, render: () => [] },
    async execute(args: unknown, exec: ToolRunContext) {
      const { tool, args: given } = args as { tool: string; args: JsonObject }
      const entry = makeEntry({ rawName: tool })
      if (inbound.rootsMoveTo(exec.agent)) await session.rootsChanged()
      const result = callTool(
        {
          entry,
          policy: policyOf(entry, false),
          outputSchema: undefined,
          args: given,
          signal: exec.signal,
          exec,
        },
        {
          spec,
          session: () => session,
          reason: () => '',
          onUnknownTool: () => undefined,
          sessionAgain: () => Promise.resolve(undefined),
          log: () => undefined,
          gate,
          ask: (request, asking) => inbound.answer(request, asking),
        },
      )
      const text = await result.then(({ content }) => JSON.stringify(content), String)
      outcome = text
      return text
    },
  })
  const host: InboundHost = {
    ctx,
    folder,
    session,
    inbound,
    lines,
    questions,
    sampled: models.sampled,
    async agent({ owner, cwd = folder } = {}) {
      const { agent } = await (owner?.ctx ?? ctx).agents.create({
        sessionId: SessionId(`session-inbound-${++count}`),
        meta: { cwd },
        agentOptions: { provider: 'test', model: 'large' },
      })
      await agent.whenIdle()
      return agent
    },
    async call(tool, args = {}, agent) {
      const calling = agent ?? (await host.agent())
      models.next = { tool, args }
      const content = [{ type: 'text', text: 'go' } as const]
      calling.followup(createUserMessage({ content, source: { kind: 'user' } }))
      await calling.whenIdle()
      return outcome
    },
    async close() {
      await session.close()
      await ctx.fiber.dispose()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return host
}

/** As the web client sends it: labels are those of the question, typed text is trimmed and not empty. */
function answerOf(
  { id, options = [], multiSelect }: AskUserQuestionItem,
  move: Move,
): AskUserQuestionAnswerItem {
  if (move === undefined) return { id, selected: [] }
  if (typeof move === 'string' && move.startsWith('='))
    return { id, selected: [], custom: move.slice(1).trim() }
  const selected = typeof move === 'string' ? [move] : [...move]
  const labels = options.map(({ label }) => label)
  if (new Set(labels).size < labels.length) throw new Error('labels of one name')
  if (!selected.every((label) => labels.includes(label)))
    throw new Error(`no label for ${selected.join(', ')}`)
  if (multiSelect !== true && selected.length > 1) throw new Error('more than one label')
  return { id, selected }
}
