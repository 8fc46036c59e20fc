/**
 * Owns how many requests of a server are being answered at once. Over HTTP each answer is a request of ours, so a
 * server that asks twenty thousand things in one stream would have us open as many connections.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'

const MAX_OPEN = 100

export class OpenAnswers {
  /** By id; where it is known, with the request of ours on whose reply it came. */
  private readonly origins = new Map<string, RequestId | undefined>()
  private readonly onIgnored: (words: string) => void
  private isTold = false

  /** @param onIgnored called once, when the first request is not heard */
  constructor(onIgnored: (words: string) => void) {
    this.onIgnored = onIgnored
  }

  /** Whether this message of the server may be handled; a request that may not gets no answer. */
  admits(message: JSONRPCMessage, origin?: RequestId): boolean {
    if (!('method' in message)) return true
    if (!('id' in message)) {
      // Whoever took a request back gets no answer to it.
      if (message.method === 'notifications/cancelled')
        this.origins.delete(String(message.params?.['requestId']))
      return true
    }
    if (this.origins.size < MAX_OPEN) {
      this.origins.set(String(message.id), origin)
      return true
    }
    if (!this.isTold)
      this.onIgnored(`the server asks more than ${MAX_OPEN} things at once; the rest is not heard`)
    this.isTold = true
    return false
  }

  /** The request of ours on whose reply a request of the server came; undefined where the wire does not tell. */
  originOf(id: RequestId): RequestId | undefined {
    return this.origins.get(String(id))
  }

  /** An answer of ours, until it is sent or lost. */
  async track(answer: JSONRPCMessage, sending: Promise<void>): Promise<void> {
    try {
      await sending
    } finally {
      if ('id' in answer) this.origins.delete(String(answer.id))
    }
  }
}
