/**
 * Companion row `@deepseek-ai/dsh-mcp-client/invariant`: watches that what the MCP client says it offers and what the
 * host's registry holds are the same tools. Looks once after a burst of changes, at the servers that changed.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { InvariantFailure } from '@deepseek-ai/dsh-invariants'
import type {} from '@deepseek-ai/dsh-tools'
import { messageOf } from './errors.ts'
import { hubOf } from './hub.ts'
import type { Hub } from './hub.ts'

/** Plugin name in the loader's diagnostics. */
export const name = 'mcp-client-invariant'
/** Services this plugin cannot do without. */
export const inject = ['invariants']

const OWNER = '@deepseek-ai/dsh-mcp-client'
/** Names of one server that are looked up at a time: each costs the host a walk over its whole registry. */
const MAX_LOOKUPS = 8

/**
 * Register the companion.
 * @returns takes it back; the host calls it at the end of the row, since the registration is the service's own
 */
export async function apply(ctx: Context): Promise<() => void> {
  return ctx.invariants.register(OWNER, Object.assign(install.bind(undefined), { inject: ['tools'] }))
}

/**
 * Checks what is there, and later what changed, a turn after it did: publishing takes many steps, and between them
 * nothing needs to hold. What fails then is an error in the log, since thrown from a timer it would end the host.
 */
function install(ctx: Context, fail: InvariantFailure): void {
  const hub = hubOf(ctx.root)
  const { tools } = ctx
  const check = createCheck(hub, (toolName) => tools.get(toolName) !== undefined)
  const changed = new Set<string>()
  const look = (): void => {
    const serverNames = [...changed]
    changed.clear()
    try {
      for (const problem of check(serverNames)) fail(problem)
    } catch (error) {
      ctx.logger.error(messageOf(error))
    }
  }
  ctx.effect(
    () =>
      hub.watch(({ serverName }) => {
        if (changed.size === 0) setImmediate(look)
        changed.add(serverName)
      }),
    'mcp-client.invariant',
  )
  for (const problem of check(hub.servers().map(({ serverName }) => serverName))) fail(problem)
}

/**
 * What does not hold of these servers: the direct tools of a server are registered, and none of a server that is gone.
 * Rows in the scope of an agent are left alone: the registry is asked without one.
 * @param has whether a public name is registered
 */
export function createCheck(
  hub: Pick<Hub, 'get'>,
  has: (toolName: string) => boolean,
): (serverNames: readonly string[]) => string[] {
  /** What was direct at the last look, by server. */
  const known = new Map<string, readonly string[]>()
  return (serverNames) =>
    serverNames.flatMap((serverName) => {
      const server = hub.get(serverName)
      const before = known.get(serverName) ?? []
      known.delete(serverName)
      if (server === undefined) {
        const left = sample(before).find(has)
        return left === undefined ? [] : [`server "${serverName}" is gone and left "${left}" registered`]
      }
      if (server.scope !== undefined) return []
      const direct = server.offered().flatMap((tool) => (tool.exposure === 'direct' ? [tool.publicName] : []))
      known.set(serverName, direct)
      const missing = sample(direct).find((toolName) => !has(toolName))
      return missing === undefined
        ? []
        : [`server "${serverName}" offers "${missing}", which is not registered`]
    })
}

/** The first, the last, and some between them. */
function sample(names: readonly string[]): string[] {
  const step = Math.max(1, (names.length - 1) / (MAX_LOOKUPS - 1))
  const count = Math.min(names.length, MAX_LOOKUPS)
  return Array.from({ length: count }, (_, index) => String(names[Math.round(index * step)]))
}
