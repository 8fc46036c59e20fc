/** Owns the servers that others wrote: how the reference servers and one on the official SDK are started. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { toNodeHandler } from '@modelcontextprotocol/node'
import type { NodeIncomingMessageLike } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { McpServer } from '@modelcontextprotocol/server'
import type { Row } from '@dsh-mcp/testkit'

const { resolve } = createRequire(import.meta.url)
const EVERYTHING = resolve('@modelcontextprotocol/server-everything/dist/index.js')
const FILESYSTEM = resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
const READY_MS = 10_000

/** Row of server-everything over stdio. */
export function everythingRow(config: Row['config'] = {}): Row {
  return {
    config: { serverName: 'everything', command: process.execPath, args: [EVERYTHING, 'stdio'], ...config },
  }
}

/** Row of server-filesystem over stdio, with one allowed folder. */
export function filesystemRow(folder: string): Row {
  return { config: { serverName: 'filesystem', command: process.execPath, args: [FILESYSTEM, folder] } }
}

export interface RunningServer {
  readonly url: string
  close(): Promise<void>
}

/** server-everything as a Streamable HTTP server in a process of its own. */
export async function startEverythingHttp(): Promise<RunningServer> {
  const port = await freePort()
  const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ready = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      if (String(chunk).includes('listening')) ready.resolve()
    })
  }
  child.once('exit', (code) => ready.reject(new Error(`server-everything ended with ${code}`)))
  const limit = new AbortController()
  const late = delay(READY_MS, undefined, { signal: limit.signal }).then(
    () => ready.reject(new Error('server-everything did not listen')),
    () => {},
  )
  await ready.promise
  limit.abort()
  await late
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

export interface SdkServer extends RunningServer {
  /** Bodies of the POST requests, in order. */
  readonly messages: readonly {
    readonly method?: string
    readonly params?: Readonly<Record<string, unknown>>
  }[]
}

/** A server on the official SDK's own handler, in this process. */
export async function startSdkServer(create: () => McpServer): Promise<SdkServer> {
  const messages: { method?: string }[] = []
  const handler = createMcpHandler(create)
  const handle = toNodeHandler(handler)
  const http = createServer((request, response) => {
    void (async () => {
      const body = request.method === 'POST' ? await json(request) : undefined
      if (body !== undefined) messages.push(body as { method?: string })
      await handle(request as NodeIncomingMessageLike, response, body)
    })()
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    messages,
    async close() {
      await handler.close()
      http.close()
      http.closeAllConnections()
      await once(http, 'close')
    },
  }
}
