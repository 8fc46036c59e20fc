/** Owns the tests of prompts as slash commands in a real host over a real wire, from the source, in both eras. */
import { RpcError, httpRow, startHttpServer } from '@dsh-mcp/testkit'
import type { Behaviour, HttpServer, Params } from '@dsh-mcp/testkit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openOperatorHost } from './operator-host.ts'
import type { OperatorHost } from './operator-host.ts'

type Era = 'legacy' | 'modern'
const ERAS: readonly Era[] = ['legacy', 'modern']

let host: OperatorHost
let servers: HttpServer[] = []

afterEach(async () => {
  await host.close()
  for (const server of servers) await server.close()
  servers = []
})

const WEATHER = {
  name: 'weather',
  description: 'Asks for the weather',
  arguments: [{ name: 'city', required: true }, { name: 'units' }],
}

async function start(era: Era, more: Behaviour = {}, config: Params = {}): Promise<HttpServer> {
  const server = await startHttpServer({
    era,
    capabilities: { tools: { listChanged: true }, prompts: { listChanged: true }, completions: {} },
    ...more,
    methods: {
      'prompts/list': () => ({ prompts: [WEATHER] }),
      'prompts/get': ({ arguments: args }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `Weather of ${JSON.stringify(args)}` } }],
      }),
      'completion/complete': () => ({ completion: { values: ['Paris', 'Par\u200bma'] } }),
      ...more.methods,
    },
  })
  servers.push(server)
  host = await openOperatorHost()
  await host.row({ ...httpRow('kit', server.url).config, ...config })
  return server
}

const commands = (): string[] =>
  host.ctx.commands
    .list({} as never)
    .map(({ name }) => name)
    .filter((name) => name !== 'mcp')
const listed = (name = 'mcp__kit__weather'): Promise<void> => host.until(() => commands().includes(name))
const asked = (server: HttpServer, method: string): Params[] =>
  server.requests.flatMap(({ message }) => {
    const { method: name, params } = (message ?? {}) as { method?: string; params?: Params }
    return name === method ? [params ?? {}] : []
  })

describe.each(ERAS)('a prompt (%s)', (era) => {
  it('is a command whose messages are a turn of the user', async () => {
    const server = await start(era)
    await listed()
    const agent = await host.agent()
    const [found] = host.ctx.commands.list(agent).filter(({ name }) => name !== 'mcp')
    expect(found).toMatchObject({
      name: 'mcp__kit__weather',
      description: 'Asks for the weather (prompt of the MCP server kit)',
      input: { hint: '<city> [units]' },
    })
    const from = agent.session.seq
    expect(await host.run('/mcp__kit__weather "New York" units=metric', agent)).toEqual({
      kind: 'success',
      text: 'Sent 1 message of the prompt "weather".',
    })
    await agent.whenIdle()
    const log = JSON.stringify(agent.session.events.filter(({ seq }) => seq >= from))
    const words = 'Weather of {"units":"metric","city":"New York"}'
    expect(log).toContain(JSON.stringify(words).slice(1, -1))
    expect(asked(server, 'prompts/get')[0]).toMatchObject({
      name: 'weather',
      arguments: { city: 'New York', units: 'metric' },
    })
  })

  it('that misses a value says which, what there is, and sends nothing', async () => {
    const server = await start(era)
    await listed()
    expect(await host.run('/mcp__kit__weather')).toEqual({
      kind: 'error',
      text: 'weather: it needs city. Values for city: "Paris", "Parma". Usage: /mcp__kit__weather <city> [units]',
    })
    expect(await host.run('/mcp__kit__weather a b c')).toMatchObject({
      text: expect.stringMatching(/^weather: it takes 2 arguments \(city, units\); .*Usage/) as string,
    })
    expect(asked(server, 'prompts/get')).toEqual([])
  })

  it('follows the list: what did not change stays, what went goes', async () => {
    let prompts: unknown[] = [WEATHER, { name: 'old' }]
    const server = await start(era, { methods: { 'prompts/list': () => ({ prompts }) } })
    await listed('mcp__kit__old')
    const changes: string[] = []
    host.ctx.on('commands/change', () => void changes.push('change'))
    await vi.waitFor(() => expect(server.openResponses.size).toBeGreaterThan(0))
    prompts = [WEATHER, { name: 'new' }, 'odd', { name: 'new' }]
    for (let at = 0; at < 50; at++) server.listChanged('prompts')
    await listed('mcp__kit__new')
    expect(commands()).toEqual(['mcp__kit__new', 'mcp__kit__weather'])
    expect(changes).toHaveLength(2)
    expect(host.logs.join('\n')).toContain('2 of 4 prompts are left out: no name of their own')
    expect(asked(server, 'prompts/list').length).toBeLessThanOrEqual(4)
  })
})

