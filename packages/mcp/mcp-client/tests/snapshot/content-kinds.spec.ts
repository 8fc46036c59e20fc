/** Owns the transcripts of what the model reads of each kind of result, in the real agent loop. */
import { fileURLToPath } from 'node:url'
import { runTurn, stdioRow, stdioServer } from '@dsh-mcp/testkit'
import type { Turn } from '@dsh-mcp/testkit'
import { describe, expect, it } from 'vitest'
import { hostSuite } from '../composition/host-suite.ts'
import { SAMPLES } from '../unit/image-samples.ts'

const FIXTURE = fileURLToPath(new URL('../wire/fixtures/result-kinds.ts', import.meta.url))

const suite = hostSuite()

/** One turn in which the model calls these tools; only what it reads of them. */
async function read(names: readonly string[], options: { spill?: boolean; limit?: number } = {}) {
  const limits = options.limit === undefined ? {} : { limits: { resultTextBytes: options.limit } }
  const host = await suite.boot({
    rows: [stdioRow('kit', stdioServer(FIXTURE), limits)],
    ...(options.spill === true ? { extra: ['spill'] as const } : {}),
  })
  const turn = await runTurn(host, {
    script: [{ calls: names.map((name) => ({ name: `mcp__kit__${name}`, args: {} })) }],
  })
  for (const bytes of [SAMPLES.png, SAMPLES.jpeg]) {
    expect(JSON.stringify([turn.events, turn.requests])).not.toContain(bytes)
  }
  return readings(turn)
}

function readings({ transcript }: Turn): string {
  const lines = transcript.split('\n')
  const first = lines.findIndex((line) => line.startsWith('tool'))
  const last = lines.findIndex((line) => line.startsWith('model: '))
  // The spill store's names are random.
  return lines
    .slice(first, last)
    .join('\n')
    .replaceAll(/\b[0-9a-f]{12}\b/g, '<random>')
}

describe('what the model reads', () => {
  it('of texts and structured content', async () => {
    const names = [
      'text',
      'two-texts',
      'structured-only',
      'structured-and-same-text',
      'structured-and-other-text',
      'structured-without-schema',
      'structured-mismatch',
      'structured-missing',
    ]
    expect(await read(names)).toMatchInlineSnapshot(`
      "tool: plain
      tool: one
      two
      tool: {"sum":3}
      tool: { "sum": 3 }
      tool: It is three.
      Structured content:
      {"sum":3}
      tool: {"free":[1,null]}
      tool: {"sum":"three"}
      [warning: the structured content does not fit the output schema that the server declares for this tool: "structuredContent.sum" must be a number]
      tool: three
      [warning: the server declares an output schema for this tool but sent no structured content]"
    `)
  })

  it('of images', async () => {
    expect(await read(['image', 'text-image-text-image', 'two-images-one-broken'])).toMatchInlineSnapshot(`
      "tool: [image image/png]
      tool: a
      tool: [image image/png]
      tool: b
      c
      tool: [image image/jpeg]
      tool: [image unavailable: image/png; another image in the same result was invalid; raw image data remains available to programmatic callers]
      between
      [image unavailable: image/png; the image data is not a readable PNG image; raw image data remains available to programmatic callers]"
    `)
  })

  it('of resources, links and bytes without a store', async () => {
    expect(await read(['resource', 'link', 'audio', 'blob'])).toMatchInlineSnapshot(`
      "tool: Embedded resource file:///a.ts (text/x-typescript):
      const a = 1

      tool: Resource link: big.log (file:///big.log), text/plain, 1000000000 bytes: All of it
      tool: [audio result unsupported: audio/wav; raw audio data remains available to programmatic callers]
      tool: [embedded resource file:///a.zip unsupported: application/zip; raw resource data remains available to programmatic callers]"
    `)
  })

  it('of bytes with a spill store', async () => {
    expect(await read(['audio', 'blob'], { spill: true })).toMatchInlineSnapshot(`
      "tool: [audio result: audio/wav, saved as base64 text. The whole is stored at <folder>/home/spills/session-<random>/<random>-mcp__kit__audio-audio.txt (4 bytes). Use read with offset/limit, or grep this path to search within it.]
      tool: [embedded resource file:///a.zip: application/zip, saved as base64 text. The whole is stored at <folder>/home/spills/session-<random>/<random>-mcp__kit__blob-resource.txt (4 bytes). Use read with offset/limit, or grep this path to search within it.]"
    `)
  })

  it('of a long text, with and without a spill store', async () => {
    expect(await read(['long-text'], { spill: true, limit: 200 })).toMatchInlineSnapshot(`
      "tool: line 0 of a long text
      line 1 of a long text
      line 2 of a long text
      line 3 of a long text
      line 4 of a 
      [709 of 909 bytes of text left out here. The whole is stored at <folder>/home/spills/session-<random>/<random>-mcp__kit__long-text-result.txt (909 bytes). Use read with offset/limit, or grep this path to search within it.]
      ong text
      line 36 of a long text
      line 37 of a long text
      line 38 of a long text
      line 39 of a long text"
    `)
    expect(await read(['long-text'], { limit: 200 })).toMatchInlineSnapshot(`
      "tool: line 0 of a long text
      line 1 of a long text
      line 2 of a long text
      line 3 of a long text
      line 4 of a 
      [709 of 909 bytes of text left out here. The whole remains available to programmatic callers; ask the tool for less, or for a part, to read it here]
      ong text
      line 36 of a long text
      line 37 of a long text
      line 38 of a long text
      line 39 of a long text"
    `)
  })

  it('of what is for the user, empty, hidden or failed', async () => {
    const names = [
      'audience-user',
      'audience-user-alone',
      'empty',
      'hidden-characters',
      'error',
      'error-structured',
    ]
    expect(await read(names)).toMatchInlineSnapshot(`
      "tool: for you
      tool: (audience-user-alone returned no model-visible content)
      tool: (empty returned no model-visible content)
      tool: pay me now
      [warning: 2 hidden characters were removed from this result]
      tool error: Error: it did
      not work
      [image unavailable: image/png; this result was not admitted to durable model context; raw image data remains available to programmatic callers]
      tool error: Error: {"code":7}"
    `)
  })

  it('of everything at once, and of malformed members', async () => {
    expect(await read(['everything', 'malformed-members'])).toMatchInlineSnapshot(`
      "tool: first
      tool: [image image/png]
      tool: Embedded resource file:///a.ts (text/x-typescript):
      const a = 1

      [audio result unsupported: audio/wav; raw audio data remains available to programmatic callers]
      [embedded resource file:///a.zip unsupported: application/zip; raw resource data remains available to programmatic callers]
      Resource link: big.log (file:///big.log), text/plain, 1000000000 bytes: All of it
      last
      Structured content:
      {"n":1}
      tool: [unsupported MCP content block: expected an object]
      [unsupported MCP content block: expected an object]
      [text unavailable: the MCP block is missing its text]
      [unsupported MCP content type: hologram]
      [image unavailable: unknown media type; the declared media type is not PNG, JPEG, WebP, or GIF; raw image data remains available to programmatic callers]
      after"
    `)
  })
})
