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
      await Promise.all(targets.map((target) => host.ctx.plugin(plugin, rowOf(target, wishes, isOurs))))
      return host.connection()
    },
  }
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
