/**
 * Owns the headers of HTTP messages: what the row may set, what is derived from the message and the session, and what
 * is read from replies. Pure.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { FIRST_MODERN_REVISION } from './era.ts'

export type ReplyHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** Set by us or by the HTTP layer; a row or a single call cannot override them. */
const OWNED = new Set(
  (
    'accept content-type content-length transfer-encoding connection keep-alive upgrade expect host te trailer ' +
    'proxy-connection last-event-id mcp-session-id mcp-protocol-version mcp-method mcp-name'
  ).split(' '),
)
const REVISION_KEY = 'io.modelcontextprotocol/protocolVersion'
/** The member of params that Mcp-Name mirrors, by method. */
const NAME_SOURCES: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** What a session adds to each request. */
export interface SessionHeaders {
  readonly sessionId?: string | undefined
  /** Negotiated protocol revision. */
  readonly revision?: string | undefined
}

/** The first value of a header, or `undefined`. */
export function headerOf(headers: ReplyHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'object' ? value[0] : value
}

/** The media type without parameters, in lower case; empty where none was sent. */
export function mediaTypeOf(headers: ReplyHeaders): string {
  const type = headerOf(headers, 'content-type') ?? ''
  return type.replace(/;.*/s, '').trim().toLowerCase()
}

/** Headers of a row or a call, by lower-case name, without those that are not theirs to set. */
export function settableHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(entries.filter(([name]) => !OWNED.has(name)))
}

/** Whether a message speaks a revision without handshake and sessions, by its own claim. */
export function isModern(message: JSONRPCMessage): boolean {
  return isModernRevision(claimedRevision(message))
}

/** Revisions are dates and compare as text. */
export function isModernRevision(revision: string | undefined): boolean {
  return revision !== undefined && revision >= FIRST_MODERN_REVISION
}

/** Headers that follow from the message: initialize knows no session yet, and a modern request none at all. */
export function messageHeaders(message: JSONRPCMessage, session: SessionHeaders): Record<string, string> {
  const headers: Record<string, string> = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  }
  const claimed = claimedRevision(message)
  if (claimed !== undefined && 'method' in message) {
    headers['mcp-protocol-version'] = claimed
    headers['mcp-method'] = message.method
    const source = Object.hasOwn(NAME_SOURCES, message.method) ? NAME_SOURCES[message.method] : undefined
    const name = source === undefined ? undefined : message.params?.[source]
    if (typeof name === 'string') headers['mcp-name'] = fieldValue(name)
    return headers
  }
  return 'method' in message && message.method === 'initialize'
    ? headers
    : { ...headers, ...sessionHeaders(session) }
}

/** Headers of a request that has no message: GET and DELETE. */
export function sessionHeaders({ sessionId, revision }: SessionHeaders): Record<string, string> {
  return {
    ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
    ...(revision === undefined ? {} : { 'mcp-protocol-version': revision }),
  }
}

function claimedRevision(message: JSONRPCMessage): string | undefined {
  if (!('method' in message)) return undefined
  const meta: unknown = message.params?.['_meta']
  const claim =
    typeof meta === 'object' && meta !== null ? (meta as Record<string, unknown>)[REVISION_KEY] : undefined
  return typeof claim === 'string' ? claim : undefined
}

/** A value as HTTP can carry it: in Base64 where it is not plain ASCII, or looks like Base64 of this kind. */
function fieldValue(value: string): string {
  const plain = /^[\t\x20-\x7e]+$/.test(value) && value === value.trim() && !/^=\?base64\?.*\?=$/.test(value)
  return plain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}
