/** Owns the tests that no server outlives its host: real hosts that die in several ways, and what they leave. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { markProcesses } from './process-marks.ts'
import type { ProcessMark } from './process-marks.ts'

const HOST = join(import.meta.dirname, 'fixtures', 'doomed-host.ts')
const marks: ProcessMark[] = []

async function openHost(
  way: string,
): Promise<{ host: ChildProcess; mark: ProcessMark; exit: Promise<unknown[]> }> {
  const mark = markProcesses()
  marks.push(mark)
  const host = fork(HOST, [way], {
    env: { ...mark.env },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const exit = once(host, 'exit')
  const [word] = (await Promise.race([once(host, 'message'), exit])) as [unknown]
  expect(word).toBe('ready')
  return { host, mark, exit }
}

afterEach(() => {
  for (const mark of marks.splice(0)) mark.clear()
})

describe('a host that dies takes its servers and their helpers along', () => {
  it.each([
    ['exit', 5],
    ['throw', 1],
    ['reject', 1],
  ])('by %s', async (way, code) => {
    const { mark, exit } = await openHost(way)
    expect(await exit).toEqual([code, null])
    await mark.until(0)
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('by %s, and ends of that signal', async (signal) => {
    const { host, mark, exit } = await openHost('wait')
    expect(mark.alive()).toHaveLength(3)
    host.kill(signal)
    expect(await exit).toEqual([null, signal])
    await mark.until(0)
  })

  it('by a SIGTERM that it handles itself, in its own time', async () => {
    const { host, mark, exit } = await openHost('graceful')
    host.kill('SIGTERM')
    expect(await exit).toEqual([7, null])
    expect(mark.alive()).toEqual([])
  })

  it('but not by a signal that it ignores', async () => {
    const { host, mark, exit } = await openHost('deaf')
    host.kill('SIGTERM')
    await once(host, 'message')
    expect(mark.alive()).toHaveLength(3)
    host.kill('SIGINT')
    await exit
    await mark.until(0)
  })
})
