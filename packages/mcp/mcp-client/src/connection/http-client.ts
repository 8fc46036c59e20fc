/**
 * Owns the way of one message to the point where the server took it or refused it for good: headers, cooling down,
 * authorization, a lost session, the count of failures that make an outage. What the reply says is http-exchange.ts's.
 */
import type { JSONRPCErrorResponse, JSONRPCMessage } from '@modelcontextprotocol/client'
import type { Clock } from '../clock.ts'
import type { Sdk } from '../sdk.ts'
import type { HttpAgent, HttpReply, HttpRequest } from './http-agent.ts'
import { collect, drain, inflated } from './http-body.ts'
import { isCut, isUnreached } from './http-failure.ts'
import { messageHeaders, sessionHeaders, settableHeaders } from './http-headers.ts'
import { judge, mayHaveEffects, refusalError } from './http-refusal.ts'
import type { Refusal } from './http-refusal.ts'
import type { HttpSession } from './http-session.ts'
import { orAbort, pause } from './http-wait.ts'

/** How much of an error body is read, and for how long. */
const REFUSAL_BYTES = 64 * 1024
const REFUSAL_MS = 2_000
/** Consecutive requests that did not reach the server before it counts as gone. */
const OUTAGE_FAILURES = 3
/** How often one message is sent again after a refusal for now, and after new credentials. */
const MAX_RESENDS = 2

/** Seam for authorization: what a request carries besides the row's headers, and what to do about 401 and 403. */
export interface Authorizer {
  /** Headers of the next request; they win over the row's. */
  headers(
    request: Pick<HttpRequest, 'method' | 'url'>,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>>>
  /** Called with a refusal; true when the request is worth sending again. Never waits for a person. */
  recover(challenge: Challenge, signal: AbortSignal): Promise<boolean>
}

export interface Challenge {
  readonly status: 401 | 403
  readonly url: URL
  readonly headers: HttpReply['headers']
  /** What `headers()` gave for the refused request: it may be old by now. */
  readonly sent: Readonly<Record<string, string>>
}

/** A reply, and what the authorizer gave for its request. */
interface Asked {
  readonly reply: HttpReply
  readonly granted: Readonly<Record<string, string>>
  readonly url: URL
}

export interface ClientOptions {
  readonly sdk: Sdk
  /** Where streams are opened and sessions ended, and where messages are posted. */
  readonly url: (method: HttpRequest['method']) => URL
  readonly headers: Readonly<Record<string, string>>
  readonly redact: (text: string) => string
  readonly clock: Clock
  /** Epoch milliseconds. */
  readonly epoch: () => number
  readonly authorizer: Authorizer | undefined
  /** The server could not be reached several times in a row. */
  readonly onOutage: (error: unknown) => void
}

export interface PostOptions {
  readonly signal: AbortSignal
  /** Further headers of this message. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The handshake itself goes out while a new session is being made. */
  readonly handshake?: boolean
}

/** What became of a posted message: a reply with a 2xx status, or an answer in the envelope of an HTTP error. */
export type Posted =
  | { readonly kind: 'reply'; readonly reply: HttpReply }
  | { readonly kind: 'answer'; readonly message: JSONRPCErrorResponse }

export class HttpClient {
  private readonly options: ClientOptions
  private readonly agent: HttpAgent
  private readonly session: HttpSession
  private readonly fixed: Readonly<Record<string, string>>
  private failures = 0
  /** Monotonic time until which the server asked not to be asked. */
  private coolUntil = 0

  constructor(options: ClientOptions, agent: HttpAgent, session: HttpSession) {
    this.options = options
    this.agent = agent
    this.session = session
    this.fixed = { 'user-agent': 'dsh-mcp-client', ...settableHeaders(options.headers) }
  }

