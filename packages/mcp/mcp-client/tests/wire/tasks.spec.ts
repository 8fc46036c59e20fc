/** Owns the tests of calls that a server runs as tasks, over a real wire, in both ways of the protocol. */
import { fileURLToPath } from 'node:url'
import { RpcError, httpRow, startHttpServer, stdioServer, text, tool } from '@dsh-mcp/testkit'
import type { Behaviour, HttpServer, Params } from '@dsh-mcp/testkit'
import { UserQuestionService } from '@deepseek-ai/dsh-user-questions'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { everythingRow, startEverythingHttp } from '../composition/reference-servers.ts'
import { openOperatorHost } from './operator-host.ts'
import type { OperatorHost } from './operator-host.ts'

const KEEPER = fileURLToPath(new URL('fixtures/task-keeper.ts', import.meta.url))

let host: OperatorHost
let servers: HttpServer[] = []

afterEach(async () => {
  await host.close()
  for (const server of servers) await server.close()
  servers = []
})

const TASKS: Params = { tools: {}, tasks: { requests: { tools: { call: {} } } } }
const REQUIRED = tool('work', { execution: { taskSupport: 'required' } })
const STATE = { taskId: 'one', ttl: 1_000, pollInterval: 1, createdAt: '', lastUpdatedAt: '' }

/** A server whose task goes through these states, one a look; the last one stays. */
function legacy(states: readonly Params[], more: Behaviour = {}): Behaviour {
  let looks = 0
  return {
    era: 'legacy',
    capabilities: TASKS,
    tools: [REQUIRED],
    callTool: () => ({ task: { ...STATE, status: 'working' } }),
    ...more,
    methods: {
      'tasks/get': () => ({ ...STATE, ...states[Math.min(looks++, states.length - 1)] }),
      'tasks/result': () => text('the result'),
      'tasks/cancel': () => ({ ...STATE, status: 'cancelled' }),
      ...more.methods,
    },
  }
}

/** The same by the extension of 2026-07-28. */
function modern(states: readonly Params[], more: Behaviour = {}): Behaviour {
  let looks = 0
  return {
    era: 'modern',
    tools: [tool('work')],
    callTool: () => ({ resultType: 'task', taskId: 'one', status: 'working', pollIntervalMs: 1 }),
    ...more,
    methods: {
      'tasks/get': () => ({
        taskId: 'one',
        pollIntervalMs: 1,
        ...states[Math.min(looks++, states.length - 1)],
      }),
      'tasks/update': () => ({}),
      'tasks/cancel': () => ({}),
      ...more.methods,
    },
  }
}

async function start(behaviour: Behaviour, config: Params = {}): Promise<HttpServer> {
  const server = await startHttpServer(behaviour)
  servers.push(server)
  host = await openOperatorHost()
  await host.ctx.plugin(UserQuestionService)
  await host.row({ ...httpRow('kit', server.url).config, ...config })
  return server
}

async function call(signal?: AbortSignal, agent?: Parameters<OperatorHost['call']>[3]): Promise<string> {
  const { content } = await host.call('mcp__kit__work', {}, signal, agent)
  return content.map((block) => ('text' in block ? String(block.text) : '')).join('\n')
}

const asked = (server: HttpServer, method: string): Params[] =>
  server.requests.flatMap(({ message }) => {
    const { method: name, params } = (message ?? {}) as { method?: string; params?: Params }
    return name === method ? [params ?? {}] : []
  })

