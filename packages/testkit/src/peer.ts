/**
 * Owns the peer over a wire, and what a connection remembers: requests to the client that wait, and subscriptions.
 */
import type { ListKind, Message, Params, Peer, Request, RequestId } from './behaviour.ts'

/** What a transport gives. */
export interface Wire {
  readonly transport: Peer['transport']
  /** A message that belongs to the request at hand. */
  send(message: unknown): void
  /** A message that belongs to no request. */
  broadcast(message: unknown): void
  raw(data: string | Uint8Array): Promise<void>
  exit(code: number): void
  stderr(text: string): void
  note(name: string, data?: unknown): void
}

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'
const FILTER = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
} as const satisfies Record<ListKind, string>

interface Subscription {
  readonly id: RequestId
  readonly filter: Params
  readonly peer: Peer
}

/** The subscriptions/listen requests that are open. Over HTTP two clients may use the same id. */
export interface Subscriptions {
  readonly size: number
  /** Open one: acknowledged at once, answered when it ends. */
  add(request: Request, params: Params, peer: Peer): void
  delete(id: RequestId, peer: Peer): void
  listChanged(kind: ListKind): void
  end(): void
}

export function createSubscriptions(): Subscriptions {
  const open = new Set<Subscription>()
  return {
    get size() {
      return open.size
    },
    add({ id }, params, peer) {
      const filter = (params['notifications'] ?? {}) as Params
      open.add({ id, filter, peer })
      peer.notify('notifications/subscriptions/acknowledged', {
        notifications: filter,
        _meta: { [SUBSCRIPTION_ID]: id },
      })
    },
    delete(id, peer) {
      for (const subscription of open) {
        if (subscription.id === id && subscription.peer === peer) open.delete(subscription)
      }
    },
    listChanged(kind) {
      for (const { id, filter, peer } of open) {
        if (filter[FILTER[kind]] !== true) continue
        peer.notify(`notifications/${kind}/list_changed`, { _meta: { [SUBSCRIPTION_ID]: id } })
      }
    },
    end() {
      for (const { id, peer } of open) {
        peer.reply(id, { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: id } })
      }
      open.clear()
    },
  }
}

/** Requests to the client that wait for its answer. */
export interface Outgoing {
  open(): { readonly id: string; readonly answered: Promise<Message> }
  /** Takes an answer of the client; false when nobody waits for it. */
  settle(message: Message): boolean
}

export function createOutgoing(): Outgoing {
  const waiting = new Map<RequestId, (message: Message) => void>()
  let last = 0
  return {
    open() {
      last += 1
      const id = `server-${last}`
      return { id, answered: new Promise((resolve) => waiting.set(id, resolve)) }
    },
    settle(message) {
      const id = message.id ?? ''
      const resolve = waiting.get(id)
      waiting.delete(id)
      resolve?.(message)
      return resolve !== undefined
    },
  }
}

export interface Connection {
  readonly subscriptions: Subscriptions
  readonly outgoing: Outgoing
  /** True once the client has spoken the modern revision. */
  modern: boolean
}

export function createConnection(): Connection {
  return { subscriptions: createSubscriptions(), outgoing: createOutgoing(), modern: false }
}

/** The peer that a handler sees. */
export function createPeer(wire: Wire, connection: Connection): Peer {
  const withParams = (params?: Params) => (params === undefined ? {} : { params })
  return {
    transport: wire.transport,
    send: (message) => wire.send(message),
    reply: (id, result) => wire.send({ jsonrpc: '2.0', id, result }),
    fail: (id, error) => wire.send({ jsonrpc: '2.0', id, error }),
    notify: (method, params) => wire.send({ jsonrpc: '2.0', method, ...withParams(params) }),
    request(method, params) {
      const { id, answered } = connection.outgoing.open()
      wire.send({ jsonrpc: '2.0', id, method, ...withParams(params) })
      return answered
    },
    raw: (data) => wire.raw(data),
    listChanged(kind = 'tools') {
      if (connection.modern) connection.subscriptions.listChanged(kind)
      else wire.broadcast({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed` })
    },
    endSubscriptions: () => connection.subscriptions.end(),
    exit: (code = 1) => wire.exit(code),
    stderr: (text) => wire.stderr(text),
    note: (name, data) => wire.note(name, data),
  }
}
