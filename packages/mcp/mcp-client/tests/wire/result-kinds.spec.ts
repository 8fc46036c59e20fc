/** Owns the table of results: every kind of content in both eras and over both transports, through the real registry. */
import { fileURLToPath } from 'node:url'
import { httpRow, startHttpServer, stdioRow, stdioServer } from '@dsh-mcp/testkit'
import type { HttpServerOptions, Row } from '@dsh-mcp/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '../composition/registry-host.ts'
import { KINDS, behaviour } from './fixtures/result-kinds.ts'
import { openWireHost } from './wire-host.ts'
import type { WireHost } from './wire-host.ts'

const FIXTURE = fileURLToPath(new URL('fixtures/result-kinds.ts', import.meta.url))

async function serve(era: 'legacy' | 'modern', transport: 'stdio' | HttpServerOptions['reply']) {
  if (transport === 'stdio') return { row: stdioRow('kit', stdioServer(FIXTURE, { era })), end: () => {} }
  const server = await startHttpServer(behaviour({ era }, { starts: 1 }), { reply: transport ?? 'json' })
  return { row: httpRow('kit', server.url), end: () => server.close() }
}

describe.each([
  ['legacy', 'stdio'],
  ['legacy', 'sse'],
  ['modern', 'stdio'],
  ['modern', 'json'],
] as const)('in the %s era over %s', (era, transport) => {
  let server: { row: Row; end: () => unknown }
  let host: WireHost
  beforeAll(async () => {
    server = await serve(era, transport)
    host = await openWireHost(server.row)
  })
  afterAll(async () => {
    await host.close()
    await server.end()
  })

  it('is that era', () => {
    expect(host.bridge.status().facts?.era).toBe(era)
  })

  it.each(Object.entries(KINDS))('%s', async (name, kind) => {
    const result = await host.call(name, { agent: makeAgent('vision') })
    const shown = result.content.map((block) =>
      block.type === 'text'
        ? block.text
        : `<${(block as { attachment: { mediaType: string } }).attachment.mediaType}>`,
    )
    expect(shown).toEqual(kind.shown)
    expect(result.isError).toBe(kind.isError === true)
    // Nothing is lost to a program, and nothing of the wire's own gets in.
    if (!result.isError) expect(result.value).toEqual(kind.value ?? kind.result)
    expect(host.lines.filter((line) => !line.startsWith('debug'))).toEqual([])
  })
})
