/**
 * Owns one loopback listener that can go away and come back on the same port, and the log of what it was asked.
 */
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Message } from '../behaviour.ts'

/** One request as it came, before anything was answered. */
export interface HttpRequest {
  readonly method: string
  /** Path with query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Body as text. */
  readonly body: string
  /** The body as JSON-RPC, when it is JSON. */
  readonly message?: Message
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** Answers a request by hand; `true` means: dealt with (now or later). */
export type Intercept = (
  req: IncomingMessage,
  res: ServerResponse,
  request: HttpRequest,
) => boolean | undefined | Promise<boolean | undefined>

export interface Listener {
  readonly origin: string
  readonly port: number
  readonly requests: HttpRequest[]
  /** Connections open now. */
  readonly sockets: ReadonlySet<Socket>
  /** Reset every connection. */
  closeConnections(): void
  /** Stop listening and reset every connection. */
  close(): Promise<void>
  /** Listen again on the same port. */
  open(): Promise<void>
}

type Serve = (req: IncomingMessage, res: ServerResponse, request: HttpRequest) => void | Promise<void>

/** Listen on a free port of 127.0.0.1. */
export async function openListener(serve: Serve): Promise<Listener> {
  const requests: HttpRequest[] = []
  const sockets = new Set<Socket>()
  let port = 0
  let server: Server | undefined

  async function take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const request = await readRequest(req)
    requests.push(request)
    await serve(req, res, request)
  }

  async function open(): Promise<void> {
    // A cut connection while a body is read is a fault under test, not one of the kit.
    server = createServer((req, res) => void take(req, res).catch(() => req.socket.destroy()))
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      socket.on('error', () => {})
    })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
    await promise
    port = (server.address() as AddressInfo).port
  }

  function closeConnections(): void {
    for (const socket of sockets) socket.resetAndDestroy()
  }

  await open()
  return {
    get origin() {
      return `http://127.0.0.1:${port}`
    },
    get port() {
      return port
    },
    requests,
    sockets,
    closeConnections,
    async close() {
      const closing = server
      server = undefined
      if (closing === undefined) return
      const closed = new Promise((resolve) => closing.close(resolve))
      closeConnections()
      await closed
    },
    open,
  }
}

async function readRequest(req: IncomingMessage): Promise<HttpRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks).toString('utf8')
  const base = { method: req.method ?? '', path: req.url ?? '', headers: req.headers, body, at: Date.now() }
  try {
    return { ...base, message: JSON.parse(body) as Message }
  } catch {
    return base
  }
}
