/**
 * Owns the translation of errors that are not ours (SDK, Node, undici) into McpError: the second half of the seam that
 * errors.ts is. Reads codes and statuses; the two texts it must read are marked.
 */
import { inspect } from 'node:util'
import type { ProtocolError, SdkError, SdkHttpError } from '@modelcontextprotocol/client'
import { InboundRefusal, McpError, isMcpError, messageOf, ownCodeOf } from './errors.ts'
import type { McpErrorCode, Stage } from './errors.ts'
import { loadedSdk } from './sdk.ts'
import type { Sdk } from './sdk.ts'
import { cleanText, safeLine } from './text.ts'

/** A foreign text that goes to a log or a status is cut here, in characters. */
const MAX_MESSAGE_CHARS = 2_000
/** An original that prints longer is not kept. */
const MAX_CAUSE_CHARS = 64 * 1024
/** UrlElicitationRequiredError of revision 2025-11-25. */
const URL_ELICITATION_REQUIRED = -32042

export interface ForeignContext {
  readonly server: string
  readonly stage: Stage
  /** Cuts configured secrets out of the foreign text. */
  readonly redact: (text: string) => string
}

interface Reading {
  readonly code: McpErrorCode
  readonly message: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** Translate any thrown value. Our own errors pass through as they are. */
export function fromForeign(error: unknown, context: ForeignContext): McpError {
  if (isMcpError(error)) return error
  const nested = innermostMcpError(error)
  if (nested !== undefined) return nested
  const sdk = loadedSdk()
  const reading =
    (sdk === undefined ? undefined : readSdkError(sdk, error, context.stage)) ??
    readNetworkError(error) ??
    readPlainError(error, context.stage)
  return new McpError(shownText(reading.message, context), {
    code: reading.code,
    server: context.server,
    stage: context.stage,
    cause: printable(error, context.redact),
    ...(reading.data === undefined ? {} : { data: reading.data }),
  })
}

/** The original for whoever debugs; nothing where a host that prints it whole would print a secret, or a flood. */
function printable(error: unknown, redact: (text: string) => string): unknown {
  const text = inspect(error, { depth: 8 })
  if (text.length > MAX_CAUSE_CHARS) return undefined
  // A host prints a cause as it is: terminal sequences, too.
  return cleanText(text) === text && redact(text) === text ? error : undefined
}

/**
 * Clean before redaction: a hidden character inside a secret must not save it. The text of a failed call keeps its
 * lines, since it goes to the model, bounded there; all others go to logs.
 */
function shownText(message: string, { stage, redact }: ForeignContext): string {
  return stage === 'execution' ? redact(cleanText(message)) : safeLine(message, redact, MAX_MESSAGE_CHARS)
}

function readSdkError(sdk: Sdk, error: unknown, stage: Stage): Reading | undefined {
  if (error instanceof sdk.SdkHttpError) return readHttpError(error)
  if (error instanceof sdk.UnauthorizedError) {
    return {
      code: 'MCP_AUTH_REQUIRED',
      message: 'the server requires authorization (HTTP 401)',
      data: { status: 401 },
    }
  }
  if (error instanceof sdk.ProtocolError) return readProtocolError(sdk, error)
  if (error instanceof sdk.SdkError) return readSdkCode(sdk, error, stage)
  return undefined
}

/** What an HTTP status means for the connection. */
export function codeOfStatus(status: number): McpErrorCode {
  if (status === 401) return 'MCP_AUTH_REQUIRED'
  if (status === 403) return 'MCP_FORBIDDEN'
  if (status === 408 || status === 425 || status === 429 || status >= 500) return 'MCP_HTTP_UNAVAILABLE'
  return 'MCP_HTTP_REJECTED'
}

function readHttpError(error: SdkHttpError): Reading {
  const { status, statusText, text } = error.data as { status: number; statusText?: string; text?: unknown }
  const body = typeof text === 'string' && text.trim() !== '' ? `: ${text.trim()}` : ''
  return {
    code: codeOfStatus(status),
    message: `the server answered HTTP ${status}${statusText ? ` ${statusText}` : ''}${body}`,
    data: { status },
  }
}

function readProtocolError(sdk: Sdk, error: ProtocolError): Reading {
  if (error instanceof sdk.UnsupportedProtocolVersionError) {
    const { supported } = error.data as { supported: readonly string[] }
    return {
      code: 'MCP_PROTOCOL_UNSUPPORTED',
      message: `the server speaks none of our protocol revisions; it offers ${supported.join(', ')}`,
      data: { supported },
    }
  }
  const ours = ownCodeOf(error.data)
  if (ours !== undefined)
    return { code: ours, message: error.message, data: { ...(error.data as Record<string, unknown>) } }
  const pages = error.code === URL_ELICITATION_REQUIRED ? { elicitations: elicitationsOf(error.data) } : {}
  return { code: 'MCP_REQUEST_REJECTED', message: error.message, data: { rpcCode: error.code, ...pages } }
}

/** Pages that a person must open before the request is sent again: as the server has them. */
function elicitationsOf(data: unknown): unknown {
  return (data as { readonly elicitations?: unknown } | undefined)?.elicitations
}

function readSdkCode(sdk: Sdk, error: SdkError, stage: Stage): Reading {
  const { SdkErrorCode } = sdk
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return {
        code: stage === 'execution' ? 'MCP_CALL_TIMEOUT' : 'MCP_CONNECT_TIMEOUT',
        message: 'the server did not answer in time',
      }
    case SdkErrorCode.EraNegotiationFailed:
      return readNegotiationFailure(error)
    case SdkErrorCode.InvalidResult:
      return {
        code: 'MCP_RESULT_INVALID',
        message: `the server sent an invalid answer: ${firstLine(error.message)}`,
      }
    case SdkErrorCode.UnsupportedResultType:
    case SdkErrorCode.CapabilityNotSupported:
    case SdkErrorCode.InputRequiredRoundsExceeded:
    case SdkErrorCode.MethodNotSupportedByProtocolVersion:
      return { code: 'MCP_UNSUPPORTED', message: error.message }
    case SdkErrorCode.ClientHttpUnexpectedContent:
      return { code: 'MCP_HTTP_REJECTED', message: `the server did not answer with JSON or an event stream` }
    default:
      return { code: 'MCP_CONNECTION_CLOSED', message: 'the connection to the server is closed' }
  }
}

