/** Owns the scriptable HTTP servers, the clocks and the connecting of the HTTP transport's tests. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo, Socket } from 'node:net'
import type { Client, ClientOptions, ConnectOptions } from '@modelcontextprotocol/client'
import { expect } from 'vitest'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import type { Clock } from '../../src/clock.ts'
import { HttpTransport } from '../../src/connection/http.ts'
import type { HttpOptions } from '../../src/connection/http-options.ts'
import { loadSdk } from '../../src/sdk.ts'

export interface Rpc {
  readonly jsonrpc: '2.0'
  readonly id?: string | number
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** One request as the server got it. */
export interface Seen {
  /** JSON-RPC method of a POST, else the verb. */
  readonly what: string
  readonly verb: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly rpc: Rpc
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

export type Handler = (seen: Seen) => void

export interface TestServer {
  readonly url: string
  readonly port: number
  readonly seen: readonly Seen[]
  /** How often something was asked. */
  count(what: string): number
  /** The `nth` (from 1) request of a kind, also one that is still to come. */
  asked(what: string, nth?: number): Promise<Seen>
  readonly sockets: ReadonlySet<Socket>
  /** Resolves when the other side has closed every connection. */
  quiet(): Promise<void>
  close(): Promise<void>
}

/** A server that hands every request to one handler. */
export async function openServer(handler: Handler, port = 0): Promise<TestServer> {
  const seen: Seen[] = []
  const sockets = new Set<Socket>()
  const waiters = new Set<() => void>()
  const wake = (): void => waiters.forEach((waiter) => waiter())
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('error', () => undefined)
    res.on('error', () => undefined)
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const rpc = (text === '' ? { method: req.method } : JSON.parse(text)) as Rpc
      const what = rpc.method ?? 'answer'
      const one = { what, verb: req.method ?? '', path: req.url ?? '', headers: req.headers, rpc, req, res }
      seen.push(one)
      wake()
      handler(one)
    })
  })
  server.keepAliveTimeout = 60_000
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => {
      sockets.delete(socket)
      wake()
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const until = (done: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!done()) return
        waiters.delete(check)
        resolve()
      }
      waiters.add(check)
      check()
    })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${bound}/mcp`,
    port: bound,
    seen,
    sockets,
    count: (what) => seen.filter((one) => one.what === what).length,
    async asked(what, nth = 1) {
      await until(() => seen.filter((one) => one.what === what).length >= nth)
      return seen.filter((one) => one.what === what)[nth - 1] as Seen
    },
    quiet: () => until(() => sockets.size === 0),
    async close() {
      server.close()
      server.closeAllConnections()
      await until(() => sockets.size === 0)
    },
  }
}

export function json(seen: Seen, body: unknown, headers: Record<string, string> = {}, status = 200): void {
  seen.res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

export function result(seen: Seen, value: unknown, headers: Record<string, string> = {}): void {
  json(seen, { jsonrpc: '2.0', id: seen.rpc.id, result: value }, headers)
}

/** Start an event stream; the returned function writes to it. */
export function stream(seen: Seen, headers: Record<string, string> = {}): (text: string) => void {
  seen.res.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
  seen.res.flushHeaders()
  return (text) => void seen.res.write(text)
}

export function event(value: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(value)}\n\n`
}

export function text(value: string): { content: { type: 'text'; text: string }[] } {
  return { content: [{ type: 'text', text: value }] }
}

/** The answer to a call, as an event. */
export function answer(seen: Seen, value: string, id?: string): string {
  return event({ jsonrpc: '2.0', id: seen.rpc.id, result: text(value) }, id)
}

export const SESSION = { 'mcp-session-id': 'session-1' }

