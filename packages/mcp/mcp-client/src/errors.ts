/**
 * Owns the one error class, the closed codes, and what each code means for the connection.
 * The only seam that knows error classes of the SDK and of Node.
 */
import { HarnessError } from '@deepseek-ai/dsh-llm'

export type Stage = 'config' | 'connect' | 'auth' | 'discovery' | 'registry' | 'execution'

/** What the supervisor does about a failure of the connection. */
export type Disposition = 'throw' | 'retry' | 'auth' | 'fatal' | 'caller'

const DISPOSITIONS = {
  MCP_CONFIG_INVALID: 'throw',
  MCP_SERVER_NAME_TAKEN: 'throw',
  MCP_SPAWN_FAILED: 'fatal',
  MCP_PROTOCOL_UNSUPPORTED: 'fatal',
  MCP_FORBIDDEN: 'fatal',
  MCP_HTTP_REJECTED: 'fatal',
  MCP_CONNECT_TIMEOUT: 'retry',
  MCP_CONNECTION_CLOSED: 'retry',
  MCP_HTTP_UNAVAILABLE: 'retry',
  MCP_SESSION_LOST: 'retry',
  MCP_CLOSE_TIMEOUT: 'fatal',
  MCP_AUTH_REQUIRED: 'auth',
  MCP_AUTH_FAILED: 'auth',
  MCP_CLIENT_REGISTRATION_REQUIRED: 'auth',
  MCP_LIST_INVALID: 'retry',
  MCP_LIST_FAILED: 'retry',
  MCP_NAME_CONFLICT: 'caller',
  MCP_NOT_CONNECTED: 'caller',
  MCP_CALL_TIMEOUT: 'caller',
  MCP_ABORTED: 'caller',
  MCP_REQUEST_REJECTED: 'caller',
  MCP_TOOL_FAILED: 'caller',
  MCP_RESULT_INVALID: 'caller',
  MCP_OUTCOME_UNKNOWN: 'caller',
  MCP_MESSAGE_TOO_LARGE: 'caller',
  MCP_UNSUPPORTED: 'caller',
  MCP_DENIED: 'caller',
} as const satisfies Record<string, Disposition>

export type McpErrorCode = keyof typeof DISPOSITIONS

/** What a code means for the connection. A new code does not compile until it is classed. */
export function dispositionOf(code: McpErrorCode): Disposition {
  return DISPOSITIONS[code]
}

export interface McpErrorDetails {
  readonly code: McpErrorCode
  readonly server: string
  readonly stage: Stage
  /** Machine-readable facts: status, exit, host. Never a secret. */
  readonly data?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** The one error of this package. The message is for people; route on `code`, never on text. */
export class McpError extends HarnessError {
  declare readonly code: McpErrorCode
  readonly server: string
  readonly stage: Stage
  readonly data: Readonly<Record<string, unknown>>

  constructor(message: string, details: McpErrorDetails) {
    super(message, details.code, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'McpError'
    this.server = details.server
    this.stage = details.stage
    this.data = details.data ?? {}
  }

  get disposition(): Disposition {
    return dispositionOf(this.code)
  }
}

/**
 * What a server gets in place of an answer to a request of its own. Code and message go to it as they are: nothing secret,
 * nothing of the host.
 */
export class InboundRefusal extends Error {
  /** Code of the JSON-RPC error. */
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'InboundRefusal'
    this.code = code
  }
}

/** Narrow a caught value to this package's error. */
export function isMcpError(error: unknown): error is McpError {
  return error instanceof McpError
}

/**
 * Where the data of a JSON-RPC error that we made ourselves names its code. A symbol: the SDK hands data on as it is, and
 * no peer can write one into JSON, so a server cannot choose what we make of its errors.
 */
export const OWN_CODE: unique symbol = Symbol('mcp-client.code')

/** The code that one of our own transports put into the data of an error; `undefined` for data of a peer. */
export function ownCodeOf(data: unknown): McpErrorCode | undefined {
  return typeof data === 'object' && data !== null
    ? (data as { readonly [OWN_CODE]?: McpErrorCode })[OWN_CODE]
    : undefined
}

/** Message of any thrown value, one line, without the class name. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
