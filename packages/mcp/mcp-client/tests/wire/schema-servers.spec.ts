import { createRequire } from 'node:module'
import { assertSupportedJsonSchema, jsonSchemaToTs, renderToolsSdk } from '@deepseek-ai/dsh-tools'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { normalizeInput, normalizeOutput, safeText } from '../../src/schema/normalize.ts'

const require = createRequire(import.meta.url)
const SERVERS = [
  ['@modelcontextprotocol/server-everything/dist/index.js', 'stdio'],
  ['@modelcontextprotocol/server-filesystem/dist/index.js', import.meta.dirname],
] as const

type Tool = Awaited<ReturnType<Client['listTools']>>['tools'][number]

describe('the tools of the two reference servers', () => {
  const clients: Client[] = []
  const tools: Tool[] = []

  beforeAll(async () => {
    for (const [file, argument] of SERVERS) {
      const client = new Client({ name: 'test', version: '0' })
      clients.push(client)
      await client.connect(
        new StdioClientTransport({
          command: process.execPath,
          args: [require.resolve(file), argument],
          stderr: 'ignore',
        }),
      )
      tools.push(...(await client.listTools()).tools)
    }
  })

  afterAll(() => Promise.all(clients.map((client) => client.close())))

  it('are 27, each with typed arguments in Code Mode', () => {
    const typed = tools.filter(({ inputSchema }) => {
      const result = normalizeInput(inputSchema)
      if (!result.ok) return false
      assertSupportedJsonSchema(result.schema)
      return !jsonSchemaToTs(result.schema).includes('unknown')
    })
    expect(typed.map((tool) => tool.name)).toEqual(tools.map((tool) => tool.name))
    expect(tools).toHaveLength(27)
    // As they come from the wire, none of them has.
    expect(tools.filter(({ inputSchema }) => jsonSchemaToTs(inputSchema) !== 'unknown')).toEqual([])
  })

  it('have typed results wherever they declare one', () => {
    const declared = tools.filter((tool) => tool.outputSchema !== undefined)
    const typed = declared.filter(({ outputSchema }) => normalizeOutput(outputSchema).schema !== undefined)
    expect(declared).toHaveLength(15)
    expect(typed).toHaveLength(15)
  })

  it('render into one SDK without an unknown', () => {
    const text = renderToolsSdk(
      tools.map((tool) => {
        const result = normalizeInput(tool.inputSchema)
        return {
          name: tool.name,
          description: safeText(tool.description ?? '', 2_048),
          parameters: result.ok ? result.schema : {},
          output: normalizeOutput(tool.outputSchema).schema ?? {},
        }
      }),
    )
    expect(text).not.toContain('unknown;')
    expect(text).toContain('edits: ({')
  })
})
