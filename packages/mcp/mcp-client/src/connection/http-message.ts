/** Owns the way from received text to JSON-RPC messages: one event of a stream, or one JSON body. Pure. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import type { EventSourceMessage } from 'eventsource-parser'
import { readEnvelope } from './envelope.ts'
import type { Inbound } from './envelope.ts'

export type Answer = Exclude<JSONRPCMessage, { method: string }>

/** Whether a message answers a request. */
export function isAnswer(message: JSONRPCMessage): message is Answer {
  return !('method' in message)
}

/** The messages of a text; a text that is no JSON is told as a problem. */
export function messagesIn(text: string): Inbound {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { messages: [], problem: 'text that is not JSON' }
  }
  return readEnvelope(value)
}

/** The messages of one event; other types of event, and the empty event that only sets an id, have none. */
export function messagesOf(event: EventSourceMessage): Inbound {
  const isMessage = event.event === undefined || event.event === 'message'
  return isMessage && event.data !== '' ? messagesIn(event.data) : { messages: [] }
}

/** An event id that can be sent back in a header, or `undefined`. */
export function resumableId(event: EventSourceMessage): string | undefined {
  return event.id !== undefined && /^[\x20-\x7e]{1,1024}$/.test(event.id) ? event.id : undefined
}
