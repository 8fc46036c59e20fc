/**
 * Owns the hand-written client: JSON-RPC over a pipe or keep-alive HTTP with JSON.parse and JSON.stringify, and nothing
 * else. The raw limit, and what the floor puts behind the host's registry.
 */
import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import type { Target } from '../contender.ts'

export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: object
  readonly outputSchema?: object
}

export interface Block {
  readonly type: string
  readonly text?: string
  readonly data?: string
  readonly mimeType?: string
}

export interface CallResult {
  readonly content: readonly Block[]
}

export interface Wire {
  request(method: string, params?: object): Promise<unknown>
  notify(method: string): void
  close(): Promise<void>
}

export interface WireEvents {
  onNotification(method: string): void
  onEnd(): void
}

/** Connect and shake hands. */
export async function openWire(target: Target, events: WireEvents): Promise<Wire> {
  const wire =
    target.kind === 'stdio' ? pipe(target.command, target.args, events) : keepAlive(target.url, events)
  await wire.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1.0.0' },
  })
  wire.notify('notifications/initialized')
  return wire
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

interface Pending {
  resolve(result: unknown): void
  reject(error: Error): void
}

function pipe(command: string, args: readonly string[], events: WireEvents): Wire {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  const pending = new Map<number, Pending>()
  let ids = 0
  let parts: Buffer[] = []
  const receive = (line: Buffer): void => {
    const message = JSON.parse(line.toString('utf8')) as Message
    if (message.id === undefined) return events.onNotification(message.method ?? '')
    const waiting = pending.get(message.id)
    pending.delete(message.id)
    if (message.error === undefined) waiting?.resolve(message.result)
    else waiting?.reject(new Error(message.error.message))
  }
  child.stdout.on('data', (chunk: Buffer) => {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const part = chunk.subarray(from, end)
      from = end + 1
      const line = parts.length === 0 ? part : Buffer.concat([...parts, part])
      parts = []
      receive(line)
    }
    if (from < chunk.length) parts.push(chunk.subarray(from))
  })
  child.stdin.on('error', () => undefined)
  const ended = Promise.withResolvers<void>()
  let isOver = false
  child.once('close', () => {
    isOver = true
    for (const { reject } of pending.values()) reject(new Error('the server ended'))
    pending.clear()
    events.onEnd()
    ended.resolve()
  })
  return {
    request(method, params) {
      if (isOver) return Promise.reject(new Error('the server ended'))
      const id = ++ids
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      pending.set(id, { resolve, reject })
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      return promise
    },
    notify: (method) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method })}\n`),
    close() {
      child.stdin.end()
      return ended.promise
    },
  }
}

function keepAlive(url: string, { onNotification }: WireEvents): Wire {
  const agent = new Agent({ keepAlive: true })
  let ids = 0
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const post = (message: object): Promise<string> =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(message)
      const length = { 'content-length': Buffer.byteLength(body) }
      const sent = request(url, { method: 'POST', agent, headers: { ...headers, ...length } }, (reply) => {
        const chunks: Buffer[] = []
        reply.on('data', (chunk: Buffer) => chunks.push(chunk))
        reply.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
        reply.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(body)
    })
  const stream = request(url, { method: 'GET', agent, headers: { accept: 'text/event-stream' } }, (reply) => {
    let rest = ''
    reply.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines)
        if (line.startsWith('data: ')) onNotification((JSON.parse(line.slice(6)) as Message).method ?? '')
    })
    reply.on('error', () => undefined)
  })
  stream.on('error', () => undefined)
  stream.end()
  return {
    async request(method, params) {
      const answer = JSON.parse(await post({ jsonrpc: '2.0', id: ++ids, method, params })) as Message
      if (answer.error !== undefined) throw new Error(answer.error.message)
      return answer.result
    },
    notify: (method) => void post({ jsonrpc: '2.0', method }),
    async close() {
      stream.destroy()
      agent.destroy()
    },
  }
}
