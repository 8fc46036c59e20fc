/** Owns the bare SDK clients of both generations: connect, list, keep the list; no registry. */
import type { Connection, Contender, Target } from '../contender.ts'
import { outcomeOf } from './raw.ts'
import type { CallResult, ListedTool } from './wire.ts'

interface Client {
  connect(transport: unknown): Promise<void>
  listTools(params?: {
    readonly cursor?: string
  }): Promise<{ readonly tools: ListedTool[]; readonly nextCursor?: string }>
  callTool(...args: readonly unknown[]): Promise<unknown>
  onToolsChanged(handler: () => void): void
  close(): Promise<void>
}

interface Generation {
  client(): Client
  transport(target: Target, wishes: { readonly messageBytes?: number }): unknown
}

export const sdk1: Contender = sdkContender(async () => {
  const { Client } = await import('sdk1/client/index.js')
  const { StdioClientTransport } = await import('sdk1/client/stdio.js')
  const { StreamableHTTPClientTransport } = await import('sdk1/client/streamableHttp.js')
  const { ToolListChangedNotificationSchema } = await import('sdk1/types.js')
  return {
    client() {
      const client = new Client({ name: 'bench', version: '1.0.0' }, { capabilities: {} })
      return Object.assign(client, {
        onToolsChanged: (handler: () => void) =>
          client.setNotificationHandler(ToolListChangedNotificationSchema, handler),
        callTool: (params: never, options: never) =>
          Client.prototype.callTool.call(client, params, undefined, options),
      }) as never
    },
    transport: (target) =>
      target.kind === 'stdio'
        ? new StdioClientTransport({ command: target.command, args: [...target.args], stderr: 'ignore' })
        : new StreamableHTTPClientTransport(new URL(target.url)),
  }
})

export const sdk2: Contender = sdkContender(async () => {
  const { Client, StreamableHTTPClientTransport } = await import('sdk2')
  const { StdioClientTransport } = await import('sdk2/stdio')
  return {
    client() {
      const client = new Client({ name: 'bench', version: '1.0.0' }, { capabilities: {} })
      return Object.assign(client, {
        onToolsChanged: (handler: () => void) =>
          client.setNotificationHandler('notifications/tools/list_changed', handler),
      }) as never
    },
    transport: (target) =>
      target.kind === 'stdio'
        ? new StdioClientTransport({ command: target.command, args: [...target.args], stderr: 'ignore' })
        : new StreamableHTTPClientTransport(new URL(target.url)),
  }
})

function sdkContender(importing: () => Promise<Generation>): Contender {
  let sdk: Generation
  return {
    async load() {
      sdk = await importing()
    },
    async open(targets, wishes): Promise<Connection> {
      const servers = new Map<string, { readonly client: Client; tools: ListedTool[] }>()
      await Promise.all(
        targets.map(async (target) => {
          const client = sdk.client()
          await client.connect(sdk.transport(target, wishes))
          const server = { client, tools: [] as ListedTool[] }
          const refresh = async (): Promise<void> => {
            server.tools = (await client.listTools()).tools
          }
          client.onToolsChanged(() => void refresh())
          await refresh()
          servers.set(target.name, server)
        }),
      )
      const all = (): ListedTool[] => [...servers.values()].flatMap(({ tools }) => tools)
      return {
        tools: () => all().length,
        async call(server, at, order, signal) {
          const { client } = servers.get(server) as { client: Client }
          const params = { name: `tool_${at}`, arguments: order }
          return outcomeOf(
            (await client.callTool(params, {
              ...(signal === undefined ? {} : { signal }),
              timeout: 600_000,
            })) as CallResult,
          )
        },
        events: () => undefined,
        definitionBytes: () => Buffer.byteLength(JSON.stringify(all())),
        async close() {
          await Promise.all([...servers.values()].map(({ client }) => client.close()))
        },
      }
    },
  }
}
