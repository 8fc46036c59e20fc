/** Owns the tests of how many requests of a server are answered at once. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { OpenAnswers } from '../../src/connection/open-answers.ts'

const ask = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, method: 'ping' })
const answer = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: {} })

describe('requests of a server', () => {
  it('are heard up to a number, and again once some are answered or taken back', async () => {
    const told: string[] = []
    const open = new OpenAnswers((words) => told.push(words))
    for (let id = 0; id < 100; id += 1) expect(open.admits(ask(id))).toBe(true)
    expect(told).toEqual([])
    for (let id = 100; id < 200; id += 1) expect(open.admits(ask(id))).toBe(false)
    expect(told).toEqual(['the server asks more than 100 things at once; the rest is not heard'])
    await open.track(answer(5), Promise.resolve())
    expect([open.admits(ask(200)), open.admits(ask(201))]).toEqual([true, false])
    await expect(open.track(answer(6), Promise.reject(new Error('cut')))).rejects.toThrow('cut')
    expect([open.admits(ask(202)), open.admits(ask(203))]).toEqual([true, false])
    const params = { requestId: 7 }
    expect(open.admits({ jsonrpc: '2.0', method: 'notifications/cancelled', params })).toBe(true)
    expect([open.admits(ask(204)), open.admits(ask(205))]).toEqual([true, false])
  })

  it('are known with the request of ours on whose reply they came, until they are answered', async () => {
    const open = new OpenAnswers(() => expect.unreachable())
    open.admits(ask(1), 1_000)
    open.admits(ask(2))
    expect([open.originOf(1), open.originOf('1'), open.originOf(2), open.originOf(3)]).toEqual([
      1_000,
      1_000,
      undefined,
      undefined,
    ])
    await open.track(answer(1), Promise.resolve())
    expect(open.originOf(1)).toBeUndefined()
  })

  it('are the only messages that count', async () => {
    const open = new OpenAnswers(() => expect.unreachable())
    for (let id = 0; id < 1_000; id += 1) {
      expect(open.admits({ jsonrpc: '2.0', method: 'notifications/message' })).toBe(true)
      expect(open.admits(answer(id))).toBe(true)
    }
    await open.track({ jsonrpc: '2.0', method: 'notifications/x' }, Promise.resolve())
  })
})
