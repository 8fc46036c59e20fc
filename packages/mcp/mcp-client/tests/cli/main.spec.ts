/** The process around a run: signals, a reader that goes away, an old Node. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runProcess } from '../../src/cli/process.ts'

let written: string[]
beforeEach(() => {
  written = []
  const write = (chunk: unknown): boolean => written.push(String(chunk)) > 0
  vi.spyOn(process.stdout, 'write').mockImplementation(write as never)
  vi.spyOn(process.stderr, 'write').mockImplementation(write as never)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.resetModules()
  vi.useRealTimers()
  process.exitCode = undefined
})

const MUTE = ['test', '--command', process.execPath, '--', `${import.meta.dirname}/fixtures/mute.ts`]

/** The listener that a run has added for this event. */
function added(
  emitter: NodeJS.EventEmitter,
  event: string,
  before: readonly unknown[],
): (value?: unknown) => void {
  return emitter.listeners(event).find((listener) => !before.includes(listener)) as (value?: unknown) => void
}

describe('a run', () => {
  it('gives its exit code, and leaves no listener for signals', async () => {
    const before = process.listenerCount('SIGINT')
    expect(await runProcess(['--version'])).toBe(0)
    expect(await runProcess(['nonsense'])).toBe(2)
    expect(process.listenerCount('SIGINT')).toBe(before)
    expect(written.join('')).toContain('unknown command')
  })

  it('is ended by the first signal, at once by the second, and at the latest after its limit', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] })
    const exit = vi.spyOn(process, 'exit').mockImplementation((() => undefined) as never)
    const before = process.listeners('SIGHUP')
    const running = runProcess(MUTE)
    vi.advanceTimersByTime(60_000)
    const interrupt = added(process, 'SIGHUP', before)
    interrupt()
    expect(exit).not.toHaveBeenCalled()
    interrupt()
    expect(exit).toHaveBeenCalledExactlyOnceWith(130)
    vi.advanceTimersByTime(6_000)
    expect(exit).toHaveBeenCalledTimes(2)
    vi.useRealTimers()
    expect(await running).toBe(130)
  })

  it('is ended when nobody reads any more', async () => {
    const before = process.stdout.listeners('error')
    const running = runProcess(MUTE)
    const broken = added(process.stdout, 'error', before)
    broken(Object.assign(new Error('other'), { code: 'EIO' }))
    broken(Object.assign(new Error('gone'), { code: 'EPIPE' }))
    expect(await running).toBe(130)
  })
})

describe('the entry', () => {
  async function start(version: string): Promise<unknown> {
    const argv = [process.argv[0], 'dsh-mcp', '--version']
    const fake = new Proxy(process, {
      get: (target, key) =>
        (key === 'version' ? version : key === 'argv' ? argv : Reflect.get(target, key)) as unknown,
      set: (target, key, value) => Reflect.set(target, key, value),
    })
    vi.stubGlobal('process', fake)
    await import('../../src/cli/main.ts')
    vi.unstubAllGlobals()
    return process.exitCode
  }

  it('says plainly that an old Node will not do', async () => {
    expect(await start('v18.0.0')).toBe(2)
    expect(written.join('')).toContain('dsh-mcp needs Node 22.19')
  })

  it('runs the command on a Node that will', async () => {
    expect(await start('v24.1.0')).toBe(0)
    expect(written.join('')).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
