/** Owns the tests of the stdio transport over real processes: start, messages, exit, close, and what is left: nothing. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { processGroups } from '../../src/connection/process-group.ts'
import { CHILD_EDGES, spawnFor } from '../../src/connection/stdio-child.ts'
import { OWN_CODE } from '../../src/errors.ts'
import type { McpError } from '../../src/errors.ts'
import { closePeers, openPeer } from './stdio-peer.ts'

const HOST_EVENTS = ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP']
const listeners = HOST_EVENTS.map((event) => process.listenerCount(event))
const ECHO = `lines((message) => send({ id: message.id, result: message.params ?? {} }))`
const request = (id: number, params: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0' as const,
  id,
  method: 'call',
  params,
})

async function failureOf(promise: Promise<unknown>): Promise<McpError> {
  return promise.then(
    () => Promise.reject(new Error('it succeeded')),
    (error: McpError) => error,
  )
}

async function timed(promise: Promise<unknown>): Promise<number> {
  const started = performance.now()
  await promise
  return performance.now() - started
}

/** Timers that run when the test says so; `fire` waits for a timer of that length and runs it. */
function manualClock() {
  const timers = new Map<() => void, number>()
  const clock: Clock = {
    now: () => performance.now(),
    after: (ms, callback) => {
      timers.set(callback, ms)
      return () => timers.delete(callback)
    },
  }
  const fire = (ms: number): Promise<void> =>
    vi.waitFor(
      () => {
        const found = [...timers].find(([, length]) => length === ms)
        if (found === undefined) throw new Error(`no timer of ${ms} ms`)
        timers.delete(found[0])
        found[0]()
      },
      { timeout: 5_000, interval: 5 },
    )
  return { clock, fire, pending: () => [...timers.values()] }
}

afterEach(async () => {
  expect(await closePeers()).toEqual([])
  expect(HOST_EVENTS.map((event) => process.listenerCount(event))).toEqual(listeners)
})

describe('start', () => {
  it('gives the child its command, arguments, directory and environment, and nothing else', async () => {
    vi.stubEnv('HOST_ONLY', 'x')
    const folder = mkdtempSync(join(tmpdir(), 'mcp-stdio-'))
    const peer = openPeer(`send({ method: 'hello', params: { cwd: process.cwd(), env: process.env } })`, {
      cwd: folder,
      env: { OWN: 'value' },
    })
    expect([peer.transport.pid, peer.transport.stderr]).toEqual([undefined, undefined])
    await peer.transport.start()
    expect(await peer.message('hello')).toMatchObject({ params: { cwd: folder, env: { OWN: 'value' } } })
    expect(JSON.stringify(peer.messages)).not.toContain('HOST_ONLY')
    rmSync(folder, { recursive: true })
    vi.unstubAllEnvs()
  })

  it('has the two names by which the SDK knows a stdio transport', async () => {
    const { transport, mark } = openPeer(ECHO)
    expect('pid' in transport && 'stderr' in transport).toBe(true)
    await transport.start()
    expect(mark.alive()).toEqual([transport.pid])
    expect(transport.stderr).toBeDefined()
    await expect(transport.start()).rejects.toThrow('starts once')
  })

  it.each([
    [
      'a missing command',
      { command: 'no-such-command-anywhere' },
      /^cannot start "no-such-command-anywhere": .*on the PATH/,
    ],
    [
      'a missing directory',
      { cwd: '/no/such/directory' },
      /the working directory "\/no\/such\/directory" does not exist/,
    ],
    [
      'a file that is no program',
      { command: import.meta.filename },
      /^cannot start ".*stdio\.spec\.ts": .*EACCES/,
    ],
    ['an argument that cannot be passed', { args: ['a\0s3cret'] }, /null bytes.*\[redacted\]/],
  ])('refuses %s', async (_name, over, text) => {
    const { transport, closes, mark } = openPeer('', over)
    const error = await failureOf(transport.start())
    expect(error).toMatchObject({ code: 'MCP_SPAWN_FAILED', server: 'scripted', stage: 'connect' })
    expect(error.message).toMatch(text)
    expect(await timed(transport.close())).toBeLessThan(1_400)
    expect((await failureOf(transport.send(request(1)))).code).toBe('MCP_CONNECTION_CLOSED')
    expect([closes(), mark.alive(), transport.diagnostics()]).toEqual([0, [], {}])
  })

  it('tells a script without its interpreter from a missing one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-stdio-'))
    const command = join(folder, 'run')
    writeFileSync(command, '#!/no/such/interpreter\n', { mode: 0o755 })
    expect((await failureOf(openPeer('', { command }).transport.start())).message).toContain('interpreter')
    rmSync(folder, { recursive: true })
  })

  it('can be closed in the middle of the start, and before it', async () => {
    const early = openPeer(ECHO)
    await early.transport.close()
    const { transport, mark, closes } = openPeer(ECHO)
    const started = transport.start()
    await Promise.all([started, transport.close(), transport.close()])
    expect([mark.alive(), closes()]).toEqual([[], 1])
  })

  it('starts commands through cross-spawn on Windows', async () => {
    // Here cross-spawn only passes on; what it does to .cmd files is its own.
    const { transport, message } = openPeer(ECHO, { edges: { spawn: spawnFor('win32') } })
    await transport.start()
    await transport.send(request(1))
    await message(1)
  })
})

