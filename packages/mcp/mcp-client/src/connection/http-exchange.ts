/**
 * Owns one request from its sending to its answer: by JSON, by event stream, by a stream resumed after a cut, or by the
 * notification stream. Each exchange settles: with the answer, or with an error that says whether the call may have
 * run. What it used of the network is let go then.
 */
import type { Readable } from 'node:stream'
import type { JSONRPCMessage, JSONRPCRequest, TransportSendOptions } from '@modelcontextprotocol/client'
import type { Clock } from '../clock.ts'
import { McpError, isMcpError } from '../errors.ts'
import type { Sdk } from '../sdk.ts'
import type { HttpReply } from './http-agent.ts'
import { collect, drain, inflated } from './http-body.ts'
import type { HttpClient } from './http-client.ts'
import { isCut, isUnreached, stageOf, unanswered } from './http-failure.ts'
import { isModern, mediaTypeOf } from './http-headers.ts'
import { isAnswer, messagesIn, messagesOf, resumableId } from './http-message.ts'
import type { Answer } from './http-message.ts'
import { readEvents } from './http-stream.ts'
import type { StreamEnd } from './http-stream.ts'
import { orAbort, pause } from './http-wait.ts'
import { backoffMs } from './http-backoff.ts'

/** Resumptions in a row that brought nothing new. */
const RESUME_ATTEMPTS = 5

export interface ExchangeOptions {
  readonly sdk: Sdk
  readonly serverName: string
  readonly client: HttpClient
  readonly clock: Clock
  readonly random: () => number
  readonly messageBytes: number
  /** Takes requests and notifications of the server, and our answer. */
  readonly deliver: (message: JSONRPCMessage) => void
  readonly onNote: (text: string) => void
  /** Sees the reply to initialize before its answer is delivered. May throw. */
  readonly onHandshake: (reply: HttpReply) => void
  /** Whether an answer may come on the notification stream. */
  readonly isListening: () => boolean
}

export class Exchange {
  private readonly request: JSONRPCRequest
  private readonly options: ExchangeOptions
  private readonly controller = new AbortController()
  private state: 'waiting' | 'answered' | 'cancelled' | 'closed' = 'waiting'
  private lastEventId: string | undefined
  private retryMs: number | undefined
  private noted = false

  constructor(request: JSONRPCRequest, options: ExchangeOptions) {
    this.request = request
    this.options = options
  }

  /** Send the request and see it through. Rejects when there will be no answer; resolves when it was cancelled. */
  async run(send: TransportSendOptions, handshake = false): Promise<void> {
    const cancel = (): void => this.end('cancelled')
    const { requestSignal } = send
    if (requestSignal?.aborted === true) return
    requestSignal?.addEventListener('abort', cancel, { once: true })
    try {
      const { signal } = this.controller
      const posted = await this.options.client.post(this.request, {
        signal,
        headers: send.headers,
        handshake,
      })
      if (posted.kind === 'answer') this.take(posted.message)
      else await this.read(posted.reply, send)
    } catch (error) {
      if (this.state === 'answered' || this.state === 'cancelled') return
      if (this.state === 'waiting') send.onRequestStreamEnd?.()
      throw this.failure(error)
    } finally {
      requestSignal?.removeEventListener('abort', cancel)
    }
  }

  /** Take an answer that came on another stream; false where it is not ours, or not the first. */
  takeElsewhere(message: Answer): boolean {
    const taken = this.take(message)
    if (taken) this.controller.abort()
    return taken
  }

  /** Break off, and let the socket go. */
  end(state: 'cancelled' | 'closed'): void {
    if (this.state !== 'waiting') return
    this.state = state
    this.controller.abort()
  }

  private async read(reply: HttpReply, send: TransportSendOptions): Promise<void> {
    const { clock, messageBytes, onHandshake, isListening } = this.options
    const body = inflated(reply.headers, reply.body)
    if (typeof body === 'string') {
      drain(reply.body, clock)
      throw this.unexpected(`the server used the content encoding ${body}, which was not asked for`)
    }
    if (this.request.method === 'initialize') {
      try {
        onHandshake(reply)
      } catch (error) {
        drain(body, clock)
        throw error
      }
    }
    const type = mediaTypeOf(reply.headers)
    if (type === 'text/event-stream') return this.readStream(body, send)
    if (reply.status === 202 && isListening()) {
      drain(body, clock)
      return orAbort(new Promise<never>(() => undefined), this.controller.signal)
    }
    const { kind, text } = await collect(body, messageBytes)
    if (kind === 'too-large') throw this.tooLarge()
    if (kind === 'cut') throw this.lost('the connection was cut in the middle of the reply')
    if (text.trim() === '')
      throw this.unexpected(`the server replied HTTP ${reply.status} with nothing in it`)
    const { messages, problem } = messagesIn(text)
    this.accept(messages)
    if (this.state !== 'waiting') return
    const isPage = problem !== undefined && !type.includes('json')
    if (isPage)
      throw this.unexpected(`the server replied ${type === '' ? 'without a content type' : `with ${type}`}`)
    throw this.lost(`the server replied with ${problem ?? 'an answer to something else'}`)
  }

