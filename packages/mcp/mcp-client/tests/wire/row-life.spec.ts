/**
 * Owns the tests of a row's life from the source, in a real context with the real registry and real processes: what the
 * composition suites show through the loader is shown here once more where coverage can see it.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { InvariantRegistry } from '@deepseek-ai/dsh-invariants'
import { CallId } from '@deepseek-ai/dsh-llm'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { ToolRuntime } from '@deepseek-ai/dsh-tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startHttpServer, startSseServer, stdioServer } from '@dsh-mcp/testkit'
import type { HttpServer, StdioServer } from '@dsh-mcp/testkit'
import { openWireHost } from './wire-host.ts'
import * as mcpClient from '../../src/index.ts'
import * as invariant from '../../src/invariant.ts'

const home = process.env['DSH_HOME']
let ctx: Context
let logs: string[]
let http: HttpServer | undefined

beforeEach(async () => {
  process.env['DSH_HOME'] = mkdtempSync(join(tmpdir(), 'mcp-row-'))
  ctx = new Context()
  logs = []
  ctx.logger.exporter({
    levels: { default: 3 },
    export: ({ type, args }) => void logs.push(`${type}: ${args.map(String).join(' ')}`),
  })
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRuntime)
})

afterEach(async () => {
  await ctx.fiber.dispose()
  await http?.close()
  http = undefined
  rmSync(process.env['DSH_HOME'] as string, { recursive: true, force: true })
  if (home === undefined) delete process.env['DSH_HOME']
  else process.env['DSH_HOME'] = home
})

const rowOf = ({ command, args, env }: StdioServer, more: object = {}): never =>
  ({ serverName: 'one', command, args, env, ...more }) as never

const names = (): string[] => ctx.tools.schemas().map(({ name }) => name)

const echo = (message: string, signal = new AbortController().signal) =>
  ctx.tools.execute({ callId: CallId(message), name: 'mcp__one__echo', arguments: { message }, signal })

const startsOf = async (server: StdioServer): Promise<number> =>
  (await server.journal()).filter(({ kind }) => kind === 'start').length

describe('a row that must be there at start-up', () => {
  it('fails with the reason', async () => {
    const row = { serverName: 'one', command: 'no-such-program-at-all', failOnStartupError: true } as never
    await expect(ctx.plugin(mcpClient, row)).rejects.toThrow(
      /initial connection or tool synchronization failed: cannot start "no-such-program-at-all"/,
    )
    expect(names()).toEqual([])
  })

  it('is waited for no longer than it says', async () => {
    const row = rowOf(stdioServer('silent'), { failOnStartupError: true, startup: { waitMs: 100 } })
    await expect(ctx.plugin(mcpClient, row)).rejects.toThrow(/not connected within 100 ms \(startup.waitMs\)/)
  })
})

describe('a row that is late', () => {
  it('goes on in the background and says so', async () => {
    const row = rowOf(stdioServer('silent'), { startup: { waitMs: 50 }, args: undefined })
    const fiber = ctx.plugin(mcpClient, { ...(row as object), args: stdioServer('silent').args } as never)
    await fiber
    expect(logs).toContainEqual(
      expect.stringMatching(
        /^warn: .*not connected within 50 ms .*; it goes on connecting in the background$/,
      ),
    )
    await fiber.dispose()
  })

  it('says what of its config is odd', async () => {
    const row = rowOf(stdioServer('healthy'), { env: { PLACE: '${SOMEWHERE}' } })
    await ctx.plugin(mcpClient, { ...(row as object), args: stdioServer('healthy').args } as never)
    expect(logs).toContainEqual(expect.stringContaining('is passed on as written in env.PLACE'))
  })

  it('is let go where it is disposed before anything was opened', async () => {
    const fiber = ctx.plugin(mcpClient, rowOf(stdioServer('healthy')))
    // A few turns, so that the row waits for what is remembered of it.
    for (let turn = 0; turn < 8; turn++) await Promise.resolve()
    await fiber.dispose()
    expect(names()).toEqual([])
  })
})

describe('a lazy row', () => {
  it('serves what it knows, starts at the first call, and is the same row then', async () => {
    const server = stdioServer('healthy')
    const lazy = rowOf(server, { startup: { mode: 'lazy' } })
    const first = ctx.plugin(mcpClient, lazy)
    await first
    expect(names()).toEqual(['mcp__one__echo'])
    await first.dispose()
    const starts = await startsOf(server)

    await ctx.plugin(mcpClient, lazy)
    expect(names()).toEqual(['mcp__one__echo'])
    expect(await startsOf(server)).toBe(starts)
    const gone = AbortSignal.abort()
    expect((await echo('given up', gone)).isError).toBe(true)
    expect((await echo('awake')).isError).toBe(false)
    expect((await echo('again')).isError).toBe(false)
    expect(await startsOf(server)).toBe(starts + 1)
  })

  it('does not serve a remembered list that is bad', async () => {
    const lazy = rowOf(stdioServer('healthy'), { startup: { mode: 'lazy' }, failOnStartupError: true })
    const first = ctx.plugin(mcpClient, lazy)
    await first
    await first.dispose()
    const folder = join(process.env['DSH_HOME'] as string, 'mcp-client')
    const path = join(folder, readdirSync(folder)[0] as string)
    const stored = JSON.parse(readFileSync(path, 'utf8')) as { catalog: { items: unknown[] } }
    stored.catalog.items.push(...stored.catalog.items)
    writeFileSync(path, JSON.stringify(stored))
    await expect(ctx.plugin(mcpClient, lazy)).rejects.toThrow(/listed tool "echo" more than once/)
    expect(names()).toEqual([])
  })
})

describe('a row of each kind', () => {
  const up = async (row: object): Promise<boolean> => {
    await ctx.plugin(mcpClient, { serverName: 'one', failOnStartupError: true, ...row } as never)
    return !(await echo('here')).isError
  }

  it('with a pinned old revision and a folder of its own', async () => {
    const { command, args, env } = stdioServer('healthy')
    expect(await up({ command, args, env, cwd: tmpdir(), protocol: '2025-06-18' })).toBe(true)
  })

  it('with a pinned new revision', async () => {
    http = await startHttpServer({ era: 'modern' })
    expect(await up({ url: http.url, protocol: '2026-07-28' })).toBe(true)
  })

  it('that tells more of itself than it must', async () => {
    http = await startHttpServer({
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        instructions: 'Be kind.',
      }),
    })
    expect(await up({ url: http.url })).toBe(true)
  })

  it('that does not say who it is', async () => {
    http = await startHttpServer({
      era: 'modern',
      methods: {
        'server/discover': () => ({
          resultType: 'complete',
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: {} },
          ttlMs: 0,
          cacheScope: 'private',
        }),
      },
    })
    expect(await up({ url: http.url })).toBe(true)
  })

  it('tells of itself in the status', async () => {
    const args = ['node_modules/@modelcontextprotocol/server-everything/dist/index.js', 'stdio']
    const stdio = await openWireHost({ config: { serverName: 'ev', command: process.execPath, args } })
    await expect.poll(() => stdio.bridge.status().stderrTail).toContain('Starting default')
    await stdio.close()
    const server = await startSseServer({})
    const sse = await openWireHost({ config: { serverName: 'old', transport: 'sse', url: server.url } })
    expect(sse.bridge.status()).toMatchObject({ state: 'ready', facts: { era: 'legacy' } })
    await sse.close()
    await server.close()
  })

  it('over SSE, until its stream ends', async () => {
    const server = await startSseServer({})
    expect(await up({ url: server.url, transport: 'sse', reconnect: { enabled: false } })).toBe(true)
    await server.close()
    await expect.poll(() => logs.join('\n')).toContain('connection lost and reconnect is disabled')
  })

  it('where nothing can be remembered', async () => {
    const folder = process.env['DSH_HOME'] as string
    writeFileSync(join(folder, 'mcp-client'), 'in the way')
    const { command, args, env } = stdioServer('healthy')
    expect(await up({ command, args, env })).toBe(true)
    expect(logs).toContainEqual(expect.stringMatching(/^warn: mcp-client\(one\): cannot/))
  })

  it('whose remembered era turns out wrong', async () => {
    const { command, args, env } = stdioServer('healthy')
    const first = ctx.plugin(mcpClient, { serverName: 'one', command, args, env } as never)
    await first
    await first.dispose()
    const folder = join(process.env['DSH_HOME'] as string, 'mcp-client')
    const path = join(folder, readdirSync(folder)[0] as string)
    expect(readFileSync(path, 'utf8')).toContain('"legacy"')
    const gone = {
      serverName: 'one',
      command,
      args: args.map((arg) => arg),
      env: { ...env, NODE_OPTIONS: '--no-such-flag' },
    }
    const second = ctx.plugin(mcpClient, { ...gone, reconnect: { enabled: false } } as never)
    await second
    await second.dispose()
    expect(readFileSync(path, 'utf8')).not.toContain('"legacy"')
  })

  it('is not restarted by an update that changes nothing', async () => {
    const server = stdioServer('healthy')
    const { command, args, env } = server
    const row = { serverName: 'one', command, args, env }
    const fiber = ctx.plugin(mcpClient, row as never)
    await fiber
    await fiber.update({ ...row })
    expect(await startsOf(server)).toBe(1)
    expect((await echo('still')).isError).toBe(false)
  })
})

describe('arguments', () => {
  it('that do not fit are refused, and strings in place of values are mended and noted', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [`n${at}`, { type: 'integer' }]),
    )
    http = await startHttpServer({ tools: [{ name: 'echo', inputSchema: { type: 'object', properties } }] })
    await ctx.plugin(mcpClient, { serverName: 'one', url: http.url } as never)
    const call = (value: unknown) =>
      ctx.tools.execute({
        callId: CallId('n'),
        name: 'mcp__one__echo',
        arguments: Object.fromEntries(Object.keys(properties).map((key) => [key, value])),
        signal: new AbortController().signal,
      })
    expect(await call('x')).toMatchObject({
      isError: true,
      error: { info: { code: 'MCP_REQUEST_REJECTED' } },
    })
    expect((await call('5')).isError).toBe(false)
    expect(logs).toContainEqual(expect.stringMatching(/^debug: .*and \d+ more/))
  })
})

describe('the companion', () => {
  it('takes its place among the invariants', async () => {
    await ctx.plugin(InvariantRegistry)
    const fiber = ctx.plugin(invariant)
    await fiber
    expect(invariant.name).toBe('mcp-client-invariant')
    await fiber.dispose()
  })
})

describe('calls that outlive a connection', () => {
  it('are refused with the state while there is none', async () => {
    http = await startHttpServer({})
    await ctx.plugin(mcpClient, {
      serverName: 'one',
      url: http.url,
      reconnect: { initialDelayMs: 60_000, maxDelayMs: 60_000 },
    } as never)
    expect((await echo('a')).isError).toBe(false)
    await http.close()
    http = undefined
    let last = await echo('b')
    for (let attempt = 0; attempt < 5 && !JSON.stringify(last).includes('next attempt'); attempt++) {
      last = await echo(`c${attempt}`)
    }
    expect(JSON.stringify(last)).toMatch(/MCP_NOT_CONNECTED.*|next attempt is in/)
  })
})