describe('messages', () => {
  it('carries 4 MB both ways, and a reply that comes byte by byte', async () => {
    const { transport, message } = openPeer(
      `lines(({ id, params }) => { for (const byte of Buffer.from(JSON.stringify({ id, result: params }) + '\\r\\n')) require('fs').writeSync(1, Buffer.of(byte)) })`,
    )
    await transport.start()
    const text = 'ä€😀\u2028"\\\u0000\ud800'
    await transport.send(request(1, { text }))
    expect(await message(1)).toEqual({ jsonrpc: '2.0', id: 1, result: { text } })
    const large = openPeer(ECHO, { limits: { messageBytes: 5_000_000, stderrBytes: 0 } })
    await large.transport.start()
    await large.transport.send(request(2, { text: 'é'.repeat(2_000_000) }))
    expect(await large.message(2)).toMatchObject({ result: { text: 'é'.repeat(2_000_000) } })
  })

  it('lives through noise, a message over the cap and an endless burst', async () => {
    const { transport, message, messages, notes, errors } = openPeer(`lines(({ id }) => {
      process.stdout.write('stray s3cret\\n'.repeat(20000))
      send({ id: 90 + id, result: { text: 'x'.repeat(2e6) } })
      process.stdout.write('{"method":"log"}\\n'.repeat(100000))
      send({ id, result: {} })
    })`)
    await transport.start()
    let longest = 0
    let last = performance.now()
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 1)
    await transport.send(request(1))
    await message(1)
    clearInterval(timer)
    expect(longest).toBeLessThan(3_000)
    expect(messages).toHaveLength(100_002)
    expect(messages[0]).toMatchObject({
      id: 91,
      error: { data: { [OWN_CODE]: 'MCP_MESSAGE_TOO_LARGE', limitBytes: 1_000_000 } },
    })
    expect(errors).toEqual([])
    await transport.close()
    expect(notes).toEqual([
      'warn: stray text on stdout, skipped: stray [redacted]',
      'warn: the server sent a message over 1000000 bytes (limits.messageBytes); it is skipped',
      'debug: 19999 more of the kind "noise" from the server process',
    ])
  })

  it('hands an error of a handler to onerror', async () => {
    const { transport, errors, closed } = openPeer(`send({ method: 'a' }); send({ method: 'b' })`)
    transport.onmessage = ({ ...message }) => {
      throw 'method' in message && message.method === 'a' ? new Error('handler') : 'text'
    }
    await transport.start()
    await closed
    expect(errors.map((error) => error.message)).toEqual(['handler', 'text'])
  })

  it('keeps a send pending that the server does not read, and settles it on close', async () => {
    const { clock, fire } = manualClock()
    const { transport, mark, message } = openPeer(`stubborn(); send({ method: 'up' })`, { clock })
    await transport.start()
    await message('up')
    const sends = [request(1, { text: 'x'.repeat(900_000) }), request(2)].map((one) =>
      failureOf(transport.send(one)),
    )
    expect((await failureOf(transport.send(request(3, { text: 'x'.repeat(1_200_000) })))).message).toMatch(
      /does not read its input/,
    )
    const close = transport.close()
    expect(await Promise.all(sends)).toMatchObject([
      { code: 'MCP_CONNECTION_CLOSED' },
      { code: 'MCP_CONNECTION_CLOSED' },
    ])
    await fire(1_500)
    await fire(1_500)
    await close
    expect(mark.alive()).toEqual([])
  })
})

