/** Owns the tests of the guess whom an oversized message was for: right, or none. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { idAtEnd, readOpening, tooLargeAnswer } from '../../src/connection/oversize.ts'
import { OWN_CODE } from '../../src/errors.ts'

describe('readOpening', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":7,"result":{"content":[{"te', { answers: true, id: 7 }],
    [' \uFEFF{', { answers: false }],
    ['\uFEFF { "result" : {"a', { answers: true }],
    ['{"id":"a\\"b","jsonrpc":"2.0","result":"xxx', { answers: true, id: 'a"b' }],
    ['{"jsonrpc":"2.0","id":-3,"error":{"code":1', { answers: true, id: -3 }],
    ['{"jsonrpc":"2.0","result":{"id":9,"x":"', { answers: true }],
    ['{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{"x":"', { answers: false }],
    ['{"id":7,"params":{"x":"', { answers: false }],
    ['{"id":7,"_meta":{"x":"', { answers: false, id: 7 }],
    ['{"id":null,"result":{', { answers: true }],
    ['{"id":12', { answers: false }],
    ['{"i\nd":12,"id":"\\q","result":{', { answers: true }],
    ['[{"id":1,"result":{', { answers: false }],
    ['xxxxx"id":1,"result":{', { answers: false }],
    ['', { answers: false }],
  ])('reads %j', (head, opening) => {
    expect(readOpening(head)).toEqual(opening)
  })

  it('reads what JSON.stringify writes, wherever it is cut', () => {
    const message = fc.record({
      jsonrpc: fc.constant('2.0'),
      id: fc.oneof(fc.integer(), fc.string()),
      result: fc.object(),
    })
    fc.assert(
      fc.property(message, fc.nat(), (value, cut) => {
        const json = JSON.stringify(value)
        const known = json.indexOf('"result"') + '"result":'.length
        const opening = readOpening(json.slice(0, cut % json.length))
        expect(readOpening(json.slice(0, known))).toEqual({ answers: true, id: value.id })
        if (opening.id !== undefined) expect(opening.id).toBe(value.id)
      }),
    )
  })

  it('is linear in a hostile window', () => {
    const started = performance.now()
    readOpening(`{${'"a":1,'.repeat(700)}`)
    readOpening(`{"${'\\'.repeat(4_000)}`)
    idAtEnd(`${',"id":'.repeat(700)}${' '.repeat(4_000)}`)
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe('idAtEnd', () => {
  it.each([
    ['"}]},"jsonrpc":"2.0","id":7}', 7],
    ['"}]} , "id" : "x" , "jsonrpc" : "2.0" } \r', 'x'],
    ['"}],"id":7}}', undefined],
    ['"}]},"id":null}', undefined],
    ['"}]},"id":"\\q"}', undefined],
    ['"}]}', undefined],
  ])('reads %j', (tail, id) => {
    expect(idAtEnd(tail)).toBe(id)
  })
})

describe('tooLargeAnswer', () => {
  it('names the cap and its key, for people and for errors.ts', () => {
    expect(tooLargeAnswer(4, 1_000)).toEqual({
      jsonrpc: '2.0',
      id: 4,
      error: {
        code: -32603,
        message: "the server's answer is larger than 1000 bytes (limits.messageBytes) and was not read",
        data: { [OWN_CODE]: 'MCP_MESSAGE_TOO_LARGE', limitBytes: 1_000 },
      },
    })
  })
})