describe('a task of revision 2025-11-25', () => {
  it('is asked for where a tool requires it, followed by looks, and its result is that of the call', async () => {
    const server = await start(
      legacy([{ status: 'working', statusMessage: 'half\u200b way' }, { status: 'completed' }]),
    )
    expect(await call()).toBe('the result')
    expect(asked(server, 'tools/call')).toMatchObject([{ task: { ttl: 1_800_000 } }])
    expect(asked(server, 'tasks/get')).toMatchObject([{ taskId: 'one' }, { taskId: 'one' }])
    expect(asked(server, 'tasks/result')).toHaveLength(1)
    expect(asked(server, 'tasks/cancel')).toEqual([])
    expect(host.logs.join('\n')).toContain('progress 1: working')
  })

  it('shows its progress in the status while it runs', async () => {
    const done = Promise.withResolvers<void>()
    await start(
      legacy([], {
        methods: {
          'tasks/get': async () => {
            await done.promise
            return { ...STATE, status: 'completed' }
          },
        },
        callTool: () => ({ task: { ...STATE, status: 'working', statusMessage: 'stage 2 of 4' } }),
      }),
    )
    const running = call()
    const calls = () => host.ctx.mcpServers.get('kit')?.calls
    await host.until(() => calls()?.running?.[0]?.progress !== undefined)
    expect(calls()?.running).toEqual([
      { tool: 'work', since: expect.any(Number) as number, progress: '1: working: stage 2 of 4' },
    ])
    expect(JSON.stringify(await host.run('/mcp kit'))).toMatch(
      /running {6}work, \d+ m?s, 1: working: stage 2 of 4/,
    )
    done.resolve()
    await running
    expect(calls()?.running).toBeUndefined()
  })

  it('may be done at once, and a server may answer without one', async () => {
    await start(legacy([], { callTool: () => ({ task: { ...STATE, status: 'completed' } }) }))
    expect(await call()).toBe('the result')
    await host.close()
    await start(legacy([], { callTool: () => text('no task') }))
    expect(await call()).toBe('no task')
  })

  it('asks its questions while the result is waited for', async () => {
    const server = await start(
      legacy([{ status: 'input_required' }], {
        methods: {
          'tasks/result': async (_params, peer) => {
            await vi.waitFor(() => expect(asked(server, 'tasks/get').length).toBeGreaterThan(2))
            const { result } = await peer.request('elicitation/create', {
              message: 'Which?',
              requestedSchema: { type: 'object', properties: {} },
            })
            return text(`answered ${JSON.stringify(result)}`)
          },
        },
      }),
    )
    expect(await call()).toBe('answered {"action":"decline"}')
    expect(asked(server, 'tasks/result')).toHaveLength(1)
  })

  it.each<[string, Params, Behaviour['methods'], RegExp]>([
    [
      'fails with a result',
      { status: 'failed' },
      { 'tasks/result': () => text('broken', { isError: true }) },
      /^Error: broken$/,
    ],
    [
      'fails with an error',
      { status: 'failed', statusMessage: 'out of paper' },
      {
        'tasks/result': () => {
          throw new RpcError(-32603, 'jam')
        },
      },
      /The task of tool "work" failed: .*jam.* \(out of paper\)$/,
    ],
    [
      'is cancelled by the server',
      { status: 'cancelled' },
      {},
      /The task of tool "work" was cancelled by the server$/,
    ],
    [
      'has an odd state',
      { status: 'thinking' },
      {},
      /answered with no task: the task of tool "work" may have run/,
    ],
  ])('that %s is told as such', async (_name, state, methods, words) => {
    await start(legacy([state], { methods: methods ?? {} }))
    expect(await call()).toMatch(words)
  })

  it('that the server does not know any more may have run, and the call is not sent again', async () => {
    const server = await start(
      legacy([], {
        tools: [{ ...REQUIRED, annotations: { readOnlyHint: true } }],
        methods: {
          'tasks/get': () => {
            throw new RpcError(-32602, 'unknown task')
          },
        },
      }),
      { trustAnnotations: true },
    )
    expect(await call()).toMatch(
      /the server does not tell of it any more \(.*unknown task.*\): the task of tool "work" may have run/,
    )
    expect(asked(server, 'tools/call')).toHaveLength(1)
    await call()
    expect(asked(server, 'tasks/cancel')).toEqual([])
  })

  it('whose result fails though it is done fails with that', async () => {
    await start(
      legacy([{ status: 'completed' }], {
        methods: {
          'tasks/result': () => {
            throw new RpcError(-32603, 'no result')
          },
        },
      }),
    )
    expect(await call()).toContain('no result')
  })

  it('is cancelled at the server when the caller goes or the time is up', async () => {
    const server = await start(legacy([{ status: 'working' }]), {
      toolCallMaxMs: 400,
      toolCallTimeoutMs: 300,
    })
    const gone = new AbortController()
    const running = call(gone.signal)
    await host.until(() => asked(server, 'tasks/get').length > 0)
    gone.abort()
    await running
    await vi.waitFor(() => expect(asked(server, 'tasks/cancel')).toMatchObject([{ taskId: 'one' }]))
    expect(await call()).toMatch(/was not done after 400 ms/)
    await vi.waitFor(() => expect(asked(server, 'tasks/cancel')).toHaveLength(2))
  })

  it('that cannot be cancelled costs nobody anything', async () => {
    const server = await start(
      legacy([{ status: 'working' }], {
        methods: {
          'tasks/cancel': () => {
            throw new RpcError(-32603, 'no')
          },
        },
      }),
    )
    const gone = new AbortController()
    const running = call(gone.signal)
    await host.until(() => asked(server, 'tasks/get').length > 0)
    gone.abort()
    expect(await running).toMatch(/abort/i)
    await vi.waitFor(() => expect(asked(server, 'tasks/cancel')).toHaveLength(1))
  })

  it('is followed on the next connection after an outage', async () => {
    let looks = 0
    const server = await start(
      legacy([], {
        methods: {
          'tasks/get': (_params, peer) => {
            looks += 1
            if (looks > 1) return { ...STATE, status: 'completed' }
            peer.exit()
            return new Promise(() => {})
          },
        },
      }),
      { reconnect: { initialDelayMs: 10 } },
    )
    expect(await call()).toBe('the result')
    expect(asked(server, 'tools/call')).toHaveLength(1)
  })

  it.each([
    [{}, /^the result$/],
    [{ forgets: true }, /does not tell of it any more .*unknown task.* the task of tool "work" may have run/],
  ])('is looked for in the next process, %j', async (options, words) => {
    const server = stdioServer(KEEPER, options)
    host = await openOperatorHost()
    const { command, args } = server
    await host.row({
      serverName: 'kit',
      command,
      args,
      trustAnnotations: true,
      reconnect: { initialDelayMs: 10 },
    })
    expect(await call()).toMatch(words)
    const received = (await server.journal()).filter(
      ({ kind, message }) => kind === 'received' && JSON.stringify(message).includes('"tools/call"'),
    )
    expect(received).toHaveLength(1)
  })

  it.each(['input_required', 'completed', 'failed'])(
    'whose result is lost with the connection while it is %s is asked for it again',
    async (status) => {
      const server = await start(
        legacy([{ status }, { status: 'completed' }], {
          methods: {
            'tasks/result': (_params, peer) => {
              if (asked(server, 'tasks/result').length > 1) return text('the result')
              peer.exit()
              return new Promise(() => {})
            },
          },
        }),
        { reconnect: { initialDelayMs: 10 } },
      )
      expect(await call()).toBe('the result')
      expect(asked(server, 'tasks/result')).toHaveLength(2)
      expect(asked(server, 'tools/call')).toHaveLength(1)
    },
  )

  it('ends with the outage where nobody reconnects', async () => {
    const server = await start(legacy([], { methods: { 'tasks/get': () => new Promise(() => {}) } }), {
      reconnect: { enabled: false },
    })
    const running = call()
    await host.until(() => asked(server, 'tasks/get').length > 0)
    await server.close()
    servers = []
    expect(await running).toMatch(
      /^Error: MCP server "kit": the server is gone \(.*\): the task of tool "work" may have run/,
    )
  })

  it('of a server that runs none is refused before anything is sent', async () => {
    const server = await start(legacy([], { capabilities: { tools: {}, tasks: { requests: {} } } }))
    expect(await call()).toBe(
      'Error: Tool "work" requires task-based execution, which its server does not offer',
    )
    expect(asked(server, 'tools/call')).toEqual([])
  })
})

