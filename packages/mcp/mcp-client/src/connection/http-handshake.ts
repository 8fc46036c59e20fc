/** Owns the repeating of a handshake in place of a session that the server lost. The SDK's client knows nothing of it. */
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/client'
import type { Exchange } from './http-exchange.ts'
import { isAnswer } from './http-message.ts'
import type { Answer } from './http-message.ts'

export interface Repetition {
  /** The stored initialize, under an id that the client never uses. */
  readonly request: JSONRPCRequest
  /** The revision that the client goes on with. */
  readonly revision: string | undefined
  readonly signal: AbortSignal
  /** Cuts secrets and hidden characters out of the server's text. */
  readonly clean: (text: string) => string
  createExchange(request: JSONRPCRequest, deliver: (message: JSONRPCMessage) => void): Exchange
  /** Takes what is not the answer to the handshake. */
  deliver(message: JSONRPCMessage): void
  /** Posts a notification as a part of the handshake. */
  tell(message: JSONRPCMessage, signal: AbortSignal): Promise<void>
}

/** Initialize again and confirm it. Rejects when the server refuses, or speaks another revision than before. */
export async function repeatHandshake(repetition: Repetition): Promise<void> {
  const { request, revision, signal, clean } = repetition
  let answer: Answer | undefined
  const exchange = repetition.createExchange(request, (message) => {
    if (isAnswer(message)) answer = message
    else repetition.deliver(message)
  })
  await exchange.run({ requestSignal: signal }, true)
  signal.throwIfAborted()
  const { result, error } = answer as unknown as {
    result?: { protocolVersion?: unknown }
    error?: { message: string }
  }
  if (error !== undefined) throw new Error(`initialize was refused: ${clean(error.message)}`)
  const offered = result?.protocolVersion
  if (offered !== revision) {
    throw new Error(`the protocol revision changed from ${revision} to ${clean(String(offered))}`)
  }
  await repetition.tell({ jsonrpc: '2.0', method: 'notifications/initialized' }, signal)
}
