/**
 * Owns what a server asks of its client on one connection: only what was declared is answered, a few at a time, each
 * within a limit, and an end of the connection or of the question ends the asking.
 */
import type { Client, ClientCapabilities, RequestId } from '@modelcontextprotocol/client'
import type { Clock } from '../clock.ts'
import { InboundRefusal, McpError, messageOf } from '../errors.ts'
import type { Caller, Inbound, InboundMethod, InboundRequest, JsonObject } from '../types.ts'
import { aborting, onceAllAborted } from './aborting.ts'
import type { Behind } from './callers.ts'

/** Questions that are open at once. */
export const MAX_OPEN = 16
/** A person may take this long, in milliseconds. */
export const MAX_WAIT_MS = 30 * 60_000

const METHOD_OF: Readonly<Record<keyof ReturnType<Inbound['capabilities']>, InboundMethod>> = {
  elicitation: 'elicitation/create',
  roots: 'roots/list',
  sampling: 'sampling/createMessage',
}

export type Declared = ReturnType<Inbound['capabilities']>

/** What a connection declares: nothing where nobody answers. */
export function declaredBy(inbound: Inbound | undefined): Declared {
  const capabilities = Object.entries(inbound?.capabilities() ?? {})
  return Object.fromEntries(capabilities.filter(([, value]) => value !== undefined))
}

/** The code of JSON-RPC for what went wrong on the side that was asked. */
const INTERNAL_ERROR = -32_603

/** The tasks extension of revision 2026-07-28: what a call starts may be answered later. */
const TASKS = 'io.modelcontextprotocol/tasks'

/** As the SDK wants them. The handshake of the legacy era knows no extensions: carrier.ts leaves them out there. */
export function clientCapabilities(declared: Declared): ClientCapabilities {
  return { ...declared, extensions: { [TASKS]: {} } } as ClientCapabilities
}

export class Inbox {
  private readonly inbound: Inbound
  private readonly methods: ReadonlySet<InboundMethod>
  private readonly clock: Clock
  private readonly server: string
  private readonly ended = new AbortController()
  private open = 0

  constructor(
    inbound: Inbound,
    declared: Declared,
    { clock, server }: { readonly clock: Clock; readonly server: string },
  ) {
    this.inbound = inbound
    this.clock = clock
    this.server = server
    this.methods = new Set(Object.keys(declared).map((key) => METHOD_OF[key as keyof Declared]))
  }

  /**
   * Take the requests that a legacy server sends by itself. To be called before the client connects.
   * @param behindIt who is behind a request of this id
   */
  serve(client: Client, behindIt: (id: RequestId) => Behind): void {
    for (const method of this.methods) {
      client.setRequestHandler(
        method,
        // The SDK's types want the result of this very method; what answers is checked by the SDK itself.
        async ({ params }, { mcpReq }) =>
          (await this.reply(
            { method, params: (params ?? {}) as JsonObject },
            behindIt(mcpReq.id),
            mcpReq.signal,
          )) as never,
      )
    }
  }

  /** One answer to a legacy server, which is not wanted any more when those who are behind the question have gone. */
  private async reply(
    request: InboundRequest,
    { caller, signals }: Behind,
    withdrawn: AbortSignal,
  ): Promise<JsonObject> {
    const gone = new AbortController()
    const letGo = onceAllAborted(signals, () =>
      gone.abort(new Error('the request it belongs to was given up')),
    )
    const signal = AbortSignal.any([withdrawn, gone.signal])
    try {
      return await this.answer(request, { caller, signal }).catch(refuse)
    } finally {
      letGo()
    }
  }

  /**
   * The answer to one question. `signal` is that of whoever asks.
   * @throws McpError MCP_UNSUPPORTED for what was not declared, and above the cap; MCP_CONNECTION_CLOSED at the end of
   * the connection; the signal's reason; an InboundRefusal when the wait is over; what the answerer rejects with
   */
  async answer(
    request: InboundRequest,
    { caller, signal }: { readonly caller: Caller | undefined; readonly signal: AbortSignal },
  ): Promise<JsonObject> {
    if (!this.methods.has(request.method))
      throw this.refused('The server wants further input, which this client did not offer to give')
    if (this.open >= MAX_OPEN) throw this.refused(`The server asks more than ${MAX_OPEN} things at once`)
    this.open += 1
    const limit = new AbortController()
    const cancel = this.clock.after(MAX_WAIT_MS, () =>
      limit.abort(new InboundRefusal(INTERNAL_ERROR, 'nobody answered in time')),
    )
    const until = AbortSignal.any([signal, this.ended.signal, limit.signal])
    try {
      return await aborting(this.inbound.answer(request, { caller, signal: until }), until)
    } finally {
      cancel()
      this.open -= 1
    }
  }

  /** The connection is over. */
  end(): void {
    const [code, server, stage] = ['MCP_CONNECTION_CLOSED', this.server, 'execution'] as const
    this.ended.abort(new McpError('the connection to the server is closed', { code, server, stage }))
  }

  private refused(words: string): McpError {
    return new McpError(words, { code: 'MCP_UNSUPPORTED', server: this.server, stage: 'execution' })
  }
}

/** Nothing but the message of an error is for the server: the SDK would send its data along. */
function refuse(error: unknown): never {
  throw error instanceof InboundRefusal ? error : new InboundRefusal(INTERNAL_ERROR, messageOf(error))
}
