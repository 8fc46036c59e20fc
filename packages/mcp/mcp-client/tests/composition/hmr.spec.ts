/** Owns the tests of a row's life under the real loader and HMR: edits, broken edits, removal, disposal. */
import type { Context } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import { bootHost, received, stdioRow, stdioServer, waitFor } from '@dsh-mcp/testkit'
import type { Host, Row, StdioServer } from '@dsh-mcp/testkit'
import { REFUSED, editTo, hostSuite, isTransactional, rawNames, startsOf, untilTools } from './host-suite.ts'

const suite = hostSuite()

/** A row that waits long for its server. */
const PATIENT = { startup: { waitMs: 60_000, timeoutMs: 90_000 } }
/** The contract's limit of a disposal, and something for a busy machine. */
const DISPOSAL_MS = 5_000

const errors = (host: Host): string[] =>
  host.logs.filter(({ type }) => type === 'error').map(({ text }) => text)

/** Counts the changes of the registry from now on. */
function countChanges(host: Host): () => number {
  let changes = 0
  host.ctx.on('tools/change', () => void (changes += 1))
  return () => changes
}

async function say(host: Host, name: string, message = 'hello'): Promise<string> {
  const { content } = await host.call(name, { message })
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join('|')
}

const started = (server: StdioServer) => waitFor(server.journal, ({ kind }) => kind === 'start')
/** The child has ended: its stdin was closed. */
const ended = (server: StdioServer) => waitFor(server.journal, ({ kind }) => kind === 'eof')

describe('an edited row', () => {
  it('takes its new server name, and only that one', async () => {
    const server = stdioServer('healthy')
    const host = await suite.boot({ hmr: true, rows: [stdioRow('one', server)] })
    expect(host.tools()).toEqual(['mcp__one__echo'])
    await editTo(host, [{ ...stdioRow('two', server), id: 'mcp-one' }], ['mcp__two__echo'])
    expect(await say(host, 'mcp__two__echo')).toBe('hello')
    expect(await startsOf(server)).toBe(2)
  })

  it('runs its new command with the same names', async () => {
    const [old, next] = [stdioServer('healthy', { tools: ['a', 'b'] }), stdioServer('healthy')]
    const host = await suite.boot({ hmr: true, rows: [stdioRow('one', old)] })
    expect(host.tools()).toEqual(['mcp__one__a', 'mcp__one__b'])
    await editTo(host, [stdioRow('one', next)], ['mcp__one__echo'])
    await ended(old)
    // The predecessor was gone before its successor came: never two processes of one row.
    const [end, begin] = [await ended(old), await started(next)]
    expect(begin.at).toBeGreaterThanOrEqual(end.at)
    await editTo(host, [stdioRow('one', old)], ['mcp__one__a', 'mcp__one__b'])
  })

  it('gives the next call its new environment', async () => {
    const server = stdioServer('environment')
    const host = await suite.boot({
      hmr: true,
      rows: [stdioRow('one', server, { env: { ...server.env, MARK: 'old' } })],
    })
    expect(await say(host, 'mcp__one__env')).toContain('"MARK":"old"')
    expect(await host.edit((yml) => yml.replace('MARK: old', 'MARK: new'))).toBe('applied')
    await waitFor(server.journal, ({ starts }) => starts === 2)
    await untilTools(host, ['mcp__one__env', 'mcp__one__args', 'mcp__one__cwd'])
    expect(await say(host, 'mcp__one__env')).toContain('"MARK":"new"')
  })

  it('swaps names with another row in one edit', async () => {
    const [a, b] = [stdioServer('healthy', { tools: ['a'] }), stdioServer('healthy', { tools: ['b'] })]
    const host = await suite.boot({ hmr: true, rows: [stdioRow('one', a), stdioRow('two', b)] })
    expect(host.tools().toSorted()).toEqual(['mcp__one__a', 'mcp__two__b'])
    const rows = [
      { ...stdioRow('two', a), id: 'mcp-one' },
      { ...stdioRow('one', b), id: 'mcp-two' },
    ]
    await editTo(host, rows, ['mcp__one__b', 'mcp__two__a'])
  })
})