describe('a prompt', () => {
  it('that the server refuses shows why, and what it would have taken', async () => {
    await start('legacy', {
      methods: {
        'prompts/get': () => {
          throw new RpcError(-32602, 'no such \u001b[31mcity')
        },
      },
    })
    await listed()
    expect(await host.run('/mcp__kit__weather Pairs')).toMatchObject({
      kind: 'error',
      text: expect.stringMatching(
        /^weather: .*no such city.* Values for city: "Paris", "Parma"\.$/,
      ) as string,
    })
    expect(await host.run('/mcp__kit__weather Paris')).toMatchObject({
      text: expect.not.stringContaining('Values for') as string,
    })
  })

  it.each<[string, Behaviour]>([
    ['offers no completions', { capabilities: { prompts: {} } }],
    [
      'fails to complete',
      {
        methods: {
          'completion/complete': () => {
            throw new RpcError(-32603, 'no')
          },
        },
      },
    ],
    ['completes to nothing', { methods: { 'completion/complete': () => ({ completion: { values: [] } }) } }],
    ['completes oddly', { methods: { 'completion/complete': () => ({ completion: 'odd' }) } }],
  ])('shows no values where the server %s', async (_name, more) => {
    await start('legacy', more)
    await listed()
    expect(await host.run('/mcp__kit__weather')).toEqual({
      kind: 'error',
      text: 'weather: it needs city. Usage: /mcp__kit__weather <city> [units]',
    })
  })

  it('shows no more than ten values, with what was given for the others', async () => {
    const server = await start('legacy', {
      methods: {
        'completion/complete': () => ({
          completion: { values: Array.from({ length: 12 }, (_, at) => `v${at}`) },
        }),
      },
    })
    await listed()
    expect(await host.run('/mcp__kit__weather units=metric')).toMatchObject({
      text: expect.stringContaining('"v9", ….') as string,
    })
    expect(asked(server, 'completion/complete')[0]).toMatchObject({
      ref: { type: 'ref/prompt', name: 'weather' },
      argument: { name: 'city', value: '' },
      context: { arguments: { units: 'metric' } },
    })
  })

  it('with no messages sends nothing', async () => {
    await start('legacy', { methods: { 'prompts/get': () => ({ messages: [] }) } })
    await listed()
    expect(await host.run('/mcp__kit__weather x')).toEqual({
      kind: 'error',
      text: 'weather: the server sent no messages',
    })
  })

  it('sends several messages with who says what', async () => {
    await start('legacy', {
      methods: {
        'prompts/list': () => ({ prompts: [{ name: 'talk', title: 'Talk' }] }),
        'prompts/get': () => ({
          messages: [
            { role: 'user', content: { type: 'text', text: 'Hi' } },
            { role: 'assistant', content: { type: 'text', text: 'Yes?' } },
          ],
        }),
      },
    })
    await listed('mcp__kit__talk')
    expect(await host.run('/mcp__kit__talk')).toEqual({
      kind: 'success',
      text: 'Sent 2 messages of the prompt "talk".',
    })
    expect(await host.run('/mcp__kit__talk x')).toMatchObject({
      text: 'talk: it takes no arguments. Usage: /mcp__kit__talk',
    })
  })

  it('of a server that does not answer ends with the silence limit, and with the person who goes', async () => {
    const server = await start(
      'legacy',
      { methods: { 'prompts/get': () => new Promise(() => {}) } },
      { toolCallTimeoutMs: 200 },
    )
    await listed()
    expect(await host.run('/mcp__kit__weather x')).toEqual({
      kind: 'error',
      text: 'weather: no answer within 200 ms (toolCallTimeoutMs).',
    })
    const gone = new AbortController()
    const running = host.run('/mcp__kit__weather x', undefined, gone.signal)
    await host.until(() => asked(server, 'prompts/get').length === 2)
    gone.abort()
    expect(await running.catch((error: unknown) => ({ text: String(error) }))).toMatchObject({
      text: expect.stringMatching(/abort/i) as string,
    })
  })

  it('that reports progress may take longer', async () => {
    await start(
      'legacy',
      {
        methods: {
          'prompts/get': async (params, peer) => {
            const { progressToken } = params['_meta'] as { progressToken: number }
            for (let progress = 1; progress < 5; progress++) {
              await new Promise((resolve) => setTimeout(resolve, 100))
              peer.notify('notifications/progress', { progressToken, progress })
            }
            return { messages: [{ role: 'user', content: { type: 'text', text: 'late' } }] }
          },
        },
      },
      { toolCallTimeoutMs: 300 },
    )
    await listed()
    expect(await host.run('/mcp__kit__weather x')).toMatchObject({ kind: 'success' })
  })
})

