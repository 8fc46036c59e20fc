/**
 * Owns the reading of one JSON-RPC envelope from a peer that may be sloppy: what is plain is repaired, what is not
 * is named. The SDK's own envelope schema is strict: an extra member or a missing `jsonrpc` would drop the message
 * (stdio) or fail the whole reply (HTTP), and the call would wait for its timeout (typescript-sdk#2722). Pure.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isJsonObject } from '../json.ts'
import type { JsonObject } from '../types.ts'

const INTERNAL_ERROR = -32603

/** What one parsed JSON value turned out to be. */
export interface Inbound {
  /** Well-formed messages, in order; empty where nothing usable was found. */
  readonly messages: readonly JSONRPCMessage[]
  /** What was repaired or refused; for a note to the operator. */
  readonly problem?: string
}

/** Read any JSON value as zero or more JSON-RPC messages. Never throws. */
export function readEnvelope(value: unknown): Inbound {
  if (Array.isArray(value)) return readBatch(value)
  if (!isJsonObject(value)) return { messages: [], problem: 'a message that is not a JSON object' }
  if (typeof value['method'] === 'string') return { messages: [readCall(value, value['method'])] }
  const { id } = value
  if (typeof id !== 'string' && typeof id !== 'number') {
    return { messages: [], problem: `a message without method and id${errorText(value['error'])}` }
  }
  // JSON-RPC 1.0 writes both members and sets the other one to null.
  const error = value['error'] ?? undefined
  if (error !== undefined) return { messages: [failure(id, error)] }
  if (isJsonObject(value['result'])) {
    return { messages: [{ jsonrpc: '2.0', id, result: value['result'] } as JSONRPCMessage] }
  }
  const what = value['result'] === undefined ? 'neither result nor error' : 'a result that is not an object'
  return {
    messages: [failure(id, { message: `the server answered with ${what}` })],
    problem: `an answer with ${what}`,
  }
}

/** Batches left the protocol in 2025-06-18; members are still taken, one by one. */
function readBatch(values: readonly unknown[]): Inbound {
  const messages: JSONRPCMessage[] = []
  for (const value of values) if (!Array.isArray(value)) messages.push(...readEnvelope(value).messages)
  return { messages, problem: `a JSON-RPC batch of ${values.length}` }
}

function readCall(value: JsonObject, method: string): JSONRPCMessage {
  const { id, params } = value
  return {
    jsonrpc: '2.0',
    ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
    method,
    ...(isJsonObject(params) ? { params } : {}),
  } as JSONRPCMessage
}

function failure(id: string | number, error: unknown): JSONRPCMessage {
  const { code, message, data } = isJsonObject(error)
    ? error
    : { code: undefined, message: error, data: undefined }
  return {
    jsonrpc: '2.0',
    id,
    error: {
      code: Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR,
      message:
        typeof message === 'string' && message !== ''
          ? message
          : 'the server gave an error without a message',
      ...(data === undefined ? {} : { data }),
    },
  }
}

function errorText(error: unknown): string {
  return isJsonObject(error) && typeof error['message'] === 'string'
    ? `: ${error['message'].slice(0, 200)}`
    : ''
}
