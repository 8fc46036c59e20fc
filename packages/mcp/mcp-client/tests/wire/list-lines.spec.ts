/** Owns the tests of what the operator is told of a server's lists: each trouble once, and never a flood. */
import { describe, expect, it, vi } from 'vitest'
import { createBridge } from '../../src/bridge.ts'
import type { BridgeHost } from '../../src/bridge.ts'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { resolveConfig } from '../../src/config.ts'
import { PRELUDE } from './fixtures/prelude.ts'

/** Lists 30 broken tools of 31, says that the list changed, and then lists them again with one more. */
const BROKEN = `let reads = 0
lines(({ id, method, params }) => {
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 's', version: '1' } } })
  else if (method === 'tools/list') {
    const broken = Array.from({ length: 30 }, (_, at) => ({ name: 't' + at, inputSchema: 7 }))
    send({ id, result: { tools: [{ name: 'good' + reads }, ...(reads === 1 ? [{}] : []), ...broken] } })
    reads += 1
    if (reads < 3) send({ method: 'notifications/tools/list_changed' })
  }
})`

const NO_SERVICES: BridgeHost['services'] = {
  attachments: () => undefined,
  llm: () => undefined,
  spillStore: () => undefined,
  log: () => undefined,
}

/** Lists a broken tool that is called like the key of the row, and then one name twice. */
const TELLTALE = `let reads = 0
lines(({ id, method, params }) => {
  const name = 'tool-' + process.env.API_KEY
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 's', version: '1' } } })
  else if (method === 'tools/list') {
    send({ id, result: { tools: reads === 0 ? [{ name, inputSchema: 7 }] : [{ name }, { name }] } })
    reads += 1
    if (reads < 2) send({ method: 'notifications/tools/list_changed' })
  }
})`

describe('the status of a list', () => {
  it('holds no secret of the row, whatever the tools are called', async () => {
    const { spec } = resolveConfig({
      serverName: 'demo',
      command: process.execPath,
      args: ['-e', PRELUDE + TELLTALE],
      env: { API_KEY: 'k3y-0f-the-house' },
      protocol: 'legacy',
    })
    const bridge = createBridge(spec, {
      register: () => () => undefined,
      services: NO_SERVICES,
      memory: { read: () => ({}), update: () => undefined, flush: () => Promise.resolve() },
      clock: SYSTEM_CLOCK,
      version: '0',
      say: () => undefined,
    })
    await bridge.start()
    expect(bridge.status().tools.quarantined).toMatchObject([{ name: 'tool-[redacted]' }])
    await vi.waitFor(() => expect(bridge.status().lastError?.code).toBe('MCP_LIST_INVALID'))
    expect(bridge.status().lastError?.message).toContain('"tool-[redacted]" more than once')
    await bridge.dispose()
  })
})

describe('the lines of a list', () => {
  it('are few, and said when they are news', async () => {
    const lines: string[] = []
    const registered = new Set<string>()
    const { spec } = resolveConfig({
      serverName: 'demo',
      command: process.execPath,
      args: ['-e', PRELUDE + BROKEN],
      protocol: 'legacy',
    })
    const bridge = createBridge(spec, {
      register({ name }) {
        registered.add(name)
        return () => registered.delete(name)
      },
      services: NO_SERVICES,
      memory: { read: () => ({}), update: () => undefined, flush: () => Promise.resolve() },
      clock: SYSTEM_CLOCK,
      version: '0',
      say: ({ level, text }) => lines.push(`${level}: ${text}`),
    })
    expect(await bridge.start()).toBeUndefined()
    expect(lines.filter((line) => line.startsWith('warn'))).toEqual([
      ...Array.from(
        { length: 10 },
        (_, at) => `warn: tool "t${at}" is left out: inputSchema is not an object`,
      ),
      'warn: 20 more tools are left out; the status has them all',
    ])
    expect(bridge.status().tools.quarantined).toHaveLength(30)
    lines.length = 0
    await vi.waitFor(() => expect(registered).toContain('mcp__demo__good2'))
    expect(lines.filter((line) => line.startsWith('warn'))).toEqual([
      'warn: tool "#1" is left out: the entry has no name',
      'warn: 21 more tools are left out; the status has them all',
      'warn: tool "t9" is left out: inputSchema is not an object',
      'warn: 20 more tools are left out; the status has them all',
    ])
    await bridge.dispose()
    expect(registered.size).toBe(0)
  })
})
