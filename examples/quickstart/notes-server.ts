/**
 * Owns a small MCP server on the official SDK: a `search` that another server has too, a tool name with a dot, and a
 * tool that ends the process. `notes-server.ts NAME` speaks stdio; `notes-server.ts NAME --http` speaks Streamable
 * HTTP and tells its parent process where it listens and which tool names arrive on the wire.
 */
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { toNodeHandler } from '@modelcontextprotocol/node'
import type { NodeIncomingMessageLike } from '@modelcontextprotocol/node'
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

/** What the HTTP server tells the process that started it. */
export type Report = { readonly url: string } | { readonly calledOnTheWire: string }

const NOTES: Readonly<Record<string, readonly string[]>> = {
  notes: ['The spare key is with Ana', 'The sink leaks since Monday', 'Call the plumber about the sink'],
  desk: ['Bicycle key, top drawer', 'Stapler, second drawer'],
}
const [name = 'notes', mode] = process.argv.slice(2)

function createNotes(): McpServer {
  const server = new McpServer({ name, version: '1.0.0' })
  const about = { inputSchema: z.object({ query: z.string().describe('Words to look for') }) }
  const search = ({ query }: { query: string }) => {
    const found = (NOTES[name] ?? []).filter((note) => note.toLowerCase().includes(query.toLowerCase()))
    return { content: found.map((text) => ({ type: 'text' as const, text })) }
  }
  server.registerTool('search', { ...about, title: 'Search', description: `Search the ${name}.` }, search)
  if (name === 'desk') {
    server.registerTool('crash', { description: 'End the server process at once.' }, () => {
      process.stderr.write('desk: out of drawers\n')
      process.exit(3)
    })
  } else {
    server.registerTool(
      'notes.search',
      { ...about, title: 'Search notes', description: 'Find notes by words.' },
      search,
    )
  }
  return server
}

function serveHttp(): void {
  const handle = toNodeHandler(createMcpHandler(createNotes))
  const http = createServer((request, response) => {
    void readBody(request).then((body) => handle(request as NodeIncomingMessageLike, response, body))
  })
  http.listen(0, '127.0.0.1', () => {
    report({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` })
  })
  process.on('disconnect', () => process.exit())
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  if (request.method !== 'POST') return undefined
  const body = (await json(request)) as { method?: string; params?: { name?: string } }
  if (body.method === 'tools/call') report({ calledOnTheWire: body.params?.name ?? '' })
  return body
}

function report(report: Report): void {
  process.send?.(report)
}

if (mode === '--http') serveHttp()
else serveStdio(createNotes)
