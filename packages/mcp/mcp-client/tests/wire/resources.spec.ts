/** Owns the tests of resources in a real host over a real wire, from the source, in both eras. */
import { RpcError, startHttpServer, httpRow } from '@dsh-mcp/testkit'
import type { Behaviour, HttpServer, Params } from '@dsh-mcp/testkit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openOperatorHost, say } from './operator-host.ts'
import type { OperatorHost } from './operator-host.ts'

type Era = 'legacy' | 'modern'
type Agent = Awaited<ReturnType<OperatorHost['agent']>>
const ERAS: readonly Era[] = ['legacy', 'modern']

let host: OperatorHost
let servers: HttpServer[] = []

afterEach(async () => {
  await host.close()
  for (const server of servers) await server.close()
  servers = []
})

const FILES: Record<string, Params> = {
  'note:1': { uri: 'note:1', mimeType: 'text/plain', text: 'one\u200b {{persona}}' },
  'note:bin': { uri: 'note:bin', mimeType: 'application/zip', blob: 'UEsD' },
}

const behaviour = (era: Era, more: Behaviour = {}): Behaviour => ({
  era,
  capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
  ...more,
  methods: {
    'resources/list': () => ({ resources: Object.values(FILES).map(({ uri }) => ({ uri, name: uri })) }),
    'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'note:{id}', name: 'notes' }] }),
    'resources/read': ({ uri }) => {
      const found = FILES[String(uri)]
      if (found === undefined) throw new RpcError(era === 'legacy' ? -32002 : -32602, 'Resource not found')
      return { contents: [found] }
    },
    'resources/subscribe': () => ({}),
    'resources/unsubscribe': () => ({}),
    ...more.methods,
  },
})

async function start(era: Era, more: Behaviour = {}, config: Params = {}): Promise<HttpServer> {
  const server = await startHttpServer(behaviour(era, more))
  servers.push(server)
  host = await openOperatorHost()
  await host.row({ ...httpRow('kit', server.url).config, ...config })
  return server
}

async function text(tool: string, args: object = {}, agent?: Agent): Promise<string> {
  const { content } = await host.call(`mcp__kit__${tool}`, args, undefined, agent)
  return content.map((block) => ('text' in block ? String(block.text) : '[no text]')).join('\n')
}

const names = (): string[] => host.ctx.tools.schemas().map(({ name }) => name)
const newsOf = async (agent: Agent): Promise<string> =>
  (await host.ctx.systemPrompt.assemble({ scope: agent })).contexts.map(({ text: words }) => words).join('\n')