describe('a task of the extension of 2026-07-28', () => {
  it('is followed to the result within its last state', async () => {
    const server = await start(
      modern([{ status: 'working' }, { status: 'completed', result: text('the result') }]),
    )
    expect(await call()).toBe('the result')
    expect(asked(server, 'tools/call')[0]).not.toHaveProperty('task')
    expect(asked(server, 'tasks/get')).toHaveLength(2)
  })

  it('that is done without a result has nothing to show', async () => {
    await start(modern([{ status: 'completed' }]))
    expect(await call()).toBe('(work returned no model-visible content)')
  })

  it('asks each question once, whatever the looks, and the answers are sent', async () => {
    const question = {
      method: 'elicitation/create',
      params: { message: 'Which?', requestedSchema: { type: 'object', properties: {} } },
    }
    const server = await start(
      modern([
        { status: 'input_required', inputRequests: { q: question } },
        { status: 'input_required', inputRequests: { q: question } },
        { status: 'completed', result: text('done') },
      ]),
    )
    expect(await call()).toBe('done')
    expect(asked(server, 'tasks/update')).toMatchObject([
      { taskId: 'one', inputResponses: { q: { action: 'decline' } } },
    ])
  })

  it('asks nobody a second time when the answers are lost with the connection', async () => {
    let count = 0
    const question = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } }
    const open = {
      status: 'input_required',
      inputRequests: { q: { method: 'elicitation/create', params: question } },
    }
    const server = await start(
      modern([], {
        methods: {
          'tasks/get': () =>
            asked(server, 'tasks/update').length < 2
              ? { taskId: 'one', pollIntervalMs: 1, ...open }
              : { taskId: 'one', status: 'completed', result: text('done') },
          'tasks/update': (_params, peer) => {
            if (asked(server, 'tasks/update').length > 1) return {}
            peer.exit()
            return new Promise(() => {})
          },
        },
      }),
      { reconnect: { initialDelayMs: 10 } },
    )
    host.ctx.userQuestions.registerProvider({
      ask: ({ questions }) => {
        count += 1
        return Promise.resolve({
          answers: questions.map(({ id, options }) => ({ id, selected: [String(options?.[0]?.label)] })),
        })
      },
    })
    expect(await call(undefined, await host.agent())).toBe('done')
    expect(asked(server, 'tasks/update')).toHaveLength(2)
    expect(count).toBe(1)
  })

  it.each<[string, Params, RegExp]>([
    [
      'fails',
      { status: 'failed', error: { code: 1, message: 'out of\u200b ink' } },
      /The task of tool "work" failed: out of ink$/,
    ],
    [
      'asks without end',
      {
        status: 'input_required',
        inputRequests: Object.fromEntries(
          Array.from({ length: 101 }, (_, key) => [`q${key}`, { method: 'roots/list' }]),
        ),
      },
      /did not offer to give/,
    ],
    ['fails in silence', { status: 'failed' }, /The task of tool "work" failed$/],
    [
      'asks what is no question',
      { status: 'input_required', inputRequests: { q: 7 } },
      /did not offer to give/,
    ],
    [
      'is cancelled by the server',
      { status: 'cancelled', statusMessage: 'enough' },
      /cancelled by the server \(enough\)$/,
    ],
  ])('that %s is told as such', async (_name, state, words) => {
    await start(modern([state]))
    expect(await call()).toMatch(words)
  })

  it('is cancelled when the caller goes', async () => {
    const server = await start(modern([{ status: 'working' }]))
    const gone = new AbortController()
    const running = call(gone.signal)
    await host.until(() => asked(server, 'tasks/get').length > 0)
    gone.abort()
    await running
    await vi.waitFor(() => expect(asked(server, 'tasks/cancel')).toMatchObject([{ taskId: 'one' }]))
  })
})

