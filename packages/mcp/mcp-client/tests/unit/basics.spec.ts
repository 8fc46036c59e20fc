/** Owns the tests of the small pieces everything stands on: version, clock, reservation, the SDK's one import. */
import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { hostServices } from '../../src/host-services.ts'
import { reserveName } from '../../src/reservation.ts'
import { VERSION } from '../../src/version.ts'
import { openRegistryHost } from '../composition/registry-host.ts'

describe('VERSION', () => {
  it('is that of package.json', async () => {
    const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
    expect((JSON.parse(text) as { version: string }).version).toBe(VERSION)
  })
})

describe('SYSTEM_CLOCK', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('calls back once, in time, and not when cancelled', () => {
    const before = SYSTEM_CLOCK.now()
    const calls: number[] = []
    const cancel = SYSTEM_CLOCK.after(20, () => calls.push(-1))
    SYSTEM_CLOCK.after(30, () => calls.push(SYSTEM_CLOCK.now() - before))
    cancel()
    cancel()
    vi.advanceTimersByTime(29)
    expect(calls).toEqual([])
    vi.advanceTimersByTime(1_000)
    expect(calls).toEqual([30])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('keeps no process alive', () => {
    vi.useRealTimers()
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const cancel = SYSTEM_CLOCK.after(60_000, () => {})
    expect(timers()).toBe(before)
    cancel()
  })
})

describe('reserveName', () => {
  it('gives a name once an app, and tells the second how to go on', () => {
    const app = {}
    reserveName(app, 'github')
    expect(() => reserveName(app, 'github')).toThrow(
      expect.objectContaining({ code: 'MCP_SERVER_NAME_TAKEN', server: 'github', stage: 'config' }) as Error,
    )
    expect(() => reserveName(app, 'github')).toThrow(
      'mcp-client: serverName "github" is already in use by another mcp-client instance — pick a unique serverName in cordis.yml',
    )
    reserveName(app, 'web')
    reserveName({}, 'github')
  })

  it('frees a name for its next owner, and only its own', () => {
    const app = {}
    const freeFirst = reserveName(app, '__proto__')
    freeFirst()
    const freeSecond = reserveName(app, '__proto__')
    freeFirst()
    expect(() => reserveName(app, '__proto__')).toThrow(/already in use/)
    freeSecond()
    reserveName(app, '__proto__')
  })
})

describe('hostServices', () => {
  it('finds the services of now, not those of the start', async () => {
    const host = await openRegistryHost({ spill: true })
    const bare = await openRegistryHost({ llm: false, attachments: false })
    const log = (): void => {}
    const [rich, poor] = [host, bare].map(({ ctx }) => hostServices(ctx, log))
    expect(rich?.attachments()).toBeDefined()
    expect(rich?.llm()).toBeDefined()
    expect(rich?.spillStore()).toBeDefined()
    expect(rich?.log).toBe(log)
    expect(poor?.attachments()).toBeUndefined()
    expect(poor?.llm()).toBeUndefined()
    expect(poor?.spillStore()).toBeUndefined()
    await Promise.all([host.close(), bare.close()])
  })
})
