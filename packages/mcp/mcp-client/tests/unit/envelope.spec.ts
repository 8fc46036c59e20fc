/** Owns the tests of reading one JSON-RPC envelope: what is repaired, what is named, and that nothing throws. */
import { isJSONRPCNotification, isJSONRPCRequest, isJSONRPCResponse } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readEnvelope } from '../../src/connection/envelope.ts'

const NO_MESSAGE = 'the server gave an error without a message'

describe('readEnvelope', () => {
  it.each<[string, unknown, object]>([
    ['a request', { jsonrpc: '2.0', id: 1, method: 'ping' }, { jsonrpc: '2.0', id: 1, method: 'ping' }],
    [
      'a notification',
      { jsonrpc: '2.0', method: 'a/b', params: { x: 1 } },
      { jsonrpc: '2.0', method: 'a/b', params: { x: 1 } },
    ],
    [
      'a result',
      { jsonrpc: '2.0', id: 'a', result: { ok: 1 } },
      { jsonrpc: '2.0', id: 'a', result: { ok: 1 } },
    ],
    [
      'an error',
      { jsonrpc: '2.0', id: 0, error: { code: -32601, message: 'no', data: [1] } },
      { jsonrpc: '2.0', id: 0, error: { code: -32601, message: 'no', data: [1] } },
    ],
    ['no jsonrpc member', { id: 1, result: {} }, { jsonrpc: '2.0', id: 1, result: {} }],
    ['another jsonrpc', { jsonrpc: '1.0', id: 1, result: {} }, { jsonrpc: '2.0', id: 1, result: {} }],
    [
      'members nobody asked for',
      { jsonrpc: '2.0', id: 1, result: {}, time: 3 },
      { jsonrpc: '2.0', id: 1, result: {} },
    ],
    [
      'an error that is null beside a result',
      { id: 1, result: { a: 1 }, error: null },
      { jsonrpc: '2.0', id: 1, result: { a: 1 } },
    ],
    [
      'a result that is null beside an error',
      { id: 1, result: null, error: { code: 1, message: 'no' } },
      { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no' } },
    ],
    [
      'a result and an error',
      { id: 1, result: {}, error: { code: 1, message: 'no' } },
      { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no' } },
    ],
    ['params that are no object', { method: 'a', params: [1] }, { jsonrpc: '2.0', method: 'a' }],
    ['an id of null on a call', { id: null, method: 'a' }, { jsonrpc: '2.0', method: 'a' }],
    [
      'an error of text',
      { id: 1, error: 'no way' },
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'no way' } },
    ],
    [
      'an error of nothing',
      { id: 1, error: {} },
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: NO_MESSAGE } },
    ],
    [
      'an error of a number',
      { id: 1, error: 5 },
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: NO_MESSAGE } },
    ],
    [
      'a code of text',
      { id: 1, error: { code: 'E', message: '' } },
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: NO_MESSAGE } },
    ],
    [
      'a code with a fraction',
      { id: 1, error: { code: 1.5, message: 'm' } },
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'm' } },
    ],
    [
      'data of null',
      { id: 1, error: { code: 1, message: 'm', data: null } },
      { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'm', data: null } },
    ],
  ])('reads %s', (_what, value, message) => {
    expect(readEnvelope(value)).toEqual({ messages: [message] })
  })

  it.each<[string, unknown, string]>([
    ['neither result nor error', { id: 1 }, 'neither result nor error'],
    ['a null error and no result', { id: 1, error: null }, 'neither result nor error'],
    ['a result that is text', { id: 1, result: 'x' }, 'a result that is not an object'],
    ['a result that is a list', { id: 1, result: [] }, 'a result that is not an object'],
    ['a result that is null', { id: 1, result: null }, 'a result that is not an object'],
  ])('fails a request that was answered with %s', (_what, value, what) => {
    expect(readEnvelope(value)).toEqual({
      messages: [
        { jsonrpc: '2.0', id: 1, error: { code: -32603, message: `the server answered with ${what}` } },
      ],
      problem: `an answer with ${what}`,
    })
  })

  it.each<[unknown, string]>([
    ['text', 'a message that is not a JSON object'],
    [7, 'a message that is not a JSON object'],
    [null, 'a message that is not a JSON object'],
    [undefined, 'a message that is not a JSON object'],
    [{}, 'a message without method and id'],
    [
      { id: null, error: { code: -32700, message: 'Parse error' } },
      'a message without method and id: Parse error',
    ],
    [{ id: {}, error: 'x' }, 'a message without method and id'],
    [{ id: true, result: {} }, 'a message without method and id'],
    [{ method: 7 }, 'a message without method and id'],
    [{ error: { message: 'x'.repeat(900) } }, `a message without method and id: ${'x'.repeat(200)}`],
  ])('names what it cannot use: %j', (value, problem) => {
    expect(readEnvelope(value)).toEqual({ messages: [], problem })
  })

  it('takes the members of a batch one by one, and no batch within', () => {
    const inner = [{ method: 'c' }]
    expect(readEnvelope([{ method: 'a' }, 7, inner, { id: 1, result: {} }])).toEqual({
      messages: [
        { jsonrpc: '2.0', method: 'a' },
        { jsonrpc: '2.0', id: 1, result: {} },
      ],
      problem: 'a JSON-RPC batch of 4',
    })
    expect(readEnvelope([])).toEqual({ messages: [], problem: 'a JSON-RPC batch of 0' })
  })

  it('makes of anything only what the SDK takes for a message', () => {
    const member = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom<unknown>(1, 'a', null, {}, { code: 1, message: 'm' }),
    )
    const value = fc.oneof(
      fc.jsonValue(),
      fc.record(
        { id: member, method: member, params: member, result: member, error: member },
        { requiredKeys: [] },
      ),
    )
    fc.assert(
      fc.property(fc.oneof(value, fc.array(value, { maxLength: 4 })), (input) => {
        for (const message of readEnvelope(JSON.parse(JSON.stringify(input) ?? 'null')).messages) {
          // The SDK wants whole numbers for ids: a peer that answers with others answers nothing we asked.
          if ('id' in message && typeof message.id === 'number' && !Number.isSafeInteger(message.id)) continue
          expect(
            [message].some((m) => isJSONRPCRequest(m) || isJSONRPCNotification(m) || isJSONRPCResponse(m)),
          ).toBe(true)
        }
      }),
    )
  })
})
