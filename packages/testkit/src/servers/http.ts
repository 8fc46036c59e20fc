/**
 * Owns the scripted Streamable HTTP server: sessions and GET streams of the legacy revisions, plain POST of the modern.
 */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { answer, modernVersion } from '../answer.ts'
import type { Behaviour, ListKind, Params } from '../behaviour.ts'
import { behaviours } from '../behaviours/index.ts'
import type { BehaviourName } from '../behaviours/index.ts'
import { createConnection, createPeer } from '../peer.ts'
import type { Connection, Wire } from '../peer.ts'
import { event, openEventStream, postWire } from './http-wire.ts'
import type { ReplyMode } from './http-wire.ts'
import { openListener } from './listener.ts'
import type { HttpRequest, Intercept, Listener } from './listener.ts'

export interface HttpServerOptions {
  /** How a request is answered when nothing was sent before its answer. Default: json. */
  readonly reply?: ReplyMode
  /** Give a session id at initialize and ask for it. Default: true. */
  readonly sessions?: boolean
  /** Offer the GET stream; otherwise 405. Default: true. */
  readonly getStream?: boolean
  /** Default: /mcp. */
  readonly path?: string
  readonly intercept?: Intercept
  /** Go to the behaviour, when it is given by name. */
  readonly options?: Params
}

/** One legacy session. */
export interface HttpSession {
  readonly id: string
  readonly connection: Connection
  /** GET streams open now. */
  readonly streams: Set<ServerResponse>
}

export interface HttpServer {
  readonly url: string
  readonly origin: string
  readonly port: number
  /** Every request, in order of arrival. */
  readonly requests: readonly HttpRequest[]
  /** Live sessions by id. */
  readonly sessions: Map<string, HttpSession>
  /** Notes of the behaviour. */
  readonly notes: readonly { readonly name: string; readonly data?: unknown }[]
  /** Connections open now. */
  readonly socketCount: number
  /** Responses that have not ended: hanging calls, GET and listen streams. */
  readonly openResponses: ReadonlySet<ServerResponse>
  /** May be put in place or taken away at any time. */
  intercept: Intercept | undefined
  /** Say list_changed to every session and every subscription. */
  listChanged(kind?: ListKind): void
  /** A notification on every GET stream. */
  notify(method: string, params?: Params): void
  /** Reset every connection; sessions stay. */
  closeConnections(): void
  /** Forget every session and listen again on the same port, after `close` too. */
  restart(): Promise<void>
  close(): Promise<void>
}

const SESSION_HEADER = 'mcp-session-id'

function refuse(res: ServerResponse, status: number, message: string, code = -32000): void {
  res.writeHead(status, { 'content-type': 'application/json' })
  res.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }))
}

