/**
 * Owns the answers of the host's model on behalf of a server: whether and how often, the person's approval, the call of
 * the model in bounded time, and its text. Requests of one call of a tool are answered one after the other.
 */
import { createAssistantMessage, createUserMessage } from '@deepseek-ai/dsh-llm'
import type { CallId, FinishReason, LlmRuntime, Message, TextBlock } from '@deepseek-ai/dsh-llm'
import type { Clock } from '../clock.ts'
import { InboundRefusal, messageOf } from '../errors.ts'
import { safeLine } from '../text.ts'
import type { Agent, Asking, Caller, JsonObject, SamplingSpec } from '../types.ts'
import type { InboundHost, Say } from './host.ts'
import type { Asker } from './question-words.ts'
import { INTERNAL_ERROR, METHOD_NOT_FOUND, REFUSED } from './refusal.ts'
import { samplingQuestion } from './sampling-question.ts'
import { readSampling } from './sampling-request.ts'
import type { SamplingMessage, SamplingRequest } from './sampling-request.ts'

/** Of the approval and the model's answer together, and of the answer alone. */
const WALL_MS = 30 * 60_000
const ANSWER_MS = 5 * 60_000
const MAX_ANSWER_CHARS = 1024 * 1024
const MAX_REASON_CHARS = 200
/** What the approval is about, in the log of the session: no tool has this name. */
const SUBJECT = 'sampling/createMessage'

export interface SamplingOptions {
  readonly asker: Asker
  readonly spec: SamplingSpec
  /** No call lasts longer. */
  readonly wallMs: number
  readonly host: Pick<InboundHost, 'approval' | 'llm'>
  readonly say: Say
  readonly clock: Clock
}

interface Route {
  readonly provider: string
  readonly model: string
}

/** What one call of a tool has had. */
interface Account {
  /** When the call is over for certain. */
  readonly until: number
  count: number
  /** Settles when the last request is answered; never rejects. */
  last: Promise<unknown>
}

export type Sample = (params: JsonObject, asking: Asking) => Promise<JsonObject>