describe('simulate-research-query of server-everything', () => {
  it.each(['stdio', 'http'])(
    'is followed, asked about, cancelled and timed out over %s',
    async (wire) => {
      const remote = wire === 'http' ? await startEverythingHttp() : undefined
      const row = remote === undefined ? everythingRow() : httpRow('everything', remote.url)
      host = await openOperatorHost()
      await host.ctx.plugin(UserQuestionService)
      host.ctx.userQuestions.registerProvider({
        ask: ({ questions }) =>
          Promise.resolve({
            answers: questions.map(({ id, options = [] }) => {
              const snake = options.find(({ label }) => label.includes('snake')) ?? options[0]
              return { id, selected: [String(snake?.label)] }
            }),
          }),
      })
      await host.row({ ...row.config, reconnect: { enabled: false } })
      await host.row({ ...row.config, serverName: 'hasty', toolCallMaxMs: 1_500 })
      const research = async (args: object, signal?: AbortSignal, name = 'everything'): Promise<string> => {
        const { content } = await host.call(
          `mcp__${name}__simulate-research-query`,
          args,
          signal,
          await agent,
        )
        return content.map((block) => ('text' in block ? String(block.text) : '')).join('\n')
      }
      const agent = host.agent()
      const gone = new AbortController()
      const outcomes = Promise.all([
        research({ topic: 'python', ambiguous: true }),
        research({ topic: 'tea' }, gone.signal),
        research({ topic: 'tea' }, undefined, 'hasty'),
      ])
      const running = () => host.ctx.mcpServers.get('everything')?.calls.running ?? []
      const isUnderWay = () => running().filter(({ progress }) => progress !== undefined).length === 2
      await host.until(isUnderWay)
      gone.abort()
      const [asked, aborted, late] = await outcomes
      expect(asked).toMatch(/^# Research Report: python \(snake\)/)
      expect(aborted).toMatch(/was aborted\. Its last progress was \d: working: /)
      expect(late).toMatch(/was not done after 1500 ms\. Its last progress was \d: working: /)
      await remote?.close()
    },
    20_000,
  )
})
