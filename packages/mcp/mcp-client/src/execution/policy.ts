/**
 * Owns what a tool's annotations change where the row trusts them: calls side by side, the icon of a card, a second
 * send after a lost connection. Pure. They are a claim of the server: without trust they change nothing.
 */
import type { ToolCallKind } from '@deepseek-ai/dsh-tools'
import type { McpError, McpErrorCode } from '../errors.ts'
import type { CatalogEntry, ToolAnnotations } from '../types.ts'
import { isUnsent } from './failure.ts'

/** How the calls of one tool are treated. */
export interface CallPolicy {
  readonly kind: ToolCallKind
  /** Calls may run beside the agent's other calls. */
  readonly isConcurrencySafe: boolean
  /** A call that may have run may be sent once more. */
  readonly mayRepeat: boolean
}

const UNTRUSTED: CallPolicy = Object.freeze({ kind: 'other', isConcurrencySafe: false, mayRepeat: false })

/** Kinds that no hint tells apart are read from words of the name: they choose an icon and nothing else. */
const SEARCH_NAME = /(?:^|[^a-z])(?:search|find|query|grep|lookup)(?:[^a-z]|$)/
const DELETE_NAME = /(?:^|[^a-z])(?:delete|remove|drop|purge|destroy|erase)(?:[^a-z]|$)/

/** Losses of the connection after which the same call may do on a new one. */
const LOST: ReadonlySet<McpErrorCode> = new Set([
  'MCP_CONNECTION_CLOSED',
  'MCP_HTTP_UNAVAILABLE',
  'MCP_OUTCOME_UNKNOWN',
])

/** The policy of one tool. Only what a hint says outright counts, never its default. */
export function policyOf(
  { rawName, annotations }: Pick<CatalogEntry, 'rawName' | 'annotations'>,
  isTrusted: boolean,
): CallPolicy {
  if (!isTrusted) return UNTRUSTED
  const isReadOnly = annotations.readOnlyHint === true
  return {
    kind: kindOf(rawName, annotations),
    isConcurrencySafe: isReadOnly,
    mayRepeat: isReadOnly || annotations.idempotentHint === true,
  }
}

/**
 * Whether this failure of a call is worth a second send: the connection was lost, and nobody knows what the call did.
 * A lost task is not begun a second time.
 */
export function isRepeatable(policy: CallPolicy, failure: McpError): boolean {
  const { code, data } = failure
  return policy.mayRepeat && LOST.has(code) && data['isTask'] !== true && !isUnsent(failure)
}

function kindOf(rawName: string, hints: ToolAnnotations): ToolCallKind {
  const words = rawName.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
  if (hints.readOnlyHint === true) {
    if (SEARCH_NAME.test(words)) return 'search'
    return hints.openWorldHint === true ? 'fetch' : 'read'
  }
  if (hints.destructiveHint === true && DELETE_NAME.test(words)) return 'delete'
  if (hints.destructiveHint !== undefined) return 'edit'
  // It does something, and nothing says what.
  return hints.readOnlyHint === false ? 'execute' : 'other'
}