describe('a broken edit', () => {
  const broken: readonly (readonly [string, (yml: string) => string, string])[] = [
    [
      'a server name that is none',
      (yml) => yml.replace('serverName: one', 'serverName: "not ok"'),
      'serverName',
    ],
    ['an unknown key', (yml) => yml.replace('serverName: one', 'serverName: one\n    comand: x'), 'comand'],
    [
      'a wrong type',
      (yml) => yml.replace('serverName: one', 'serverName: one\n    toolCallTimeoutMs: soon'),
      'toolCallTimeoutMs',
    ],
  ]

  it.each(broken)('is refused and leaves the old server alone: %s', async (_what, edit, words) => {
    const [server, other] = [stdioServer('healthy'), stdioServer('healthy')]
    const host = await suite.boot({ hmr: true, rows: [stdioRow('one', server), stdioRow('other', other)] })
    const before = host.tools()
    const changes = countChanges(host)
    expect(await host.edit(edit)).toBe(REFUSED)
    await host.until(() => host.logs.some(({ text }) => text.includes(words)))
    expect(await say(host, 'mcp__one__echo')).toBe('hello')
    expect(await say(host, 'mcp__other__echo')).toBe('hello')
    expect(host.tools()).toEqual(before)
    expect(changes()).toBe(0)
    expect([await startsOf(server), await startsOf(other)]).toEqual([1, 1])
  })

  // A loader that does not roll back leaves the row failed, and its rejection unhandled.
  it.runIf(isTransactional)('that takes the name of another row is rolled back', async () => {
    const [server, other] = [stdioServer('healthy'), stdioServer('healthy')]
    const host = await suite.boot({ hmr: true, rows: [stdioRow('one', server), stdioRow('other', other)] })
    expect(await host.edit((yml) => yml.replace('serverName: one', 'serverName: other'))).toBe(REFUSED)
    await host.until(() => host.logs.some(({ text }) => text.includes('already in use')))
    await untilTools(host, ['mcp__one__echo', 'mcp__other__echo'])
    for (const name of host.tools()) expect(await say(host, name)).toBe('hello')
    expect(await startsOf(other)).toBe(1)
  })

  it('is mended by the next edit', async () => {
    const server = stdioServer('healthy')
    const host = await suite.boot({ hmr: true, rows: [stdioRow('one', server)] })
    expect(await host.edit((yml) => yml.replace('serverName: one', 'serverName: "not ok"'))).toBe(REFUSED)
    expect(await host.edit((yml) => yml.replace('"not ok"', 'mended'))).toBe('applied')
    await untilTools(host, ['mcp__mended__echo'])
  })
})

describe('another row', () => {
  it('is edited, added and removed without a change here', async () => {
    const [server, other] = [stdioServer('healthy'), stdioServer('silent')]
    const row = stdioRow('one', server)
    const quiet = (toolCallTimeoutMs: number): Row =>
      stdioRow('other', other, { toolCallTimeoutMs, startup: { waitMs: 10 } })
    const host = await suite.boot({ hmr: true, rows: [row, quiet(1000)] })
    const changes = countChanges(host)
    expect(await host.editRows([row, quiet(2000)])).toBe('applied')
    expect(await host.editRows([row])).toBe('applied')
    expect(await host.editRows([row, quiet(3000)])).toBe('applied')
    expect(changes()).toBe(0)
    expect(await startsOf(server)).toBe(1)
    expect(host.tools()).toEqual(['mcp__one__echo'])
  })
})

describe('a row that comes and goes', () => {
  it('is disabled and enabled with the same names', async () => {
    const server = stdioServer('healthy')
    const row = stdioRow('one', server)
    const host = await suite.boot({ hmr: true, rows: [row] })
    await editTo(host, [{ ...row, disabled: true }], [])
    await ended(server)
    await editTo(host, [row], ['mcp__one__echo'])
    expect(await startsOf(server)).toBe(2)
  })

  it('frees its name at once, though its server is slow to end', async () => {
    const [stubborn, next] = [stdioServer('stubborn'), stdioServer('healthy')]
    const host = await suite.boot({ hmr: true, rows: [stdioRow('one', stubborn)] })
    const gone = host.editRows([])
    await host.until(() => host.tools().length === 0)
    await ended(stubborn)
    expect(await gone).toBe('applied')
    await editTo(host, [{ ...stdioRow('one', next), id: 'mended' }], ['mcp__one__echo'])
  })

  it('leaves its name free when it failed to load', async () => {
    const [bad, next] = [stdioServer('exits-at-once'), stdioServer('healthy')]
    const host = await suite.boot({ hmr: true })
    const strict = stdioRow('one', bad, { failOnStartupError: true, reconnect: { enabled: false } })
    expect(await host.editRows([strict])).toBe(REFUSED)
    await host.until(() => host.logs.some(({ text }) => text.includes('tool synchronization failed')))
    await editTo(host, [{ ...stdioRow('one', next), id: 'mended' }], ['mcp__one__echo'])
  })
})

