/** Owns the other frameworks' clients, each used as its own documentation does. */
import type { Connection, Contender, Outcome, Target } from '../contender.ts'
import { outcomeOf } from './raw.ts'
import type { CallResult } from './wire.ts'

type Run = (args: object, signal: AbortSignal | undefined) => Promise<Outcome>

/** What all of them come down to: tools by server and name. */
function connectionOf(
  tools: ReadonlyMap<string, Run>,
  definitions: () => unknown,
  close: () => Promise<void>,
): Connection {
  return {
    tools: () => tools.size,
    call(server, at, order, signal) {
      const run = tools.get(`${server}/tool_${at}`)
      if (run === undefined) return Promise.reject(new Error(`no tool ${at}`))
      return run(order, signal)
    },
    events: () => undefined,
    definitionBytes: () => Buffer.byteLength(JSON.stringify(definitions())),
    close,
  }
}

let aiSdk: { readonly createMCPClient: typeof import('@ai-sdk/mcp').createMCPClient }
let AiStdio: typeof import('@ai-sdk/mcp/mcp-stdio').Experimental_StdioMCPTransport

export const aiSdkMcp: Contender = {
  async load() {
    aiSdk = await import('@ai-sdk/mcp')
    AiStdio = (await import('@ai-sdk/mcp/mcp-stdio')).Experimental_StdioMCPTransport
  },
  async open(targets) {
    const tools = new Map<string, Run>()
    const definitions: object[] = []
    const clients = await Promise.all(
      targets.map(async (target) => {
        const client = await aiSdk.createMCPClient({
          transport:
            target.kind === 'stdio'
              ? new AiStdio({ command: target.command, args: [...target.args], stderr: 'ignore' })
              : { type: 'http', url: target.url },
        })
        for (const [name, tool] of Object.entries(await client.tools())) {
          const execute = tool.execute as unknown as (args: object, options: object) => Promise<CallResult>
          definitions.push({
            name,
            description: tool.description,
            parameters: (tool.inputSchema as { jsonSchema?: unknown }).jsonSchema,
          })
          tools.set(`${target.name}/${name}`, async (args, abortSignal) =>
            outcomeOf(await execute(args, { toolCallId: 'call', messages: [], abortSignal })),
          )
        }
        return client
      }),
    )
    return connectionOf(
      tools,
      () => definitions,
      async () => {
        await Promise.all(clients.map((client) => client.close()))
      },
    )
  },
}

let MCPClient: typeof import('mcp-use/client').MCPClient

export const mcpUse: Contender = {
  async load() {
    process.env['MCP_USE_ANONYMIZED_TELEMETRY'] = 'false'
    MCPClient = (await import('mcp-use/client')).MCPClient
  },
  async open(targets) {
    const client = new MCPClient({
      mcpServers: Object.fromEntries(targets.map((target) => [target.name, recordOf(target)])),
    })
    const sessions = await client.createAllSessions()
    const tools = new Map<string, Run>()
    const definitions: object[] = []
    for (const [server, session] of Object.entries(sessions)) {
      for (const tool of session.tools) {
        definitions.push(tool)
        tools.set(`${server}/${tool.name}`, async (args) =>
          outcomeOf((await session.callTool(tool.name, args as Record<string, unknown>)) as CallResult),
        )
      }
    }
    return connectionOf(
      tools,
      () => definitions,
      () => client.closeAllSessions(),
    )
  },
}

let MultiServerMCPClient: typeof import('@langchain/mcp-adapters').MultiServerMCPClient

export const langchain: Contender = {
  async load() {
    MultiServerMCPClient = (await import('@langchain/mcp-adapters')).MultiServerMCPClient
  },
  async open(targets) {
    const client = new MultiServerMCPClient({
      mcpServers: Object.fromEntries(targets.map((target) => [target.name, recordOf(target)])) as never,
    })
    const byServer = await client.initializeConnections()
    const tools = new Map<string, Run>()
    const definitions: object[] = []
    for (const [server, listed] of Object.entries(byServer)) {
      for (const tool of listed) {
        definitions.push({ name: tool.name, description: tool.description, parameters: tool.schema })
        tools.set(`${server}/${tool.name}`, async (args, signal) => {
          const content: unknown = await tool.invoke(args as never, signal === undefined ? {} : { signal })
          return typeof content === 'string'
            ? { text: content, imageBytes: 0 }
            : { text: JSON.stringify(content), imageBytes: 0 }
        })
      }
    }
    return connectionOf(
      tools,
      () => definitions,
      () => client.close(),
    )
  },
}

function recordOf(target: Target): { command: string; args: string[] } | { url: string } {
  return target.kind === 'stdio' ? { command: target.command, args: [...target.args] } : { url: target.url }
}
