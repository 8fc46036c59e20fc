/** Owns the model-facing name of a tool: a pure function of (serverName, rawName). A v1 contract pinned by tests. */
import { createHash } from 'node:crypto'

/** Raw names of the tools of our own, where a server has resources. */
export const OWN_TOOLS = ['list_resources', 'read_resource'] as const

/** What the instructions of a server are pinned as, beside its tools. No tool may have this name. */
export const INSTRUCTIONS = '(instructions)'

const MAX_LENGTH = 64
const HASH_LENGTH = 12

/**
 * `mcp__<serverName>__<rawName>` where that is a legal DeepSeek function name (`[A-Za-z0-9_-]`, at most 64
 * characters); otherwise the cleaned and cut name with 12 hex digits of SHA-256 over the identity, so that
 * distinct identities never share a name.
 */
export function publicToolName(serverName: string, rawName: string): string {
  const joined = `mcp__${serverName}__${rawName}`
  const normalized = joined.replace(/[^A-Za-z0-9_-]/g, '_')
  if (normalized === joined && normalized.length <= MAX_LENGTH) return normalized
  const hash = createHash('sha256').update(`${serverName}\0${rawName}`).digest('hex').slice(0, HASH_LENGTH)
  return `${normalized.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`
}
