/**
 * Owns the sockets to one HTTP server: the undici dispatcher, the proxy of the environment, and redirects, which are
 * followed by hand and never leave the origin. No time limit but that for connecting: an answer may take an hour, and
 * the limits of calls are elsewhere.
 */
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { Agent, EnvHttpProxyAgent, buildConnector } from 'undici'
import type { Dispatcher } from 'undici'
import type { Clock } from '../clock.ts'
import { McpError } from '../errors.ts'
import { drain } from './http-body.ts'
import { headerOf } from './http-headers.ts'
import type { ReplyHeaders } from './http-headers.ts'

const CONNECT_TIMEOUT_MS = 10_000
const MAX_HOPS = 5
/** The longest delay a timer takes. */
const LONG_MS = 2 ** 31 - 1
/** Longest wait for the sockets to confirm their end. */
const DESTROY_TIMEOUT_MS = 1_000

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  /** A stream that stays open for long: it does not keep the process alive. */
  readonly background?: boolean
}

export interface HttpReply {
  readonly status: number
  readonly headers: ReplyHeaders
  /** Must be read, drained or destroyed. */
  readonly body: Readable
}

export type Environment = Readonly<Record<string, string | undefined>>

export interface AgentOptions {
  readonly serverName: string
  readonly clock: Clock
  /** Where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are read. */
  readonly env: Environment
}

/** Makes requests to one server. Rejects with the errors of Node and undici, or McpError for a refused redirect. */
export class HttpAgent {
  private readonly dispatcher: Dispatcher
  private readonly options: AgentOptions
  /** Where permanent redirects lead, by address. */
  private readonly moved = new Map<string, URL>()
  /** Requests that people wait for, and what keeps the process alive meanwhile. */
  private awaited = 0
  private hold: NodeJS.Timeout | undefined
  private closing: Promise<void> | undefined

  constructor(url: URL, options: AgentOptions) {
    this.options = options
    this.dispatcher = createDispatcher(url, options)
  }

  /** One request, through at most five redirects within the origin, each with the same method, headers and body. */
  async request(request: HttpRequest): Promise<HttpReply> {
    let url = this.moved.get(request.url.href) ?? request.url
    let reply = await this.ask(url, request)
    let next = this.redirected(url, reply)
    for (let hops = 0; next !== undefined; hops += 1) {
      drain(reply.body, this.options.clock)
      if (hops === MAX_HOPS) throw this.refusal(reply.status, `redirects more than ${MAX_HOPS} times`)
      if (reply.status === 301 || reply.status === 308) this.moved.set(request.url.href, next)
      url = next
      reply = await this.ask(url, request)
      next = this.redirected(url, reply)
    }
    return reply
  }

  private async ask(url: URL, request: HttpRequest): Promise<HttpReply> {
    const release = request.background === true ? undefined : this.holdProcess()
    try {
      const { statusCode, headers, body } = await this.dispatcher.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        signal: request.signal,
      })
      if (release !== undefined) body.once('close', release)
      return { status: statusCode, headers, body }
    } catch (error) {
      release?.()
      throw error
    }
  }

  /** The sockets themselves do not keep the process alive: a stream that waits for news must not. */
  private holdProcess(): () => void {
    this.hold ??= setInterval(() => undefined, LONG_MS)
    this.awaited += 1
    return () => {
      this.awaited -= 1
      if (this.awaited > 0) return
      clearInterval(this.hold)
      this.hold = undefined
    }
  }

  /** End every socket and request. All callers share one promise; it never rejects. */
  close(): Promise<void> {
    this.closing ??= this.destroy()
    return this.closing
  }

  private async destroy(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = this.options.clock.after(DESTROY_TIMEOUT_MS, late.resolve)
    await Promise.race([late.promise, this.dispatcher.destroy()])
    cancel()
  }

  private redirected(from: URL, { status, headers, body }: HttpReply): URL | undefined {
    if (![301, 302, 303, 307, 308].includes(status)) return undefined
    const location = headerOf(headers, 'location')
    const target = location === undefined ? null : URL.parse(location, from.href)
    if (target !== null && target.origin === from.origin && status !== 303) return target
    drain(body, this.options.clock)
    throw this.refusal(status, reasonNotToFollow(from, target), target)
  }

  private refusal(status: number, what: string, target?: URL | null): McpError {
    return new McpError(`the server ${what} (HTTP ${status})`, {
      code: 'MCP_HTTP_REJECTED',
      server: this.options.serverName,
      stage: 'connect',
      data: { status, ...(target ? { redirect: originOf(target) } : {}) },
    })
  }
}

function reasonNotToFollow(from: URL, target: URL | null): string {
  if (target === null) return 'redirects without saying where to'
  if (target.origin === from.origin) return 'redirects to a page to read instead of answering'
  return `redirects to another origin, ${originOf(target)}, which is not followed; if that is right, write it into url`
}

/** An opaque origin is told by its scheme. */
function originOf(url: URL): string {
  return url.origin === 'null' ? url.protocol : url.origin
}

/** Nothing is connected before the first request. Throws McpError when a proxy variable is no URL. */
function createDispatcher(url: URL, { env, serverName }: AgentOptions): Dispatcher {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false })
  const common = { headersTimeout: 0, bodyTimeout: 0, allowH2: false }
  const httpProxy = env['http_proxy'] ?? env['HTTP_PROXY'] ?? ''
  const httpsProxy = env['https_proxy'] ?? env['HTTPS_PROXY'] ?? ''
  if ((httpProxy === '' && httpsProxy === '') || isLoopback(url.hostname)) {
    return new Agent({ ...common, connect: unreferenced(connect) })
  }
  const noProxy = env['no_proxy'] ?? env['NO_PROXY'] ?? ''
  try {
    return new EnvHttpProxyAgent({
      ...common,
      connectTimeout: CONNECT_TIMEOUT_MS,
      httpProxy,
      httpsProxy,
      noProxy,
    })
  } catch (cause) {
    throw new McpError('HTTP_PROXY or HTTPS_PROXY is not the URL of a proxy', {
      code: 'MCP_CONFIG_INVALID',
      server: serverName,
      stage: 'config',
      cause,
    })
  }
}

/** No proxy reaches what is local to this machine. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    hostname.startsWith('127.')
  )
}

type Connector = ReturnType<typeof buildConnector>

/** undici references a socket again for each request; here {@link HttpAgent} says what holds the process. */
function unreferenced(connect: Connector): Connector {
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error !== null) return callback(error, null)
      const plain: Socket = socket
      plain.unref()
      plain.ref = () => plain
      callback(null, socket)
    })
}
