/** Owns the client side of the stdio wire tests: a transport with a record of all it said, over a script of a server. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { StdioTransport } from '../../src/connection/stdio.ts'
import type { StdioOptions } from '../../src/connection/stdio.ts'
import { PRELUDE } from './fixtures/prelude.ts'
import { markProcesses } from './process-marks.ts'
import type { ProcessMark } from './process-marks.ts'

export interface Peer {
  readonly transport: StdioTransport
  readonly mark: ProcessMark
  readonly messages: JSONRPCMessage[]
  readonly notes: string[]
  readonly errors: Error[]
  readonly closes: () => number
  /** Settles with the first `onclose`. */
  readonly closed: Promise<void>
  /** Settles with the first message that has this id or method; rejects when the end comes before it. */
  message(key: string | number): Promise<JSONRPCMessage>
}

const opened: Peer[] = []
/** Only a failed test gets there: one whose clock stands still. */
const CLOSE_LIMIT_MS = 10_000

export function openPeer(script: string, over: Partial<StdioOptions> = {}): Peer {
  const mark = markProcesses()
  const notes: string[] = []
  const transport = new StdioTransport({
    serverName: 'scripted',
    command: process.execPath,
    args: ['-e', PRELUDE + script],
    limits: { messageBytes: 1_000_000, stderrBytes: 8_192 },
    redact: (text) => text.replaceAll('s3cret', '[redacted]'),
    onNote: (level, text) => void notes.push(`${level}: ${text}`),
    ...over,
    env: { ...mark.env, ...over.env },
  })
  const messages: JSONRPCMessage[] = []
  const errors: Error[] = []
  const closed = Promise.withResolvers<void>()
  const waiting = new Map<unknown, PromiseWithResolvers<JSONRPCMessage>>()
  let closes = 0
  transport.onmessage = (message) => {
    messages.push(message)
    waiting.get(keyOf(message))?.resolve(message)
  }
  transport.onerror = (error) => void errors.push(error)
  transport.onclose = () => {
    closes += 1
    closed.resolve()
    const error = new Error(`the end came first: ${JSON.stringify(transport.diagnostics())}`)
    for (const { reject } of waiting.values()) reject(error)
  }
  const message = (key: string | number): Promise<JSONRPCMessage> => {
    const wait = Promise.withResolvers<JSONRPCMessage>()
    const found = messages.find((one) => keyOf(one) === key)
    if (found !== undefined) wait.resolve(found)
    waiting.set(key, wait)
    return wait.promise
  }
  const peer = {
    transport,
    mark,
    messages,
    notes,
    errors,
    closes: () => closes,
    closed: closed.promise,
    message,
  }
  opened.push(peer)
  return peer
}

function keyOf(message: JSONRPCMessage): unknown {
  return 'method' in message ? message.method : message.id
}

/** Close every peer of the test and tell which processes outlive it. */
export async function closePeers(): Promise<string[]> {
  const peers = opened.splice(0)
  const limit = Promise.withResolvers<void>()
  const timer = setTimeout(limit.resolve, CLOSE_LIMIT_MS)
  await Promise.race([Promise.allSettled(peers.map(({ transport }) => transport.close())), limit.promise])
  clearTimeout(timer)
  const left = peers.flatMap(({ mark }) => mark.alive().map((pid) => `process ${pid}`))
  for (const { mark } of peers) mark.clear()
  return left
}
