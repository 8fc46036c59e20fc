/**
 * Owns the Streamable HTTP connection of one session, as a transport for the SDK's client: which message goes which
 * way, the requests in flight, the notification stream, and the end. Why not the SDK's own transport: see
 * docs/decisions/0005-own-http-transport.md.
 */
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client'
import { SYSTEM_CLOCK } from '../clock.ts'
import { McpError, isMcpError, messageOf } from '../errors.ts'
import type { McpErrorCode } from '../errors.ts'
import { fromForeign } from '../foreign.ts'
import { safeLine } from '../text.ts'
import type { SessionDiagnostics } from '../types.ts'
import { HttpAgent } from './http-agent.ts'
import { drain } from './http-body.ts'
import { HttpClient } from './http-client.ts'
import type { PostOptions } from './http-client.ts'
import { Exchange } from './http-exchange.ts'
import { repeatHandshake } from './http-handshake.ts'
import { isModern, isModernRevision } from './http-headers.ts'
import { isAnswer } from './http-message.ts'
import { HttpListener } from './http-listener.ts'
import { checkedUrl } from './http-options.ts'
import type { HttpOptions } from './http-options.ts'
import { HttpSession } from './http-session.ts'
import { OwnedClock, bounded } from './http-wait.ts'
import { withOrigin } from './origin.ts'

/** Bounds of a notification, of making a new session, and of ending it at the server, in milliseconds. */
const NOTIFY_TIMEOUT_MS = 10_000
const REOPEN_TIMEOUT_MS = 15_000
const DELETE_TIMEOUT_MS = 1_000
const MAX_NOTE_CHARS = 500

export type { Authorizer } from './http-client.ts'
export type { HttpOptions } from './http-options.ts'

/** What tests and status may see of the connection, besides what every transport tells. */
export interface HttpDiagnostics extends SessionDiagnostics {
  /** Requests in flight. */
  readonly exchanges: number
  /** Whether the notification stream is open. */
  readonly listening: boolean
}

export class HttpTransport implements Transport {
  /** Tells the SDK that aborting `requestSignal` breaks off one request alone. */
  readonly hasPerRequestStream = true
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void
  private readonly options: HttpOptions
  private readonly clock: OwnedClock
  private readonly agent: HttpAgent
  private readonly session: HttpSession
  private readonly client: HttpClient
  private readonly listener: HttpListener
  private readonly exchanges = new Map<string, Exchange>()
  /** Everything that was sent and has not settled. */
  private readonly sends = new Set<Promise<void>>()
  /** Ends what is not an exchange: notifications on their way, a session being made. */
  private readonly lifetime = new AbortController()
  private reopened = 0
  private closing: Promise<void> | undefined
  private reason: McpError | undefined

  /** Does no I/O. Throws MCP_CONFIG_INVALID for a URL that is not http(s), or has user info. */
  constructor(options: HttpOptions) {
    const { serverName, limits, random = Math.random, epoch = Date.now, env = process.env } = options
    const url = checkedUrl(options)
    const clock = new OwnedClock(options.clock ?? SYSTEM_CLOCK)
    this.options = options
    this.clock = clock
    this.agent = new HttpAgent(url, { serverName, clock, env })
    this.session = new HttpSession(serverName, (handshake) => this.reopen(handshake))
    this.client = new HttpClient(
      {
        ...options,
        url: () => url,
        clock,
        epoch,
        authorizer: options.authorizer,
        onOutage: (error) => this.outage(error),
      },
      this.agent,
      this.session,
    )
    this.listener = new HttpListener({
      client: this.client,
      clock,
      random,
      maxChars: limits.messageBytes,
      onMessage: (message) => this.hear(message),
      onReopened: () => options.onResync(false),
      onSessionLost: () => this.heal(),
      onNote: (text) => this.note('debug', text),
    })
  }

  get sessionId(): string | undefined {
    return this.session.sessionId
  }

  /** Why the transport ended by itself, if it has. */
  get downReason(): McpError | undefined {
    return this.reason
  }

  setProtocolVersion(version: string): void {
    this.session.revision = version
  }

  diagnostics(): HttpDiagnostics {
    return { exchanges: this.exchanges.size, listening: this.listener.isOpen }
  }

  async start(): Promise<void> {
    if (this.closing !== undefined) throw this.closed()
  }