  private async readStream(body: Readable, send: TransportSendOptions): Promise<void> {
    let end = await this.follow(body, send)
    while (end !== 'too-large' && this.state === 'waiting' && this.lastEventId !== undefined) {
      const resumed = await this.resume(send)
      if (resumed === undefined) break
      end = resumed
    }
    if (this.state === 'answered') return
    if (end === 'too-large') throw this.tooLarge()
    throw this.lost(end === 'cut' ? 'the connection was cut' : 'the event stream ended')
  }

  private follow(body: Readable, send: TransportSendOptions): Promise<StreamEnd> {
    const modern = isModern(this.request)
    return readEvents(
      body,
      {
        maxChars: this.options.messageBytes,
        onRetry: (delayMs) => (this.retryMs = delayMs),
        onEvent: (event) => {
          const id = modern ? undefined : resumableId(event)
          if (id !== undefined) {
            this.lastEventId = id
            send.onresumptiontoken?.(id)
          }
          const { messages, problem } = messagesOf(event)
          if (problem !== undefined) this.note(problem)
          this.accept(messages)
          return this.state !== 'waiting'
        },
      },
      this.options.clock,
    )
  }

  /** Ask for what came after the last event until something does; `undefined` when the server has nothing more. */
  private async resume(send: TransportSendOptions): Promise<StreamEnd | undefined> {
    const { client, clock, random } = this.options
    const { signal } = this.controller
    const from = this.lastEventId
    for (let attempt = 0; attempt < RESUME_ATTEMPTS; attempt += 1) {
      await pause(backoffMs({ attempt, retryMs: this.retryMs, random }), signal, clock)
      let reply: HttpReply
      try {
        reply = await client.get(from, signal)
      } catch (error) {
        if (isUnreached(error) || (isCut(error) && !signal.aborted)) continue
        throw error
      }
      const body = inflated(reply.headers, reply.body)
      if (
        reply.status !== 200 ||
        mediaTypeOf(reply.headers) !== 'text/event-stream' ||
        typeof body === 'string'
      ) {
        drain(reply.body, clock)
        if (reply.status >= 500) continue
        return undefined
      }
      const end = await this.follow(body, send)
      if (this.state !== 'waiting' || end === 'too-large' || this.lastEventId !== from) return end
    }
    return undefined
  }

  private accept(messages: readonly JSONRPCMessage[]): void {
    for (const message of messages) {
      if (!isAnswer(message)) this.options.deliver(message)
      else if (!this.take(message)) this.note('an answer to something else')
    }
  }

  private take(message: Answer): boolean {
    const { id } = this.request
    // Some servers give a number back as text.
    if (this.state !== 'waiting' || String(message.id) !== String(id)) return false
    this.state = 'answered'
    this.options.deliver({ ...message, id })
    return true
  }

  /** A server that goes wrong does so in each message; once an exchange is enough. */
  private note(problem: string): void {
    if (this.noted) return
    this.noted = true
    this.options.onNote(`ignored in the reply to ${this.request.method}: ${problem}`)
  }

  private failure(error: unknown): unknown {
    if (isMcpError(error) || isUnreached(error)) return error
    if (this.state === 'closed') return this.lost('the connection was closed')
    return isCut(error) ? this.lost('the connection was cut', error) : error
  }

  private lost(how: string, cause?: unknown): McpError {
    return unanswered({ server: this.options.serverName, method: this.request.method, how, cause })
  }

  /** While the era is probed and at the handshake, the SDK must see its own error for a reply it cannot use. */
  private unexpected(how: string): Error {
    const { sdk } = this.options
    if (stageOf(this.request.method) !== 'connect') return this.lost(how)
    return new sdk.SdkError(sdk.SdkErrorCode.ClientHttpUnexpectedContent, how)
  }

  private tooLarge(): McpError {
    const { messageBytes, serverName: server } = this.options
    return new McpError(`the answer is larger than limits.messageBytes allows (${messageBytes} bytes)`, {
      code: 'MCP_MESSAGE_TOO_LARGE',
      server,
      stage: stageOf(this.request.method),
      data: { limitBytes: messageBytes },
    })
  }
}