describe('the commands', () => {
  it('are those of all pages', async () => {
    await start('legacy', {
      methods: {
        'prompts/list': ({ cursor }) =>
          cursor === undefined
            ? { prompts: [{ name: 'one' }], nextCursor: '2' }
            : { prompts: [{ name: 'two' }] },
      },
    })
    await listed('mcp__kit__two')
    expect(commands()).toEqual(['mcp__kit__one', 'mcp__kit__two'])
  })

  it('come with the next session, where the list of the last one never came', async () => {
    let lists = 0
    await start('legacy', {
      methods: {
        'prompts/list': () => {
          lists += 1
          return lists === 1 ? new Promise(() => {}) : { prompts: [WEATHER] }
        },
      },
    })
    await host.until(() => lists === 1)
    await host.ctx.mcpServers.restart('kit')
    await listed()
    expect(host.logs.join('\n')).not.toContain('could not be read')
  })

  it.each<[string, Behaviour, Params]>([
    ['the server has no prompts', { capabilities: { tools: {} } }, {}],
    ['the row wants none', {}, { prompts: false }],
  ])('are not there, and nothing is asked, where %s', async (_name, more, config) => {
    const server = await start('legacy', more, config)
    expect(commands()).toEqual([])
    expect(asked(server, 'prompts/list')).toEqual([])
  })

  it.each<[string, Behaviour['methods']]>([
    [
      'is refused',
      {
        'prompts/list': () => {
          throw new RpcError(-32603, 'the \u001b[31mdisk')
        },
      },
    ],
    ['is no list', { 'prompts/list': () => ({ prompts: 'odd' }) }],
  ])('cost nothing else where the list %s', async (_name, methods) => {
    await start('legacy', { methods: methods ?? {} })
    await host.until(() => host.logs.some((line) => line.includes('the list of prompts could not be read')))
    expect(host.logs.join('\n')).not.toContain('\u001b')
    expect(await host.call('mcp__kit__echo', { message: 'x' })).toMatchObject({ isError: false })
  })

  it('whose name something else has cost one prompt', async () => {
    const server = await start('legacy', {}, { prompts: false })
    await host.close()
    host = await openOperatorHost()
    host.ctx.commands.register({
      name: 'mcp__kit__weather',
      description: 'mine',
      handler: () => ({ kind: 'success' }),
    })
    await host.row(httpRow('kit', server.url).config as object)
    await host.until(() => host.logs.some((line) => line.includes('the prompt "weather" is no command')))
  })

  it('go with the row, and with the login', async () => {
    const server = await start('legacy', {}, { serverName: 'other' })
    await listed('mcp__other__weather')
    const row = await host.row(httpRow('kit', server.url).config as object)
    await listed()
    await row.dispose()
    expect(commands()).toEqual(['mcp__other__weather'])
    server.intercept = (_request, response) => {
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
      return true
    }
    expect(await host.run('/mcp__other__weather x')).toMatchObject({ kind: 'error' })
    await host.until(() => host.ctx.mcpServers.get('other')?.state === 'needs-auth')
    expect(commands()).toEqual([])
  })

  it('stay through an outage', async () => {
    const server = await start('legacy', {}, { reconnect: { initialDelayMs: 60_000, maxDelayMs: 60_000 } })
    await listed()
    const status = () => host.ctx.mcpServers.get('kit')
    expect(status()?.prompts).toEqual([{ command: 'mcp__kit__weather', name: 'weather' }])
    expect(JSON.stringify(await host.run('/mcp kit'))).toContain('prompts      /mcp__kit__weather')
    await server.close()
    await host.call('mcp__kit__echo', { message: 'x' })
    await host.until(() => status()?.state === 'backoff')
    expect(commands()).toEqual(['mcp__kit__weather'])
    expect(await host.run('/mcp__kit__weather x')).toMatchObject({
      kind: 'error',
      text: expect.stringMatching(
        /^weather: the MCP server "kit" is not connected: the next attempt is in /,
      ) as string,
    })
    servers = []
  })
})

