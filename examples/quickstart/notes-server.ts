/**
 * A small MCP server on the official SDK, over Streamable HTTP (`--http`) or stdio: a dotted tool name, a `search` that
 * other servers have too, and a tool that crashes the process.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const notes = ['Buy oat milk', 'Call the plumber about the sink', 'The sink leaks since Monday']

function createNotes(): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  const query = { inputSchema: z.object({ query: z.string().describe('Words to look for') }) }
  const find = ({ query: words }: { query: string }) => {
    const found = notes.filter((note) => note.toLowerCase().includes(words.toLowerCase()))
    return { content: found.map((text) => ({ type: 'text' as const, text })) }
  }
  server.registerTool('notes.search', { ...query, title: 'Search notes', description: 'Find notes by words.' }, find)
  server.registerTool('search', { ...query, title: 'Search', description: 'Find notes by words.' }, find)
  server.registerTool('crash', { description: 'End the server process at once.' }, () => process.exit(3))
  return server
}

if (process.argv.includes('--http')) {
  const handler = createMcpHandler(createNotes)
  const http = createServer((request, response) => void handler.node(request, response))
  http.listen(0, '127.0.0.1', () => {
    process.send?.({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` })
  })
} else {
  await serveStdio(createNotes)
}