  /**
   * Send one message. A request settles with its exchange: rejects when there will be no answer. Anything else settles
   * when the server took it.
   */
  send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    const work = this.dispatch(message, options)
    const over = (): void => void this.sends.delete(work)
    this.sends.add(work)
    work.then(over, over)
    return work
  }

  private async dispatch(message: JSONRPCMessage, options: TransportSendOptions): Promise<void> {
    if (this.closing !== undefined) throw this.closed()
    try {
      if ('method' in message && 'id' in message) return await this.exchange(message, options)
      if ('method' in message && message.method === 'notifications/cancelled') {
        this.exchanges.get(String(message.params?.['requestId']))?.end('cancelled')
        // In a modern era the end of the reply stream is the whole message.
        if (isModernRevision(this.session.revision)) return
      }
      await this.notify(message, options)
    } catch (error) {
      if (isMcpError(error) && error.code === 'MCP_SESSION_LOST') this.fall(error)
      throw error
    }
  }

  /** End the session at the server, within a second. A server that cannot or will not is left alone. */
  async terminateSession(): Promise<void> {
    const deleting = new AbortController()
    const cancel = this.clock.after(DELETE_TIMEOUT_MS, () => deleting.abort())
    await this.client.delete(deleting.signal).catch((error: unknown) => {
      this.note('debug', `the session was not ended at the server: ${messageOf(error)}`)
    })
    cancel()
  }

  /** End everything. All callers share one promise; it never rejects and takes a few seconds at worst. */
  close(): Promise<void> {
    this.closing ??= this.teardown(true)
    return this.closing
  }

  private async teardown(endSession: boolean): Promise<void> {
    this.listener.stop()
    this.lifetime.abort(this.closed())
    for (const exchange of this.exchanges.values()) exchange.end('closed')
    if (endSession) await this.terminateSession()
    await this.agent.close()
    // Each request has its own error before the client gives up what is left.
    await Promise.allSettled(this.sends)
    this.clock.close()
    this.onclose?.()
  }

  private async exchange(request: JSONRPCRequest, options: TransportSendOptions): Promise<void> {
    const origin = withOrigin(request.id)
    const exchange = this.createExchange(request, (message) => this.deliver(message, origin))
    const key = String(request.id)
    this.exchanges.set(key, exchange)
    try {
      await exchange.run(options)
    } finally {
      this.exchanges.delete(key)
    }
  }

  private createExchange(request: JSONRPCRequest, deliver: (message: JSONRPCMessage) => void): Exchange {
    const { sdk, serverName, limits, random = Math.random } = this.options
    return new Exchange(request, {
      sdk,
      serverName,
      client: this.client,
      clock: this.clock,
      random,
      messageBytes: limits.messageBytes,
      deliver,
      onNote: (text) => this.note('debug', text),
      onHandshake: (reply) => this.session.adopt(reply.headers, request),
      isListening: () => this.listener.isOpen,
    })
  }

  private async notify(message: JSONRPCMessage, { headers }: TransportSendOptions): Promise<void> {
    const what = 'method' in message ? message.method : 'an answer'
    await this.bounded(NOTIFY_TIMEOUT_MS, what, async (signal) => this.tell(message, { signal, headers }))
    const isReady =
      'method' in message && message.method === 'notifications/initialized' && !isModern(message)
    if (isReady && this.closing === undefined) this.listener.start()
  }

  private async tell(message: JSONRPCMessage, options: PostOptions): Promise<void> {
    const posted = await this.client.post(message, options)
    if (posted.kind === 'reply') drain(posted.reply.body, this.clock)
  }

  private async reopen(handshake: JSONRPCRequest): Promise<void> {
    this.reopened += 1
    const request = { ...handshake, id: `dsh-session-${this.reopened}` }
    await this.bounded(REOPEN_TIMEOUT_MS, 'initialize', (signal) =>
      repeatHandshake({
        request,
        revision: this.session.revision,
        signal,
        clean: (text) => safeLine(text, this.options.redact, MAX_NOTE_CHARS),
        createExchange: (again, deliver) => this.createExchange(again, deliver),
        deliver: (message) => this.deliver(message),
        tell: (message, signal) => this.tell(message, { signal, handshake: true }),
      }),
    )
    // A close may have come between the last step and here: nothing is opened after it.
    this.lifetime.signal.throwIfAborted()
    this.note('info', 'the server had lost the session; a new one was made')
    this.listener.start()
    this.options.onResync(true)
  }

  private bounded(
    timeoutMs: number,
    what: string,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const error = (): McpError =>
      this.error('MCP_CONNECT_TIMEOUT', `the server did not take ${what} within ${timeoutMs} ms`)
    return bounded({ timeoutMs, error, lifetime: this.lifetime.signal, clock: this.clock }, work)
  }

  /** A message on the notification stream. An answer there may belong to any request in flight. */
  private hear(message: JSONRPCMessage): void {
    if (!isAnswer(message)) this.deliver(message)
    else if (this.exchanges.get(String(message.id))?.takeElsewhere(message) !== true) {
      this.note('debug', 'ignored on the notification stream: an answer to nothing that was asked')
    }
  }

  private heal(): void {
    const { sessionId } = this.session
    if (sessionId === undefined) return
    this.session.heal(sessionId).catch((error: unknown) => this.fall(error as McpError))
  }

  private outage(error: unknown): void {
    const { serverName: server, redact } = this.options
    this.fall(fromForeign(error, { server, stage: 'connect', redact }))
  }

  /** End by ourselves: the connection is of no more use. */
  private fall(reason: McpError): void {
    if (this.closing !== undefined) return
    this.reason = reason
    this.closing = this.teardown(false)
  }

  private deliver(message: JSONRPCMessage, extra?: MessageExtraInfo): void {
    try {
      this.onmessage?.(message, extra)
    } catch (error) {
      this.onerror?.(error as Error)
    }
  }

  private closed(): McpError {
    return this.error('MCP_CONNECTION_CLOSED', 'the connection to the server is closed')
  }

  private error(code: McpErrorCode, text: string, data: Readonly<Record<string, unknown>> = {}): McpError {
    const { serverName: server, redact } = this.options
    return new McpError(redact(text), { code, server, stage: 'connect', data })
  }

  private note(level: 'debug' | 'info', text: string): void {
    this.options.onNote(level, safeLine(text, this.options.redact, MAX_NOTE_CHARS))
  }
}
