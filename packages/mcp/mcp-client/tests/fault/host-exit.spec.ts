/** Owns the kill tests of the whole host: however it ends, no server and no helper of a server outlives it. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { isAlive, stdioRow, stdioServer, waitFor } from '@dsh-mcp/testkit'
import type { StdioServer } from '@dsh-mcp/testkit'

const HOST = join(import.meta.dirname, 'fixtures', 'doomed-host.ts')
const WITH_HELPER = join(import.meta.dirname, 'fixtures', 'lingering-child.ts')
const LIMIT_MS = 60_000

interface Doomed {
  readonly host: ChildProcess
  readonly exit: Promise<unknown[]>
  /** Of the servers and their helpers. */
  readonly pids: readonly number[]
}

const started: ChildProcess[] = []
const seen = new Set<number>()

async function pidsOf(server: StdioServer, helper: boolean): Promise<number[]> {
  if (helper) await waitFor(server.journal, ({ kind, name }) => kind === 'note' && name === 'helper')
  return (await server.journal()).flatMap(({ kind, pid, name, data }) => {
    if (kind === 'start') return [pid]
    return kind === 'note' && name === 'helper' ? [Number(data)] : []
  })
}

/** A real host with a good server, one that ignores every signal, and one with a helper that ignores them too. */
async function openHost(way: string): Promise<Doomed> {
  const good = stdioServer('never-answers')
  const stubborn = stdioServer('stubborn')
  const keeper = stdioServer(WITH_HELPER)
  const rows = [stdioRow('good', good), stdioRow('stubborn', stubborn), stdioRow('keeper', keeper)]
  const tools = ['mcp__good__hang', 'mcp__stubborn__echo', 'mcp__keeper__echo']
  const host = fork(HOST, [way, JSON.stringify(rows), JSON.stringify(tools)], {
    execArgv: ['--expose-internals', '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  started.push(host)
  let stderr = ''
  host.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')))
  const exit = once(host, 'exit')
  const [word] = (await Promise.race([once(host, 'message'), exit])) as [unknown]
  expect(word, stderr).toMatchObject({ ready: true })
  const pids = [
    ...(await pidsOf(good, false)),
    ...(await pidsOf(stubborn, false)),
    ...(await pidsOf(keeper, true)),
  ]
  expect(pids).toHaveLength(4)
  for (const pid of pids) seen.add(pid)
  return { host, exit, pids }
}

/** All gone, within the time that a kernel needs for it. */
async function expectGone(pids: readonly number[]): Promise<void> {
  await waitFor(
    () => [pids.filter((pid) => isAlive(pid))],
    (alive) => alive.length === 0,
    3_000,
  )
}

afterEach(() => {
  for (const host of started.splice(0)) host.kill('SIGKILL')
  for (const pid of seen) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  seen.clear()
})

describe('a host takes its servers and their helpers along', () => {
  it.each([
    ['process.exit', 'exit', 5],
    ['process.exit in the middle of a call', 'in-call', 5],
    ['an uncaught exception', 'throw', 1],
    ['an unhandled rejection', 'reject', 1],
    ['an uncaught exception, where somebody else throws at the exit', 'spoiled', 1],
  ])('by %s', { timeout: LIMIT_MS }, async (_what, way, code) => {
    const { exit, pids } = await openHost(way)
    expect(await exit).toEqual([code, null])
    await expectGone(pids)
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('by %s', { timeout: LIMIT_MS }, async (signal) => {
    const { host, exit, pids } = await openHost('wait')
    expect(pids.every((pid) => isAlive(pid))).toBe(true)
    host.kill(signal)
    await exit
    await expectGone(pids)
  })
})
