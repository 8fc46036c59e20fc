/** Owns the tests of `ctx.mcpServers`, its events and `/mcp` over real servers, from the source. */
import { CommandRuntime } from '@deepseek-ai/dsh-commands'
import { afterEach, describe, expect, it } from 'vitest'
import type { CallSettled, ServerStatus } from '../../src/index.ts'
import { openOperatorHost, say, serverRow } from './operator-host.ts'
import type { OperatorHost } from './operator-host.ts'

const SECRET = 's3cr3t-of-this-test'
/** Tells its token on stderr and ends. */
const CRASHES = {
  serverName: 'crashes',
  command: process.execPath,
  args: ['-e', 'console.error("token", process.env.API_TOKEN); process.exit(3)', '--', `--token=${SECRET}`],
  env: { API_TOKEN: SECRET },
  reconnect: { initialDelayMs: 60_000, maxDelayMs: 60_000 },
}

let host: OperatorHost
const warnings: Error[] = []
const onWarning = (warning: Error): void => void warnings.push(warning)

afterEach(async () => {
  process.off('warning', onWarning)
  warnings.length = 0
  await host.close()
})

/** Of the service, which a host may have to mount first. */
const statusOf = (serverName: string): ServerStatus | undefined => host.ctx.get('mcpServers')?.get(serverName)

/** Events of the app from now on, by name and what they tell. */
function eventsOf({ ctx }: OperatorHost): string[] {
  const events: string[] = []
  ctx.on('mcp/status', ({ serverName, state }) => void events.push(`status ${serverName} ${state}`))
  ctx.on('mcp/left', (serverName) => void events.push(`left ${serverName}`))
  ctx.on('mcp/catalog-changed', ({ serverName, tools }) => {
    events.push(`catalog ${serverName} ${tools.registered}`)
  })
  return events
}

describe('ctx.mcpServers', () => {
  it('is there with the first row and gone with the last', async () => {
    host = await openOperatorHost()
    expect(host.ctx.get('mcpServers')).toBeUndefined()
    const fiber = await host.row(serverRow('one'))
    expect(host.ctx.mcpServers.list().map(({ serverName }) => serverName)).toEqual(['one'])
    await fiber.update(serverRow('two') as never)
    await host.until(() => statusOf('two')?.state === 'ready')
    expect(host.ctx.mcpServers.list()).toHaveLength(1)
    await fiber.dispose()
    await host.until(() => host.ctx.get('mcpServers') === undefined)
  })

  it('tells what a working server is', async () => {
    host = await openOperatorHost()
    await host.row(serverRow('one'))
    await host.call('mcp__one__echo', { message: 'x' })
    await host.call('mcp__one__echo', {})
    expect(statusOf('one')).toMatchObject({
      transport: 'stdio',
      // Cut where the repository lies under a long path.
      target: expect.stringMatching(/stdio\.ts healthy|…$/) as string,
      state: 'ready',
      facts: { era: 'legacy', revision: '2025-11-25', serverInfo: { name: 'testkit' } },
      pid: expect.any(Number) as number,
      calls: { total: 2, failed: 1, active: 0, p50Ms: expect.any(Number) as number },
      listedAt: expect.any(Number) as number,
      tools: { registered: 1 },
    })
  })

  it('keeps the last words of a process that is gone, without its secrets', async () => {
    host = await openOperatorHost()
    await host.row(CRASHES)
    await host.until(() => statusOf('crashes')?.state === 'backoff')
    const status = statusOf('crashes')
    expect(status).toMatchObject({
      exit: 'exit code 3',
      stderrTail: expect.stringContaining('token [redacted]') as string,
      attempt: 1,
      lastError: { code: 'MCP_CONNECTION_CLOSED' },
      nextRetryAt: expect.any(Number) as number,
      target: expect.stringContaining('--token=[redacted]') as string,
    })
    expect(status).not.toHaveProperty('pid')
    expect(status).not.toHaveProperty('listedAt')
    expect(JSON.stringify(status)).not.toContain(SECRET)
    expect((await host.run('/mcp crashes')).text).not.toContain(SECRET)
  })

  it('keeps them of a connection that was lost, too', async () => {
    host = await openOperatorHost()
    await host.row(serverRow('one', 'healthy', { reconnect: { initialDelayMs: 60_000, maxDelayMs: 60_000 } }))
    process.kill(Number(statusOf('one')?.pid), 'SIGKILL')
    await host.until(() => statusOf('one')?.state === 'backoff')
    expect(statusOf('one')).toMatchObject({ exit: 'signal SIGKILL' })
    expect(statusOf('one')).not.toHaveProperty('pid')
    expect(await host.ctx.mcpServers.restart('one')).toMatchObject({
      kind: 'settled',
      status: { state: 'ready' },
    })
    expect(statusOf('one')).not.toHaveProperty('exit')
  })
})

