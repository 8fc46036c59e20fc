/**
 * Owns the connection to a server of the old HTTP+SSE transport (2024-11-05): one event stream for everything that
 * comes, an endpoint named on it for everything that goes. The stream is the connection: its end is the end.
 */
import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client'
import type { EventSourceMessage } from 'eventsource-parser'
import { SYSTEM_CLOCK } from '../clock.ts'
import { McpError } from '../errors.ts'
import type { McpErrorCode } from '../errors.ts'
import { fromForeign } from '../foreign.ts'
import { safeLine } from '../text.ts'
import { HttpAgent } from './http-agent.ts'
import { drain, inflated } from './http-body.ts'
import { HttpClient } from './http-client.ts'
import { isCut, unanswered } from './http-failure.ts'
import { mediaTypeOf } from './http-headers.ts'
import { messagesOf } from './http-message.ts'
import { checkedUrl } from './http-options.ts'
import type { HttpOptions } from './http-options.ts'
import { HttpSession } from './http-session.ts'
import { readEvents } from './http-stream.ts'
import type { StreamEnd } from './http-stream.ts'
import { OwnedClock } from './http-wait.ts'

const MAX_NOTE_CHARS = 500

export type SseOptions = Omit<HttpOptions, 'onResync' | 'random'>

/** A transport for the SDK's client; does no I/O before `start()`. Throws MCP_CONFIG_INVALID for a bad URL. */
export function createSseTransport(options: SseOptions): SseTransport {
  return new SseTransport(options)
}

export class SseTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void
  private readonly options: SseOptions
  private readonly clock: OwnedClock
  private readonly url: URL
  private readonly agent: HttpAgent
  private readonly session: HttpSession
  private readonly client: HttpClient
  private readonly lifetime = new AbortController()
  /** What breaks off the posting of each request. */
  private readonly posts = new Map<string, AbortController>()
  /** Where messages go; the address itself until the server has named one. */
  private endpoint: URL
  private closing: Promise<void> | undefined
  private reason: McpError | undefined
  private noted = false

  constructor(options: SseOptions) {
    const { serverName, epoch = Date.now, env = process.env } = options
    const clock = new OwnedClock(options.clock ?? SYSTEM_CLOCK)
    const url = checkedUrl(options)
    this.options = options
    this.clock = clock
    this.url = url
    this.endpoint = url
    this.agent = new HttpAgent(url, { serverName, clock, env })
    // Never has an id: a session of this transport is its stream.
    this.session = new HttpSession(serverName, () => Promise.reject(new Error('no session')))
    const where = (method: string): URL => (method === 'POST' ? this.endpoint : url)
    const onOutage = (error: unknown): void =>
      this.fall(fromForeign(error, { server: serverName, stage: 'connect', redact: options.redact }))
    this.client = new HttpClient(
      { ...options, url: where, clock, epoch, authorizer: options.authorizer, onOutage },
      this.agent,
      this.session,
    )
  }

  /** Why the transport ended by itself, if it has. */
  get downReason(): McpError | undefined {
    return this.reason
  }

  setProtocolVersion(version: string): void {
    this.session.revision = version
  }

  /** Open the stream; resolves when the server has named its endpoint. Rejects with what went wrong. */
  async start(): Promise<void> {
    const { signal } = this.lifetime
    const reply = await this.client.get(undefined, signal)
    if (reply.status < 200 || reply.status > 299) throw this.client.error(await this.client.refusal(reply))
    const body = inflated(reply.headers, reply.body)
    if (typeof body === 'string' || mediaTypeOf(reply.headers) !== 'text/event-stream') {
      drain(reply.body, this.clock)
      const { SdkError, SdkErrorCode } = this.options.sdk
      throw new SdkError(
        SdkErrorCode.ClientHttpUnexpectedContent,
        'the server did not reply with an event stream',
      )
    }
    await new Promise<void>((resolve, reject) => {
      const sink = {
        maxChars: this.options.limits.messageBytes,
        onRetry: () => undefined,
        onEvent: (event: EventSourceMessage): boolean => {
          if (event.event !== 'endpoint') return this.take(event)
          const endpoint = URL.parse(event.data, this.url.href)
          if (endpoint?.origin === this.url.origin) {
            if (this.endpoint === this.url) this.endpoint = endpoint
            resolve()
          } else {
            reject(this.error('MCP_HTTP_REJECTED', 'the server named an endpoint at another origin'))
          }
          return false
        },
      }
      void readEvents(body, sink, this.clock).then((end) => reject(this.ended(end)))
    })
  }

  /** Post one message; its answer comes on the stream. Rejects when the server did not take it. */
  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if (this.closing !== undefined) throw this.error('MCP_CONNECTION_CLOSED', 'the connection is closed')
    const method = 'method' in message ? message.method : 'an answer'
    if ('method' in message && method === 'notifications/cancelled') {
      this.posts.get(String(message.params?.['requestId']))?.abort()
    }
    const post = new AbortController()
    const key = 'id' in message && 'method' in message ? String(message.id) : undefined
    if (key !== undefined) this.posts.set(key, post)
    try {
      const signal = AbortSignal.any([post.signal, this.lifetime.signal])
      const posted = await this.client.post(message, { signal, headers: options.headers })
      if (posted.kind === 'answer') this.deliver(posted.message)
      else drain(posted.reply.body, this.clock)
    } catch (error) {
      if (post.signal.aborted) return
      const server = this.options.serverName
      throw isCut(error) ? unanswered({ server, method, how: 'the connection was cut', cause: error }) : error
    } finally {
      if (key !== undefined) this.posts.delete(key)
    }
  }

  /** End everything. All callers share one promise; it never rejects. */
  close(): Promise<void> {
    this.closing ??= this.teardown()
    return this.closing
  }

  private async teardown(): Promise<void> {
    this.lifetime.abort(this.error('MCP_CONNECTION_CLOSED', 'the connection to the server is closed'))
    await this.agent.close()
    this.clock.close()
    this.onclose?.()
  }

  private take(event: EventSourceMessage): false {
    const { messages, problem } = messagesOf(event)
    if (problem !== undefined) this.note(`ignored on the event stream: ${problem}`)
    for (const message of messages) this.deliver(message)
    return false
  }

  private ended(end: StreamEnd): McpError {
    const { messageBytes } = this.options.limits
    const reason =
      end === 'too-large'
        ? this.error(
            'MCP_MESSAGE_TOO_LARGE',
            `a message is larger than limits.messageBytes allows (${messageBytes} bytes)`,
          )
        : this.error('MCP_CONNECTION_CLOSED', 'the event stream ended')
    this.fall(reason)
    return reason
  }

  private fall(reason: McpError): void {
    if (this.closing !== undefined) return
    this.reason = reason
    this.closing = this.teardown()
  }

  private deliver(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message)
    } catch (error) {
      this.onerror?.(error as Error)
    }
  }

  private error(code: McpErrorCode, text: string): McpError {
    const { serverName: server, redact } = this.options
    return new McpError(redact(text), { code, server, stage: 'connect' })
  }

  private note(text: string): void {
    if (this.noted) return
    this.noted = true
    this.options.onNote('debug', safeLine(text, this.options.redact, MAX_NOTE_CHARS))
  }
}
