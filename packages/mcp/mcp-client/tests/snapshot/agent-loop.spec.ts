/** Owns the transcripts of the real agent loop: what the model reads of MCP results, natively and in Code Mode. */
import { describe, expect, it } from 'vitest'
import { PNG, runTurn, stdioRow, stdioServer } from '@dsh-mcp/testkit'
import type { Host, Mode, Turn } from '@dsh-mcp/testkit'
import { hostSuite } from '../composition/host-suite.ts'

const suite = hostSuite()

const bootKinds = (mode: Mode = 'native'): Promise<Host> =>
  suite.boot({ mode, rows: [stdioRow('kit', stdioServer('content-kinds'))] })

/** The list of tools is long and the same in each request. */
const shown = ({ transcript }: Turn): string => transcript.replace(/^(request .*tools: ).*$/gm, '$1…')

const callsOf = (...names: readonly string[]) => ({
  calls: names.map((name) => ({ name: `mcp__kit__${name}`, args: {} })),
})
const code = (...lines: readonly string[]) => ({
  call: { name: 'run_code', args: { description: 'use the kit', code: lines.join('\n') } },
})

/** Nothing of the image's bytes is in the log or in what the model was sent. */
function expectNoBase64(turn: Turn): void {
  expect(JSON.stringify(turn.events)).not.toContain(PNG)
  expect(JSON.stringify(turn.requests)).not.toContain(PNG)
}

describe('native mode', () => {
  it('shows an image inline', async () => {
    const host = await bootKinds()
    const turn = await runTurn(host, {
      script: [callsOf('image'), { text: 'A red pixel.' }],
      prompt: 'Show me.',
    })
    expect(shown(turn)).toMatchInlineSnapshot(`
      "user: Show me.
      request (initial) with tools: …
      model calls mcp__kit__image {}
      tool: [image image/png]
      model: A red pixel.
      end: {"kind":"completed"}"
    `)
    expectNoBase64(turn)
  })

  it('keeps the order of text and images, and names what it cannot show', async () => {
    const host = await bootKinds()
    const turn = await runTurn(host, { script: [callsOf('mixed'), { text: 'I see.' }] })
    expect(shown(turn)).toMatchInlineSnapshot(`
      "user: go
      request (initial) with tools: …
      model calls mcp__kit__mixed {}
      tool: before
      tool: [image image/png]
      tool: between
      Embedded resource note://one (text/plain):
      the note
      [audio result unsupported: audio/wav; raw audio data remains available to programmatic callers]
      Resource link: three (note://three): The third note
      after
      model: I see.
      end: {"kind":"completed"}"
    `)
    expectNoBase64(turn)
  })

  it('tells a model without image input what there was', async () => {
    const host = await bootKinds()
    const turn = await runTurn(host, { model: 'text', script: [callsOf('image')] })
    expect(shown(turn)).toMatchInlineSnapshot(`
      "user: go
      request (initial) with tools: …
      model calls mcp__kit__image {}
      tool: [image unavailable: image/png; model "text" does not declare image input; raw image data remains available to programmatic callers]
      model: done
      end: {"kind":"completed"}"
    `)
    expectNoBase64(turn)
  })

  it('shows text, structured content, links, and failures', async () => {
    const host = await bootKinds()
    const names = [
      'text',
      'structured',
      'structured-only',
      'structured-wrong',
      'link',
      'resource',
      'error',
      'empty',
    ]
    const turn = await runTurn(host, { script: [callsOf(...names)] })
    expect(shown(turn)).toMatchInlineSnapshot(`
      "user: go
      request (initial) with tools: …
      model calls mcp__kit__text {}
      model calls mcp__kit__structured {}
      model calls mcp__kit__structured-only {}
      model calls mcp__kit__structured-wrong {}
      model calls mcp__kit__link {}
      model calls mcp__kit__resource {}
      model calls mcp__kit__error {}
      model calls mcp__kit__empty {}
      tool: plain
      tool: {"sum":3}
      tool: {"sum":3}
      tool: {"sum":"three"}
      [warning: the structured content does not fit the output schema that the server declares for this tool: "structuredContent.sum" must be a number]
      tool: Resource link: three (note://three): The third note
      tool: Embedded resource note://one (text/plain):
      the note
      tool error: Error: it did not work
      tool: (empty returned no model-visible content)
      model: done
      end: {"kind":"completed"}"
    `)
  })

  it('shows what malformed results say', async () => {
    const host = await bootKinds()
    const names = [
      'content-string',
      'content-missing',
      'unknown-kind',
      'text-missing',
      'not-base64',
      'null-member',
    ]
    const turn = await runTurn(host, { script: [callsOf(...names)] })
    expect(shown(turn)).toMatchInlineSnapshot(`
      "user: go
      request (initial) with tools: …
      model calls mcp__kit__content-string {}
      model calls mcp__kit__content-missing {}
      model calls mcp__kit__unknown-kind {}
      model calls mcp__kit__text-missing {}
      model calls mcp__kit__not-base64 {}
      model calls mcp__kit__null-member {}
      tool: just a string
      tool: (no output)
      tool: before
      [unsupported MCP content type: hologram]
      after
      tool: [text unavailable: the MCP block is missing its text]
      after
      tool: [image unavailable: image/png; the image data is not canonical base64; raw image data remains available to programmatic callers]
      after
      tool: [unsupported MCP content block: expected an object]
      after
      model: done
      end: {"kind":"completed"}"
    `)
  })

  it('shows a call that failed as the model reads it', async () => {
    const server = stdioServer('never-answers')
    const host = await suite.boot({ rows: [stdioRow('kit', server, { toolCallTimeoutMs: 100 })] })
    const turn = await runTurn(host, { script: [callsOf('hang'), callsOf('missing')] })
    expect(shown(turn)).toMatchInlineSnapshot(`
      "user: go
      request (initial) with tools: …
      model calls mcp__kit__hang {}
      tool error: Error: The call of tool "hang" at MCP server "kit" brought no answer and no progress for <ms>. It was cancelled, but it may have run. Raise toolCallTimeoutMs in the row of this server if the tool needs longer
      model calls mcp__kit__missing {}
      tool error: Error: unknown tool "mcp__kit__missing"
      model: done
      end: {"kind":"completed"}"
    `)
  })
})