describe.each(ERAS)('resources (%s)', (era) => {
  it('are listed and read by two tools', async () => {
    await start(era)
    expect(names()).toEqual(['mcp__kit__echo', 'mcp__kit__list_resources', 'mcp__kit__read_resource'])
    expect(JSON.parse(await text('list_resources'))).toEqual({
      resources: [
        { uri: 'note:1', name: 'note:1' },
        { uri: 'note:bin', name: 'note:bin' },
      ],
      templates: [{ uriTemplate: 'note:{id}', name: 'notes' }],
    })
    expect(JSON.parse(await text('list_resources', { query: 'bin' }))).toMatchObject({ templates: [] })
    expect(await text('read_resource', { uri: 'note:1' })).toBe(
      'Embedded resource note:1 (text/plain):\none {{persona}}\n[warning: 1 hidden character was removed from this result]',
    )
    expect(await text('read_resource', { uri: 'note:bin' })).toMatch(
      /^\[embedded resource note:bin unsupported/,
    )
  })

  it('are listed with a word where the server does not give all of them', async () => {
    await start(era, {
      methods: {
        'resources/templates/list': () => {
          throw new RpcError(-32603, 'out of\u200b order')
        },
      },
    })
    expect(await text('list_resources')).toBe(
      '[templates may be missing: out of order]\n' +
        'Structured content:\n{"resources":[{"uri":"note:1","name":"note:1"},{"uri":"note:bin","name":"note:bin"}],"templates":[]}',
    )
  })

  it('with braces in their names are read once they were listed', async () => {
    const uri = 'note:{odd}'
    await start(era, {
      methods: {
        'resources/list': () => ({ resources: [{ uri, name: 'odd' }] }),
        'resources/read': () => ({ contents: [{ uri, text: 'it is there' }] }),
      },
    })
    expect(await text('read_resource', { uri })).toMatch(/is a template/)
    await text('list_resources')
    expect(await text('read_resource', { uri })).toContain('it is there')
  })

  it('that are not there, or no URI, are told as such', async () => {
    const server = await start(era)
    expect(await text('read_resource', { uri: 'note:2' })).toBe(
      'Error: MCP server "kit" has no resource "note:2". mcp__kit__list_resources shows what there is',
    )
    await text('list_resources')
    expect(await text('read_resource', { uri: 'note:bim' })).toContain('Did you mean "note:bin"?')
    const before = server.requests.length
    expect(await text('read_resource', { uri: 'note:{id}' })).toMatch(
      /"note:\{id\}" is a template: .* Nothing was sent/,
    )
    expect(await text('read_resource', { uri: `a:${'x'.repeat(3_000)}` })).toMatch(
      /longer than 2048 characters/,
    )
    expect(await text('read_resource', {})).toMatch(/uri/)
    expect(server.requests.length).toBe(before)
  })

  it('that are watched bring news to the agent that watches, until it reads again', async () => {
    const server = await start(era)
    const [ada, bob] = [await host.agent(), await host.agent()]
    expect(await text('read_resource', { uri: 'note:1', watch: true }, ada)).toMatch(
      /\[watched: you are told when it changes\]/,
    )
    expect(await text('read_resource', { uri: 'note:1', watch: true })).toMatch(
      /not watched: nobody could be told/,
    )
    expect(await newsOf(ada)).toBe('')
    await vi.waitFor(() => expect(server.openResponses.size).toBeGreaterThan(0))
    if (era === 'legacy') server.notify('notifications/resources/updated', { uri: 'note:1' })
    // A stream that ends may have missed a change.
    else server.closeConnections()
    await vi.waitFor(async () => expect(await newsOf(ada)).not.toBe(''), 5_000)
    expect(await newsOf(ada)).toBe(
      'Resources of the MCP server "kit" that changed since you read them (mcp__kit__read_resource shows them as they are now):\n- note:1',
    )
    expect(await newsOf(bob)).toBe('')
    await text('read_resource', { uri: 'note:1' }, ada)
    expect(await newsOf(ada)).toBe('')
    expect(await text('read_resource', { uri: 'note:1', watch: false }, ada)).not.toContain('watch')
    expect(await text('read_resource', { uri: 'note:1', watch: false }, ada)).not.toContain('watch')
  })

  it('are watched again on the next session, and may have changed meanwhile', async () => {
    const server = await start(era)
    const ada = await host.agent()
    await text('read_resource', { uri: 'note:1', watch: true }, ada)
    const asked = (): number =>
      server.requests.filter(({ message }) => {
        const { method, params } = (message ?? {}) as { method?: string; params?: Params }
        const filter = params?.['notifications'] as Params | undefined
        return method === 'resources/subscribe' || filter?.['resourceSubscriptions'] !== undefined
      }).length
    const before = asked()
    const { ctx } = host
    await ctx.mcpServers.restart('kit')
    await vi.waitFor(() => expect(asked()).toBeGreaterThan(before))
    expect(await newsOf(ada)).toContain('note:1')
  })
})

describe('the two tools', () => {
  it('are not there without the capability, or where the row does not want them', async () => {
    await start('legacy', { capabilities: { tools: {} } })
    expect(names()).toEqual(['mcp__kit__echo'])
    await host.close()
    await start('legacy', {}, { resources: false })
    expect(names()).toEqual(['mcp__kit__echo'])
  })

  it('yield to tools of the server', async () => {
    await start('legacy', {
      tools: [{ name: 'read_resource', inputSchema: { type: 'object' }, description: 'Its own' }],
    })
    expect(names().toSorted()).toEqual(['mcp__kit__list_resources', 'mcp__kit__read_resource'])
    expect(host.ctx.tools.get('mcp__kit__read_resource')?.description).toBe('Its own')
    expect(host.logs.join('\n')).toContain(
      'the server has a tool of its own for list_resources or read_resource',
    )
  })

  it('obey the rules of the row, and ask as little as their read-only nature allows', async () => {
    await start('legacy', {}, { tools: { deny: ['read_*'], approval: 'write' } })
    expect(names()).toEqual(['mcp__kit__echo', 'mcp__kit__list_resources'])
    expect(host.logs.join('\n')).not.toContain('matches none')
    expect(await text('list_resources')).toContain('note:1')
    await host.close()
    await start('legacy', {}, { tools: { approval: 'always' } })
    expect(await text('list_resources')).toMatch(/approval|asks a person/i)
  })

  it('are found by search and called through it, and count in the budget', async () => {
    await start('legacy', {}, { tools: { exposure: 'search' } })
    expect(names()).toEqual(['mcp_call', 'mcp_search'])
    const found = JSON.stringify(
      (await host.call('mcp_search', { query: 'read a document by its URI' })).content,
    )
    expect(found).toContain('mcp__kit__read_resource')
    const { content } = await host.call('mcp_call', {
      name: 'mcp__kit__read_resource',
      arguments: { uri: 'note:1' },
    })
    expect(JSON.stringify(content)).toContain('one {{persona}}')
    const { offered, definitionBytes } = host.ctx.mcpServers.get('kit')?.tools ?? {}
    expect(offered?.map(({ rawName }) => rawName)).toContain('list_resources')
    expect(definitionBytes).toBe(offered?.reduce((sum, { bytes }) => sum + bytes, 0))
  })

  it('say when a server does not tell of changes after all', async () => {
    await start('legacy', {
      methods: {
        'resources/subscribe': () => {
          throw new RpcError(-32603, 'not now')
        },
      },
    })
    const ada = await host.agent()
    expect(await text('read_resource', { uri: 'note:1', watch: true }, ada)).toContain(
      '[the server did not agree to tell when it changes]',
    )
  })

  it('tell of a change that comes while it is read, and forget nothing where the read fails', async () => {
    let isBroken = false
    let reads = 0
    const server = await start('legacy', {
      methods: {
        'resources/read': async ({ uri }) => {
          reads += 1
          if (isBroken) throw new RpcError(-32603, 'the disk')
          if (reads === 2) {
            server.notify('notifications/resources/updated', { uri })
            await vi.waitFor(async () => expect(await newsOf(ada)).toContain('note:1'))
          }
          return { contents: [{ uri, text: 'x' }] }
        },
      },
    })
    const ada = await host.agent()
    await vi.waitFor(() => expect(server.openResponses.size).toBeGreaterThan(0))
    await text('read_resource', { uri: 'note:1', watch: true }, ada)
    await text('read_resource', { uri: 'note:1' }, ada)
    expect(await newsOf(ada)).toContain('note:1')
    isBroken = true
    expect(await text('read_resource', { uri: 'note:1' }, ada)).toContain('the disk')
    expect(await newsOf(ada)).toContain('note:1')
    await text('read_resource', { uri: 'note:2', watch: true }, ada)
    const gone = (): number =>
      server.requests.filter(
        ({ message }) => (message as { method?: string } | undefined)?.method === 'resources/unsubscribe',
      ).length
    await vi.waitFor(() => expect(gone()).toBe(1))
  })

  it('watch no more than a number of resources', async () => {
    await start('legacy', {
      methods: { 'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'x' }] }) },
    })
    const ada = await host.agent()
    for (let at = 0; at < 64; at++) await text('read_resource', { uri: `note:${at}`, watch: true }, ada)
    expect(await text('read_resource', { uri: 'note:one-more', watch: true }, ada)).toContain(
      '[not watched: 64 resources of this server are watched already]',
    )
  })

  it('turn pages of one listing, and make a new one for the first', async () => {
    let lists = 0
    await start('legacy', {
      methods: {
        'resources/list': () => {
          lists += 1
          return { resources: Array.from({ length: 60 }, (_, at) => ({ uri: `note:${at}`, name: `n${at}` })) }
        },
      },
    })
    const { nextCursor } = JSON.parse(await text('list_resources')) as { nextCursor: string }
    expect(JSON.parse(await text('list_resources', { cursor: nextCursor }))).toMatchObject({ templates: [] })
    expect(lists).toBe(1)
    await text('list_resources')
    expect(lists).toBe(2)
  })

  it('pass on other failures of a read as they are', async () => {
    await start('legacy', {
      methods: {
        'resources/read': () => {
          throw new RpcError(-32602, 'the disk is on fire')
        },
      },
    })
    expect(await text('read_resource', { uri: 'note:1' })).toContain('the disk is on fire')
  })

  it('are named where a result has links, and only then', async () => {
    const link = { type: 'resource_link', uri: 'note:1', name: 'one' }
    await start('legacy', { callTool: () => ({ content: [link] }) })
    expect(await text('echo', { message: 'x' })).toBe(
      'Resource link: one (note:1)\n[mcp__kit__read_resource reads a linked resource by its URI]',
    )
    await host.close()
    await start('legacy', { callTool: () => ({ content: [link] }) }, { tools: { deny: ['read_resource'] } })
    expect(await text('echo', { message: 'x' })).toBe('Resource link: one (note:1)')
  })

  it('are remembered for a server that sleeps', async () => {
    const server = await start('legacy', {}, { startup: { mode: 'lazy' } })
    await text('echo')
    expect(names()).toContain('mcp__kit__read_resource')
    const dshHome = process.env['DSH_HOME']
    const { ctx } = host
    await ctx.fiber.dispose()
    const sleeping = await openOperatorHost({ home: String(dshHome) })
    const before = server.requests.length
    await sleeping.row({ ...httpRow('kit', server.url).config, startup: { mode: 'lazy' } })
    expect(sleeping.ctx.tools.schemas().map(({ name }) => name)).toContain('mcp__kit__read_resource')
    expect(server.requests.length).toBe(before)
    await sleeping.close()
  })

  it('are told of by no line and no context where nothing is watched', async () => {
    await start('legacy')
    const ada = await host.agent()
    await say(ada)
    expect(await newsOf(ada)).toBe('')
  })
})
