/** Headers of HTTP messages: who may set which, and what follows from the message. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  headerOf,
  isModern,
  mediaTypeOf,
  messageHeaders,
  settableHeaders,
} from '../../src/connection/http-headers.ts'

const session = { sessionId: 's', revision: '2025-11-25' }
const request = (method: string, params: Record<string, unknown>): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
})
const claim = (revision: unknown) => ({ _meta: { 'io.modelcontextprotocol/protocolVersion': revision } })

describe('settableHeaders', () => {
  it('keeps what a row may set, by lower-case name', () => {
    const headers = {
      Authorization: 'a',
      'X-Key': 'k',
      Origin: 'o',
      HOST: 'h',
      'Mcp-Session-Id': 's',
      'Content-Length': '1',
    }
    expect(settableHeaders(headers)).toEqual({ authorization: 'a', 'x-key': 'k', origin: 'o' })
  })
})

describe('messageHeaders', () => {
  const plain = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  const named = { ...plain, 'mcp-session-id': 's', 'mcp-protocol-version': '2025-11-25' }

  it.each<[string, JSONRPCMessage, object]>([
    ['the handshake knows no session', request('initialize', {}), plain],
    ['a legacy request names session and revision', request('tools/call', { name: 'x' }), named],
    ['an answer as well', { jsonrpc: '2.0', id: 1, result: {} }, named],
    ['a claim that is no text is none', request('tools/call', claim(7)), named],
    ['nor is one in a _meta that is no object', request('tools/call', { _meta: 'x' as unknown }), named],
    [
      'a modern request names itself',
      request('tools/list', claim('2026-07-28')),
      { ...plain, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
    ],
    [
      'and its tool',
      request('tools/call', { name: 'x', ...claim('2026-07-28') }),
      { ...plain, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'x' },
    ],
    [
      'unless it has no name',
      request('tools/call', claim('2026-07-28')),
      { ...plain, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' },
    ],
    [
      'a method of the prototype is no method',
      request('constructor', claim('2026-07-28')),
      { ...plain, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'constructor' },
    ],
  ])('%s', (_, message, headers) => expect(messageHeaders(message, session)).toEqual(headers))

  it('carries any name as a legal header value that says the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (name) => {
        const value =
          messageHeaders(request('tools/call', { name, ...claim('2026-07-28') }), {})['mcp-name'] ?? ''
        expect(value).toMatch(/^[\t\x20-\x7e]+$/)
        expect(value).toBe(value.trim())
        const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1]
        expect(encoded === undefined ? value : Buffer.from(encoded, 'base64').toString()).toBe(
          name.toWellFormed(),
        )
      }),
    )
  })

  it('names no session that there is not', () => {
    expect(messageHeaders(request('tools/list', {}), {})).toEqual(plain)
  })
})

describe('isModern', () => {
  it.each([
    [request('x', claim('2026-07-28')), true],
    [request('x', claim('2025-11-25')), false],
    [request('x', {}), false],
    [{ jsonrpc: '2.0', id: 1, result: {} } satisfies JSONRPCMessage, false],
  ])('%j: %s', (message, modern) => expect(isModern(message)).toBe(modern))
})

describe('replies', () => {
  it('give the first of several values, and the plain media type', () => {
    expect(headerOf({ a: ['1', '2'] }, 'a')).toBe('1')
    expect(headerOf({}, 'a')).toBeUndefined()
    expect(mediaTypeOf({ 'content-type': 'Text/Event-Stream ; charset=utf-8' })).toBe('text/event-stream')
    expect(mediaTypeOf({})).toBe('')
  })
})
