/**
 * Owns the notification stream of a legacy server (GET): opened after the handshake, opened again with backoff when it
 * ends, given up where the server has none.
 */
import type { Readable } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import type { Clock } from '../clock.ts'
import { messageOf } from '../errors.ts'
import type { HttpReply } from './http-agent.ts'
import { backoffMs } from './http-backoff.ts'
import { drain, inflated } from './http-body.ts'
import type { HttpClient } from './http-client.ts'
import { mediaTypeOf } from './http-headers.ts'
import { messagesOf, resumableId } from './http-message.ts'
import { deniesSession } from './http-refusal.ts'
import { readEvents } from './http-stream.ts'
import { pause } from './http-wait.ts'

/** A stream that lived this long was in order: the next loss starts from the first delay again. */
const STABLE_MS = 10_000

export interface ListenerOptions {
  readonly client: HttpClient
  readonly clock: Clock
  readonly random: () => number
  /** Cap of one event, in characters. */
  readonly maxChars: number
  readonly onMessage: (message: JSONRPCMessage) => void
  /** The stream is there again after a loss: changes may have gone by. */
  readonly onReopened: () => void
  /** The server does not know the session. Ends the listener; the healed session starts it anew. */
  readonly onSessionLost: () => void
  readonly onNote: (text: string) => void
}

export class HttpListener {
  private readonly options: ListenerOptions
  private controller: AbortController | undefined
  private open = false
  private retryMs: number | undefined

  constructor(options: ListenerOptions) {
    this.options = options
  }

  /** Whether the stream is open now. */
  get isOpen(): boolean {
    return this.open
  }

  /** Open the stream of the current session, in place of an older one. */
  start(): void {
    this.stop()
    const controller = new AbortController()
    this.controller = controller
    void this.listen(controller.signal).catch((error: unknown) => {
      if (!controller.signal.aborted)
        this.options.onNote(`the notification stream failed: ${messageOf(error)}`)
    })
  }

  stop(): void {
    this.open = false
    this.controller?.abort()
    this.controller = undefined
  }

  private async listen(signal: AbortSignal): Promise<void> {
    const { clock, client, random, onReopened, onNote } = this.options
    let lastEventId: string | undefined
    let lost = false
    for (let attempt = 0; ; attempt += 1) {
      const since = clock.now()
      const reply = await client.get(lastEventId, signal).catch((error: unknown) => {
        if (signal.aborted) throw error
        onNote(`the notification stream cannot be opened: ${messageOf(error)}`)
        return undefined
      })
      const body = reply === undefined ? 'later' : await this.judge(reply, lost)
      if (body === 'over') return
      if (body !== 'later') {
        signal.throwIfAborted()
        if (lost) onReopened()
        lost = true
        this.open = true
        lastEventId = await this.follow(body, lastEventId)
        signal.throwIfAborted()
        this.open = false
        if (clock.now() - since >= STABLE_MS) attempt = 0
      }
      await pause(backoffMs({ attempt, retryMs: this.retryMs, random }), signal, clock)
    }
  }

  /**
   * The body to read, or whether to try again. A server without this stream may say 404; only one that had it before
   * means the session.
   */
  private async judge(reply: HttpReply, hadStream: boolean): Promise<Readable | 'later' | 'over'> {
    const { client, clock, onNote, onSessionLost } = this.options
    const { status, headers } = reply
    if (status >= 200 && status < 300) {
      const body = inflated(headers, reply.body)
      if (mediaTypeOf(headers) === 'text/event-stream' && typeof body !== 'string') return body
      drain(reply.body, clock)
      onNote('the server has no notification stream: its reply is no event stream')
      return 'over'
    }
    const { text } = await client.refusal(reply)
    if (status === 429 || (status >= 500 && status !== 501)) return 'later'
    if (hadStream && deniesSession(status, text)) onSessionLost()
    else if (status !== 405) onNote(`the server has no notification stream (HTTP ${status})`)
    return 'over'
  }

  /** Read until the stream ends; resolves with the id to go on from. */
  private async follow(body: Readable, from: string | undefined): Promise<string | undefined> {
    const { clock, maxChars, onMessage, onNote } = this.options
    let lastEventId = from
    let noted = false
    const end = await readEvents(
      body,
      {
        maxChars,
        onRetry: (delayMs) => (this.retryMs = delayMs),
        onEvent: (event) => {
          lastEventId = resumableId(event) ?? lastEventId
          const { messages, problem } = messagesOf(event)
          if (problem !== undefined && !noted) {
            noted = true
            onNote(`ignored on the notification stream: ${problem}`)
          }
          messages.forEach(onMessage)
          return false
        },
      },
      clock,
    )
    if (end === 'too-large')
      onNote(`a message on the notification stream is larger than ${maxChars} characters`)
    return lastEventId
  }
}
