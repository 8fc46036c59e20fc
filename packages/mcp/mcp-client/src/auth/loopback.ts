/**
 * Owns the address on this machine that a login page comes back to. Bound to 127.0.0.1, one path, one method; a request
 * with another Host is refused, so that no web page reaches it under a name of its own.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Loopback {
  /** What is registered as the redirect address. */
  readonly redirectUrl: string
  close(): Promise<void>
}

export interface LoopbackOptions {
  /** 0 for any that is free. */
  readonly port: number
  /** The parameters that came; what it throws is told to the person as "did not work". */
  readonly onAnswer: (params: URLSearchParams) => Promise<void>
}

const PATH = '/callback'
const MAX_HEADER_BYTES = 16 * 1024
const REQUEST_MS = 10_000
const MAX_CONNECTIONS = 16

/** Listen. Rejects with the system's error where the port is taken. */
export async function openLoopback({ port, onAnswer }: LoopbackOptions): Promise<Loopback> {
  // Loaded here: whoever imports it loads Node's fetch as well, some 20 ms that no start without a login needs.
  const { createServer } = await import('node:http')
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: REQUEST_MS,
    keepAlive: false,
  })
  server.maxConnections = MAX_CONNECTIONS
  let host = ''
  server.on('request', (request, response) => void answer(request, response))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume()
    const url = URL.parse(String(request.url), `http://${host}`)
    if (request.headers.host !== host) return page(response, 400, 'This is not the address of a login.')
    if (request.method !== 'GET' || url?.pathname !== PATH) return page(response, 404, 'Nothing is here.')
    try {
      await onAnswer(url.searchParams)
      page(response, 200, 'You are logged in. You can close this window.')
    } catch {
      // What went wrong is told where the login was asked for; the page may be anybody's.
      page(response, 400, 'The login did not work. Look where you started it.')
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
  // A waiting login must not keep a host alive that is done.
  server.unref()
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    redirectUrl: `http://${host}${PATH}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function page(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
    connection: 'close',
  })
  response.end(`<!doctype html><meta charset="utf-8"><title>MCP login</title><p>${words}</p>\n`)
}

/** Whether a host name is this machine itself. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
