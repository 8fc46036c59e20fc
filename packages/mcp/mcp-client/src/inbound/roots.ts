/**
 * Owns the roots that a server is told: the workspace of the agent that is calling. Some servers let roots replace the
 * folders of their command line, so that with `auto` there is none outside a call.
 */
import { basename, isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Agent, Caller, JsonObject, ServerSpec } from '../types.ts'
import type { InboundHost } from './host.ts'

export interface Roots {
  /** The result of one roots/list. */
  list(caller: Caller | undefined): JsonObject
  /**
   * From now on the roots are those of this agent, outside a call too; only with `workspace`.
   * @returns whether the server was told others, and must hear of it
   */
  moveTo(agent: Agent | undefined): boolean
}

export function createRoots({ roots }: Pick<ServerSpec, 'roots'>, host: Pick<InboundHost, 'cwd'>): Roots {
  /** The folder that holds outside a call; only with `workspace`. */
  let current: string | undefined
  /** The folder that the server was told last. */
  let told: string | undefined

  return {
    list(caller) {
      const folder =
        workspaceOf(caller?.agent) ?? (roots === 'workspace' ? (current ?? host.cwd()) : undefined)
      told = folder
      return { roots: folder === undefined ? [] : [rootOf(folder)] }
    },
    moveTo(agent) {
      if (roots !== 'workspace') return false
      current = workspaceOf(agent) ?? host.cwd()
      return told !== undefined && told !== current
    },
  }
}

/** Where the agent works; undefined where that is not known. */
function workspaceOf(agent: Agent | undefined): string | undefined {
  const folder = agent?.session.header.cwd
  return folder !== undefined && isAbsolute(folder) ? folder : undefined
}

function rootOf(folder: string): JsonObject {
  const name = basename(folder)
  return { uri: pathToFileURL(folder).href, ...(name === '' ? {} : { name }) }
}
