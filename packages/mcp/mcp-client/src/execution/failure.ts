/** Owns what a failed call says beyond its error: how the process ended, its last words, whether the call ran. Pure. */
import type { McpError, McpErrorCode } from '../errors.ts'
import { cleanLine } from '../text.ts'
import type { SessionDiagnostics } from '../types.ts'

const MAX_TAIL_CHARS = 1_000

/** Losses after which nobody knows what the server did. */
const UNKNOWN_OUTCOME: ReadonlySet<McpErrorCode> = new Set([
  'MCP_CONNECTION_CLOSED',
  'MCP_HTTP_UNAVAILABLE',
  'MCP_OUTCOME_UNKNOWN',
  'MCP_MESSAGE_TOO_LARGE',
])

/** Network faults before any byte of the call was taken. */
const UNSENT_CAUSES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** The error's text with the facts it does not say itself. */
export function describeFailure(error: McpError, diagnostics: SessionDiagnostics): string {
  if (!UNKNOWN_OUTCOME.has(error.code)) return error.message
  const sentences = [`MCP server "${error.server}": ${error.message}`]
  const { exit, stderrTail } = diagnostics
  if (exit !== undefined && !error.message.includes(exit)) sentences.push(`The server process ended: ${exit}`)
  if (!/may have run|outcome/i.test(error.message)) {
    sentences.push(isUnsent(error) ? 'The call did not reach the server' : 'The call may have run')
  }
  const tail = stderrTail?.trim()
  if (error.code === 'MCP_CONNECTION_CLOSED' && tail && !error.message.includes(tail)) {
    sentences.push(`Its last words: ${cleanLine(tail.slice(-MAX_TAIL_CHARS), MAX_TAIL_CHARS)}`)
  }
  return sentences.join('. ')
}

/** Whether the network refused the call before any byte of it was taken. */
export function isUnsent(error: McpError): boolean {
  return UNSENT_CAUSES.has(error.data['cause']) || error.data['status'] === 429
}
