/** Owns the tests of what is kept of calls, of processes and of targets for status. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { McpError } from '../../src/errors.ts'
import { KEPT_CALLS, SHOWN_RUNNING, createCallRecord } from '../../src/status-calls.ts'
import type { CallRecord } from '../../src/status-calls.ts'
import { residentBytes } from '../../src/status-memory.ts'
import { hostOf, targetOf, transportOf } from '../../src/status-target.ts'
import type { CallObserver, CallSettled, CallStart, HttpTarget } from '../../src/types.ts'
import { FakeClock } from './fake-clock.ts'

function recordOf(observer?: CallObserver): { record: CallRecord; settled: CallSettled[]; clock: FakeClock } {
  const settled: CallSettled[] = []
  const clock = new FakeClock()
  const record = createCallRecord({
    serverName: 'one',
    clock,
    about: () => ({ transport: 'stdio', revision: '2025-11-25' }),
    observer: () => observer,
    settled: (call) => void settled.push(call),
  })
  return { record, settled, clock }
}

const failure = (code: ConstructorParameters<typeof McpError>[1]['code']): McpError =>
  new McpError('no', { code, server: 'one', stage: 'execution' })

describe('the record of calls', () => {
  it('is empty at first', () => {
    expect(recordOf().record.totals()).toEqual({ total: 0, failed: 0, aborted: 0, active: 0 })
  })

  it('shows the first that run, with their last progress in words that are made only then', async () => {
    const { record } = recordOf()
    const done = Promise.withResolvers<void>()
    const calls = Array.from({ length: SHOWN_RUNNING + 1 }, (_, index) =>
      record.watch(`tool-${index}`, String(index), () => done.promise),
    )
    let made = 0
    const words = (text: string) => (): string => {
      made += 1
      return text
    }
    record.progress('1', words('1 of 2'))
    record.progress('1', words('2 of 2'))
    record.progress('nobody', words('lost'))
    expect(made).toBe(0)
    const { active, running } = record.totals()
    expect(active).toBe(SHOWN_RUNNING + 1)
    expect(running).toHaveLength(SHOWN_RUNNING)
    const since = expect.any(Number) as number
    expect(running?.slice(0, 2)).toEqual([
      { tool: 'tool-0', since },
      { tool: 'tool-1', since, progress: '2 of 2' },
    ])
    expect(made).toBe(1)
    done.resolve()
    await Promise.all(calls)
    record.progress('1', words('too late'))
    expect(record.totals()).not.toHaveProperty('running')
  })

  it('counts what came of each, and passes it on', async () => {
    const { record, settled } = recordOf()
    expect(await record.watch('echo', 'a', async () => 7)).toBe(7)
    for (const code of ['MCP_TOOL_FAILED', 'MCP_CALL_TIMEOUT', 'MCP_ABORTED'] as const) {
      const error = failure(code)
      await expect(record.watch('echo', code, () => Promise.reject(error))).rejects.toBe(error)
    }
    expect(record.totals()).toMatchObject({ total: 4, failed: 2, aborted: 1, active: 0, p50Ms: 0 })
    expect(settled).toEqual([
      { serverName: 'one', tool: 'echo', callId: 'a', durationMs: 0, outcome: 'ok' },
      {
        serverName: 'one',
        tool: 'echo',
        callId: 'MCP_TOOL_FAILED',
        durationMs: 0,
        outcome: 'tool-failed',
        code: 'MCP_TOOL_FAILED',
      },
      {
        serverName: 'one',
        tool: 'echo',
        callId: 'MCP_CALL_TIMEOUT',
        durationMs: 0,
        outcome: 'failed',
        code: 'MCP_CALL_TIMEOUT',
      },
      {
        serverName: 'one',
        tool: 'echo',
        callId: 'MCP_ABORTED',
        durationMs: 0,
        outcome: 'aborted',
        code: 'MCP_ABORTED',
      },
    ])
  })

  it('knows the calls under way', async () => {
    const { record } = recordOf()
    const gate = Promise.withResolvers<void>()
    const call = record.watch('echo', 'a', () => gate.promise)
    expect(record.totals().active).toBe(1)
    gate.resolve()
    await call
    expect(record.totals().active).toBe(0)
  })

  it('takes the times of the last calls alone', async () => {
    const { record, clock } = recordOf()
    const lasting = (ms: number): Promise<void> => record.watch('echo', 'a', () => clock.advance(ms))
    await lasting(5_000)
    for (let call = 1; call <= 20; call += 1) await lasting(call)
    expect(record.totals()).toMatchObject({ total: 21, p50Ms: 11, p95Ms: 20 })
    for (let call = 0; call < KEPT_CALLS; call += 1) await lasting(2)
    expect(record.totals()).toMatchObject({ total: 21 + KEPT_CALLS, p50Ms: 2, p95Ms: 2 })
  })

  it('lets an observer go around', async () => {
    const seen: CallStart[] = []
    const observer: CallObserver = {
      around: (call, run) => (seen.push(call), run()),
      meta: () => undefined,
    }
    expect(await recordOf(observer).record.watch('echo', 'a', async () => 7)).toBe(7)
    expect(seen).toEqual([
      { serverName: 'one', tool: 'echo', callId: 'a', transport: 'stdio', revision: '2025-11-25' },
    ])
  })
})

describe('the memory of a process', () => {
  it('is that of the process and what it started', async () => {
    const child = spawn(process.execPath, [
      '-e',
      'require("child_process").spawn("sleep", ["60"]); console.log(1)',
    ])
    await once(child.stdout, 'data')
    const bytes = residentBytes(Number(child.pid))
    child.kill()
    expect(bytes === undefined || bytes > 1_000_000).toBe(process.platform !== 'linux' || bytes !== undefined)
  })

  const tree =
    (files: Readonly<Record<string, string>>) =>
    (path: string): string => {
      const text = files[path]
      if (text === undefined) throw new Error('ENOENT')
      return text
    }

  it('adds up descendants, and leaves out those that ended', () => {
    const read = tree({
      '/proc/1/status': 'Name:\tx\nVmRSS:\t  100 kB\n',
      '/proc/1/task/1/children': '2 3 ',
      '/proc/2/status': 'VmRSS:\t  11 kB\n',
      '/proc/3/status': 'Name:\tzombie\n',
    })
    expect(residentBytes(1, read)).toBe(111 * 1024)
  })

  it('is unknown where the system does not tell', () => expect(residentBytes(1, tree({}))).toBeUndefined())

  it('ends with a circle and with a crowd', () => {
    const read = (path: string): string =>
      path.endsWith('children') ? Array.from({ length: 100 }, (_, id) => id + 1).join(' ') : 'VmRSS:\t1 kB\n'
    expect(residentBytes(1, read)).toBe(32 * 1024)
  })
})

describe('a target', () => {
  const redact = (text: string): string => text.replaceAll("s'cret", '[redacted]')
  const stdio = {
    kind: 'stdio',
    command: 'npx',
    args: ['-y', 'a b', "--token=s'cret"],
    env: {},
    inheritEnv: [],
  } as const
  const http = (url: string, flavour: HttpTarget['flavour'] = 'auto'): HttpTarget => ({
    kind: 'http',
    url,
    flavour,
    headers: {},
  })

  it('is a line for a shell, without secrets', () => {
    expect(targetOf({ target: stdio, redact })).toBe("npx -y 'a b' '--token=[redacted]'")
    expect(targetOf({ target: { ...stdio, args: ["it's"] }, redact })).toBe("npx 'it'\\''s'")
  })

  it('is a url without query', () => {
    expect(targetOf({ target: http('https://a.test/mcp?key=1#x'), redact })).toBe('https://a.test/mcp')
  })

  it('has a transport, and a host where it is one', () => {
    expect(transportOf(stdio)).toBe('stdio')
    expect(transportOf(http('http://a.test', 'sse'))).toBe('sse')
    expect(transportOf(http('http://a.test'))).toBe('streamable-http')
    expect(hostOf(stdio)).toEqual({})
    expect(hostOf(http('http://a.test/x'))).toEqual({ host: { address: 'a.test', port: 80 } })
    expect(hostOf(http('https://a.test'))).toEqual({ host: { address: 'a.test', port: 443 } })
    expect(hostOf(http('http://[::1]:8080'))).toEqual({ host: { address: '[::1]', port: 8080 } })
  })
})
