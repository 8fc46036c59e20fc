/**
 * Owns the telling apart of what can go wrong on the way to an HTTP server: never reached, cut on the way, or broken
 * off by us; and the errors for a request that got no answer. Pure.
 */
import { McpError } from '../errors.ts'
import type { Stage } from '../errors.ts'

/** Codes of a connection that did not come about: nothing of the request was processed. */
const UNREACHED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EPROTO',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_TLS',
  'UND_ERR_PRX_CONN',
])
const TLS_CODE = /^(?:ERR_(?:SSL|TLS)|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO)|_CERT/

/** Code of an error of Node or undici, or the empty string. undici's parser has no code for some of its errors. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  const code: unknown = 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : error.name === 'HTTPParserError' ? 'HPE_INVALID' : ''
}

/** Whether the server was never reached, so that the request cannot have been processed. */
export function isUnreached(error: unknown): boolean {
  const code = codeOf(error)
  if (code === 'ETIMEDOUT') return (error as { syscall?: unknown }).syscall !== 'read'
  return UNREACHED.has(code) || TLS_CODE.test(code)
}

/** Whether the connection broke when the server may have had the request. */
export function isCut(error: unknown): boolean {
  return !isUnreached(error) && /^(?:E[A-Z]+|HPE_\w+|UND_ERR_(?!INVALID|NOT_)\w+)$/.test(codeOf(error))
}

export interface Unanswered {
  readonly server: string
  readonly method: string
  /** What happened instead of an answer, for people: `the connection was cut`. */
  readonly how: string
  readonly cause?: unknown
}

/** The error of a request that reached the server, as far as anyone knows, and got no answer. */
export function unanswered({ server, method, how, cause }: Unanswered): McpError {
  const isCall = method === 'tools/call'
  return new McpError(
    isCall ? `${how}; the call was not answered and may have run` : `${how}; ${method} was not answered`,
    {
      code: isCall ? 'MCP_OUTCOME_UNKNOWN' : 'MCP_CONNECTION_CLOSED',
      server,
      stage: stageOf(method),
      cause,
    },
  )
}

/** The step of the way through that a method belongs to. */
export function stageOf(method: string): Stage {
  if (method === 'initialize' || method === 'server/discover') return 'connect'
  return method === 'tools/call' ? 'execution' : 'discovery'
}