/** A failed probe hides its cause; a pinned revision that was not offered has none. */
function readNegotiationFailure(error: SdkError): Reading {
  const network = readNetworkError(error)
  if (network !== undefined) return network
  // Text is the only thing that tells these apart in SDK 2.4.0.
  if (/connection closed|transport was closed/i.test(error.message)) {
    return {
      code: 'MCP_CONNECTION_CLOSED',
      message: 'the server ended the connection while the protocol was probed',
    }
  }
  const unusable = /unusable reply/.test(error.message)
  return { code: unusable ? 'MCP_HTTP_REJECTED' : 'MCP_PROTOCOL_UNSUPPORTED', message: error.message }
}

const NETWORK_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at',
  ECONNRESET: 'the connection was reset by',
  ENOTFOUND: 'the host name is not known:',
  EAI_AGAIN: 'the host name cannot be resolved now:',
  EHOSTUNREACH: 'no route to',
  ENETUNREACH: 'the network is unreachable:',
  ETIMEDOUT: 'no connection in time to',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time to',
  UND_ERR_SOCKET: 'the connection was closed by',
  EPIPE: 'the connection was closed by',
}

function readNetworkError(error: unknown): Reading | undefined {
  for (const link of chain(error)) {
    // A plain object here may be a server's own data.
    if (!(link instanceof Error)) continue
    const { code, address, hostname, port } = link as Partial<
      Record<'code' | 'address' | 'hostname' | 'port', unknown>
    >
    if (typeof code !== 'string') continue
    const words = NETWORK_WORDS[code]
    if (words === undefined) {
      if (!/^(ERR_(SSL|TLS)|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO)|_CERT/.test(code)) continue
      return {
        code: 'MCP_HTTP_UNAVAILABLE',
        message: `TLS failed: ${messageOf(link)}`,
        data: { cause: code },
      }
    }
    const host = hostname ?? address
    const where =
      host === undefined ? 'the server' : `${String(host)}${port === undefined ? '' : `:${String(port)}`}`
    return { code: 'MCP_HTTP_UNAVAILABLE', message: `${words} ${where} (${code})`, data: { cause: code } }
  }
  return undefined
}

function readPlainError(error: unknown, stage: Stage): Reading {
  const message = messageOf(error)
  if (error instanceof InboundRefusal)
    return {
      code: 'MCP_DENIED',
      message: `the server asked for more before it answers, and was not given it: ${message}`,
    }
  // Text is the only thing that tells: the SDK throws a plain Error here.
  if (/protocol version is not supported/.test(message)) return { code: 'MCP_PROTOCOL_UNSUPPORTED', message }
  if (message === 'Not connected')
    return { code: 'MCP_CONNECTION_CLOSED', message: 'the connection to the server is closed' }
  return {
    code: stage === 'execution' ? 'MCP_RESULT_INVALID' : 'MCP_CONNECTION_CLOSED',
    message: firstLine(message),
  }
}

function innermostMcpError(error: unknown): McpError | undefined {
  for (const link of chain(error)) if (isMcpError(link)) return link
  return undefined
}

/** The error, its causes and the members of an AggregateError; bounded, safe against circles. */
function chain(error: unknown): unknown[] {
  const links: unknown[] = []
  const queue: unknown[] = [error]
  while (queue.length > 0 && links.length < 16) {
    const link = queue.shift()
    if (typeof link !== 'object' || link === null || links.includes(link)) continue
    links.push(link)
    const { cause, errors, data } = link as { cause?: unknown; errors?: unknown; data?: { cause?: unknown } }
    queue.push(cause, data?.cause)
    if (Array.isArray(errors)) queue.push(...errors.slice(0, 4))
  }
  return links
}

function firstLine(text: string): string {
  const end = text.indexOf('\n')
  return end < 0 ? text : text.slice(0, end)
}
