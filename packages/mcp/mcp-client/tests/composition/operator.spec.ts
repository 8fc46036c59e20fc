/** Owns the tests of `ctx.mcpServers` and `/mcp` in the real host: loader, agents, command service, agent loop. */
import { describe, expect, it } from 'vitest'
import type { CommandResult } from '@deepseek-ai/dsh-commands'
import { createAgent, runTurn, stdioRow, stdioServer } from '@dsh-mcp/testkit'
import type { Host } from '@dsh-mcp/testkit'
import type {} from '@deepseek-ai/dsh-mcp-client'
import { hostSuite } from './host-suite.ts'

const { boot } = hostSuite()

const BROKEN = { config: { serverName: 'broken', command: 'no-such-program-at-all' } }

async function run(host: Host, line: string): Promise<CommandResult> {
  const agent = await createAgent(host)
  const execution = await host.ctx.commands.execute(agent, line, [], new AbortController().signal)
  if (execution === undefined) throw new Error(`no command: ${line}`)
  return execution.result
}

/** What varies from run to run. */
function steady(text: string | undefined): string {
  return String(text)
    .replace(/^target .*$/m, 'target       COMMAND LINE')
    .replace(/pid \d+.*$/m, 'pid PID, RSS')
    .replace(/\b\d+ s\b/g, 'N s')
    .replace(/\d+ ms/g, 'N ms')
}

describe('/mcp in the real host', () => {
  it('shows every screen', async () => {
    const host = await boot({
      rows: [stdioRow('files', stdioServer('healthy')), BROKEN],
      extra: ['commands'],
    })
    await host.call('mcp__files__echo', { message: 'x' })
    const screens: string[] = []
    const lines = [
      '/mcp',
      '/mcp files',
      '/mcp files tools',
      '/mcp broken',
      '/mcp restart broken',
      '/mcp files restart',
    ]
    for (const line of [
      ...lines,
      '/mcp pins files',
      '/mcp approve files',
      '/mcp login files',
      '/mcp brokn',
      '/mcp help',
    ]) {
      const { kind, text } = await run(host, line)
      screens.push(`> ${line} (${kind})\n${steady(text)}`)
    }
    expect(screens.join('\n\n')).toMatchSnapshot()
  })

  it('is not there without the command service, and nothing complains', async () => {
    const host = await boot({ rows: [stdioRow('files', stdioServer('healthy'))] })
    expect(host.ctx.get('commands')).toBeUndefined()
    expect(host.ctx.mcpServers.list()).toHaveLength(1)
    expect(host.logs.filter(({ type }) => type === 'warn' || type === 'error')).toEqual([])
  })
})

describe('a server that does not work', () => {
  it('is told once, in the session that is used next, and costs the model nothing', async () => {
    const host = await boot({ rows: [BROKEN], extra: ['commands'] })
    const first = await runTurn(host, { script: [{ text: 'done' }] })
    const cards = first.agent.session.events.flatMap(({ type, data }) =>
      type === 'command/done' ? [(data as { text?: string }).text] : [],
    )
    expect(cards).toEqual([expect.stringMatching(/^broken does not work\. 1 MCP server: 1 failed\n/)])
    expect(JSON.stringify(first.requests.map(({ messages, system }) => [messages, system]))).not.toContain(
      'broken',
    )
    const again = await runTurn(host, { agent: first.agent, script: [{ text: 'done' }] })
    expect(again.events.filter(({ type }) => type.startsWith('command/'))).toEqual([])
  })
})