/** Start a server in this process on 127.0.0.1. */
export async function startHttpServer(
  given: Behaviour | BehaviourName = {},
  options: HttpServerOptions = {},
): Promise<HttpServer> {
  const path = options.path ?? '/mcp'
  const behaviour: Behaviour =
    typeof given === 'string' ? behaviours[given](options.options ?? {}, { starts: 1 }) : given
  const sessions = new Map<string, HttpSession>()
  /** Of the modern revision, and of legacy without sessions: what belongs to no session. */
  let shared = newSession('')
  const notes: { name: string; data?: unknown }[] = []
  const openResponses = new Set<ServerResponse>()

  function newSession(id: string): HttpSession {
    return { id, connection: createConnection(), streams: new Set() }
  }

  const allSessions = (): HttpSession[] => [...sessions.values(), shared]

  function broadcast({ streams }: HttpSession, message: unknown): void {
    for (const stream of streams) stream.write(event(message))
  }

  function wireOf(session: HttpSession, reply: Pick<Wire, 'send' | 'raw'>): Wire {
    return {
      transport: 'http',
      ...reply,
      broadcast: (message) => broadcast(session, message),
      exit: () => listener.closeConnections(),
      stderr: () => {},
      note: (name, data) => void notes.push({ name, data }),
    }
  }

  /** The session of a request; undefined when the request was refused. */
  function sessionOf({ headers, message }: HttpRequest, res: ServerResponse): HttpSession | undefined {
    const modern = message !== undefined && modernVersion(message) !== undefined
    const speaks = behaviour.era ?? 'legacy'
    if (speaks === 'modern' || (modern && speaks === 'dual') || options.sessions === false) {
      shared.connection.modern ||= modern && speaks !== 'legacy'
      return shared
    }
    const id = headers[SESSION_HEADER]
    if (typeof id === 'string') {
      const session = sessions.get(id)
      if (session === undefined) refuse(res, 404, 'Session not found', -32001)
      return session
    }
    if (message?.method !== 'initialize') {
      refuse(res, 400, 'Bad Request: Mcp-Session-Id header is required')
      return undefined
    }
    const session = newSession(randomUUID())
    sessions.set(session.id, session)
    return session
  }

  function post(session: HttpSession, res: ServerResponse, { message }: HttpRequest): void {
    if (message === undefined || Array.isArray(message)) return refuse(res, 400, 'Parse error', -32700)
    const { connection } = session
    const modern = modernVersion(message) !== undefined || behaviour.era === 'modern'
    const headers: Record<string, string> =
      session.id !== '' && message.method === 'initialize' ? { [SESSION_HEADER]: session.id } : {}
    const mode = options.reply ?? 'json'
    const peer = createPeer(wireOf(session, postWire({ res, mode, message, modern, headers })), connection)
    if (message.method === 'initialize') behaviour.onStart?.(peer)
    if (message.method === undefined) connection.outgoing.settle(message)
    if (message.method === undefined || message.id === undefined) res.writeHead(202).end()
    if (message.method === 'subscriptions/listen') {
      res.on(
        'close',
        () => message.id !== undefined && connection.subscriptions.delete(message.id ?? '', peer),
      )
    }
    if (message.method !== undefined) {
      void answer(behaviour, message, { peer, subscriptions: connection.subscriptions })
    }
  }

  function get(session: HttpSession, res: ServerResponse): void {
    if (options.getStream === false) return refuse(res, 405, 'Method not allowed')
    openEventStream(res)
    session.streams.add(res)
    res.on('close', () => session.streams.delete(res))
  }

  const handle: HttpServer = {
    get url() {
      return `${listener.origin}${path}`
    },
    get origin() {
      return listener.origin
    },
    get port() {
      return listener.port
    },
    get requests() {
      return listener.requests
    },
    get socketCount() {
      return listener.sockets.size
    },
    sessions,
    notes,
    openResponses,
    intercept: options.intercept,
    listChanged(kind = 'tools') {
      shared.connection.subscriptions.listChanged(kind)
      handle.notify(`notifications/${kind}/list_changed`)
    },
    notify(method, params) {
      const message = { jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) }
      for (const session of allSessions()) broadcast(session, message)
    },
    closeConnections: () => listener.closeConnections(),
    async restart() {
      await listener.close()
      sessions.clear()
      shared = newSession('')
      await listener.open()
    },
    close: () => listener.close(),
  }

  const listener: Listener = await openListener(async (req, res, request) => {
    openResponses.add(res)
    res.on('close', () => openResponses.delete(res))
    res.on('error', () => {})
    if ((await handle.intercept?.(req, res, request)) === true) return
    if (new URL(request.path, listener.origin).pathname !== path) return refuse(res, 404, 'Not found')
    if (behaviour.era === 'modern' && request.method !== 'POST') return refuse(res, 405, 'Method not allowed')
    const session = sessionOf(request, res)
    if (session === undefined) return
    if (request.method === 'POST') return post(session, res, request)
    if (request.method === 'GET') return get(session, res)
    if (request.method !== 'DELETE') return refuse(res, 405, 'Method not allowed')
    sessions.delete(session.id)
    for (const stream of session.streams) stream.end()
    res.writeHead(200).end()
  })
  return handle
}
