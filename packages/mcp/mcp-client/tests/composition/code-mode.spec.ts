/** Owns the tests of MCP tools in Code Mode: what a program gets, and the typed SDK that the model reads. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  PNG,
  httpRow,
  runTurn,
  startHttpServer,
  stdioRow,
  stdioServer,
  temporaryFolder,
  tool,
} from '@dsh-mcp/testkit'
import type { Host } from '@dsh-mcp/testkit'
import { hostSuite, rawNames } from './host-suite.ts'
import { everythingRow, filesystemRow } from './reference-servers.ts'

const suite = hostSuite()

/** What a program returns. @throws Error when it failed */
async function run(host: Host, ...lines: readonly string[]): Promise<unknown> {
  const turn = await runTurn(host, {
    script: [{ call: { name: 'run_code', args: { description: 'try', code: lines.join('\n') } } }],
  })
  const results = turn.events.flatMap((event) =>
    event.type === 'tool/result' ? event.data.message.content : [],
  )
  const [result] = results
  const [block] = result?.type === 'tool-result' ? result.content : []
  if (block?.type !== 'text') throw new Error(turn.transcript)
  return JSON.parse(block.text)
}

describe('a program', () => {
  it('calls the tools of several servers by their names', async () => {
    const server = stdioServer('healthy', { tools: ['search', 'notes.search'] })
    const web = await startHttpServer({ tools: [tool('search')] })
    suite.after(() => web.close())
    const host = await suite.boot({ mode: 'code', rows: [stdioRow('desk', server), httpRow('web', web.url)] })
    const [dotted = ''] = host.tools().filter((name) => name.includes('notes'))
    const found = await run(
      host,
      'const text = ({ content }) => content[0].text',
      'const both = await Promise.all([',
      `  tools.mcp__desk__search({ message: 'on the desk' }),`,
      `  tools.mcp__web__search({ message: 'in the web' }),`,
      '])',
      `const third = await tools['${dotted}']({ message: both.map(text).join(' and ') })`,
      'return [...both, third].map(text)',
    )
    expect(found).toEqual(['on the desk', 'in the web', 'on the desk and in the web'])
    expect(rawNames(await server.journal())).toEqual(['search', 'notes.search'])
  })

  it('gets the whole value: structured content, and the bytes of an image', async () => {
    const host = await suite.boot({ mode: 'code', rows: [stdioRow('kit', stdioServer('content-kinds'))] })
    const seen = await run(
      host,
      'const { structuredContent } = await tools.mcp__kit__structured({})',
      'const { content } = await tools.mcp__kit__mixed({})',
      'return { sum: structuredContent.sum, data: content[1].data, types: content.map(({ type }) => type) }',
    )
    expect(seen).toEqual({
      sum: 3,
      data: PNG,
      types: ['text', 'image', 'text', 'resource', 'audio', 'resource_link', 'text'],
    })
  })

  it('catches what fails, and goes on', async () => {
    const rows = [
      stdioRow('kit', stdioServer('content-kinds')),
      stdioRow('slow', stdioServer('never-answers'), { toolCallTimeoutMs: 100 }),
      stdioRow('strict', stdioServer('refuses-calls')),
    ]
    const host = await suite.boot({ mode: 'code', rows })
    const seen = await run(
      host,
      'const failures = []',
      `for (const name of ['mcp__kit__error', 'mcp__slow__hang', 'mcp__strict__echo']) {`,
      `  try { await tools[name]({ message: 'x' }) }`,
      '  catch (error) { failures.push([error.name, error.toolName, error.message]) }',
      '}',
      `return [...failures, (await tools.mcp__slow__echo({ message: 'still here' })).content[0].text]`,
    )
    expect(seen).toEqual([
      ['ToolCallError', 'mcp__kit__error', 'it did not work'],
      ['ToolCallError', 'mcp__slow__hang', expect.stringContaining('no answer and no progress for 100 ms')],
      ['ToolCallError', 'mcp__strict__echo', expect.stringContaining('Bad argument: city')],
      'still here',
    ])
  })

  it('has the reference servers, and files end up where they should', async () => {
    const folder = temporaryFolder('files')
    const host = await suite.boot({ mode: 'code', rows: [everythingRow(), filesystemRow(folder)] })
    const seen = await run(
      host,
      `const path = ${JSON.stringify(join(folder, 'sum.txt'))}`,
      `const { content: [{ text }] } = await tools['mcp__everything__get-sum']({ a: 20, b: 22 })`,
      'await tools.mcp__filesystem__write_file({ path, content: text })',
      'return [(await tools.mcp__filesystem__read_text_file({ path })).structuredContent.content]',
    )
    expect(seen).toEqual(['The sum of 20 and 22 is 42.'])
  })
})

describe('the SDK in the prompt', () => {
  it('has types for the arguments of all 29 tools, and for every declared result', async () => {
    const host = await suite.boot({
      mode: 'code',
      rows: [everythingRow({ roots: 'off' }), filesystemRow(temporaryFolder())],
    })
    const { requests } = await runTurn(host, { script: [] })
    const sdk = JSON.stringify(requests[0]?.system)
    const [, args = '', results = ''] = sdk.split(/interface Tool(?:Args|Output)Map/)
    const names = host.tools().filter((name) => name.startsWith('mcp__'))
    expect(names).toHaveLength(29)
    for (const name of names) {
      expect(args).toContain(name)
      expect(results).toContain(name)
    }
    expect(args).not.toContain('unknown')
    expect(results.split('interface')[0]).not.toContain('unknown')
    // A few that the host's own reading of the schemas loses.
    expect(args).toContain('location: \\"New York\\" | \\"Chicago\\" | \\"Los Angeles\\"')
    expect(args).toContain('resourceType?: \\"Text\\" | \\"Blob\\"')
    expect(args).toContain('excludePatterns?: string[]')
    expect(results).toMatch(/temperature: number/)
  })
})
