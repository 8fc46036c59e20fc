/** Owns the tests of the service over made-up servers: waiting, and what is handed out. */
import { beforeEach, describe, expect, it } from 'vitest'
import { RESTART_WAIT_MS, createServers } from '../../src/servers.ts'
import type { McpServers } from '../../src/servers.ts'
import { FakeClock } from './fake-clock.ts'
import { madeHub } from './server-handles.ts'
import type { MadeHub } from './server-handles.ts'
import { brokenStatus, readyStatus } from './status-samples.ts'

let made: MadeHub
let clock: FakeClock
let servers: McpServers

beforeEach(() => {
  made = madeHub()
  clock = new FakeClock()
  servers = createServers(made.hub, clock)
})

/** Every object in a value is frozen. */
function isFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(isFrozen)
}

describe('what is handed out', () => {
  it('is frozen in depth, and the facts of the connection stay as they are', () => {
    const { pid: _pid, rssBytes: _rss, ...status } = readyStatus()
    made.add(status)
    made.add(brokenStatus())
    expect(servers.list().map(({ serverName }) => serverName)).toEqual(['files', 'github'])
    expect(isFrozen(servers.list())).toBe(true)
    expect(Object.isFrozen(status.facts?.capabilities)).toBe(false)
    expect(servers.get('files')).toEqual(status)
    expect(servers.get('nobody')).toBeUndefined()
  })

  it('has the memory of a running process, where the system tells it', () => {
    const { rssBytes: _rss, ...status } = readyStatus({ pid: process.pid })
    made.add(status)
    const bytes = servers.get('files')?.rssBytes
    expect(process.platform === 'linux' ? Number(bytes) > 1_000_000 : bytes === undefined).toBe(true)
  })

  it('copies thousands of tools once', () => {
    made.add(readyStatus())
    expect(servers.get('files')?.tools.offered).toBe(servers.get('files')?.tools.offered)
  })
})

describe('restart', () => {
  it('of a server that nobody knows', async () => {
    made.add(readyStatus())
    expect(await servers.restart('nobody')).toEqual({ kind: 'unknown', known: ['files'] })
  })

  it('resolves when the new attempt settled', async () => {
    const server = made.add(readyStatus(), {
      restart: () => server.become(readyStatus({ state: 'closing' })),
    })
    const restart = servers.restart('files')
    server.become(readyStatus({ state: 'connecting' }))
    server.become(readyStatus({ state: 'syncing' }))
    made.add(brokenStatus()).become(brokenStatus())
    expect(clock.pending()).toEqual([RESTART_WAIT_MS])
    server.become(readyStatus())
    expect(await restart).toMatchObject({ kind: 'settled', status: { state: 'ready' } })
    expect(clock.pending()).toEqual([])
  })

  it('tells at once where nothing can be done', async () => {
    made.add(brokenStatus())
    expect(await servers.restart('github')).toMatchObject({ kind: 'settled', status: { state: 'failed' } })
  })

  it('waits no longer than it is told', async () => {
    made.add(readyStatus({ state: 'connecting' }))
    const restart = servers.restart('files', { waitMs: 50 })
    await clock.advance(50)
    expect(await restart).toMatchObject({ kind: 'pending', status: { state: 'connecting' } })
  })

  it.each(['before', 'meanwhile'])('waits no longer than its caller, who gives up %s', async (when) => {
    made.add(readyStatus({ state: 'connecting' }))
    const controller = new AbortController()
    if (when === 'before') controller.abort()
    const restart = servers.restart('files', { signal: controller.signal })
    controller.abort()
    expect(await restart).toMatchObject({ kind: 'pending' })
    expect(clock.pending()).toEqual([])
  })

  it('ends with the row', async () => {
    const server = made.add(readyStatus({ state: 'connecting' }))
    const restart = servers.restart('files')
    server.leave()
    expect(await restart).toEqual({ kind: 'unknown', known: [] })
  })
})
