/**
 * Owns the sockets to one HTTP server: the undici dispatchers, the proxy of the environment, and redirects, which are
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
  private readonly calls: Dispatcher
  private readonly streams: Dispatcher
  private readonly options: AgentOptions
  /** Where permanent redirects lead, by address. */
  private readonly moved = new Map<string, URL>()
  private closing: Promise<void> | undefined

  constructor(url: URL, options: AgentOptions) {
    this.options = options
    this.calls = createDispatcher(url, options, false)
    this.streams = createDispatcher(url, options, true)
  }

  /** One request, through at most five redirects within the origin, each with the same method, headers and body. */
  async request(request: HttpRequest): Promise<HttpReply> {
    const dispatcher = request.background === true ? this.streams : this.calls
    let url = this.moved.get(request.url.href) ?? request.url
    for (let hops = 0; ; hops += 1) {
      const { statusCode, headers, body } = await dispatcher.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        signal: request.signal,
      })
      const reply = { status: statusCode, headers, body }
      const next = this.redirected(url, reply)
      if (next === undefined) return reply
      drain(body, this.options.clock)
      if (hops === MAX_HOPS) throw this.refusal(statusCode, `redirects more than ${MAX_HOPS} times`)
      if (statusCode === 301 || statusCode === 308) this.moved.set(request.url.href, next)
      url = next
    }
  }

  /** End every socket and request. All callers share one promise; it never rejects. */
  close(): Promise<void> {
    this.closing ??= this.destroy()
    return this.closing
  }

  private async destroy(): Promise<void> {
    let cancel = (): void => undefined
    const late = new Promise<void>(
      (resolve) => (cancel = this.options.clock.after(DESTROY_TIMEOUT_MS, resolve)),
    )
    await Promise.race([late, Promise.allSettled([this.calls.destroy(), this.streams.destroy()])])
    cancel()
  }

  private redirected(from: URL, { status, headers, body }: HttpReply): URL | undefined {
    if (![301, 302, 303, 307, 308].includes(status)) return undefined
    const location = headerOf(headers, 'location')
    const target = location === undefined ? null : URL.parse(location, from.href)
    const why =
      target === null
        ? 'redirects without saying where to'
        : target.origin !== from.origin
          ? `redirects to another origin, ${originOf(target)}, which is not followed; if that is right, write it into url`
          : status === 303
            ? 'redirects to a page to read instead of answering'
            : undefined
    if (target !== null && why === undefined) return target
    drain(body, this.options.clock)
    throw this.refusal(status, why ?? '', target)
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

/** An opaque origin is told by its scheme. */
function originOf(url: URL): string {
  return url.origin === 'null' ? url.protocol : url.origin
}

/** Nothing is connected before the first request. Throws McpError when a proxy variable is no URL. */
function createDispatcher(url: URL, { env, serverName }: AgentOptions, background: boolean): Dispatcher {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false })
  const common = { headersTimeout: 0, bodyTimeout: 0, allowH2: false }
  const httpProxy = env['http_proxy'] ?? env['HTTP_PROXY'] ?? ''
  const httpsProxy = env['https_proxy'] ?? env['HTTPS_PROXY'] ?? ''
  if ((httpProxy === '' && httpsProxy === '') || isLoopback(url.hostname)) {
    return new Agent({ ...common, connect: background ? unreferenced(connect) : connect })
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

/** undici references a socket again for each request; a stream that waits for news must not hold the process. */
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