describe('a server that is still connecting', () => {
  it('is edited through the loader at once, whatever the row waits for', async () => {
    const [silent, next] = [stdioServer('silent'), stdioServer('healthy')]
    const host = await suite.boot({ hmr: true })
    const adding = host.editRows([stdioRow('one', silent, PATIENT)])
    await started(silent)
    const [entry] = [...host.ctx.loader.entries()].filter(({ options }) => options.id === 'mcp-one')
    const { config } = stdioRow('one', next)
    const begin = performance.now()
    await entry?.update({ config })
    await host.until(() => host.tools().length === 1)
    expect(performance.now() - begin).toBeLessThan(DISPOSAL_MS)
    expect(await say(host, 'mcp__one__echo')).toBe('hello')
    await adding
    expect(await startsOf(silent)).toBe(1)
  })

  it('is edited in the file once its wait is over, and the edit is not lost', async () => {
    const [silent, next] = [stdioServer('silent'), stdioServer('healthy')]
    const host = await suite.boot({ hmr: true })
    const adding = host.editRows([stdioRow('one', silent, { startup: { waitMs: 1000, timeoutMs: 90_000 } })])
    await started(silent)
    const edited = host.editRows([stdioRow('one', next)])
    expect(await edited).toBe('applied')
    await host.until(() => host.tools().length === 1)
    await adding.catch(() => {})
    expect(await say(host, 'mcp__one__echo')).toBe('hello')
  })

  it('is edited in the file at once when it connects in the background', async () => {
    const [silent, next] = [stdioServer('silent'), stdioServer('healthy')]
    const host = await suite.boot({
      hmr: true,
      rows: [stdioRow('one', silent, { startup: { waitMs: 10, timeoutMs: 90_000 } })],
    })
    const begin = performance.now()
    expect(await host.editRows([stdioRow('one', next)])).toBe('applied')
    await untilTools(host, ['mcp__one__echo'])
    expect(performance.now() - begin).toBeLessThan(DISPOSAL_MS)
    expect(errors(host)).toEqual([])
  })

  it('is disposed with its host', async () => {
    const silent = stdioServer('silent')
    const host = await suite.boot({ rows: [stdioRow('one', silent, { startup: { waitMs: 10 } })] })
    await waitFor(silent.journal, received('initialize'))
    const begin = performance.now()
    await host.dispose()
    expect(performance.now() - begin).toBeLessThan(DISPOSAL_MS)
    await ended(silent)
  })

  it('is disposed with its host before the boot is done', async () => {
    const silent = stdioServer('silent')
    const root = Promise.withResolvers<Context>()
    const boot = bootHost({
      plugins: [{ id: 'spy', apply: (ctx) => root.resolve(ctx.root) }],
      rows: [stdioRow('one', silent, PATIENT)],
    })
    const outcome = boot.then(
      (host) => host.dispose(),
      () => undefined,
    )
    const ctx = await root.promise
    await started(silent)
    const begin = performance.now()
    await ctx.fiber.dispose()
    await outcome
    expect(performance.now() - begin).toBeLessThan(DISPOSAL_MS)
    expect(await startsOf(silent)).toBe(1)
  })
})

describe('a plugin that was reloaded often', () => {
  it('leaves one server and one set of tools', async () => {
    const server = stdioServer('healthy')
    const row = (toolCallTimeoutMs: number): Row => stdioRow('one', server, { toolCallTimeoutMs })
    const host = await suite.boot({ hmr: true, rows: [row(1000)] })
    for (const count of [2, 3, 4]) {
      expect(await host.editRows([row(count * 1000)])).toBe('applied')
      await waitFor(server.journal, ({ starts }) => starts === count)
      await untilTools(host, ['mcp__one__echo'])
    }
    expect(await say(host, 'mcp__one__echo')).toBe('hello')
    expect(await startsOf(server)).toBe(4)
    const journal = await server.journal()
    expect(journal.filter(({ kind }) => kind === 'eof')).toHaveLength(3)
    expect(rawNames(journal)).toEqual(['echo'])
  })
})
