/**
 * Owns the putting of questions to a person, through the host's question service: whether anybody can be asked, how long
 * a request may wait, and how many may wait at once. While a person is waited for, the call's silence does not count.
 */
import type {
  AskUserQuestionAnswerItem,
  AskUserQuestionItem,
  UserQuestionService,
} from '@deepseek-ai/dsh-user-questions'
import type { Clock } from '../clock.ts'
import { messageOf } from '../errors.ts'
import { safeLine } from '../text.ts'
import type { Agent, Asking } from '../types.ts'
import type { InboundHost, Say } from './host.ts'
import type { Asker } from './question-words.ts'

/** A person who went away must not keep a server waiting for ever. */
const WALL_MS = 30 * 60_000
/** A client shows one question after the other; a server does not fill its queue. */
const MAX_WAITING = 4
const MAX_REASON_CHARS = 200

/** Codes of the question service that mean: there is nobody to ask. */
const NOBODY: ReadonlySet<unknown> = new Set(['NO_PROVIDER', 'DELEGATED_CALLER', 'CALLER_NOT_LIVE'])
/** Codes that mean: closed by the person, or withdrawn. */
const CLOSED: ReadonlySet<unknown> = new Set(['ASK_CANCELLED', 'ASK_ABORTED'])

/** Answers by the ids of their questions; undefined where the dialogue was closed. Rejects with NobodyToAsk. */
export type Ask = (questions: AskUserQuestionItem[]) => Promise<Answers | undefined>
export type Answers = ReadonlyMap<string, AskUserQuestionAnswerItem>

/** Nobody can be asked here: the reason is for the operator. */
export class NobodyToAsk extends Error {}

export interface Dialogue {
  /**
   * Run one request of the server, which may ask more than once. Rejects as it does.
   * @throws NobodyToAsk at once where nobody can be asked
   */
  run<T>(asking: Asking, request: (ask: Ask) => Promise<T>): Promise<T>
}

export interface DialogueOptions {
  readonly asker: Asker
  readonly host: Pick<InboundHost, 'questions'>
  readonly say: Say
  readonly clock: Clock
}

export function createDialogue({ asker, host, say, clock }: DialogueOptions): Dialogue {
  let waiting = 0
  return {
    async run({ signal, caller }, request) {
      const agent = caller?.agent
      if (caller === undefined || agent === undefined) throw new NobodyToAsk('no agent is calling')
      const service = host.questions()
      if (service === undefined) throw new NobodyToAsk('the host has no question service')
      if (waiting >= MAX_WAITING) throw new NobodyToAsk(`${MAX_WAITING} requests of this server wait already`)
      waiting += 1
      const release = caller.hold()
      const wall = new AbortController()
      const disarm = clock.after(WALL_MS, () => wall.abort())
      try {
        const limits = AbortSignal.any([signal, wall.signal])
        return await request((questions) => put(service, questions, { agent, limits }))
      } finally {
        disarm()
        release()
        waiting -= 1
      }
    },
  }

  async function put(
    service: Pick<UserQuestionService, 'ask'>,
    questions: AskUserQuestionItem[],
    { agent, limits }: { readonly agent: Agent; readonly limits: AbortSignal },
  ): Promise<Answers | undefined> {
    if (limits.aborted) return undefined
    const { promise: closed, resolve } = Promise.withResolvers<undefined>()
    const onAbort = (): void => resolve(undefined)
    limits.addEventListener('abort', onAbort, { once: true })
    // A client that does not let go of its question must not hold the call.
    const reply = Promise.race([service.ask({ questions, agent, signal: limits }), closed]).catch(unasked)
    try {
      const given = await reply
      return given && new Map(given.answers.map((item) => [item.id, item]))
    } finally {
      limits.removeEventListener('abort', onAbort)
    }
  }

  /** What a failure to ask comes to: nobody is there, or the dialogue is over. */
  function unasked(error: unknown): undefined {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (NOBODY.has(code)) throw new NobodyToAsk(messageOf(error))
    if (!CLOSED.has(code)) say('warn', `a question could not be asked: ${lineOf(error)}`)
    return undefined
  }

  function lineOf(error: unknown): string {
    return safeLine(messageOf(error), asker.redact, MAX_REASON_CHARS)
  }
}
