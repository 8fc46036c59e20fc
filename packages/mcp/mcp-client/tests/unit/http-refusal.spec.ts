/** What a reply without a 2xx status means, and what of it is shown. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deniesSession, excerptOf, judge, mayHaveEffects } from '../../src/connection/http-refusal.ts'

const call: JSONRPCMessage = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }
const notification: JSONRPCMessage = { jsonrpc: '2.0', method: 'notifications/x' }
const error = (id: unknown, message = 'm') =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code: -1, message } })
const judged = (
  status: number,
  text: string,
  headers = {},
  message: JSONRPCMessage = call,
  sessionId: string | null = 's',
) =>
  judge({ status, headers, text }, { message, sessionId: sessionId ?? undefined }, Date.UTC(2024, 0, 1)).kind

describe('judge', () => {
  it.each<[string, string, string]>([
    ['an answer counts', judged(400, error(1)), 'answer'],
    ['also without a session', judged(404, error(1), {}, call, null), 'answer'],
    ['not another answer', judged(400, error(2)), 'error'],
    ['not a result', judged(400, '{"id":1,"result":{}}'), 'error'],
    ['not to a notification', judged(400, error(1), {}, notification), 'error'],
    ['not at 500', judged(500, error(1)), 'error'],
    ['not at 302', judged(302, error(1)), 'error'],
    ['401 is about authorization, whatever it says', judged(401, error(1)), 'auth'],
    ['403 as well', judged(403, 'session expired'), 'auth'],
    ['404 is a lost session', judged(404, ''), 'session'],
    ['unless there was none', judged(404, '', {}, call, null), 'error'],
    ['an answer that speaks of the session is none', judged(404, error(1, 'Session not found')), 'session'],
    ['409 that speaks of a session is none', judged(409, 'session expired'), 'error'],
    ['429 without a time is an error', judged(429, ''), 'error'],
    ['429 with a date', judged(429, '', { 'retry-after': 'Mon, 01 Jan 2024 00:00:09 GMT' }), 'wait'],
    ['429 with a date far off', judged(429, '', { 'retry-after': 'Mon, 01 Jan 2024 00:01:09 GMT' }), 'error'],
  ])('%s', (_, kind, expected) => expect(kind).toBe(expected))

  it('never hurries: a time of zero or a date that is over is a quarter of a second', () => {
    const refused = { message: call, sessionId: undefined }
    for (const value of ['0', 'Mon, 01 Jan 2001 00:00:00 GMT']) {
      expect(
        judge({ status: 429, headers: { 'retry-after': value }, text: '' }, refused, Date.now()),
      ).toEqual({ kind: 'wait', delayMs: 250, resend: true })
    }
  })
})

describe('deniesSession', () => {
  it.each([
    'Bad Request: No valid session ID provided',
    'Bad Request: Mcp-Session-Id header is required',
    'Session not found',
    'session id is unknown',
    'Missing session ID',
    'Invalid session',
    'Your session has expired',
    'Session terminated',
    'Unknown session',
    'Server not initialized',
  ])('knows %j', (text) => expect(deniesSession(400, text)).toBe(true))

  it.each(['Bad Request', 'invalid arguments', 'the profession is unknown', 'name is required', ''])(
    'not %j',
    (text) => expect(deniesSession(400, text)).toBe(false),
  )

  it('takes time that is linear in a hostile text', () => {
    const since = performance.now()
    for (const word of ['session ', 'no ', 'not session-', 'session'.repeat(3)])
      deniesSession(400, word.repeat(64 * 1024).slice(0, 64 * 1024))
    expect(performance.now() - since).toBeLessThan(5_000)
  })
})

describe('mayHaveEffects', () => {
  it.each([
    ['tools/call', true],
    ['initialize', true],
    ['x/unknown', true],
    ['tools/list', false],
    ['resources/templates/list', false],
    ['resources/read', false],
    ['notifications/cancelled', false],
  ])('%s: %s', (method, expected) => expect(mayHaveEffects({ jsonrpc: '2.0', id: 1, method })).toBe(expected))
  it('an answer may', () => expect(mayHaveEffects({ jsonrpc: '2.0', id: 1, result: {} })).toBe(true))
})

describe('excerptOf', () => {
  const redact = (text: string) => text.replaceAll('s3cret', '[redacted]')
  const of = (text: string, headers = {}) => excerptOf({ status: 500, headers, text }, redact)

  it.each([
    ['plain', 'plain'],
    ['{"a":\n1}', '{"a":\n1}'],
    ['a\u001b[31mred\u0000', 'ared'],
    ['<!DOCTYPE html><title lang=x>\n The\n title </title><p>x', 'The title'],
    [' <html><body><h1>Not</h1> <b>found</b', 'Not found'],
    ['<html><title></title>words', 'words'],
    ['<?xml version="1"?><error>x</error>', 'x'],
  ])('%j is told as %j', (text, shown) => expect(of(text)).toBe(shown))

  it('is short, redacted before it is cut, and says when to come back', () => {
    expect(Buffer.byteLength(of('é'.repeat(9_000)))).toBeLessThanOrEqual(4_096)
    expect(of(`${'x'.repeat(4_093)}s3cret`)).not.toContain('s3c')
    expect(of('a s3c\u200bret')).toBe('a [redacted]')
    expect(of('<html><title>s3c\u200bret</title>')).toBe('[redacted]')
    expect(of('later', { 'retry-after': '12\u001b[0m0' })).toBe('retry after 120: later')
  })

  it('takes time that is linear in a hostile page', () => {
    const since = performance.now()
    for (const word of ['<title', '<html><title>', '<', '<html>< '])
      of(`<html>${word.repeat(64 * 1024).slice(0, 64 * 1024)}`)
    expect(performance.now() - since).toBeLessThan(5_000)
  })

  it('has no control characters for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(of(text)).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/)
      }),
    )
  })
})