describe('a server that sleeps', () => {
  it('has its prompts and its instructions at once, and is woken by a prompt', async () => {
    const lazy = { startup: { mode: 'lazy' } }
    const server = await start('legacy', { instructions: 'Be kind.' }, lazy)
    await host.call('mcp__kit__echo', { message: 'x' })
    await listed()
    const dshHome = String(process.env['DSH_HOME'])
    await host.ctx.fiber.dispose()
    const before = server.requests.length
    host = await openOperatorHost({ home: dshHome })
    await host.row({ ...httpRow('kit', server.url).config, ...lazy })
    expect(commands()).toEqual(['mcp__kit__weather'])
    expect(JSON.stringify((await host.ctx.systemPrompt.assemble()).sections)).toContain('> Be kind.')
    expect(server.requests.length).toBe(before)
    expect((await host.run('/mcp__kit__weather Paris')).kind).toBe('success')
    expect(asked(server, 'prompts/get')).toHaveLength(1)
    await host.ctx.fiber.dispose()
    host = await openOperatorHost({ home: dshHome })
    const nothing = { prompts: false, instructions: false, resources: false }
    await host.row({ ...httpRow('kit', server.url).config, ...lazy, ...nothing })
    expect(commands()).toEqual([])
    expect(JSON.stringify((await host.ctx.systemPrompt.assemble()).sections)).not.toContain('Be kind')
  })
})

describe('instructions', () => {
  it('stand in the prompt as the words of the server, and go with the row', async () => {
    await start('legacy', { instructions: 'Call echo {{often}}.' })
    const sections = async () =>
      (await host.ctx.systemPrompt.assemble()).sections.filter(({ name }) => name.startsWith('mcp:'))
    expect(await sections()).toEqual([
      { name: 'mcp:kit:instructions', text: expect.stringContaining('> Call echo { {often}}.') as string },
    ])
    expect(host.ctx.mcpServers.get('kit')?.instructionBytes).toBeGreaterThan(100)
    expect(JSON.stringify(await host.run('/mcp kit'))).toContain('in prompt    its instructions, ')
  })

  it('are not there where the server has none', async () => {
    await start('legacy')
    expect(
      (await host.ctx.systemPrompt.assemble()).sections.filter(({ name }) => name.startsWith('mcp:')),
    ).toEqual([])
  })
})