  /**
   * Post a message. Sent again only where it surely did not run, or could run twice without harm. Rejects with
   * SdkHttpError for a refusal, with errors of Node or undici when the server was not reached or the connection was
   * cut, with MCP_SESSION_LOST.
   */
  async post(message: JSONRPCMessage, options: PostOptions): Promise<Posted> {
    const { signal } = options
    const body = JSON.stringify(message)
    const tries = { sessions: 0, waits: 0, grants: 0, cuts: 0 }
    for (;;) {
      const { replacement } = this.session
      if (replacement !== undefined && options.handshake !== true) await orAbort(replacement, signal)
      const coolMs = this.coolUntil - this.options.clock.now()
      if (coolMs > 0) await pause(coolMs, signal, this.options.clock)
      const session = this.session.headers()
      const headers = { ...settableHeaders(options.headers ?? {}), ...messageHeaders(message, session) }
      const background = 'method' in message && message.method === 'subscriptions/listen'
      let asked: Asked
      try {
        asked = await this.request({ method: 'POST', headers, body, signal, background })
      } catch (error) {
        // A kept-alive connection may end just when it is used again.
        if (!signal.aborted && isCut(error) && !mayHaveEffects(message) && tries.cuts++ === 0) continue
        throw error
      }
      const { reply } = asked
      if (reply.status >= 200 && reply.status < 300) return { kind: 'reply', reply }
      const refusal = await this.refusal(reply)
      const sessionId = headers['mcp-session-id']
      const verdict = judge(refusal, { message, sessionId }, this.options.epoch())
      switch (verdict.kind) {
        case 'answer':
          return verdict
        case 'session':
          if (options.handshake === true || sessionId === undefined || tries.sessions++ > 0) break
          await orAbort(this.session.heal(sessionId), signal)
          continue
        case 'wait':
          this.coolUntil = Math.max(this.coolUntil, this.options.clock.now() + verdict.delayMs)
          if (!verdict.resend || tries.waits++ === MAX_RESENDS) break
          continue
        case 'auth':
          if (tries.grants++ === MAX_RESENDS || !(await this.recover(asked, refusal, signal))) break
          continue
        case 'error':
          break
      }
      throw this.error(refusal)
    }
  }

  /** Ask for an event stream, after `lastEventId` where given. Resolves with a reply of any status. */
  async get(lastEventId: string | undefined, signal: AbortSignal): Promise<HttpReply> {
    const resumed = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    const ask = (): Promise<Asked> => {
      const headers = { accept: 'text/event-stream', ...resumed, ...sessionHeaders(this.session.headers()) }
      return this.request({ method: 'GET', headers, signal, background: true })
    }
    let asked = await ask()
    for (
      let grants = 0;
      grants < MAX_RESENDS && (asked.reply.status === 401 || asked.reply.status === 403);
      grants += 1
    ) {
      if (!(await this.recover(asked, asked.reply, signal))) break
      drain(asked.reply.body, this.options.clock)
      asked = await ask()
    }
    return asked.reply
  }

  /** End the session at the server, if there is one. What the server thinks of it does not matter. */
  async delete(signal: AbortSignal): Promise<void> {
    const session = this.session.headers()
    if (session.sessionId === undefined) return
    const { reply } = await this.request({ method: 'DELETE', headers: sessionHeaders(session), signal })
    drain(reply.body, this.options.clock)
  }

  /** Read the start of an error body, for a short time. */
  async refusal({ status, headers, body }: HttpReply): Promise<Refusal> {
    const plain = inflated(headers, body)
    if (typeof plain === 'string') {
      drain(body, this.options.clock)
      return { status, headers, text: '' }
    }
    const cancel = this.options.clock.after(REFUSAL_MS, () => body.destroy())
    const { text } = await collect(plain, REFUSAL_BYTES)
    cancel()
    return { status, headers, text }
  }

  error(refusal: Refusal): Error {
    return refusalError(this.options.sdk, refusal, this.options.redact)
  }

  private async request(request: Omit<HttpRequest, 'url'>): Promise<Asked> {
    const { authorizer } = this.options
    const { method, signal } = request
    const url = this.options.url(method)
    const granted =
      authorizer === undefined
        ? {}
        : settableHeaders(await orAbort(authorizer.headers({ method, url }, signal), signal))
    const headers = { ...this.fixed, ...granted, ...request.headers }
    try {
      const reply = await this.agent.request({ ...request, url, headers })
      this.failures = 0
      return { reply, granted, url }
    } catch (error) {
      if (isUnreached(error)) {
        this.failures += 1
        if (this.failures === OUTAGE_FAILURES) this.options.onOutage(error)
      }
      throw error
    }
  }

  private async recover(
    { granted: sent, url }: Asked,
    { status, headers }: Pick<Refusal, 'status' | 'headers'>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { authorizer } = this.options
    if (authorizer === undefined) return false
    return orAbort(
      authorizer.recover({ status: status === 401 ? 401 : 403, url, headers, sent }, signal),
      signal,
    )
  }
}
