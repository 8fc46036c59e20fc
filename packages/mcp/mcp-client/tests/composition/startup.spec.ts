/** Owns the tests of how a row starts in the real host: failures, late servers, lazy rows, names that are taken. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { bootHost, received, stdioRow, stdioServer, temporaryFolder, waitFor } from '@dsh-mcp/testkit'
import type { Host, Row, StdioServer } from '@dsh-mcp/testkit'
import { REFUSED, editTo, hostSuite, isTransactional, startsOf } from './host-suite.ts'

const suite = hostSuite()
const FAILED = 'mcp-client(one): initial connection or tool synchronization failed'
const TAKEN =
  'serverName "one" is already in use by another mcp-client instance — pick a unique serverName in cordis.yml'

/** What an operator reads: without the debug level. */
const lines = (host: Host): string[] =>
  host.logs
    .filter(({ name, type }) => name === 'mcp-client' && type !== 'debug')
    .map(({ type, text }) => `${type}: ${text}`)

/** Every error of a chain of causes, outermost first. */
function chain(error: unknown): Error[] {
  if (!(error instanceof Error)) return []
  const inner = error instanceof AggregateError ? error.errors : []
  return [error, ...chain(error.cause), ...inner.flatMap((one: unknown) => chain(one))]
}

async function refusal(rows: readonly Row[]): Promise<Error[]> {
  return bootHost({ rows }).then(
    (host) => host.dispose().then(() => []),
    (error: unknown) => chain(error),
  )
}

/** The boot tells the words of the failure; the loader of rc.8 hands on the error itself, too. */
function expectRefusal(
  errors: readonly Error[],
  failure: { readonly message: string; readonly code?: string; readonly cause?: object },
): void {
  expect(errors[0]?.message).toContain(failure.message)
  if (isTransactional) {
    const message = expect.stringContaining(failure.message) as string
    expect(errors.find(({ name }) => name === 'McpError')).toMatchObject({ ...failure, message })
  }
}

const sentAt = async (server: StdioServer): Promise<number> =>
  (await waitFor(server.journal, ({ kind }) => kind === 'sent')).at

describe('a server that fails to start', () => {
  it('costs its tools, not the boot, and the log says why', async () => {
    const server = stdioServer('exits-at-once', { code: 4, stderr: 'no license\n' })
    const good = stdioServer('healthy')
    const host = await suite.boot({ rows: [stdioRow('one', server), stdioRow('two', good)] })
    expect(host.tools()).toEqual(['mcp__two__echo'])
    const [line] = lines(host)
    expect(line).toMatch(/^warn: mcp-client\(one\): connection failed; retrying in \d+ms \(attempt 1\/10\): /)
    expect(line).toContain('exit code 4')
    expect(line).toContain('no license')
  })

  it('is not tried again where that cannot help', async () => {
    const row: Row = { config: { serverName: 'one', command: 'no-such-program-at-all' } }
    const host = await suite.boot({ rows: [row] })
    expect(host.tools()).toEqual([])
    expect(lines(host)).toEqual([
      expect.stringMatching(/^error: mcp-client\(one\): connection failed for good.*no-such-program-at-all/),
    ])
  })

  it('refuses the boot with the words of the contract and the cause where the row asks for that', async () => {
    const server = stdioServer('exits-at-once', { code: 4 })
    const errors = await refusal([stdioRow('one', server, { failOnStartupError: true })])
    expectRefusal(errors, {
      // The reason stands behind the words of the contract: a host that prints no causes says it, too.
      message: `${FAILED}: the server process ended with exit code 4`,
      code: 'MCP_CONNECTION_CLOSED',
      cause: { message: expect.stringContaining('exit code 4') as string },
    })
  })

  it.each([
    ['a list that is bad', 'duplicate-names', 'MCP_LIST_INVALID'],
    ['a refused initialize', 'refuses-initialize', undefined],
    ['a revision that does not exist', 'odd-version', 'MCP_PROTOCOL_UNSUPPORTED'],
  ])('refuses the boot for %s', async (_what, behaviour, code) => {
    const server = stdioServer(behaviour)
    const errors = await refusal([stdioRow('one', server, { failOnStartupError: true })])
    expectRefusal(errors, { message: FAILED, ...(code === undefined ? {} : { code }) })
    expect(await startsOf(server)).toBe(1)
  })

  it('refuses the boot when the wait is over, too', async () => {
    const server = stdioServer('silent')
    const row = stdioRow('one', server, { failOnStartupError: true, startup: { waitMs: 300 } })
    const errors = await refusal([row])
    expectRefusal(errors, {
      message: FAILED,
      code: 'MCP_CONNECT_TIMEOUT',
      cause: { message: 'not connected within 300 ms (startup.waitMs)' },
    })
  })

  it('comes up when it is tried again', async () => {
    const server = stdioServer('first-start-exits', { failures: 2 })
    const host = await suite.boot({ rows: [stdioRow('one', server, { reconnect: { initialDelayMs: 10 } })] })
    await host.until(() => host.tools().length === 1)
    expect(lines(host).at(-1)).toBe('info: mcp-client(one): reconnected and re-synced tools (attempt 1/10)')
  })
})