describe('exit', () => {
  it('reports how the process ended and its last words, once', async () => {
    const { transport, closed, closes, mark, notes } = openPeer(
      `process.stderr.write('\\u001b[31mbad token s3cret\\u001b[0m\\n', () => { send({ id: 1, result: {} }); process.exitCode = 3 })`,
    )
    await transport.start()
    const { pid } = transport
    await closed
    expect(transport.diagnostics()).toEqual({ pid, exit: 'exit code 3', stderrTail: 'bad token [redacted]' })
    expect(notes).toEqual(['debug: first words on stderr: bad token [redacted]'])
    expect((await failureOf(transport.send(request(1)))).message).toBe(
      'the server process ended with exit code 3',
    )
    await Promise.all([transport.close(), transport.close()])
    expect([closes(), mark.alive()]).toEqual([1, []])
  })

  it('names the signal, and delivers what was written before', async () => {
    const { transport, closed, messages } = openPeer(
      `for (let id = 0; id < 5000; id += 1) require('fs').writeSync(1, '{"id":' + id + ',"result":{}}\\n'); process.kill(process.pid, 'SIGKILL')`,
    )
    await transport.start()
    await closed
    expect(transport.diagnostics().exit).toBe('signal SIGKILL')
    expect(messages.map((message) => 'id' in message && message.id)).toEqual(
      Array.from({ length: 5_000 }, (_, id) => id),
    )
  })

  it('is noticed although a helper holds the pipes, and the helper dies', async () => {
    const { transport, closed, message, mark } = openPeer(
      `stubborn(); helper(); lines(() => process.exit(1))`,
    )
    await transport.start()
    await message('up')
    expect(mark.alive()).toHaveLength(2)
    await transport.send(request(1))
    await closed
    expect(transport.diagnostics().exit).toBe('exit code 1')
    await mark.until(0)
  })

  it('is noticed in time although a helper out of reach holds the pipes', async () => {
    const { transport, closed, message, mark } = openPeer(
      `helper({ detached: true }); lines(() => process.exit(1))`,
    )
    await transport.start()
    await message('up')
    await transport.send(request(1))
    expect(await timed(closed)).toBeLessThan(5_000)
    // It made a group of its own: not ours to find.
    expect(mark.alive()).toHaveLength(1)
    mark.clear()
    await mark.until(0)
  })

  it('is the reason of a write that failed right before it', async () => {
    const script = `lines(() => {
      process.stdin.destroy()
      require('fs').closeSync(0)
      send({ method: 'deaf' })
      setTimeout(() => process.exit(3), 30)
    })`
    const { transport, message } = openPeer(script)
    await transport.start()
    await transport.send(request(1))
    await message('deaf')
    expect((await failureOf(transport.send(request(2)))).message).toBe(
      'the server process ended with exit code 3',
    )
  })

  it.each([
    ['stdout', `stubborn(); process.stdin.resume(); require('fs').closeSync(1)`],
    [
      'stdin',
      `stubborn(); lines(() => { process.stdin.destroy(); require('fs').closeSync(0); send({ method: 'deaf' }) })`,
    ],
  ])('gives up a server that closes its %s and lives', async (pipe, script) => {
    const { clock, fire } = manualClock()
    const { transport, closed, message, notes, closes, mark } = openPeer(script, { clock })
    let deaf: Promise<McpError> | undefined
    await transport.start()
    if (pipe === 'stdin') {
      await transport.send(request(1))
      await message('deaf')
      deaf = failureOf(transport.send(request(2)))
    }
    await fire(250)
    await closed
    if (pipe === 'stdin') expect((await deaf)?.message).toBe('the server does not take input any more')
    expect(transport.diagnostics().exit).toBe(`a closed ${pipe}`)
    expect(notes).toEqual([`warn: the server process is ended because of a closed ${pipe}`])
    expect((await failureOf(transport.send(request(2)))).message).toBe(
      `the server process ended with a closed ${pipe}`,
    )
    await fire(1_500)
    await fire(1_500)
    await transport.close()
    expect([closes(), mark.alive()]).toEqual([1, []])
  })

  it('is the reason also where something else breaks after it', async () => {
    const late = `const parent = process.ppid
      const timer = setInterval(() => {
        if (process.ppid === parent) return
        clearInterval(timer)
        process.stdout.write('x'.repeat(6e6) + '\\n{"method":"late"}\\n')
      }, 5)
      process.stdout.write('{"method":"up"}\\n')`
    const { clock, fire } = manualClock()
    const { transport, closed, message, mark } = openPeer(
      `const stdio = ['ignore', 'inherit', 'inherit']
      require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(late)}], { detached: true, stdio })
      lines(() => process.exit(1))`,
      { clock },
    )
    await transport.start()
    await message('up')
    await transport.send(request(1))
    await message('late')
    await fire(250)
    await closed
    expect(transport.diagnostics().exit).toBe('exit code 1')
    await mark.until(0)
  })

  it('gives up a line without end, with bounded memory', async () => {
    const { transport, closed } = openPeer(`process.stdin.resume(); process.stdout.write('x'.repeat(6e6))`)
    await transport.start()
    await closed
    expect(transport.diagnostics().exit).toMatch(/^a line without end on stdout: over 4000000 bytes/)
  })
})

