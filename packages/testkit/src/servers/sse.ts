/**
 * Owns the scripted HTTP+SSE server of revision 2024-11-05: GET /sse names the endpoint, POST /messages takes messages,
 * every answer comes on the stream.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { answer } from '../answer.ts'
import type { Behaviour, Peer } from '../behaviour.ts'
import { createConnection, createPeer } from '../peer.ts'
import type { Connection } from '../peer.ts'
import { event, openEventStream } from './http-wire.ts'
import { openListener } from './listener.ts'
import type { HttpRequest, Intercept, Listener } from './listener.ts'

export interface SseServerOptions {
  /** What the endpoint event says. Default: `/messages?sessionId=<id>`. */
  readonly endpoint?: (sessionId: string) => string
  readonly intercept?: Intercept
}

export interface SseServer {
  readonly url: string
  readonly origin: string
  readonly requests: readonly HttpRequest[]
  /** Streams open now. */
  readonly streamCount: number
  intercept: Intercept | undefined
  listChanged(): void
  closeConnections(): void
  restart(): Promise<void>
  close(): Promise<void>
}

interface Stream {
  readonly res: ServerResponse
  readonly peer: Peer
  readonly connection: Connection
}

/** Start a server in this process on 127.0.0.1. */
export async function startSseServer(
  behaviour: Behaviour = {},
  options: SseServerOptions = {},
): Promise<SseServer> {
  const streams = new Map<string, Stream>()

  function openStream(res: ServerResponse): void {
    const id = randomUUID()
    const connection = createConnection()
    const send = (message: unknown): void => void res.write(event(message))
    const peer = createPeer(
      {
        transport: 'sse',
        send,
        broadcast: send,
        async raw(data) {
          if (!res.write(data)) await Promise.race([once(res, 'drain'), once(res, 'close')])
        },
        exit: () => listener.closeConnections(),
        stderr: () => {},
        note: () => {},
      },
      connection,
    )
    streams.set(id, { res, peer, connection })
    res.on('close', () => streams.delete(id))
    openEventStream(res)
    res.write(event(options.endpoint?.(id) ?? `/messages?sessionId=${id}`, 'endpoint'))
    behaviour.onStart?.(peer)
  }

  function take(res: ServerResponse, { path, message }: HttpRequest): void {
    const stream = streams.get(new URL(path, listener.origin).searchParams.get('sessionId') ?? '')
    if (stream === undefined || message === undefined) return void res.writeHead(404).end('No such session')
    res.writeHead(202).end('Accepted')
    const { peer, connection } = stream
    if (message.method === undefined) connection.outgoing.settle(message)
    else void answer(behaviour, message, { peer, subscriptions: connection.subscriptions })
  }

  const handle: SseServer = {
    get url() {
      return `${listener.origin}/sse`
    },
    get origin() {
      return listener.origin
    },
    get requests() {
      return listener.requests
    },
    get streamCount() {
      return streams.size
    },
    intercept: options.intercept,
    listChanged() {
      for (const { peer } of streams.values()) peer.listChanged()
    },
    closeConnections: () => listener.closeConnections(),
    async restart() {
      await listener.close()
      await listener.open()
    },
    close: () => listener.close(),
  }

  const listener: Listener = await openListener(async (req, res, request) => {
    res.on('error', () => {})
    if ((await handle.intercept?.(req, res, request)) === true) return
    const { pathname } = new URL(request.path, listener.origin)
    if (pathname === '/sse' && request.method === 'GET') return openStream(res)
    if (pathname === '/messages' && request.method === 'POST') return take(res, request)
    res.writeHead(pathname === '/sse' ? 405 : 404).end()
  })
  return handle
}