describe('a server that takes its time', () => {
  it('brings its tools after the boot', async () => {
    const server = stdioServer('slow', { initializeMs: 300, pageMs: 50 })
    const host = await suite.boot({
      rows: [stdioRow('one', server, { protocol: 'legacy', startup: { waitMs: 20 } })],
    })
    expect(host.tools()).toEqual([])
    expect(lines(host)).toEqual([
      'warn: mcp-client(one): not connected within 20 ms (startup.waitMs); it goes on connecting in the background',
    ])
    await host.until(() => host.tools().length > 0)
    expect(host.tools()).toEqual(['mcp__one__a', 'mcp__one__b', 'mcp__one__c'])
    expect((await host.call('mcp__one__a')).isError).toBe(false)
  })

  it('does not keep another one waiting', async () => {
    const slow = { initializeMs: 500, pageMs: 1 }
    const [a, b] = [stdioServer('slow', slow), stdioServer('slow', slow)]
    const legacy = { protocol: 'legacy' }
    const host = await suite.boot({ rows: [stdioRow('one', a, legacy), stdioRow('two', b, legacy)] })
    expect(host.tools()).toHaveLength(6)
    const starts = [a, b].map(
      async ({ journal }) => (await waitFor(journal, ({ kind }) => kind === 'start')).at,
    )
    // Both had begun before either had answered anything.
    expect(Math.max(...(await Promise.all(starts)))).toBeLessThan(Math.min(await sentAt(a), await sentAt(b)))
  })
})

describe('a server name that is taken', () => {
  it('refuses the boot with the words of the contract', async () => {
    const [a, b] = [stdioServer('healthy'), stdioServer('healthy')]
    const errors = await refusal([stdioRow('one', a), { ...stdioRow('one', b), id: 'second' }])
    expectRefusal(errors, { code: 'MCP_SERVER_NAME_TAKEN', message: `mcp-client: ${TAKEN}` })
    expect(await startsOf(b)).toBe(0)
  })

  it('refuses the later row, and the first one goes on', async () => {
    const [a, b] = [stdioServer('healthy'), stdioServer('healthy')]
    const [first, second] = [stdioRow('one', a), { ...stdioRow('one', b), id: 'second' }]
    const host = await suite.boot({ hmr: true, rows: [first] })
    expect(await host.editRows([first, second])).toBe(REFUSED)
    await host.until(() => host.logs.some(({ text }) => text.includes(TAKEN)))
    expect((await host.call('mcp__one__echo', { message: 'x' })).isError).toBe(false)
    expect([await startsOf(a), await startsOf(b)]).toEqual([1, 0])
    // Once the first is gone the name is free.
    await editTo(host, [], [])
    await editTo(host, [second], ['mcp__one__echo'])
    expect(await startsOf(b)).toBe(1)
  })

  it('is free in another host of the same process', async () => {
    const [a, b] = [stdioServer('healthy'), stdioServer('healthy')]
    const dshHome = temporaryFolder()
    const first = await suite.boot({ dshHome, rows: [stdioRow('one', a)] })
    const second = await suite.boot({ dshHome, rows: [stdioRow('one', b)] })
    expect([first.tools(), second.tools()]).toEqual([['mcp__one__echo'], ['mcp__one__echo']])
  })
})