describe('close', () => {
  it('ends a good server at once, with what was sent before', async () => {
    const { transport, messages, closes } = openPeer(`lines(({ id }) => send({ id, result: {} }))`)
    await transport.start()
    const sent = transport.send(request(1))
    const close = transport.close()
    expect(transport.close()).toBe(close)
    expect(await timed(Promise.all([sent, close]))).toBeLessThan(5_000)
    expect([messages, closes(), transport.diagnostics().exit]).toEqual([
      [{ jsonrpc: '2.0', id: 1, result: {} }],
      1,
      'exit code 0',
    ])
  })

  it('is not put out by a server that closes its stdout first and lingers', async () => {
    const { clock, fire } = manualClock()
    const { transport, closes, notes } = openPeer(
      `lines(() => {}).on('close', () => { require('fs').closeSync(1); setInterval(() => {}, 1000) })`,
      { clock },
    )
    await transport.start()
    const close = transport.close()
    await fire(250)
    expect(closes()).toBe(0)
    await fire(1_500)
    await close
    expect([closes(), notes, transport.diagnostics().exit]).toEqual([1, [], 'signal SIGTERM'])
  })

  it('asks by SIGTERM next, also behind a shell', async () => {
    const inner = `setInterval(() => {}, 1000); process.stdout.write('{"method":"up"}\\n')`
    const { clock, fire } = manualClock()
    const args = ['-c', '"$0" -e "$1"; true', process.execPath, inner]
    const { transport, message, mark } = openPeer('', { command: 'sh', args, clock })
    await transport.start()
    await message('up')
    expect(mark.alive()).toHaveLength(2)
    const close = transport.close()
    await fire(1_500)
    await close
    expect(transport.diagnostics().exit).toBe('signal SIGTERM')
    expect(mark.alive()).toEqual([])
  })

  it('kills what ignores everything, with its helpers, step by step', async () => {
    const { clock, fire, pending } = manualClock()
    const { transport, message, mark, closes } = openPeer(`stubborn(); helper()`, { clock })
    await transport.start()
    await message('up')
    const close = transport.close()
    await fire(1_500)
    expect(mark.alive()).toHaveLength(2)
    await fire(1_500)
    await close
    expect(transport.diagnostics().exit).toBe('signal SIGKILL')
    expect([mark.alive(), closes(), pending()]).toEqual([[], 1, []])
  })

  it('says so when the end is not confirmed, and settles everything all the same', async () => {
    const { clock, fire } = manualClock()
    const signals: string[] = []
    const groups = { ...processGroups(), signal: (_pid: number, signal: string) => void signals.push(signal) }
    const { transport, message, closes, mark } = openPeer(`stubborn(); send({ method: 'up' })`, {
      clock,
      edges: { groups },
    })
    await transport.start()
    await message('up')
    const failure = failureOf(transport.close())
    for (const ms of [1_500, 1_500, 1_000]) await fire(ms)
    const error = await failure
    expect(error).toMatchObject({ code: 'MCP_CLOSE_TIMEOUT', server: 'scripted' })
    expect(error.message).toBe(`the server process ${transport.pid} did not end`)
    expect([signals, closes()]).toEqual([['SIGTERM', 'SIGKILL'], 1])
    await expect(transport.close()).rejects.toBe(error)
    // Still watched for the end of the host.
    expect(process.listenerCount('exit')).toBe((listeners[0] ?? 0) + 1)
    mark.clear()
    await vi.waitFor(() => expect(process.listenerCount('exit')).toBe(listeners[0]))
  })

  it('waits for the rest of the group, but not for ever', async () => {
    const groups = { ...processGroups(), isAlive: () => true }
    const { transport } = openPeer(ECHO, { edges: { groups } })
    await transport.start()
    const ms = await timed(transport.close())
    expect(ms).toBeGreaterThan(200)
    expect(ms).toBeLessThan(10_000)
  })

  it('sends no signal to a group whose leader is gone', async () => {
    const signal = vi.fn<() => void>()
    const { clock, fire } = manualClock()
    const edges = { groups: { ...CHILD_EDGES.groups, signal } }
    const { transport, closed } = openPeer(`process.exit(0)`, { clock, edges })
    await transport.start()
    await closed.catch(() => fire(250))
    await transport.close()
    expect(signal).not.toHaveBeenCalled()
  })

  it('shares one set of listeners among 50 servers, without a warning', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    const peers = Array.from({ length: 50 }, () => openPeer('', { command: 'cat', args: [] }))
    await Promise.all(peers.map(({ transport }) => transport.start()))
    expect(process.listenerCount('exit')).toBe((listeners[0] ?? 0) + 1)
    await Promise.all(peers.map(({ transport }) => transport.close()))
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })
})
