/** Owns the main promise of the connection step, in a real host: one good server beside every kind of bad one. */
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  bootHost,
  expectNoLeftovers,
  httpRow,
  isAlive,
  leftovers,
  startHttpServer,
  stdioRow,
  stdioServer,
  waitFor,
} from '@dsh-mcp/testkit'
import type { Host, HttpServer, Leftovers, StdioServer } from '@dsh-mcp/testkit'

const LIMIT_MS = 60_000
const STARTUP = { waitMs: 4_000, timeoutMs: 8_000 }
const DISPOSE_LIMIT_MS = 5_000

let before: Leftovers
let host: Host | undefined
const https: HttpServer[] = []
const servers: StdioServer[] = []

beforeEach(() => void (before = leftovers()))
afterEach(async () => {
  await host?.dispose()
  host = undefined
  for (const server of https.splice(0)) await server.close()
  const pids = (await Promise.all(servers.splice(0).map((server) => server.journal())))
    .flat()
    .flatMap(({ kind, pid }) => (kind === 'start' ? [pid] : []))
  await expectNoLeftovers(before, { pids })
})

function scripted(...args: Parameters<typeof stdioServer>): StdioServer {
  const server = stdioServer(...args)
  servers.push(server)
  return server
}

const text = (result: { readonly content: readonly object[] }): string => JSON.stringify(result.content)

/** What the operator was told of one server. */
function told({ logs }: Host, serverName: string): string {
  return logs
    .map(({ type, text: line }) => `${type}: ${line}`)
    .filter((line) => line.includes(`mcp-client(${serverName})`))
    .join('\n')
}

/** A port of a server that is gone. */
async function deadUrl(): Promise<string> {
  const server = await startHttpServer()
  const { url } = server
  await server.close()
  return url
}

describe('one good server among bad ones', () => {
  it('boots within startup.waitMs and serves the good one at once', { timeout: LIMIT_MS }, async () => {
    const config = { startup: STARTUP }
    const startedAt = performance.now()
    host = await bootHost({
      rows: [
        stdioRow('silent', scripted('silent'), config),
        stdioRow('crashing', scripted('exits-at-once', { code: 4, stderr: 'no license\n' }), config),
        stdioRow('stubborn', scripted('stubborn'), config),
        httpRow('dead', await deadUrl(), config),
        stdioRow('good', scripted('healthy'), config),
      ],
    })
    // Of this the boot of a host without servers is about one second.
    expect(performance.now() - startedAt).toBeLessThan(STARTUP.waitMs + 4_000)
    expect(host.tools()).toContain('mcp__good__echo')
    const result = await host.call('mcp__good__echo', { message: 'at once' })
    expect(result).toMatchObject({ isError: false })
    expect(text(result)).toContain('at once')

    expect(told(host, 'silent')).toMatch(/not connected within 4000 ms/)
    expect(told(host, 'crashing')).toMatch(/exit code 4.*no license/)
    expect(told(host, 'dead')).toMatch(/nothing listens at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/)
    expect(told(host, 'good')).toBe('')
    expect(host.tools().filter((name) => /silent|crashing|dead/.test(name))).toEqual([])

    const disposedAt = performance.now()
    await host.dispose()
    expect(performance.now() - disposedAt).toBeLessThan(DISPOSE_LIMIT_MS + 1_000)
  })

  it('says why a silent server was given up', { timeout: LIMIT_MS }, async () => {
    const startup = { waitMs: 300, timeoutMs: 1_500 }
    host = await bootHost({ rows: [stdioRow('silent', scripted('silent'), { startup })] })
    const { logs } = host
    await waitFor(
      () => logs,
      ({ text: line }) => /no answer within 1500 ms \(startup\.timeoutMs\) while connecting/.test(line),
    )
  })
})

describe('many at once', () => {
  it('does not hold healthy servers up by hanging ones', { timeout: LIMIT_MS }, async () => {
    const config = { startup: { waitMs: 10_000, timeoutMs: 60_000 } }
    const rows = Array.from({ length: 10 }, (_, index) =>
      stdioRow(`s${index}`, scripted(index % 2 === 0 ? 'healthy' : 'silent'), config),
    )
    const booting = bootHost({ rows })
    const startedAt = performance.now()
    host = await booting
    expect(performance.now() - startedAt).toBeLessThan(20_000)
    expect(host.tools().toSorted()).toEqual([0, 2, 4, 6, 8].map((index) => `mcp__s${index}__echo`))
    const disposedAt = performance.now()
    await host.dispose()
    expect(performance.now() - disposedAt).toBeLessThan(DISPOSE_LIMIT_MS + 1_000)
  })
})

describe('a URL that cannot be used', () => {
  it.each(['http://user:planted-5ecret@127.0.0.1:9/mcp', 'file:///etc/planted-5ecret'])(
    'is refused clearly, and no password is said: %s',
    { timeout: LIMIT_MS },
    async (url) => {
      const error = await bootHost({ rows: [httpRow('one', url)] }).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(String(error)).toMatch(/url/)
      expect(inspect(error, { depth: 10 })).not.toContain('planted-5ecret')
    },
  )
})

describe('a server that is killed in the middle of a call', () => {
  it('costs the call at once and is back after the back-off', { timeout: LIMIT_MS }, async () => {
    const server = scripted('never-answers')
    const reconnect = { initialDelayMs: 200, maxDelayMs: 1_000 }
    host = await bootHost({
      rows: [stdioRow('one', server, { startup: { waitMs: 20_000, timeoutMs: 20_000 }, reconnect })],
    })
    const call = host.call('mcp__one__hang')
    const { pid } = await waitFor(
      server.journal,
      ({ kind, message }) => kind === 'received' && message?.method === 'tools/call',
    )
    const killedAt = performance.now()
    process.kill(pid, 'SIGKILL')
    const result = await call
    expect(performance.now() - killedAt).toBeLessThan(2_000)
    expect(result).toMatchObject({ isError: true })
    expect(text(result)).toMatch(/SIGKILL.*may have run/)
    expect(isAlive(pid)).toBe(false)
    expect(host.tools().toSorted()).toEqual(['mcp__one__echo', 'mcp__one__hang'])

    const { logs } = host
    await waitFor(
      () => logs,
      ({ text: line }) => line.includes('reconnected and re-synced tools'),
      20_000,
    )
    const again = await host.call('mcp__one__echo', { message: 'works again' })
    expect(again).toMatchObject({ isError: false })
    expect(text(again)).toContain('works again')
  })
})

describe('a server that is restarted behind HTTP', () => {
  it('goes unnoticed by the next call', { timeout: LIMIT_MS }, async () => {
    const server = await startHttpServer()
    https.push(server)
    host = await bootHost({ rows: [httpRow('web', server.url)] })
    expect(await host.call('mcp__web__echo', { message: 'before' })).toMatchObject({ isError: false })
    await waitFor(
      () => [...server.sessions.values()],
      ({ streams }) => streams.size > 0,
    )
    const [session] = server.sessions.keys()
    const asked = server.requests.length
    await server.restart()
    // Its stream is gone, too: the client has noticed when it asks for another.
    await waitFor(
      () => server.requests.slice(asked),
      () => true,
    )
    const result = await host.call('mcp__web__echo', { message: 'after' })
    expect(result).toMatchObject({ isError: false })
    expect(text(result)).toContain('after')
    expect([...server.sessions.keys()]).not.toContain(session)
    expect(told(host, 'web')).not.toMatch(/error: |warn: /)
  })
})