describe('a lazy row', () => {
  const LAZY = { startup: { mode: 'lazy' } }

  /** Boot once, so that the catalog is remembered. */
  async function remembered(server: StdioServer, row: Row = stdioRow('one', server, LAZY)): Promise<string> {
    const dshHome = temporaryFolder('home')
    const host = await suite.boot({ dshHome, rows: [row] })
    expect(host.tools().length).toBeGreaterThan(0)
    await host.dispose()
    expect(await startsOf(server)).toBe(1)
    return dshHome
  }

  const files = (dshHome: string): string[] =>
    readdirSync(join(dshHome, 'mcp-client')).map((name) => join(dshHome, 'mcp-client', name))

  it('remembers its tools in a private file', async () => {
    const server = stdioServer('healthy', { env: { API_TOKEN: 'a-secret-value-1' } })
    const dshHome = await remembered(server)
    // The pins of its tools lie beside it.
    expect(files(dshHome)).toHaveLength(2)
    for (const file of files(dshHome)) {
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(readFileSync(file, 'utf8')).not.toContain('a-secret-value-1')
    }
    expect(statSync(join(dshHome, 'mcp-client')).mode & 0o777).toBe(0o700)
    const [memory = ''] = files(dshHome).filter((file) => !basename(file).startsWith('pins-'))
    const text = readFileSync(memory, 'utf8')
    expect(JSON.parse(text)).toMatchObject({ catalog: { items: [{ name: 'echo' }] }, era: { era: 'legacy' } })
  })

  it('serves what it remembers, and starts its server at the first call, once', async () => {
    const server = stdioServer('healthy')
    const dshHome = await remembered(server)
    const host = await suite.boot({ dshHome, rows: [stdioRow('one', server, LAZY)] })
    expect(host.tools()).toEqual(['mcp__one__echo'])
    expect(await startsOf(server)).toBe(1)
    const results = await Promise.all(
      ['a', 'b', 'c'].map((message) => host.call('mcp__one__echo', { message })),
    )
    expect(results.map(({ content }) => content)).toEqual(
      ['a', 'b', 'c'].map((text) => [{ type: 'text', text }]),
    )
    expect(await startsOf(server)).toBe(2)
    // What is known of the server saves the probe.
    const second = (await server.journal()).slice(
      (await server.journal()).findLastIndex(({ kind }) => kind === 'start'),
    )
    expect(second.some(received('server/discover'))).toBe(false)
  })

  it('never starts a server that nobody calls', async () => {
    const server = stdioServer('healthy')
    const dshHome = await remembered(server)
    const host = await suite.boot({ dshHome, rows: [stdioRow('one', server, LAZY)] })
    await host.dispose()
    expect(await startsOf(server)).toBe(1)
  })

  it('takes the tools that the server has now', async () => {
    const server = stdioServer('other-tools-after-crash')
    const dshHome = await remembered(server)
    const host = await suite.boot({ dshHome, rows: [stdioRow('one', server, LAZY)] })
    expect(host.tools()).toEqual(['mcp__one__both', 'mcp__one__crash', 'mcp__one__old'])
    expect((await host.call('mcp__one__both')).isError).toBe(false)
    expect(host.tools()).toEqual(['mcp__one__both', 'mcp__one__new'])
    await host.dispose()
    const again = await suite.boot({ dshHome, rows: [stdioRow('one', server, LAZY)] })
    expect(again.tools()).toEqual(['mcp__one__both', 'mcp__one__new'])
    expect(await startsOf(server)).toBe(2)
  })

  it.each<[string, Row['config']]>([
    ['another environment', { env: { ACCOUNT: 'another' } }],
    ['another working directory', { cwd: '/' }],
    ['another protocol', { protocol: 'legacy' }],
  ])('asks its server again for %s', async (_what, change) => {
    const server = stdioServer('healthy')
    const dshHome = await remembered(server)
    const host = await suite.boot({ dshHome, rows: [stdioRow('one', server, { ...LAZY, ...change })] })
    expect(host.tools()).toEqual(['mcp__one__echo'])
    expect(await startsOf(server)).toBe(2)
  })

  it('sets a damaged file aside and asks its server', async () => {
    const server = stdioServer('healthy')
    const dshHome = await remembered(server)
    const [file = ''] = files(dshHome)
    writeFileSync(file, '{"version":1,"catalog"')
    const host = await suite.boot({ dshHome, rows: [stdioRow('one', server, LAZY)] })
    expect(host.tools()).toEqual(['mcp__one__echo'])
    expect(await startsOf(server)).toBe(2)
    expect(lines(host)).toEqual([expect.stringContaining('a damaged file was set aside')])
    expect(files(dshHome)).toContain(`${file}.damaged`)
  })

  it('says why a call could not start its server', async () => {
    const server = stdioServer(fileURLToPath(new URL('fixtures/healthy-once.ts', import.meta.url)))
    const dshHome = await remembered(server)
    const host = await suite.boot({ dshHome, rows: [stdioRow('one', server, LAZY)] })
    const result = await host.call('mcp__one__echo', { message: 'x' })
    expect(result).toMatchObject({
      isError: true,
      error: {
        info: { code: 'MCP_NOT_CONNECTED' },
        message: expect.stringContaining('exit code 5') as string,
      },
    })
    expect(lines(host)[0]).toContain('connection failed; retrying')
  })
})
