/** Owns the clients that are plugins of the host: ours, another build of ours, and the harness's own. */
import { pathToFileURL } from 'node:url'
import type { Connection, Contender, Target, Wishes } from '../contender.ts'
import { bootHost } from './host.ts'
import type { Host } from './host.ts'

type Plugin = Parameters<Host['ctx']['plugin']>[0]

/** @param specifier package name, or absolute path of an entry file */
export function pluginContender(specifier: string, isOurs: boolean): Contender {
  let host: Host
  let plugin: Plugin
  return {
    async prepare() {
      host = await bootHost()
    },
    async load() {
      plugin = (await import(specifier.startsWith('/') ? pathToFileURL(specifier).href : specifier)) as Plugin
    },
    async open(targets, wishes): Promise<Connection> {
      await Promise.all(
        targets.map(async (target) => {
          const row = rowOf(target, wishes, isOurs)
          if (!isOurs) return host.ctx.plugin(plugin, row)
          try {
            return await host.ctx.plugin(plugin, { ...row, tools: exposureOf(wishes) })
          } catch (error) {
            // A build from before that setting.
            if ((error as Error).name !== 'ValidationError') throw error
            return host.ctx.plugin(plugin, row)
          }
        }),
      )
      return host.connection()
    },
  }
}

/** All tools in the request, as the others have them: long lists would be searched otherwise. */
function exposureOf({ searchable = false }: Wishes): object {
  return searchable ? { exposure: 'search', alwaysDirect: ['tool_0'] } : { exposure: 'direct' }
}

function rowOf(target: Target, { messageBytes, firstDelayMs }: Wishes, isOurs: boolean): object {
  return {
    serverName: target.name,
    ...(target.kind === 'stdio'
      ? { transport: 'stdio', command: target.command, args: [...target.args] }
      : { transport: 'streamable-http', url: target.url }),
    ...(firstDelayMs === undefined ? {} : { reconnect: { initialDelayMs: firstDelayMs } }),
    ...(messageBytes === undefined || !isOurs ? {} : { limits: { messageBytes } }),
    failOnStartupError: true,
  }
}
