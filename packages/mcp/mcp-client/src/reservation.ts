/** Owns which server names are taken in one app. A name is freed at once when its row begins to end. */
import { McpError } from './errors.ts'

/** Per app root, since several apps may live in one process. */
const taken = new WeakMap<object, Map<string, symbol>>()

/**
 * Take a name for one row of an app.
 * @returns frees the name; may be called more than once
 * @throws McpError MCP_SERVER_NAME_TAKEN
 */
export function reserveName(root: object, serverName: string): () => void {
  const names = taken.get(root) ?? new Map<string, symbol>()
  taken.set(root, names)
  if (names.has(serverName)) {
    throw new McpError(
      `mcp-client: serverName "${serverName}" is already in use by another mcp-client instance — pick a unique ` +
        'serverName in cordis.yml',
      { code: 'MCP_SERVER_NAME_TAKEN', server: serverName, stage: 'config' },
    )
  }
  const owner = Symbol(serverName)
  names.set(serverName, owner)
  return () => {
    if (names.get(serverName) === owner) names.delete(serverName)
  }
}