/** What a plain legacy server does, by what is asked. */
const LEGACY: Readonly<Record<string, Handler>> = {
  'server/discover': (seen) => seen.res.writeHead(400).end(),
  initialize: (seen) =>
    result(
      seen,
      {
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'test', version: '1' },
      },
      SESSION,
    ),
  'tools/list': (seen) => result(seen, { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
  'tools/call': (seen) => result(seen, text('ok')),
  GET: (seen) => seen.res.writeHead(405).end(),
  DELETE: (seen) => seen.res.writeHead(200).end(),
}

/** A legacy server with some of its behaviour replaced. */
export function legacy(overrides: Readonly<Record<string, Handler>> = {}, port = 0): Promise<TestServer> {
  const table = { ...LEGACY, ...overrides }
  return openServer((seen) => {
    const handler = table[seen.what]
    if (handler !== undefined) handler(seen)
    else seen.res.writeHead(202).end()
  }, port)
}

/** The system's clock, with a count of what is armed. */
export function countingClock(): Clock & { armed(): number } {
  let armed = 0
  return {
    now: () => SYSTEM_CLOCK.now(),
    armed: () => armed,
    after(ms, callback) {
      let live = true
      armed += 1
      const over = (): void => {
        if (live) armed -= 1
        live = false
      }
      const cancel = SYSTEM_CLOCK.after(ms, () => {
        over()
        callback()
      })
      return () => {
        over()
        cancel()
      }
    },
  }
}

interface Timer {
  readonly at: number
  readonly ms: number
  readonly callback: () => void
}

/** A clock that stands still until a test lets a timer fire. */
export class ManualClock implements Clock {
  private time = 0
  private readonly timers = new Set<Timer>()
  private readonly waiters = new Set<() => void>()

  now(): number {
    return this.time
  }

  armed(): number {
    return this.timers.size
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.time + ms, ms, callback }
    this.timers.add(timer)
    this.waiters.forEach((waiter) => waiter())
    return () => this.timers.delete(timer)
  }

  advance(ms: number): void {
    this.time += ms
  }

  /** Wait until a timer of a delay between the two is armed, let that time pass, and fire it. Resolves with the delay. */
  async fire(minMs: number, maxMs = minMs): Promise<number> {
    const timer = await this.armedFor(minMs, maxMs)
    this.timers.delete(timer)
    this.time = Math.max(this.time, timer.at)
    timer.callback()
    return timer.ms
  }

  /** The first timer of a delay between the two, also one that is still to come. */
  async armedFor(minMs: number, maxMs = minMs): Promise<Timer> {
    const find = (): Timer | undefined => [...this.timers].find(({ ms }) => ms >= minMs && ms <= maxMs)
    await new Promise<void>((resolve) => {
      const check = (): void => {
        if (find() === undefined) return
        this.waiters.delete(check)
        resolve()
      }
      this.waiters.add(check)
      check()
    })
    return find() as Timer
  }
}

/** Let events that are on their way arrive: those of sockets that are gone already. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
}

export interface Connection {
  readonly client: Client
  readonly transport: HttpTransport
  readonly clock: Clock & { armed(): number }
  readonly notes: string[]
  readonly errors: Error[]
  /** Calls of onResync. */
  readonly resyncs: () => number
  /** Calls of onclose. */
  readonly closes: () => number
  call(name?: string, signal?: AbortSignal): Promise<string>
  /** Close, and hold the transport to leave nothing behind. */
  end(server?: TestServer): Promise<void>
}

export interface ConnectionOptions {
  readonly http?: Partial<HttpOptions>
  readonly clock?: Clock & { armed(): number }
  readonly client?: ClientOptions
  readonly connect?: ConnectOptions
}

/** A real SDK client over our transport, not connected yet. */
export async function createConnection(url: string, options: ConnectionOptions = {}): Promise<Connection> {
  const sdk = await loadSdk()
  const clock = options.clock ?? countingClock()
  const notes: string[] = []
  const errors: Error[] = []
  let resyncs = 0
  let closes = 0
  const transport = new HttpTransport({
    sdk,
    serverName: 'test',
    url,
    headers: {},
    limits: { messageBytes: 1024 * 1024 },
    redact: (value) => value.replaceAll('s3cret', '[redacted]'),
    onNote: (level, line) => notes.push(`${level}: ${line}`),
    onResync: () => (resyncs += 1),
    clock,
    random: () => 0.5,
    env: {},
    ...options.http,
  })
  transport.onclose = () => (closes += 1)
  const client = new sdk.Client({ name: 'test', version: '1' }, { capabilities: {}, ...options.client })
  client.onerror = (error) => errors.push(error)
  return {
    client,
    transport,
    clock,
    notes,
    errors,
    resyncs: () => resyncs,
    closes: () => closes,
    async call(name = 'echo', signal) {
      const { content } = await client.callTool(
        { name, arguments: {} },
        signal === undefined ? {} : { signal },
      )
      return (content as { text: string }[]).map((block) => block.text).join()
    },
    async end(server) {
      await client.close()
      await transport.close()
      expect(closes).toBe(1)
      expect(transport.diagnostics()).toEqual({ exchanges: 0, listening: false })
      expect(clock.armed()).toBe(0)
      await server?.quiet()
    },
  }
}

/** The same, connected. */
export async function connect(url: string, options: ConnectionOptions = {}): Promise<Connection> {
  const connection = await createConnection(url, options)
  await connection.client.connect(connection.transport, options.connect)
  return connection
}

/** The reference server in a process of its own. */
export async function openEverything(
  mode: 'streamableHttp' | 'sse',
): Promise<{ origin: string; close(): Promise<void> }> {
  const path = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')
  const free = await openServer(() => undefined)
  await free.close()
  const child = spawn(process.execPath, [path, mode], {
    env: { PATH: process.env['PATH'], PORT: String(free.port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  await new Promise<void>((resolve) => {
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += String(chunk)
      if (/running|listening/i.test(stderr)) resolve()
    })
  })
  return {
    origin: `http://127.0.0.1:${free.port}`,
    async close() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
