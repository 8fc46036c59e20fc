/** Owns the tests of what a session does besides tools, over a real wire in both eras. */
import { NO_ANSWER, RpcError, startHttpServer, text } from '@dsh-mcp/testkit'
import type { Behaviour, HttpServer, Message, Params } from '@dsh-mcp/testkit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import type { Clock } from '../../src/clock.ts'
import { resolveConfig } from '../../src/config.ts'
import { WATCH_MS } from '../../src/connection/announcements.ts'
import { MAX_OPEN, MAX_WAIT_MS } from '../../src/connection/inbox.ts'
import { openSession } from '../../src/connection/open-session.ts'
import { MAX_QUESTIONS, MAX_ROUNDS } from '../../src/connection/rounds.ts'
import { InboundRefusal } from '../../src/errors.ts'
import type { Caller, Inbound, JsonObject, Session } from '../../src/types.ts'
import { FakeClock } from '../unit/fake-clock.ts'

type Era = 'legacy' | 'modern'
const ERAS: readonly Era[] = ['legacy', 'modern']
const ECHO = { rawName: 'echo', inputSchema: { type: 'object' } }
const ANY = { signal: new AbortController().signal }

interface Open {
  readonly session: Session
  readonly server: HttpServer
  /** What the session told its owner. */
  readonly told: string[]
  /** Bodies of the messages that reached the server. */
  messages(method?: string): Message[]
}

let opened: Open[] = []

afterEach(async () => {
  for (const { session, server } of opened) {
    await session.close()
    await server.close()
  }
  opened = []
})

async function open(
  era: Era,
  behaviour: Behaviour,
  {
    inbound,
    clock = SYSTEM_CLOCK,
    config = {},
  }: { inbound?: Inbound; clock?: Clock; config?: Readonly<Record<string, unknown>> } = {},
): Promise<Open> {
  const server = await startHttpServer({ era, ...behaviour })
  const told: string[] = []
  const { spec } = resolveConfig({
    serverName: 'demo',
    url: server.url,
    protocol: era === 'legacy' ? 'legacy' : '2026-07-28',
    ...config,
  })
  const session = await openSession(spec, {
    generation: 1,
    signal: new AbortController().signal,
    clock,
    clientVersion: '0',
    era: { verdict: () => undefined, remember() {}, forget() {}, now: () => 0 },
    inbound,
    events: {
      onDown: ({ message }) => told.push(`down: ${message}`),
      onToolsChanged: () => told.push('tools changed'),
      onPromptsChanged: () => told.push('prompts changed'),
      onResourceUpdated: (uri) => told.push(`updated: ${uri}`),
      onLog: (level, line) => told.push(`log ${level}: ${line}`),
      onNote: (level, line) => told.push(`${level}: ${line}`),
    },
  })
  const result = {
    session,
    server,
    told,
    messages: (method?: string) =>
      server.requests
        .flatMap(({ message }) => (message === undefined ? [] : [message as Message]))
        .filter((message) => method === undefined || message.method === method),
  }
  opened.push(result)
  return result
}

function answering(
  answer: Inbound['answer'],
  capabilities: ReturnType<Inbound['capabilities']> = { elicitation: { form: {} } },
): Inbound {
  return { capabilities: () => capabilities, answer }
}

function caller(agent: object = {}): Caller & { held: number } {
  const made = {
    agent: agent as NonNullable<Caller['agent']>,
    callId: 'call',
    held: 0,
    hold() {
      made.held += 1
      return () => void (made.held -= 1)
    },
  }
  return made
}

const FORM: Params = {
  message: 'Your name?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
}
const ACCEPT: JsonObject = { action: 'accept', content: { name: 'Ada' } }

describe.each(ERAS)('a resource that is to be watched (%s)', (era) => {
  it('is not, where the server does not answer', async () => {
    const clock = new FakeClock()
    const { session, messages } = await open(
      era,
      {
        capabilities: { tools: {}, resources: { subscribe: true } },
        methods: { 'resources/subscribe': () => NO_ANSWER, 'subscriptions/listen': () => NO_ANSWER },
      },
      { clock },
    )
    const agreed = session.watchResources(['a:1'])
    await vi.waitFor(() =>
      expect(messages(era === 'legacy' ? 'resources/subscribe' : 'subscriptions/listen')).not.toEqual([]),
    )
    await clock.advance(WATCH_MS)
    expect(await agreed).toBe(false)
  })
})

