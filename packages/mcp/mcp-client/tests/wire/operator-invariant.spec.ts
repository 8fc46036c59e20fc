/** Owns the tests of the invariant companion: over made-up servers, and in a host with the real service. */
import { InvariantRegistry } from '@deepseek-ai/dsh-invariants'
import { afterEach, describe, expect, it } from 'vitest'
import { createCheck } from '../../src/invariant.ts'
import * as invariant from '../../src/invariant.ts'
import type { OfferedTool, ServerHandle } from '../../src/types.ts'
import { hubOf } from '../../src/hub.ts'
import { readyStatus } from '../unit/status-samples.ts'
import { madeHub } from '../unit/server-handles.ts'
import { openOperatorHost, serverRow } from './operator-host.ts'
import type { OperatorHost } from './operator-host.ts'

const offered = (...names: string[]): Partial<ServerHandle> => ({
  offered: () => names.map((publicName) => ({ publicName, exposure: 'direct' }) as OfferedTool),
})

describe('the check', () => {
  it('finds a direct tool that is not registered', () => {
    const { hub, add } = madeHub()
    add(readyStatus(), offered('mcp__files__a', 'mcp__files__b'))
    const check = createCheck(hub, (toolName) => toolName === 'mcp__files__a')
    expect(check(['files', 'nobody'])).toEqual([
      'server "files" offers "mcp__files__b", which is not registered',
    ])
  })

  it('finds a tool that a server left behind', () => {
    const { hub, add } = madeHub()
    const server = add(readyStatus(), offered('mcp__files__a'))
    const check = createCheck(hub, () => true)
    expect(check(['files'])).toEqual([])
    server.leave()
    expect(check(['files'])).toEqual(['server "files" is gone and left "mcp__files__a" registered'])
    expect(check(['files'])).toEqual([])
  })

  it('leaves alone what is reached by search, and rows of one agent', () => {
    const { hub, add } = madeHub()
    const searched = { publicName: 'mcp__files__a', exposure: 'search' } as OfferedTool
    add(readyStatus(), { offered: () => [searched] })
    add(readyStatus({ serverName: 'scoped' }), { ...offered('mcp__scoped__a'), scope: {} })
    expect(createCheck(hub, () => false)(['files', 'scoped'])).toEqual([])
  })

  it('looks up a few names of many, the first and the last among them', () => {
    const { hub, add } = madeHub()
    const names = Array.from({ length: 1_000 }, (_, index) => `t${index}`)
    add(readyStatus(), offered(...names))
    const asked: string[] = []
    createCheck(hub, (toolName) => asked.push(toolName) > 0)(['files'])
    expect(asked).toHaveLength(8)
    expect([asked[0], asked.at(-1)]).toEqual(['t0', 't999'])
  })
})

describe('the companion', () => {
  let host: OperatorHost
  afterEach(() => host.close())

  const errors = (): string[] => host.logs.filter((line) => line.startsWith('error'))
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

  it('is content with what really happens', async () => {
    host = await openOperatorHost()
    await host.ctx.plugin(InvariantRegistry)
    await host.row(serverRow('before'))
    await host.ctx.plugin(invariant)
    const fiber = await host.row(serverRow('one'))
    await host.ctx.mcpServers.restart('one')
    await fiber.dispose()
    await turn()
    await turn()
    expect(errors()).toEqual([])
  })

  it('tells what broke later in the log, and what is broken at its start at once', async () => {
    host = await openOperatorHost()
    await host.ctx.plugin(InvariantRegistry)
    const companion = host.ctx.plugin(invariant)
    await companion
    await host.row(serverRow('one'))
    const hub = hubOf(host.ctx.root)
    const { handle } = madeHub().add(readyStatus(), offered('mcp__files__a'))
    hub.enrol(handle)
    await host.until(() => errors().length > 0)
    expect(errors()).toEqual([
      'error: invariant violated by "@deepseek-ai/dsh-mcp-client": server "files" offers "mcp__files__a", which is not registered',
    ])
    await companion.dispose()
    const again = host.ctx.plugin(invariant)
    await expect(again).rejects.toThrow('server "files" offers "mcp__files__a", which is not registered')
  })
})
