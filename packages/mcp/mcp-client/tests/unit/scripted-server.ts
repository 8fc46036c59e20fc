/** Owns a server of the unit tests that answers by a script, over the SDK's own in-memory transport. */
import { InMemoryTransport } from '@modelcontextprotocol/client'
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../src/types.ts'

type Raw = Record<string, unknown>

export interface ScriptedServer {
  /** The client's end. */
  readonly transport: InMemoryTransport
  /** Everything the client sent. */
  readonly received: Raw[]
  send(message: Raw): Promise<void>
  close(): Promise<void>
}

/** What a request is answered with: a result, an error, or nothing. */
export type Answer = { readonly result: JsonObject } | { readonly error: JsonObject } | undefined
export type Script = (request: JSONRPCRequest, server: ScriptedServer) => Answer

export const LEGACY_HELLO = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'scripted', version: '1' },
}
export const MODERN_HELLO = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: { listChanged: true } },
  ttlMs: 0,
  cacheScope: 'private',
}

/** Answers what opens a connection of the era, and all else by the script. */
export function openScriptedServer(era: 'legacy' | 'modern', script: Script): ScriptedServer {
  const [transport, far] = InMemoryTransport.createLinkedPair()
  const received: Raw[] = []
  const server: ScriptedServer = {
    transport,
    received,
    send: (message) => far.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage),
    close: () => far.close(),
  }
  far.onmessage = (message) => {
    received.push(message as Raw)
    if (!('method' in message) || !('id' in message)) return
    const answer = script(message as JSONRPCRequest, server) ?? hello(era, message.method)
    // Later, as over any wire.
    if (answer !== undefined)
      setImmediate(() => void server.send({ id: message.id, ...answer }).catch(() => {}))
  }
  return server
}

function hello(era: 'legacy' | 'modern', method: string): Answer {
  if (era === 'legacy' && method === 'initialize') return { result: LEGACY_HELLO }
  if (era === 'modern' && method === 'server/discover') return { result: MODERN_HELLO }
  return method === 'server/discover' ? { error: { code: -32601, message: 'Method not found' } } : undefined
}