describe.each(ERAS)('requests of other methods (%s)', (era) => {
  it('bring the raw result, odd items and all', async () => {
    const results: Record<string, Params> = {
      'resources/list': { resources: [{ uri: 1 }, 'odd', { uri: 'a:b', name: 'b' }], nextCursor: 'next' },
      'resources/templates/list': { resourceTemplates: [{}] },
      'resources/read': { contents: [{ uri: 'a:b' }] },
      'prompts/list': { prompts: [{ name: 7 }] },
      'prompts/get': { messages: [{ role: 'robot' }] },
      'completion/complete': { completion: { values: 'none' } },
      'tasks/get': { taskId: 'one', status: 'odd' },
      'tasks/update': { odd: 1 },
      'tasks/cancel': { odd: [2] },
    }
    const methods = Object.fromEntries(
      Object.entries(results).map(([method, result]) => [method, () => result]),
    )
    const { session } = await open(era, {
      methods,
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
    })
    for (const [method, result] of Object.entries(results)) {
      const params: JsonObject =
        method === 'completion/complete'
          ? { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }
          : { uri: 'a:b', name: 'p', taskId: 'one' }
      expect(await session.request(method as 'resources/list', params, ANY)).toMatchObject(result)
    }
  })

  it('reject with the code of the server, and at the signal', async () => {
    const { session } = await open(era, {
      methods: {
        'prompts/get': () => {
          throw new RpcError(-32602, 'no such prompt')
        },
        'resources/read': () => new Promise(() => {}),
      },
    })
    await expect(session.request('prompts/get', { name: 'x' }, ANY)).rejects.toMatchObject({
      code: 'MCP_REQUEST_REJECTED',
      data: { rpcCode: -32602 },
    })
    const controller = new AbortController()
    const reading = session.request('resources/read', { uri: 'a:b' }, { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(reading).rejects.toMatchObject({ code: 'MCP_ABORTED' })
  })

  it('carry what the trace says', async () => {
    const { session, messages } = await open(era, { methods: { 'prompts/get': () => ({ messages: [] }) } })
    await session.request('prompts/get', { name: 'x' }, { ...ANY, meta: { traceparent: '00-1' } })
    expect(messages('prompts/get')[0]?.params?.['_meta']).toMatchObject({ traceparent: '00-1' })
  })
})

describe('what a legacy server asks', () => {
  it('is answered on behalf of the one whose call is in flight', async () => {
    const asked: unknown[] = []
    const who = caller()
    const inbound = answering(async (request, { caller: asking }) => {
      asked.push([request.method, request.params['message'], asking === who])
      return ACCEPT
    })
    const { session, server } = await open(
      'legacy',
      {
        async callTool(_params, peer) {
          const answer = await peer.request('elicitation/create', FORM)
          peer.note('answer', answer.result)
          return text('done')
        },
      },
      { inbound },
    )
    await session.callTool(ECHO, {}, { ...ANY, caller: who })
    expect(asked).toEqual([['elicitation/create', 'Your name?', true]])
    expect(server.notes).toEqual([{ name: 'answer', data: ACCEPT }])
  })

  it('is refused where it was not declared, whatever could be answered', async () => {
    const answer = vi.fn<Inbound['answer']>()
    const { session, server, messages } = await open(
      'legacy',
      {
        async callTool(_params, peer) {
          peer.note('answer', (await peer.request('roots/list')).error)
          return text('done')
        },
      },
      { inbound: answering(answer, { elicitation: { form: {} }, roots: undefined }) },
    )
    await session.callTool(ECHO, {}, ANY)
    expect(answer).not.toHaveBeenCalled()
    expect(server.notes[0]?.data).toMatchObject({ code: -32601 })
    expect(messages('initialize')[0]?.params?.['capabilities']).toEqual({ elicitation: { form: {} } })
  })

  it('brings the error of who refuses, and one of our own above the cap', async () => {
    const gate = Promise.withResolvers<void>()
    let open16 = 0
    const inbound = answering(async ({ params }) => {
      open16 += 1
      await gate.promise
      if (open16 === MAX_OPEN) throw new InboundRefusal(-1, `no ${String(params['message'])}`)
      throw Object.assign(new Error('out of order'), { code: -7, data: { path: '/home/ada' } })
    })
    const { session, server } = await open(
      'legacy',
      {
        async callTool(_params, peer) {
          const asking = Array.from({ length: MAX_OPEN + 1 }, async () => {
            const { error } = await peer.request('elicitation/create', FORM)
            peer.note('error', error)
          })
          await Promise.all(asking)
          return text('done')
        },
      },
      { inbound },
    )
    const call = session.callTool(ECHO, {}, ANY)
    await vi.waitFor(() => expect(server.notes).toHaveLength(1))
    expect(open16).toBe(MAX_OPEN)
    expect(server.notes[0]?.data).toMatchObject({ message: 'The server asks more than 16 things at once' })
    gate.resolve()
    await call
    expect(server.notes[1]?.data).toEqual({ code: -1, message: 'no Your name?' })
    open16 += 1
    await session.callTool(ECHO, {}, ANY)
    expect(server.notes.at(-1)?.data).toEqual({ code: -32603, message: 'out of order' })
  })

  it('may come without parameters', async () => {
    const answer = vi.fn<Inbound['answer']>(async () => ({ roots: [] }))
    const { session, server } = await open(
      'legacy',
      {
        async callTool(_params, peer) {
          peer.note('answer', (await peer.request('roots/list')).result)
          return text('done')
        },
      },
      { inbound: answering(answer, { roots: {} }) },
    )
    await session.callTool(ECHO, {}, ANY)
    expect(answer.mock.calls[0]?.[0]).toEqual({ method: 'roots/list', params: {} })
    expect(server.notes[0]?.data).toEqual({ roots: [] })
  })

  it('is of the call on whose reply it came, whatever else is in flight', async () => {
    const seen: (Caller | undefined)[] = []
    const release = Promise.withResolvers<void>()
    let calls = 0
    const inbound = answering(async (_request, { caller: asking }) => {
      seen.push(asking)
      return ACCEPT
    })
    const { session } = await open(
      'legacy',
      {
        async callTool(_params, peer) {
          calls += 1
          if (calls < 3) await release.promise
          else {
            await peer.request('elicitation/create', FORM)
            release.resolve()
          }
          return text('done')
        },
      },
      { inbound },
    )
    const agent = {}
    const callers = [caller(agent), caller(), caller(agent)]
    await Promise.all(callers.map((who) => session.callTool(ECHO, {}, { ...ANY, caller: who })))
    expect(seen).toHaveLength(1)
    expect(seen[0]).toBe(callers[2])
  })

  it('is of nobody where that request has no caller, whatever else is in flight', async () => {
    const seen: (Caller | undefined)[] = []
    const listed = Promise.withResolvers<void>()
    const inbound = answering(async (_request, { caller: asking }) => {
      seen.push(asking)
      return ACCEPT
    })
    const { session } = await open(
      'legacy',
      {
        async callTool() {
          await listed.promise
          return text('done')
        },
        async listTools(_params, peer) {
          await peer.request('elicitation/create', FORM)
          return { tools: [] }
        },
      },
      { inbound },
    )
    const call = session.callTool(ECHO, {}, { ...ANY, caller: caller() })
    await session.listTools(undefined, ANY.signal)
    listed.resolve()
    await call
    expect(seen).toEqual([undefined])
  })

  it('is given up at the end of the session, and when nobody answers in half an hour', async () => {
    const clock = new FakeClock()
    const ends: string[] = []
    const asked = Promise.withResolvers<void>()
    const inbound = answering(
      (_request, { signal }) =>
        new Promise((_resolve, reject) => {
          asked.resolve()
          signal.addEventListener('abort', () => {
            ends.push(String(signal.reason))
            reject(new Error('given up'))
          })
        }),
    )
    const behaviour: Behaviour = {
      async callTool(_params, peer) {
        const { error } = await peer.request('elicitation/create', FORM)
        return text(JSON.stringify(error))
      },
    }
    const { session } = await open('legacy', behaviour, { inbound, clock })
    const call = session.callTool(ECHO, {}, ANY)
    await asked.promise
    await clock.advance(MAX_WAIT_MS)
    expect(await call).toMatchObject({ content: [{ text: expect.stringContaining('given up') as string }] })
    expect(ends).toEqual(['InboundRefusal: nobody answered in time'])

    const second = session.callTool(ECHO, {}, ANY)
    second.catch(() => undefined)
    await vi.waitFor(() => expect(clock.pending()).toContain(MAX_WAIT_MS))
    await session.close()
    await vi.waitFor(() => expect(ends).toHaveLength(2))
  })
})

describe('input-required rounds', () => {
  const ask = (more: Params): Params => ({ resultType: 'input_required', ...more })

  it('answer on behalf of the caller and send the state back byte for byte, under a new id', async () => {
    const state = ' {"é":1}\n'
    const asked: unknown[] = []
    const who = caller()
    const inbound = answering(async ({ method, params }, asking) => {
      asked.push([method, params['message'], asking.caller === who])
      return ACCEPT
    })
    const { session, messages } = await open(
      'modern',
      {
        callTool: (params) =>
          params['inputResponses'] === undefined
            ? ask({
                inputRequests: { 'key 1': { method: 'elicitation/create', params: FORM } },
                requestState: state,
              })
            : text('done'),
      },
      { inbound },
    )
    expect(await session.callTool(ECHO, { a: 1 }, { ...ANY, caller: who })).toMatchObject(text('done'))
    expect(asked).toEqual([['elicitation/create', 'Your name?', true]])
    const [first, second] = messages('tools/call')
    expect(second?.params).toMatchObject({
      name: 'echo',
      arguments: { a: 1 },
      inputResponses: { 'key 1': ACCEPT },
      requestState: state,
    })
    expect(first?.params).not.toHaveProperty('requestState')
    expect(second?.id).not.toBe(first?.id)
  })

  it('serve prompts and resources too, and leave out a state that was not given', async () => {
    const inbound = answering(async () => ACCEPT)
    const once = (done: Params) => (params: Params) =>
      params['inputResponses'] === undefined
        ? ask({ inputRequests: { q: { method: 'elicitation/create' } } })
        : done
    const { session, messages } = await open(
      'modern',
      {
        methods: {
          'prompts/get': once({ messages: [] }),
          'resources/read': once({ contents: [] }),
        },
      },
      { inbound },
    )
    await session.request('prompts/get', { name: 'p' }, ANY)
    await session.request('resources/read', { uri: 'a:b' }, ANY)
    expect(messages('prompts/get')[1]?.params).not.toHaveProperty('requestState')
    expect(messages('resources/read')).toHaveLength(2)
  })

  it('wait a moment before a request that the server only wants to see again', async () => {
    const clock = new FakeClock()
    const { session, messages } = await open(
      'modern',
      {
        callTool: (params) =>
          params['requestState'] === undefined ? ask({ requestState: 'later' }) : text('done'),
      },
      { clock },
    )
    const call = session.callTool(ECHO, {}, ANY)
    await vi.waitFor(() => expect(clock.pending()).toEqual([250]))
    expect(messages('tools/call')).toHaveLength(1)
    await clock.advance(250)
    expect(await call).toMatchObject(text('done'))

    const controller = new AbortController()
    const given = session.callTool(ECHO, {}, { signal: controller.signal })
    await vi.waitFor(() => expect(clock.pending()).toEqual([250]))
    controller.abort(new Error('enough'))
    await expect(given).rejects.toMatchObject({ code: 'MCP_ABORTED' })
    expect(clock.pending()).toEqual([])
  })

  const elicit = { method: 'elicitation/create', params: FORM }
  it.each([
    ['nothing was declared', ask({ inputRequests: { q: elicit } }), undefined, /did not offer to give/],
    [
      'this was not declared',
      ask({ inputRequests: { q: { method: 'roots/list' } } }),
      ACCEPT,
      /did not offer/,
    ],
    ['a question has no method', ask({ inputRequests: { q: 7 } }), ACCEPT, /of a kind that the protocol/],
    ['a question is of no known method', ask({ inputRequests: { q: { method: 'x' } } }), ACCEPT, /of a kind/],
    ['nothing is asked and no state given', ask({ inputRequests: {} }), ACCEPT, /does not say which/],
    [
      'too much is asked at once',
      ask({
        inputRequests: Object.fromEntries(Array.from({ length: MAX_QUESTIONS + 1 }, (_, at) => [at, elicit])),
      }),
      ACCEPT,
      /asks 17 things at once/,
    ],
    ['it never ends', ask({ inputRequests: { q: elicit } }), ACCEPT, /still wants input after 10 rounds/],
  ])('end the call where %s', async (_name, result, answer, message) => {
    const inbound = answer === undefined ? undefined : answering(async () => answer)
    const { session, messages } = await open(
      'modern',
      { callTool: () => result },
      inbound === undefined ? {} : { inbound },
    )
    await expect(session.callTool(ECHO, {}, ANY)).rejects.toMatchObject({
      code: 'MCP_UNSUPPORTED',
      message: expect.stringMatching(message) as string,
    })
    expect(messages('tools/call').length).toBeLessThanOrEqual(MAX_ROUNDS + 1)
  })

  it('are no way for requests that cannot require input, whoever could answer', async () => {
    const answer = vi.fn<Inbound['answer']>()
    const { session } = await open(
      'modern',
      {
        listTools: () => ask({ inputRequests: { q: elicit } }),
        methods: { 'completion/complete': () => ask({ inputRequests: { q: elicit } }) },
      },
      { inbound: answering(answer) },
    )
    const refused = { code: 'MCP_UNSUPPORTED' }
    await expect(session.listTools(undefined, ANY.signal)).rejects.toMatchObject(refused)
    await expect(session.request('completion/complete', {}, ANY)).rejects.toMatchObject(refused)
    expect(answer).not.toHaveBeenCalled()
  })

  it('end the call with the refusal of whoever is asked', async () => {
    const inbound = answering(async () => {
      throw new InboundRefusal(-1, 'User rejected sampling request')
    })
    const { session } = await open(
      'modern',
      { callTool: () => ask({ inputRequests: { q: elicit } }) },
      { inbound },
    )
    await expect(session.callTool(ECHO, {}, ANY)).rejects.toMatchObject({
      code: 'MCP_DENIED',
      message: expect.stringContaining('User rejected sampling request') as string,
    })
  })

  it('are given up at the end of the session', async () => {
    const asked = Promise.withResolvers<AbortSignal>()
    const inbound = answering((_request, { signal }) => {
      asked.resolve(signal)
      return new Promise(() => {})
    })
    const { session } = await open(
      'modern',
      { callTool: () => ask({ inputRequests: { q: elicit } }) },
      { inbound, clock: new FakeClock() },
    )
    const call = session.callTool(ECHO, {}, ANY)
    call.catch(() => undefined)
    const signal = await asked.promise
    await session.close()
    await expect(call).rejects.toMatchObject({ code: 'MCP_CONNECTION_CLOSED' })
    expect(signal.aborted).toBe(true)
  })

  it('are given up at once by a caller who goes, even where the one who is asked does not', async () => {
    const asked = Promise.withResolvers<void>()
    const inbound = answering(() => {
      asked.resolve()
      return new Promise(() => {})
    })
    const { session } = await open(
      'modern',
      { callTool: () => ask({ inputRequests: { q: elicit } }) },
      { inbound, clock: new FakeClock() },
    )
    const controller = new AbortController()
    const call = session.callTool(ECHO, {}, { signal: controller.signal })
    await asked.promise
    controller.abort(new Error('enough'))
    await expect(call).rejects.toMatchObject({ code: 'MCP_ABORTED' })
  })
})

describe('declared capabilities', () => {
  it.each(ERAS)(
    'are those that somebody answers, and the tasks extension in the modern era (%s)',
    async (era) => {
      const { session, messages } = await open(
        era,
        {},
        { inbound: answering(async () => ACCEPT, { roots: {} }) },
      )
      await session.callTool(ECHO, {}, ANY)
      const meta = messages('tools/call')[0]?.params?.['_meta'] as Params | undefined
      const declared =
        era === 'legacy'
          ? messages('initialize')[0]?.params?.['capabilities']
          : meta?.['io.modelcontextprotocol/clientCapabilities']
      expect(declared).toEqual({
        roots: {},
        ...(era === 'modern' ? { extensions: { 'io.modelcontextprotocol/tasks': {} } } : {}),
      })
    },
  )

  it('have no extensions in a legacy handshake that follows a probe', async () => {
    const { messages } = await open('legacy', {}, { config: { protocol: 'auto' } })
    expect(messages('initialize')[0]?.params?.['capabilities']).toEqual({})
  })

  it('of a call that asks for a task say so', async () => {
    const { session, messages } = await open('legacy', {})
    await session.callTool(ECHO, {}, { ...ANY, task: { ttl: 5 } })
    expect(messages('tools/call')[0]?.params).toMatchObject({ task: { ttl: 5 } })
  })
})

describe('announcements', () => {
  const capabilities: Params = {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true },
    logging: {},
  }

  it.each(ERAS)('of changed prompts are passed on, where the row wants prompts (%s)', async (era) => {
    const { server, told } = await open(era, { capabilities })
    await vi.waitFor(() => expect(server.openResponses.size).toBe(1))
    server.listChanged('prompts')
    await vi.waitFor(() => expect(told).toContain('prompts changed'))
  })

  it.each([
    ['legacy', true],
    ['legacy', false],
    ['modern', true],
    ['modern', false],
  ] as const)('of a %s server that has them for tools (%s) are counted on', async (era, listChanged) => {
    const { session } = await open(era, { capabilities: { tools: { listChanged } } })
    expect(session.hearsChanges()).toBe(listChanged)
  })

  it('of changed prompts are not asked for where the row wants none', async () => {
    const { server, messages } = await open('modern', { capabilities }, { config: { prompts: false } })
    await vi.waitFor(() => expect(server.openResponses.size).toBe(1))
    expect(messages('subscriptions/listen')[0]?.params?.['notifications']).toEqual({ toolsListChanged: true })
  })

  it('of resources come for those that are watched: legacy asks by difference', async () => {
    const { session, server, told, messages } = await open('legacy', {
      capabilities,
      methods: {
        'resources/subscribe': ({ uri }) => {
          if (uri === 'a:bad') throw new RpcError(-32603, 'not this \u001b[31mone')
          return {}
        },
        'resources/unsubscribe': () => ({}),
        'logging/setLevel': () => ({}),
      },
    })
    expect(await session.watchResources(['a:1', 'a:2'])).toBe(true)
    expect(await session.watchResources(['a:2', 'a:bad'])).toBe(false)
    const uris = (method: string): unknown[] => messages(method).map(({ params }) => params?.['uri'])
    expect(uris('resources/subscribe')).toEqual(['a:1', 'a:2', 'a:bad'])
    expect(uris('resources/unsubscribe')).toEqual(['a:1'])
    expect(told).toContainEqual(expect.stringMatching(/^debug: resources\/subscribe failed: .*not this one/))
    await vi.waitFor(() => expect(server.openResponses.size).toBe(1))
    server.notify('notifications/resources/updated', { uri: 'a:2' })
    server.notify('notifications/resources/updated', { uri: `a:${'x'.repeat(5_000)}` })
    await vi.waitFor(() => expect(told).toContain('updated: a:2'))
    expect(told.filter((line) => line.startsWith('updated'))).toHaveLength(1)
  })

  it('of resources come for those that are watched: modern listens to them', async () => {
    const { session, messages, server } = await open('modern', { capabilities })
    expect(await session.watchResources(['a:1'])).toBe(true)
    expect(messages('subscriptions/listen').at(-1)?.params?.['notifications']).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ['a:1'],
    })
    await vi.waitFor(() => expect(server.openResponses.size).toBe(1))
  })

  it.each(ERAS)('of resources are not asked for where the server has none (%s)', async (era) => {
    const { session, messages } = await open(era, {
      capabilities: { tools: { listChanged: true }, resources: {} },
    })
    expect(await session.watchResources([])).toBe(true)
    expect(await session.watchResources(['a:1'])).toBe(false)
    expect(JSON.stringify(messages())).not.toContain('a:1')
  })

  it('are log messages from the wanted level on: the legacy server is told which', async () => {
    const { server, told, messages } = await open('legacy', {
      capabilities,
      methods: { 'logging/setLevel': () => ({}) },
    })
    await vi.waitFor(() => expect(server.openResponses.size).toBe(1))
    expect(messages('logging/setLevel')[0]?.params).toEqual({ level: 'warning' })
    server.notify('notifications/message', { level: 'info', data: 'too little' })
    server.notify('notifications/message', { level: 'error', logger: 'db', data: { why: 'full' } })
    await vi.waitFor(() => expect(told).toContain('log error: db: {"why":"full"}'))
    expect(told.join('\n')).not.toContain('too little')
  })

  it('are log messages that each modern request asks for', async () => {
    const { session, messages } = await open('modern', { capabilities }, { config: { logLevel: 'debug' } })
    await session.callTool(ECHO, {}, { ...ANY, meta: { traceparent: '00-1' } })
    expect(messages('tools/call')[0]?.params?.['_meta']).toMatchObject({
      'io.modelcontextprotocol/logLevel': 'debug',
      traceparent: '00-1',
    })
  })

  it('are no log messages where the server has none', async () => {
    const { session, messages } = await open('modern', {}, { config: { logLevel: 'debug' } })
    await session.callTool(ECHO, {}, ANY)
    expect(JSON.stringify(messages('tools/call'))).not.toContain('logLevel')
  })

  it('are no log messages where the row wants none', async () => {
    const { server, told, messages } = await open('legacy', { capabilities }, { config: { logLevel: 'off' } })
    await vi.waitFor(() => expect(server.openResponses.size).toBe(1))
    server.notify('notifications/message', { level: 'emergency', data: 'fire' })
    server.listChanged('prompts')
    await vi.waitFor(() => expect(told).toContain('prompts changed'))
    expect(told.join('\n')).not.toContain('fire')
    expect(messages('logging/setLevel')).toEqual([])
  })

  it('are asked for again in the session that took the place of a lost one', async () => {
    const { session, server, told, messages } = await open('legacy', {
      capabilities,
      methods: { 'resources/subscribe': () => ({}) },
    })
    await session.watchResources(['a:1'])
    await vi.waitFor(() => expect(server.openResponses.size).toBe(1))
    server.sessions.clear()
    await session.callTool(ECHO, {}, ANY)
    await vi.waitFor(() => expect(messages('logging/setLevel')).toHaveLength(2))
    await vi.waitFor(() => expect(messages('resources/subscribe')).toHaveLength(2))
    expect(told).toEqual(expect.arrayContaining(['tools changed', 'prompts changed', 'updated: a:1']))
  })

  it('may have been missed while their stream was cut, and are not asked for again', async () => {
    const { session, server, told, messages } = await open('legacy', {
      capabilities,
      methods: { 'resources/subscribe': () => ({}) },
    })
    await session.watchResources(['a:1'])
    await vi.waitFor(() => expect(server.openResponses.size).toBe(1))
    for (const response of server.openResponses) response.destroy()
    await vi.waitFor(() => expect(told).toContain('updated: a:1'), 5_000)
    expect(told).toEqual(expect.arrayContaining(['tools changed', 'prompts changed']))
    expect(messages('resources/subscribe')).toHaveLength(1)
    expect(messages('logging/setLevel')).toHaveLength(1)
  })

  it('are none of prompts after a gap where the server announces none', async () => {
    const { server, told } = await open('legacy', { capabilities: { tools: { listChanged: true } } })
    await vi.waitFor(() => expect(server.openResponses.size).toBe(1))
    for (const response of server.openResponses) response.destroy()
    await vi.waitFor(() => expect(told).toContain('tools changed'), 5_000)
    expect(told).not.toContain('prompts changed')
  })

  it('wait for no answer to housekeeping longer than half a minute', async () => {
    const clock = new FakeClock()
    const { told } = await open(
      'legacy',
      { capabilities, methods: { 'logging/setLevel': () => new Promise(() => {}) } },
      { clock },
    )
    await vi.waitFor(() => expect(clock.pending()).toContain(30_000))
    await clock.advance(30_000)
    await vi.waitFor(() => expect(told).toContainEqual(expect.stringContaining('logging/setLevel failed')))
  })
})

describe('changed roots', () => {
  it.each([
    ['legacy', { roots: { listChanged: true } }, 1],
    ['legacy', { roots: {} }, 0],
    ['legacy', {}, 0],
    ['modern', { roots: { listChanged: true } }, 0],
  ] as const)('are told to a %s server that was told %j: %i times', async (era, capabilities, times) => {
    const { session, messages } = await open(
      era,
      {},
      { inbound: answering(async () => ACCEPT, capabilities) },
    )
    await session.rootsChanged()
    await session.callTool(ECHO, {}, ANY)
    expect(messages('notifications/roots/list_changed')).toHaveLength(times)
  })

  it('cost nobody anything where the server is gone', async () => {
    const { session, server } = await open(
      'legacy',
      {},
      { inbound: answering(async () => ACCEPT, { roots: { listChanged: true } }) },
    )
    await server.close()
    await session.rootsChanged()
  })
})
