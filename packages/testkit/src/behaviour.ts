/**
 * Owns the behaviour model: what a scripted MCP server says, the same for stdio and HTTP. No SDK, so that a behaviour
 * may say anything.
 */

export type RequestId = string | number
export type Params = Readonly<Record<string, unknown>>
export type Era = 'legacy' | 'modern'

/** One JSON-RPC message as it stands on the wire; nothing is promised about its members. */
export interface Message {
  readonly jsonrpc?: unknown
  readonly id?: RequestId | null
  readonly method?: string
  readonly params?: Params
  readonly result?: unknown
  readonly error?: unknown
}

export interface WireError {
  readonly code: unknown
  readonly message?: unknown
  readonly data?: unknown
}

/** A tool as listed; a fault may list anything. */
export type Tool = Readonly<Record<string, unknown>>

/** The client as a behaviour sees it. Over HTTP it is bound to the response of the request at hand. */
export interface Peer {
  readonly transport: 'stdio' | 'http' | 'sse'
  /** Answer a request, nothing added to `result`. */
  reply(id: RequestId | null, result: unknown): void
  fail(id: RequestId | null, error: WireError): void
  notify(method: string, params?: Params): void
  /** Ask the client; resolves with its whole answer, result or error. */
  request(method: string, params?: Params): Promise<Message>
  /** Any JSON value as one message. */
  send(message: unknown): void
  /** Bytes as they are: onto stdout, or into the body of the response (as an event stream). */
  raw(data: string | Uint8Array): Promise<void>
  /** Say list_changed the way of the era: unsolicited, or on each subscription that asked for it. */
  listChanged(kind?: ListKind): void
  /** End every subscription gracefully (modern). */
  endSubscriptions(): void
  /** stdio: end the process. HTTP: reset every connection. */
  exit(code?: number): void
  /** stdio: text to standard error. HTTP: nothing. */
  stderr(text: string): void
  /** Write a note into the journal, for the test to read. */
  note(name: string, data?: unknown): void
}

export type ListKind = 'tools' | 'prompts' | 'resources'

/** The request that a handler answers. */
export interface Request {
  readonly id: RequestId
  readonly era: Era
  readonly message: Message
}

/** Returns the result, NO_ANSWER to stay silent (or to have answered by hand); throws RpcError to refuse. */
export type Handler = (params: Params, peer: Peer, request: Request) => unknown

export interface Behaviour {
  /** Which revisions it speaks. Default: legacy. */
  readonly era?: Era | 'dual'
  readonly serverInfo?: Params
  /** Default: `{ tools: { listChanged: true } }`. */
  readonly capabilities?: Params
  readonly instructions?: string
  /** Default: one tool, `echo`. */
  readonly tools?: readonly Tool[] | (() => readonly Tool[])
  /** Tools in one page. Default: all. */
  readonly pageSize?: number
  readonly initialize?: Handler
  readonly discover?: Handler
  readonly listTools?: Handler
  readonly callTool?: Handler
  /** Results of single tools by raw name; called with the arguments. What is missing here echoes. */
  readonly calls?: Readonly<Record<string, Handler>>
  /** Any other method, and any method above by its wire name, which then wins. */
  readonly methods?: Readonly<Record<string, Handler>>
  /** Sees every message first; `true` means: dealt with. */
  readonly onMessage?: (message: Message, peer: Peer) => boolean | undefined | Promise<boolean | undefined>
  /** Runs before the first message is read (stdio), or when a session opens (HTTP). */
  readonly onStart?: (peer: Peer) => void
  /** stdio: go on living after the end of stdin. */
  readonly ignoreEof?: boolean
  /** stdio: go on living after SIGTERM and SIGINT. */
  readonly ignoreSignals?: boolean
}

export type Options = Readonly<Record<string, unknown>>

/** This run of the server. */
export interface Run {
  /** How often this server was started, this start included. */
  readonly starts: number
}

export type BehaviourFactory = (options: Options, run: Run) => Behaviour

/** What a handler returns to send nothing. */
export const NO_ANSWER: unique symbol = Symbol('no answer')

/** Thrown by a handler: the JSON-RPC error to answer with. */
export class RpcError extends Error {
  readonly wire: WireError

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.wire = data === undefined ? { code, message } : { code, message, data }
  }
}

/** A text result of tools/call. */
export function text(value: string, more: Params = {}): Params {
  return { content: [{ type: 'text', text: value }], ...more }
}

/** A tool of one name, with an input schema that takes any object. */
export function tool(name: string, more: Params = {}): Tool {
  return { name, description: `The tool ${name}`, inputSchema: { type: 'object' }, ...more }
}

/** A number option with its default. */
export function numberOption(options: Options, key: string, fallback: number): number {
  const value = options[key]
  return typeof value === 'number' ? value : fallback
}