/** Answers sampling/createMessage; rejects with InboundRefusal. */
export function createSampling({ asker, spec, wallMs, host, say, clock }: SamplingOptions): Sample {
  /** By the id of the call; calls of one agent that are in flight together have none, and one account. */
  const accounts = new WeakMap<Agent, Map<string, Account>>()

  return async (params, { signal, caller }) => {
    if (spec.mode === 'off') throw new InboundRefusal(METHOD_NOT_FOUND, 'Sampling is not offered')
    const request = readSampling(params, spec)
    const agent = caller?.agent
    const llm = host.llm()
    if (caller === undefined || agent === undefined) throw unanswered('no agent is calling')
    if (llm === undefined) throw unanswered('the host has no models')
    const account = accountOf(agent, caller.callId ?? '')
    if (account.count >= spec.maxRequests) {
      say(
        'info',
        `sampling: refused, the call has had its ${spec.maxRequests} answers (sampling.maxRequests)`,
      )
      throw new InboundRefusal(REFUSED, 'No more sampling requests are answered during this call')
    }
    account.count += 1
    const release = caller.hold()
    try {
      return await inTime(WALL_MS, signal, (limit) => {
        const turn = account.last.then(() => run(request, { agent, caller, llm, limit }))
        account.last = turn.catch(() => undefined)
        return turn
      })
    } finally {
      release()
    }
  }

  function accountOf(agent: Agent, key: string): Account {
    const ofAgent = accounts.get(agent) ?? new Map<string, Account>()
    accounts.set(agent, ofAgent)
    const now = clock.now()
    for (const [id, { until }] of ofAgent) if (until <= now) ofAgent.delete(id)
    const account = ofAgent.get(key) ?? { until: now + wallMs, count: 0, last: Promise.resolve() }
    ofAgent.set(key, account)
    return account
  }

  async function run(
    request: SamplingRequest,
    {
      agent,
      caller,
      llm,
      limit,
    }: { agent: Agent; caller: Caller; llm: Pick<LlmRuntime, 'stream'>; limit: AbortSignal },
  ): Promise<JsonObject> {
    // Whoever waited for its turn may have gone.
    limit.throwIfAborted()
    const route = routeOf(agent)
    if (spec.mode === 'ask')
      await approve(samplingQuestion(request, { route, asker }), { agent, caller, limit })
    const { text, reason } = await inTime(ANSWER_MS, limit, (signal) =>
      generate(llm, request, { route, signal }),
    )
    say('info', `sampling: answered by ${safeLine(route.model, asker.redact, MAX_REASON_CHARS)}`)
    return {
      role: 'assistant',
      model: route.model,
      content: { type: 'text', text: asker.redact(text) },
      stopReason: reason === 'max-tokens' ? 'maxTokens' : 'endTurn',
    }
  }

  /** The calling agent's own, as its last request had it. */
  function routeOf(agent: Agent): Route {
    const { provider, model } = agent.session.requestHeader()?.config ?? agent.options
    const chosen = spec.model ?? model
    if (provider === undefined || chosen === undefined) throw unanswered('the calling agent has no model')
    return { provider, model: chosen }
  }

  async function approve(
    reason: string,
    { agent, caller, limit }: { agent: Agent; caller: Caller; limit: AbortSignal },
  ): Promise<void> {
    const service = host.approval()
    if (service === undefined) throw unanswered('nobody can be asked, since the host has no approval service')
    const { callId } = caller
    const asked = service.request({
      agent,
      toolName: SUBJECT,
      reason,
      signal: limit,
      ...(callId === undefined ? {} : { callId: callId as CallId }),
    })
    const outcome = await asked.catch((error: unknown) => {
      throw unanswered(`the approval could not be asked for: ${lineOf(error)}`)
    })
    if (outcome === 'allowed-once') return
    if (outcome === 'unavailable') throw unanswered('nobody answers approvals here')
    say('info', `sampling: ${outcome === 'rejected' ? 'not approved' : 'withdrawn before it was approved'}`)
    throw rejected()
  }

  async function generate(
    llm: Pick<LlmRuntime, 'stream'>,
    { messages, system, maxTokens, temperature, stop }: SamplingRequest,
    { route, signal }: { route: Route; signal: AbortSignal },
  ): Promise<{ readonly text: string; readonly reason: FinishReason['kind'] }> {
    let text = ''
    let finish: FinishReason = { kind: 'stop' }
    const chunks = llm.stream({
      ...route,
      messages: messages.map((message) => toMessage(message, route)),
      maxTokens,
      signal,
      ...(system === '' ? {} : { system }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(stop.length === 0 ? {} : { stop: [...stop] }),
    })
    for await (const chunk of chunks) {
      if (chunk.type === 'text-delta') text = `${text}${chunk.text}`.slice(0, MAX_ANSWER_CHARS)
      if (chunk.type === 'finish') finish = chunk.reason
    }
    if (finish.kind === 'error' || finish.kind === 'aborted') throw new Error(finish.failure.message)
    return { text, reason: finish.kind }
  }

  /** Ends with the outer signal or after `ms`, even where what is waited for does not let go. */
  async function inTime<T>(
    ms: number,
    outer: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const limit = new AbortController()
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => undefined) // the work may have settled first
    const end = (): void => {
      const error = new InboundRefusal(REFUSED, 'The sampling request ended before it was answered')
      reject(error)
      limit.abort(error)
    }
    const disarm = clock.after(ms, end)
    outer.addEventListener('abort', end, { once: true })
    if (outer.aborted) end()
    const result = Promise.race([promise, work(limit.signal)]).catch((error: unknown) => {
      throw error instanceof InboundRefusal ? error : failed(lineOf(error))
    })
    try {
      return await result
    } finally {
      disarm()
      outer.removeEventListener('abort', end)
    }
  }

  /** Nobody is there to decide or to answer: news for whoever looks for it. */
  function unanswered(why: string): InboundRefusal {
    say('debug', `sampling: refused, ${why}`)
    return rejected()
  }

  /** What went wrong is of the host: the server does not hear it. */
  function failed(why: string): InboundRefusal {
    say('warn', `sampling: the model did not answer: ${why}`)
    return new InboundRefusal(INTERNAL_ERROR, 'The model did not answer')
  }

  function lineOf(error: unknown): string {
    return safeLine(messageOf(error), asker.redact, MAX_REASON_CHARS)
  }
}

/** As the protocol words it. */
function rejected(): InboundRefusal {
  return new InboundRefusal(REFUSED, 'User rejected sampling request')
}

function toMessage({ role, text }: SamplingMessage, route: Route): Message {
  const content: TextBlock[] = [{ type: 'text', text }]
  return role === 'assistant'
    ? createAssistantMessage({ content, source: route })
    : createUserMessage({ content, source: { kind: 'plugin', plugin: 'mcp-client' } })
}
