/** Owns the steps about the life of the servers: boot, crash, end. */
import assert from 'node:assert/strict'
import type { ToolSchema } from '@deepseek-ai/dsh-llm'
import type { Host } from '../host.ts'
import { childIds } from '../leftovers.ts'
import { cut, size, time } from '../report.ts'
import { callTool, textOf, toolStartingWith, until } from '../stage.ts'
import type { Step } from '../stage.ts'

const HEAL_LIMIT_MS = 10_000

export const bootStep: Step = {
  title: 'The host boots, its MCP servers connect',
  async run({ host, show }) {
    const servers = host.servers()
    const tools = host.ctx.tools.schemas()
    const of = (name: string) => tools.filter((tool) => tool.name.startsWith(`mcp__${name}__`))
    for (const { serverName, transport } of servers) {
      const own = of(serverName)
      show(serverName, `${count(own.length, 'tool')}, ${size(bytesOf(own))} of definitions, ${transport}`)
      if (own.length > 0)
        show(serverName, own.map((tool) => tool.name.slice(`mcp__${serverName}__`.length)).join(', '))
    }
    const native = tools.filter((tool) => !tool.name.startsWith('mcp__'))
    show('the host', native.map((tool) => tool.name).join(', '))
    show('the model', `sees ${count(tools.length, 'tool')}, each as mcp__<server>__<tool>`)
    for (const { serverName } of servers) {
      assert(of(serverName).length > 0, `${serverName} has no tools: it is not connected`)
    }
  },
}

export const crashStep: Step = {
  title: 'A server crashes in the middle of a call and heals',
  async run({ host, show }) {
    const before = pidsOf(host)
    const crash = await callTool(host.ctx, toolStartingWith(host.ctx, 'mcp__desk__crash'), {})
    const since = performance.now()
    show('call', 'mcp__desk__crash {}')
    show('error', cut(textOf(crash.content), 400))
    assert(crash.isError, 'a crashed call is a success')
    let meanwhile: string | undefined
    await until('the next good answer of desk', HEAL_LIMIT_MS, async () => {
      const next = await callTool(host.ctx, 'mcp__desk__search', { query: 'key' })
      if (!next.isError) return next
      meanwhile ??= textOf(next.content)
      return undefined
    })
    if (meanwhile !== undefined) show('meanwhile', cut(meanwhile, 400))
    show('healed', `after ${time(performance.now() - since)}: mcp__desk__search answers again`)
    const after = pidsOf(host)
    if (before && after) assert.equal(after.length, before.length, 'the number of server processes changed')
  },
}

export const disposalStep: Step = {
  title: 'The host is disposed, nothing is left',
  async run({ host, show }) {
    const { tools } = host.ctx
    const ofServers = () => tools.schemas().filter((tool) => tool.name.startsWith('mcp__'))
    const before = { tools: ofServers(), pids: pidsOf(host) }
    await host.dispose()
    const left = { tools: ofServers(), pids: pidsOf(host) }
    show('MCP tools', `${before.tools.length}, then ${left.tools.length}`)
    show(
      'processes',
      before.pids ? `${before.pids.length}, then ${left.pids?.length}` : 'not to be seen on this system',
    )
    assert.equal(left.tools.length, 0, 'tools are left')
    assert.equal(left.pids?.length ?? 0, 0, 'server processes are left')
  },
}

/** Server processes that the host started. */
function pidsOf(host: Host): number[] | undefined {
  return childIds()?.filter((id) => id !== host.notesPid)
}

/** What the definitions cost in a request. */
function bytesOf(tools: readonly ToolSchema[]): number {
  return tools.reduce((sum, tool) => sum + Buffer.byteLength(JSON.stringify(tool)), 0)
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