describe('Code Mode', () => {
  it('forwards an image after the result of run_code', async () => {
    const host = await bootKinds('code')
    const turn = await runTurn(host, {
      script: [
        code(
          'const { content } = await tools.mcp__kit__image({})',
          'return content.map(({ type, mimeType }) => `${type} ${mimeType}`)',
        ),
        { text: 'A red pixel.' },
      ],
      prompt: 'Show me.',
    })
    expect(shown(turn)).toMatchInlineSnapshot(`
      "user: Show me.
      request (initial) with tools: …
      model calls run_code {"description":"use the kit","code":"const { content } = await tools.mcp__kit__image({})\\nreturn content.map(({ type, mimeType }) => \`\${type} \${mimeType}\`)"}
      tool: [
        "image image/png"
      ]
      plugin: [image image/png]
      model: A red pixel.
      end: {"kind":"completed"}"
    `)
    expectNoBase64(turn)
  })

  it('forwards nothing of text, and tells code of failures', async () => {
    const host = await bootKinds('code')
    const turn = await runTurn(host, {
      script: [
        code(
          'const { structuredContent } = await tools.mcp__kit__structured({})',
          'try { await tools.mcp__kit__error({}) }',
          'catch (error) { return [structuredContent, error.name, error.toolName, error.message] }',
        ),
      ],
    })
    expect(shown(turn)).toMatchInlineSnapshot(`
      "user: go
      request (initial) with tools: …
      model calls run_code {"description":"use the kit","code":"const { structuredContent } = await tools.mcp__kit__structured({})\\ntry { await tools.mcp__kit__error({}) }\\ncatch (error) { return [structuredContent, error.name, error.toolName, error.message] }"}
      tool: [
        {
          "sum": 3
        },
        "ToolCallError",
        "mcp__kit__error",
        "it did not work"
      ]
      model: done
      end: {"kind":"completed"}"
    `)
  })

  it('gives the model no image that it cannot read', async () => {
    const host = await bootKinds('code')
    const turn = await runTurn(host, {
      model: 'text',
      script: [code('return (await tools.mcp__kit__image({})).content[0].data.length')],
    })
    expect(shown(turn)).toMatchInlineSnapshot(`
      "user: go
      request (initial) with tools: …
      model calls run_code {"description":"use the kit","code":"return (await tools.mcp__kit__image({})).content[0].data.length"}
      tool: 96
      model: done
      end: {"kind":"completed"}"
    `)
    expectNoBase64(turn)
  })
})

describe('the request to the model', () => {
  it('has the schema and the description of the server, and nothing about MCP', async () => {
    const host = await suite.boot({
      rows: [stdioRow('kit', stdioServer('healthy'))],
    })
    const turn = await runTurn(host, { script: [] })
    expect(turn.requests[0]?.tools).toMatchInlineSnapshot(`
      [
        {
          "description": "Says the message again",
          "name": "mcp__kit__echo",
          "parameters": {
            "properties": {
              "message": {
                "type": "string",
              },
            },
            "required": [
              "message",
            ],
            "type": "object",
          },
        },
      ]
    `)
  })
})
