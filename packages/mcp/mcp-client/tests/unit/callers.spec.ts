/** Owns the tests of who is behind the requests in flight, and of waits that are given up. */
import { getEventListeners } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { aborting, onceAllAborted } from '../../src/connection/aborting.ts'
import { behind } from '../../src/connection/callers.ts'
import type { Caller } from '../../src/types.ts'

const caller = (agent: object = {}): Caller => ({ agent: agent as never, hold: () => () => undefined })
const { signal } = new AbortController()

describe('behind requests in flight', () => {
  it('is nobody where there is none, or only what has no caller', () => {
    expect(behind([])).toEqual({ caller: undefined, signals: [] })
    expect(behind([{ signal }])).toEqual({ caller: undefined, signals: [] })
  })

  it('is the one caller of all of them, whatever else is in flight', () => {
    const one = caller()
    const found = behind([{ caller: one, signal }, { signal }, { caller: one, signal }])
    expect(found.caller).toBe(one)
    expect(found.signals).toEqual([signal])
  })

  it('is nobody where those of several agents are', () => {
    const requests = [caller(), caller()].map((who) => ({ caller: who, signal }))
    expect(behind(requests)).toEqual({ caller: undefined, signals: [] })
  })

  it('is their agent where all are of one, and none of its calls', () => {
    const agent = {}
    const others = new AbortController()
    const found = behind([
      { caller: { ...caller(agent), callId: 'one' }, signal },
      { caller: { ...caller(agent), callId: 'two' }, signal: others.signal },
    ])
    expect(found.caller).toMatchObject({ agent })
    expect(found.caller).not.toHaveProperty('callId')
    expect(found.signals).toEqual([signal, others.signal])
  })
})

describe('aborting', () => {
  it('rejects with the reason, also of a signal that came before', async () => {
    const reason = new Error('enough')
    await expect(aborting(new Promise(() => {}), AbortSignal.abort(reason))).rejects.toBe(reason)
    const controller = new AbortController()
    const waiting = aborting(new Promise(() => {}), controller.signal)
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    expect(await aborting(Promise.resolve(7), signal)).toBe(7)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('onceAllAborted', () => {
  it('calls back at the last of them, once', () => {
    const [first, second] = [new AbortController(), new AbortController()]
    const callback = vi.fn()
    onceAllAborted([first.signal, AbortSignal.abort(), second.signal], callback)
    first.abort()
    expect(callback).not.toHaveBeenCalled()
    second.abort()
    expect(callback).toHaveBeenCalledOnce()
  })

  it('calls back at once where all have aborted, and never for none', () => {
    const callback = vi.fn()
    onceAllAborted([], callback)()
    expect(callback).not.toHaveBeenCalled()
    onceAllAborted([AbortSignal.abort()], callback)()
    expect(callback).toHaveBeenCalledOnce()
  })

  it('lets go of all', () => {
    const controller = new AbortController()
    const callback = vi.fn()
    onceAllAborted([controller.signal], callback)()
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    controller.abort()
    expect(callback).not.toHaveBeenCalled()
  })
})
