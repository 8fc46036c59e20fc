/**
 * Owns telling a person once that a server does not work, where the host would show nothing: without a log exporter a
 * line on the terminal, and where there is a command service a card of `/mcp` in the session that is used next. Neither
 * reaches the model. Told again only after the server has worked in between.
 */
import { randomUUID } from 'node:crypto'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { CommandId } from '@deepseek-ai/dsh-commands'
import type {} from '@deepseek-ai/dsh-commands/types'
import { hubOf } from './hub.ts'
import type { Hub } from './hub.ts'
import { headline, troubleText } from './status.ts'
import type { ServerHandle, ServerStatus } from './types.ts'

declare module '@deepseek-ai/dsh-commands/types' {
  interface CommandSourceMap {
    /** Not typed by a person: the MCP client shows what a person would not see otherwise. */
    'mcp-client': { kind: 'mcp-client' }
  }
}

/** The buffer that the host's logger keeps for itself is one, and nobody sees it. */
const OWN_EXPORTERS = 1

/** What is remembered of one server. */
interface Seen {
  /** It has worked since its row was loaded: a lost connection alone is no news, since it is made again. */
  hasWorked: boolean
  isWarned: boolean
  isCarded: boolean
}

type Stated = Pick<ServerHandle, 'serverName' | 'state'>

export interface Troubles {
  /** The state of a server changed. */
  saw(server: Stated): void
  left(serverName: string): void
  /** Servers in trouble that were not told in this way yet; they count as told now. */
  take<T extends Stated>(way: 'isWarned' | 'isCarded', servers: readonly T[]): T[]
}

export function createTroubles(): Troubles {
  const seen = new Map<string, Seen>()
  const of = (serverName: string): Seen => {
    const known = seen.get(serverName) ?? { hasWorked: false, isWarned: false, isCarded: false }
    seen.set(serverName, known)
    return known
  }
  return {
    saw(server) {
      if (server.state() !== 'ready') return
      seen.set(server.serverName, { hasWorked: true, isWarned: false, isCarded: false })
    },
    left: (serverName) => void seen.delete(serverName),
    take: (way, servers) =>
      servers.filter((server) => {
        const known = of(server.serverName)
        const state = server.state()
        const isTrouble =
          state === 'failed' || state === 'needs-auth' || (state === 'backoff' && !known.hasWorked)
        if (!isTrouble || known[way]) return false
        known[way] = true
        return true
      }),
  }
}

/** The companion that tells. */
export const NOTICES = {
  name: 'mcp-client-notices',
  async apply(ctx: Context): Promise<void> {
    const hub = hubOf(ctx.root)
    const troubles = createTroubles()
    let looking: NodeJS.Immediate | undefined
    // Once for all changes of a turn, and a whole status only of a server in trouble: a start changes many states.
    const look = (): void => {
      looking = undefined
      if (ctx.fiber.uid === null || ctx.root.logger.exporters.size > OWN_EXPORTERS) return
      for (const server of troubles.take('isWarned', hub.servers())) warn(server.status())
    }
    const watch = (server: ServerHandle, change: string): void => {
      if (change === 'left') return troubles.left(server.serverName)
      if (change !== 'state') return
      troubles.saw(server)
      // A turn later: a row that must be there at start-up fails its host meanwhile, which then says so itself.
      looking ??= setImmediate(look)
    }
    ctx.effect(() => hub.watch(watch), 'mcp-client.notices')
    // A server may have failed before anybody watched.
    for (const server of hub.servers()) watch(server, 'state')
    ctx.inject(['commands'], (inner) => {
      inner.on(
        'agent/status',
        ({ agent, status }) => {
          if (status === 'running' && isPersons(agent)) card(agent, troubles, hub)
        },
        { global: true },
      )
    })
  },
} as const

/** Node's way for a library to tell whoever runs the program; `--no-warnings` silences it. */
function warn(status: ServerStatus): void {
  const { serverName } = status
  process.emitWarning(`MCP server "${serverName}" does not work. ${troubleText(status, Date.now())}`, {
    type: 'McpServerWarning',
    detail: `Try dsh-mcp doctor, or /mcp ${serverName} where there are commands.`,
  })
}

/** A subagent's session is read by nobody at the time. */
function isPersons({ session: { header } }: Agent): boolean {
  return header.origin !== 'subagent' && (header.delegationDepth ?? 0) === 0
}

/** Puts what `/mcp` would say into the session, as the command that it is. */
function card(agent: Agent, troubles: Troubles, hub: Hub): void {
  const servers = hub.servers()
  const untold = troubles.take('isCarded', servers)
  if (untold.length === 0) return
  const text = cardText(untold.map(statusOf), servers.map(statusOf))
  const commandId = `mcp-notice-${randomUUID()}` as CommandId
  agent.session.append('command/run', { commandId, name: 'mcp', args: '', source: { kind: 'mcp-client' } })
  agent.session.append('command/done', { commandId, kind: 'error', text })
}

const statusOf = (server: ServerHandle): ServerStatus => server.status()

/** The first line stands alone in a closed card. */
export function cardText(untold: readonly ServerStatus[], servers: readonly ServerStatus[]): string {
  const now = Date.now()
  const lines = untold.map((status) => `${status.serverName}: ${troubleText(status, now)}`)
  const names = untold.map(({ serverName }) => serverName).join(', ')
  const verb = untold.length === 1 ? 'does' : 'do'
  return [
    `${names} ${verb} not work. ${headline(servers)}`,
    '',
    ...lines,
    '',
    '/mcp SERVER shows one in full; /mcp SERVER restart tries again.',
  ].join('\n')
}
