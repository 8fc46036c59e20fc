/**
 * Owns the requests to addresses that a server named: the rule for addresses at each connection, no redirect to another
 * origin, a limit on time and size. Gives the SDK what it knows as fetch.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import { fetch as request } from 'undici'
import { createGuardedAgent, urlFault } from '../connection/address-guard.ts'
import { McpError, isMcpError, messageOf } from '../errors.ts'
import { isLoopback } from './loopback.ts'

export interface MetadataFetch {
  readonly fetch: FetchLike
  close(): Promise<void>
}

const LIMIT_MS = 15_000
const CONNECT_MS = 10_000
const MAX_BYTES = 1024 * 1024

/** `named`: URLs that the row names besides that of the server. */
export function createMetadataFetch(
  serverName: string,
  serverUrl: URL,
  ...named: readonly (string | undefined)[]
): MetadataFetch {
  const trustedOrigins = [serverUrl.href, ...named].flatMap((url) =>
    url === undefined ? [] : new URL(url).origin,
  )
  // A server on this machine names others on this machine: whoever wrote the row runs both.
  const isLocal = isLoopback(serverUrl.hostname)
  const refuse = (why: string): McpError =>
    new McpError(`authorization failed: the server names an address that is not asked: ${why}`, {
      code: 'MCP_AUTH_FAILED',
      server: serverName,
      stage: 'auth',
    })
  const originsFor = (url: URL): readonly string[] =>
    isLocal && isLoopback(url.hostname) ? [...trustedOrigins, url.origin] : trustedOrigins
  const agents = new Map<string, ReturnType<typeof createGuardedAgent>>()
  const agentFor = (url: URL): ReturnType<typeof createGuardedAgent> => {
    const agent =
      agents.get(url.origin) ??
      createGuardedAgent({ trustedOrigins: originsFor(url), refuse, connectTimeoutMs: CONNECT_MS })
    agents.set(url.origin, agent)
    return agent
  }

  /** Never a TypeError: the SDK takes those for what a browser forbids, and goes on without the answer. */
  const unreached = (url: URL, error: unknown): McpError => {
    const { cause } = error as Error
    // The guard refuses while a connection is made, too.
    const own = [error, cause].find(isMcpError)
    if (own !== undefined) return own
    const why = [cause, error].filter((one) => one !== undefined).map(messageOf)[0]
    return new McpError(`authorization is not possible now: ${url.host} cannot be reached: ${why}`, {
      code: 'MCP_HTTP_UNAVAILABLE',
      server: serverName,
      stage: 'auth',
    })
  }

  async function ask(url: URL, init: RequestInit | undefined): Promise<Response> {
    const fault = urlFault(url, originsFor(url))
    if (fault !== undefined) throw refuse(fault)
    const limit = AbortSignal.timeout(LIMIT_MS)
    const reply = await request(url, {
      method: init?.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init?.headers)),
      ...(init?.body === undefined ? {} : { body: String(init.body) }),
      redirect: 'manual',
      signal: limit,
      dispatcher: agentFor(url),
    })
    const body = await readBody(reply.body)
    if (body === undefined) throw refuse('its answer is too large')
    const headers = new Headers([...reply.headers])
    // They are of the bytes on the wire, which undici has inflated.
    for (const name of ['content-encoding', 'content-length']) headers.delete(name)
    const isBare = reply.status === 204 || reply.status === 304
    return new Response(isBare ? null : body, { status: reply.status, headers })
  }

  return {
    async fetch(input, init) {
      const url = new URL(String(input))
      try {
        return await ask(url, init)
      } catch (error) {
        throw unreached(url, error)
      }
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()))
    },
  }
}

async function readBody(
  body: AsyncIterable<Uint8Array> | null,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  if (body !== null) {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > MAX_BYTES) return undefined
      chunks.push(chunk)
    }
  }
  return new Uint8Array(Buffer.concat(chunks))
}
