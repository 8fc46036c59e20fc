/**
 * Owns the reply to one POST: one JSON body, or an event stream that ends with the answer.
 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Message } from '../behaviour.ts'
import type { Wire } from '../peer.ts'

export type ReplyMode = 'json' | 'sse'

/** HTTP status of an error of the modern revision; the legacy ones answer 200. */
const MODERN_STATUS: ReadonlyMap<unknown, number> = new Map([
  [-32601, 404],
  [-32020, 400],
  [-32021, 400],
  [-32022, 400],
])

const EVENT_STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }

/** Start an event stream and let its headers go. */
export function openEventStream(res: ServerResponse, headers: Record<string, string> = {}): void {
  if (res.headersSent) return
  res.writeHead(200, { ...EVENT_STREAM, ...headers })
  res.flushHeaders()
}

/** One message as an event. */
export function event(message: unknown, name = 'message'): string {
  return `event: ${name}\ndata: ${typeof message === 'string' ? message : JSON.stringify(message)}\n\n`
}

export interface PostReply {
  readonly res: ServerResponse
  readonly mode: ReplyMode
  /** The request that is answered. */
  readonly message: Message
  readonly modern: boolean
  readonly headers: Record<string, string>
}

/** `send` and `raw` of a wire that is bound to this response. */
export function postWire({ res, mode, message, modern, headers }: PostReply): Pick<Wire, 'send' | 'raw'> {
  return {
    send(sent) {
      if (res.writableEnded || res.destroyed) return
      const isAnswer = isAnswerTo(message, sent)
      const status = errorStatus(sent, modern)
      if (isAnswer && !res.headersSent && (mode === 'json' || status !== undefined)) {
        res.writeHead(status ?? 200, { 'content-type': 'application/json', ...headers })
        res.end(JSON.stringify(sent))
        return
      }
      openEventStream(res, headers)
      res.write(event(sent))
      if (isAnswer) res.end()
    },
    async raw(data) {
      openEventStream(res, headers)
      if (!res.write(data)) await Promise.race([once(res, 'drain'), once(res, 'close')])
    },
  }
}

function isAnswerTo({ id }: Message, sent: unknown): boolean {
  if (typeof sent !== 'object' || sent === null) return false
  return !('method' in sent) && 'id' in sent && sent.id === id
}

function errorStatus(sent: unknown, modern: boolean): number | undefined {
  if (!modern || typeof sent !== 'object' || sent === null || !('error' in sent)) return undefined
  return MODERN_STATUS.get((sent.error as { readonly code?: unknown } | null)?.code)
}
