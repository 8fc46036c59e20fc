/**
 * Owns what is seen of the network while an HTTP server is examined: its address, the proxy in the way, the time to
 * connect, and the head of each reply. Listens to undici's own diagnostics channels; sends nothing itself but a DNS query.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { lookup } from 'node:dns/promises'
import { cleanLine } from '../../text.ts'
import type { HttpTarget } from '../../types.ts'
import type { HttpFacts, HttpReplyFacts } from './facts.ts'

/** What of an HTTP target says where it is and what is sent. */
type Reached = Pick<HttpTarget, 'url' | 'flavour' | 'headers'>
type Environment = Readonly<Record<string, string | undefined>>

const DNS_LIMIT_MS = 5_000
const MAX_HEADER_CHARS = 200

export interface Address {
  /** Absent where the name has none. */
  readonly address?: string
  /** Code of the failure, such as ENOTFOUND. */
  readonly error?: string
}

/** Look up the host of a URL, as the connection will. Never rejects. */
export async function resolveHost(url: URL, find = lookup, limitMs = DNS_LIMIT_MS): Promise<Address> {
  const limit = AbortSignal.timeout(limitMs)
  const late = Promise.withResolvers<Address>()
  const giveUp = (): void => late.resolve({ error: 'ETIMEOUT' })
  limit.addEventListener('abort', giveUp, { once: true })
  const found = find(url.hostname.replace(/^\[|\]$/g, '')).then(
    ({ address }): Address => ({ address }),
    (error: NodeJS.ErrnoException): Address => ({ error: String(error.code) }),
  )
  const first = await Promise.race([found, late.promise])
  limit.removeEventListener('abort', giveUp)
  return first
}

/** What the row itself says of an HTTP target, and the proxy that the connection goes through. Pure. */
export function httpFacts({ url, flavour, headers }: Reached, env: Environment): HttpFacts {
  const { protocol, hostname, host, pathname } = new URL(url)
  const proxy = proxyOf(protocol, hostname, host, env)
  return {
    kind: 'http',
    url,
    host,
    path: pathname,
    flavour,
    isSecure: protocol === 'https:',
    hasAuthorization: Object.keys(headers).some((name) => /^authorization$|key|token/i.test(name)),
    ...(proxy === undefined ? {} : { proxy }),
  }
}

function proxyOf(protocol: string, hostname: string, host: string, env: Environment): string | undefined {
  const http = env['http_proxy'] ?? env['HTTP_PROXY'] ?? ''
  const https = env['https_proxy'] ?? env['HTTPS_PROXY'] ?? ''
  const proxy = protocol === 'https:' ? https || http : http
  const isLocal = /^(?:localhost|127\..*|\[::1\]|.*\.localhost)$/.test(hostname)
  if (proxy === '' || isLocal) return undefined
  const except = (env['no_proxy'] ?? env['NO_PROXY'] ?? '').split(/[\s,]+/).filter((entry) => entry !== '')
  const isExcepted = except.some((entry) => {
    const name = entry.replace(/^\*?\./, '')
    return entry === '*' || entry === host || hostname === name || hostname.endsWith(`.${name}`)
  })
  return isExcepted ? undefined : (URL.parse(proxy)?.host ?? 'a value that is no URL')
}

export interface NetworkWatch {
  /** Milliseconds of the first connection, once there is one. */
  connectMs(): number | undefined
  /** Code of a connection that did not come about. */
  connectError(): string | undefined
  reply(): HttpReplyFacts | undefined
  stop(): void
}

interface HeadersEvent {
  readonly request: { readonly origin?: unknown }
  readonly response: { readonly statusCode: number; readonly headers: readonly Buffer[] }
}

/** Listen until `stop()`. One server is examined at a time, so whatever is heard is its. */
export function watchNetwork(now: () => number): NetworkWatch {
  let began: number | undefined
  let connectMs: number | undefined
  let connectError: string | undefined
  let reply: HttpReplyFacts | undefined
  const listeners: Record<string, (event: unknown) => void> = {
    'undici:client:beforeConnect': () => (began ??= now()),
    'undici:client:connected': () => (connectMs ??= now() - Number(began)),
    'undici:client:connectError': (event) => {
      connectError = String((event as { error: { code?: string } }).error.code)
    },
    'undici:request:headers': (event) => (reply = replyOf(event as HeadersEvent)),
  }
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener)
  return {
    connectMs: () => connectMs,
    connectError: () => connectError,
    reply: () => reply,
    stop() {
      for (const [channel, listener] of Object.entries(listeners)) unsubscribe(channel, listener)
    },
  }
}

function replyOf({ response: { statusCode, headers } }: HeadersEvent): HttpReplyFacts {
  const challenge = headerIn(headers, 'www-authenticate')
  return {
    status: statusCode,
    contentType: headerIn(headers, 'content-type')?.split(';')[0]?.trim().toLowerCase() ?? '',
    ...(challenge === undefined ? {} : { challenge }),
  }
}

/** Names and values take turns in the list. */
function headerIn(headers: readonly Buffer[], name: string): string | undefined {
  const at = headers.findIndex((text, index) => index % 2 === 0 && String(text).toLowerCase() === name)
  return at < 0 ? undefined : cleanLine(String(headers[at + 1]), MAX_HEADER_CHARS)
}
