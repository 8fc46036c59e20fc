/** Owns which failures leave a task as it was: the connection is gone, the task may not be. Pure. */
import { isMcpError } from '../errors.ts'
import type { McpError, McpErrorCode } from '../errors.ts'
import type { JsonObject } from '../types.ts'

/** After these the same task is asked for again. */
const LOST: ReadonlySet<string> = new Set<McpErrorCode>([
  'MCP_CONNECTION_CLOSED',
  'MCP_HTTP_UNAVAILABLE',
  'MCP_OUTCOME_UNKNOWN',
  'MCP_SESSION_LOST',
])

export function isLoss(error: unknown): error is McpError {
  return isMcpError(error) && LOST.has(error.code)
}

/** The answer of a request that may be made again; undefined where the connection was lost before it came. */
export async function unlessLost(work: Promise<JsonObject>): Promise<JsonObject | undefined> {
  try {
    return await work
  } catch (error) {
    if (isLoss(error)) return undefined
    throw error
  }
}
