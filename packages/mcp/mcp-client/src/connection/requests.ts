/**
 * Owns the requests of a legacy session that pass the SDK's client by: tools/list and tools/call, each from its id to
 * its one outcome. The SDK parses every answer four times by zod and the result again, which is a third of what a small
 * call costs in this process; nothing of it is needed here, since results are read as untrusted JSON anyway. Handshake,
 * modern era and everything the server sends by itself stay with the SDK. See docs/decisions/0016-fast-paths.md.
 */
import type { JSONRPCMessage, RequestId, TransportSendOptions } from '@modelcontextprotocol/client'
import type { JsonObject, Progress } from '../types.ts'
import type { InFlight } from './callers.ts'

/** Above every id that the SDK gives: it numbers from 0 and sends the handshake and little else. */
const FIRST_ID = 1_000
/** The longest delay a timer takes. */
const LONG_MS = 2 ** 31 - 1

export interface RequestEdges {
  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void>
  /** The error of a request that the server refused. */
  toError(code: number, message: string, data: unknown): Error
  /** The error of a request that the end of the connection left without an answer. */
  closed(): Error
  /** A cancellation that could not be sent. */
  onLost(error: unknown): void
}

/** Aborting the signal tells the server and rejects with its reason. */
export interface RequestOptions extends InFlight {
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

interface Pending extends InFlight {
  readonly onProgress: ((progress: Progress) => void) | undefined
  resolve(result: JsonObject): void
  reject(error: unknown): void
}

/** All requests in flight of one connection. */
export class Requests {
  private readonly edges: RequestEdges
  private readonly pending = new Map<number, Pending>()
  /** Keeps the process alive while somebody waits for an answer: the sockets and our own limits do not. */
  private readonly hold = setInterval(() => undefined, LONG_MS).unref()
  private nextId = FIRST_ID
  private isOver = false

  constructor(edges: RequestEdges) {
    this.edges = edges
  }

  /** Send one request; the server's own result, as it came. */
  request(method: string, params: JsonObject | undefined, options: RequestOptions): Promise<JsonObject> {
    const { caller, signal, onProgress } = options
    if (this.isOver) return Promise.reject(this.edges.closed())
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    const id = this.nextId++
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    const onAbort = (): void => {
      this.cancel(id, signal.reason)
      reject(signal.reason)
    }
    const settle = (): void => {
      this.forget(id)
      signal.removeEventListener('abort', onAbort)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    if (this.pending.size === 0) this.hold.ref()
    this.pending.set(id, {
      caller,
      signal,
      onProgress,
      resolve(result) {
        settle()
        resolve(result)
      },
      reject(error) {
        settle()
        reject(error)
      },
    })
    this.edges
      .send(messageOf(id, method, onProgress === undefined ? params : withToken(params, id)))
      .catch((error: unknown) => this.pending.get(id)?.reject(error))
    return promise
  }

  /** Take a message that is about one of these requests; false leaves it to the SDK. */
  take(message: JSONRPCMessage): boolean {
    if ('method' in message)
      return message.method === 'notifications/progress' && this.progress(message.params)
    // Some servers give a number back as text.
    const request = this.pending.get(Number(message.id))
    if (request === undefined) return false
    if ('result' in message) request.resolve(message.result as JsonObject)
    else request.reject(this.edges.toError(message.error.code, message.error.message, message.error.data))
    return true
  }

  /** What waits for an answer: all of it, or the one of this id. */
  inFlight(id?: RequestId): Iterable<InFlight> {
    if (id === undefined) return this.pending.values()
    const request = this.pending.get(Number(id))
    return request === undefined ? [] : [request]
  }

  /** The connection is over: nothing is answered any more. */
  end(): void {
    this.isOver = true
    for (const { reject } of this.pending.values()) reject(this.edges.closed())
    clearInterval(this.hold)
  }

  private forget(id: number): void {
    this.pending.delete(id)
    if (this.pending.size === 0) this.hold.unref()
  }

  private cancel(id: number, reason: unknown): void {
    this.forget(id)
    const params = { requestId: id, reason: String(reason) }
    this.edges
      .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
      .catch((error: unknown) => this.edges.onLost(error))
  }

  private progress(params: Readonly<Record<string, unknown>> | undefined): boolean {
    const { progressToken, progress, total, message } = params ?? {}
    const request = this.pending.get(Number(progressToken))
    if (request === undefined) return false
    if (typeof progress === 'number')
      request.onProgress?.({
        progress,
        ...(typeof total === 'number' ? { total } : {}),
        ...(typeof message === 'string' ? { message } : {}),
      })
    return true
  }
}

function messageOf(id: number, method: string, params: JsonObject | undefined): JSONRPCMessage {
  return params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params }
}

/** The token by which the server reports progress. */
function withToken(params: JsonObject | undefined, id: number): JsonObject {
  return { ...params, _meta: { ...(params?.['_meta'] as JsonObject | undefined), progressToken: id } }
}