describe('events', () => {
  it('tell each state, each list and each call, a turn later', async () => {
    host = await openOperatorHost()
    const events = eventsOf(host)
    const fiber = await host.row(serverRow('one'))
    await host.until(() => events.includes('status one ready'))
    expect(events).toEqual([
      'status one idle',
      'status one connecting',
      'status one syncing',
      'catalog one 1',
      'status one ready',
    ])
    const calls: CallSettled[] = []
    host.ctx.on('mcp/call-settled', (call) => void calls.push(call))
    await host.call('mcp__one__echo', { message: 'private' })
    await host.until(() => calls.length === 1)
    expect(calls).toEqual([
      {
        serverName: 'one',
        tool: 'echo',
        callId: expect.any(String) as string,
        durationMs: expect.any(Number) as number,
        outcome: 'ok',
      },
    ])
    expect(Object.isFrozen(calls[0])).toBe(true)
    await fiber.dispose()
  })

  it('say which server left while others stay', async () => {
    host = await openOperatorHost()
    await host.row(serverRow('stays'))
    const fiber = await host.row(serverRow('goes'))
    const events = eventsOf(host)
    await fiber.dispose()
    await host.until(() => events.includes('left goes'))
  })

  it('reach everybody, whatever one listener does', async () => {
    host = await openOperatorHost()
    host.ctx.on('mcp/status', () => {
      throw new Error('thrown')
    })
    host.ctx.on('mcp/status', (() => Promise.reject('rejected')) as never)
    const events = eventsOf(host)
    await host.row(serverRow('one'))
    await host.until(() => events.includes('status one ready'))
    expect(host.logs).toContain('warn: a listener of mcp/status failed: thrown')
    expect(host.logs).toContain('warn: a listener of mcp/status failed: rejected')
  })
})

describe('/mcp', () => {
  it('comes and goes with the command service', async () => {
    host = await openOperatorHost({ commands: false })
    await host.row(serverRow('one'))
    const commands = host.ctx.plugin(CommandRuntime)
    await commands
    await host.until(() => host.ctx.get('commands') !== undefined)
    const agent = await host.agent()
    await host.until(() => host.ctx.commands.find(agent, 'mcp') !== undefined)
    expect(host.ctx.commands.list(agent)).toEqual([
      {
        name: 'mcp',
        description: 'show MCP servers, restart one, see its tools',
        input: { hint: '[SERVER [tools|restart|pins|approve|login]] | help' },
      },
    ])
    await commands.dispose()
    expect(host.logs.filter((line) => /^(warn|error)/.test(line))).toEqual([])
  })

  it('shows, restarts and answers for any agent', async () => {
    host = await openOperatorHost()
    await host.row(serverRow('one'))
    const before = statusOf('one')?.pid
    expect((await host.run('/mcp')).text).toMatch(/^1 MCP server: 1 ready\n/)
    expect(await host.run('/mcp one restart')).toMatchObject({ kind: 'success' })
    expect(statusOf('one')?.pid).not.toBe(before)
    expect((await host.run('/mcp tools one', await host.agent())).text).toContain('mcp__one__echo')
  })
})

describe('a server that does not work', () => {
  const broken = (serverName: string): object => ({ serverName, command: 'no-such-program-at-all' })

  it('is a warning of the process where nobody reads the log, once', async () => {
    process.on('warning', onWarning)
    host = await openOperatorHost({ exporter: false })
    await host.row(broken('two'))
    await host.until(() => warnings.length > 0)
    await host.ctx.mcpServers.restart('two')
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings.map(({ name, message }) => `${name}: ${message}`)).toEqual([
      'McpServerWarning: MCP server "two" does not work. MCP_SPAWN_FAILED: cannot start "no-such-program-at-all": ' +
        'there is no such command on the PATH (ENOENT); is it installed?',
    ])
    expect(warnings[0]).toHaveProperty('detail', 'Try dsh-mcp doctor, or /mcp two where there are commands.')
  })

  it('is none where somebody does', async () => {
    process.on('warning', onWarning)
    host = await openOperatorHost()
    await host.row(broken('two'))
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  })

  it('is a card in the session that is used next, once, and never in the request', async () => {
    host = await openOperatorHost()
    await host.row(broken('two'))
    const agent = await host.agent()
    const children = [await host.agent({ origin: 'subagent' }), await host.agent({ delegationDepth: 1 })]
    for (const child of children) await say(child)
    await say(agent)
    await say(agent)
    const cards = (of: typeof agent) =>
      of.session.events.flatMap((event) => (event.type === 'command/done' ? [event.data] : []))
    expect(children.flatMap(cards)).toEqual([])
    expect(cards(agent)).toEqual([
      {
        commandId: expect.stringMatching(/^mcp-notice-/) as string,
        kind: 'error',
        text: expect.stringMatching(
          /^two does not work\. 1 MCP server: 1 failed\n\ntwo: MCP_SPAWN_FAILED: /,
        ) as string,
      },
    ])
    const run = agent.session.events.find(({ type }) => type === 'command/run')
    expect(run?.data).toMatchObject({ name: 'mcp', args: '', source: { kind: 'mcp-client' } })
  })
})
