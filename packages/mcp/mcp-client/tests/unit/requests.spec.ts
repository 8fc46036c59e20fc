/** Owns the tests of the requests that pass the SDK by: ids, outcomes, progress, cancellation and the end. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { Requests } from '../../src/connection/requests.ts'
import type { Progress } from '../../src/types.ts'

function setup(send: () => Promise<void> = () => Promise.resolve()) {
  const sent: JSONRPCMessage[] = []
  const lost: unknown[] = []
  const requests = new Requests({
    send(message) {
      sent.push(message)
      return send()
    },
    toError: (code, message, data) => Object.assign(new Error(message), { code, data }),
    closed: () => new Error('closed'),
    onLost: (error) => lost.push(error),
  })
  const take = (message: object): boolean => requests.take({ jsonrpc: '2.0', ...message } as JSONRPCMessage)
  return { requests, sent, lost, take, controller: new AbortController() }
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error: Error) => error.message,
  )

describe('Requests', () => {
  it('gives each request its own id and its own answer, whatever their order', async () => {
    const { requests, sent, take, controller } = setup()
    const { signal } = controller
    const first = requests.request('tools/list', undefined, { signal })
    const second = requests.request('tools/call', { name: 'a' }, { signal })
    expect(sent).toEqual([
      { jsonrpc: '2.0', id: 1_000, method: 'tools/list' },
      { jsonrpc: '2.0', id: 1_001, method: 'tools/call', params: { name: 'a' } },
    ])
    // Some servers give a number back as text.
    expect(take({ id: '1001', result: { second: true } })).toBe(true)
    expect(take({ id: 1_000, result: { first: true } })).toBe(true)
    expect(await Promise.all([first, second])).toEqual([{ first: true }, { second: true }])
    expect(take({ id: 1_000, result: {} })).toBe(false)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('knows what is in flight, by id or all of it', async () => {
    const { requests, take, controller } = setup()
    const { signal } = controller
    const caller = { agent: undefined, hold: () => () => undefined }
    const first = requests.request('tools/call', {}, { signal, caller })
    const second = requests.request('tools/list', {}, { signal })
    expect([...requests.inFlight()]).toMatchObject([{ caller, signal }, { signal }])
    expect([...requests.inFlight('1000')]).toMatchObject([{ caller }])
    take({ id: 1_000, result: {} })
    await first
    expect([...requests.inFlight()]).toHaveLength(1)
    expect([...requests.inFlight(1_000)]).toEqual([])
    take({ id: 1_001, result: {} })
    await second
  })

  it('keeps the process alive while somebody waits, and no longer', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const { requests, take, controller } = setup()
    const { signal } = controller
    const before = timers()
    const answered = requests.request('tools/list', undefined, { signal })
    const aborted = requests.request('tools/call', {}, { signal })
    expect(timers()).toBe(before + 1)
    take({ id: 1_000, result: {} })
    await answered
    expect(timers()).toBe(before + 1)
    controller.abort(new Error('enough'))
    expect(await failure(aborted)).toBe('enough')
    expect(timers()).toBe(before)
    const ended = requests.request('tools/list', undefined, { signal: new AbortController().signal })
    requests.end()
    expect(await failure(ended)).toBe('closed')
    expect(timers()).toBe(before)
  })

  it('leaves everything else to the SDK', () => {
    const { take } = setup()
    expect(take({ id: 0, result: {} })).toBe(false)
    expect(take({ id: 1_000, method: 'ping' })).toBe(false)
    expect(take({ error: { code: 1, message: 'x' } })).toBe(false)
    expect(take({ method: 'notifications/tools/list_changed' })).toBe(false)
    expect(take({ method: 'notifications/progress' })).toBe(false)
    expect(take({ method: 'notifications/progress', params: { progressToken: 7, progress: 1 } })).toBe(false)
  })

  it('rejects with what the server refused it for', async () => {
    const { requests, take, controller } = setup()
    const work = requests.request('tools/call', {}, { signal: controller.signal })
    take({ id: 1_000, error: { code: -32_602, message: 'no such tool', data: { a: 1 } } })
    await expect(work).rejects.toMatchObject({ code: -32_602, message: 'no such tool', data: { a: 1 } })
  })

  it('rejects with what kept it from being sent', async () => {
    const { requests, controller } = setup(() => Promise.reject(new Error('full')))
    const { signal } = controller
    expect(await failure(requests.request('tools/call', {}, { signal }))).toBe('full')
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('reports progress to the request it belongs to', async () => {
    const { requests, sent, take, controller } = setup()
    const heard: Progress[] = []
    const work = requests.request(
      'tools/call',
      { name: 'a' },
      { signal: controller.signal, onProgress: (progress) => heard.push(progress) },
    )
    const quiet = requests.request('tools/list', undefined, { signal: controller.signal })
    expect(sent[0]).toMatchObject({ params: { name: 'a', _meta: { progressToken: 1_000 } } })
    const tell = (params: object): boolean => take({ method: 'notifications/progress', params })
    expect(tell({ progressToken: 1_000, progress: 1 })).toBe(true)
    expect(tell({ progressToken: '1000', progress: 2, total: 3, message: 'half' })).toBe(true)
    expect(tell({ progressToken: 1_000, progress: 'much', total: 3 })).toBe(true)
    expect(tell({ progressToken: 1_000, progress: 3, total: '3', message: 4 })).toBe(true)
    expect(tell({ progressToken: 1_001, progress: 1 })).toBe(true)
    expect(heard).toEqual([{ progress: 1 }, { progress: 2, total: 3, message: 'half' }, { progress: 3 }])
    take({ id: 1_000, result: {} })
    take({ id: 1_001, result: {} })
    await Promise.all([work, quiet])
    expect(tell({ progressToken: 1_000, progress: 4 })).toBe(false)
  })

  it('tells the server of a cancellation, and leaves a late answer to the SDK', async () => {
    const { requests, sent, take, controller } = setup()
    const work = requests.request('tools/call', {}, { signal: controller.signal })
    controller.abort(new Error('enough'))
    expect(await failure(work)).toBe('enough')
    const params = { requestId: 1_000, reason: 'Error: enough' }
    expect(sent[1]).toEqual({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    expect(take({ id: 1_000, result: {} })).toBe(false)
    expect(await failure(requests.request('tools/call', {}, { signal: controller.signal }))).toBe('enough')
    expect(sent.length).toBe(2)
  })

  it('says where a cancellation was lost', async () => {
    let isFull = false
    const { requests, lost, controller } = setup(() =>
      isFull ? Promise.reject(new Error('full')) : Promise.resolve(),
    )
    const work = requests.request('tools/call', {}, { signal: controller.signal })
    isFull = true
    controller.abort(new Error('enough'))
    await failure(work)
    expect(lost).toEqual([new Error('full')])
  })

  it('rejects all that is in flight at the end, and all that comes later', async () => {
    const { requests, sent, controller } = setup()
    const { signal } = controller
    const open = [1, 2].map(() => failure(requests.request('tools/call', {}, { signal })))
    requests.end()
    expect(await Promise.all(open)).toEqual(['closed', 'closed'])
    expect(await failure(requests.request('tools/call', {}, { signal }))).toBe('closed')
    expect(sent.length).toBe(2)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
