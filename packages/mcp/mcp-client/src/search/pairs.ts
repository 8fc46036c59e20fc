/**
 * Owns where mcp_search and mcp_call are registered: once for each scope that has a row whose tools are reached by
 * search, through one of these rows. When that row goes, another one of the scope takes over in the same turn.
 */
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import type { ServerHandle } from '../types.ts'

export interface PairsOptions {
  readonly definitions: readonly ToolDefinition[]
  readonly servers: () => readonly ServerHandle[]
  /** Whether the tools of a server are, or by its row will be, reached by search. */
  readonly isNeeded: (server: ServerHandle) => boolean
  /** The pair cannot be registered, such as for a name that is taken. */
  readonly failed: (server: ServerHandle, error: unknown) => void
}

export interface Pairs {
  /** Make the registry agree with the servers that there are. */
  update(): void
  /** Unregister all. */
  end(): void
}

interface Pair {
  readonly owner: ServerHandle
  readonly unregister: () => void
}

/** Stands for rows that all agents see. */
const EVERYBODY = {}

export function createPairs({ definitions, servers, isNeeded, failed }: PairsOptions): Pairs {
  const pairs = new Map<object, Pair>()

  function drop(scope: object): void {
    pairs.get(scope)?.unregister()
    pairs.delete(scope)
  }

  function register(owner: ServerHandle): Pair | undefined {
    const registered: (() => void)[] = []
    const unregister = (): void => {
      for (const one of registered.splice(0)) one()
    }
    try {
      for (const definition of definitions) registered.push(owner.register(definition))
      return { owner, unregister }
    } catch (error) {
      unregister()
      failed(owner, error)
      return undefined
    }
  }

  return {
    update() {
      const live = servers()
      const inNeed = new Map<object, ServerHandle>()
      for (const server of live) {
        const scope = server.scope ?? EVERYBODY
        if (!inNeed.has(scope) && isNeeded(server)) inNeed.set(scope, server)
      }
      for (const [scope, { owner }] of pairs) {
        // An owner that needs it no more keeps it while it lives: nothing is to be seen of the difference.
        if (!inNeed.has(scope) || !live.includes(owner)) drop(scope)
      }
      for (const [scope, server] of inNeed) {
        if (pairs.has(scope)) continue
        const pair = register(server)
        if (pair !== undefined) pairs.set(scope, pair)
      }
    },
    end() {
      for (const scope of pairs.keys()) drop(scope)
    },
  }
}
