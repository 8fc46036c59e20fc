/**
 * Owns the proof on server-everything: each of its tools, called in the real agent loop, gives the model all it can use
 * and nothing it cannot.
 */
import { gunzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { runTurn } from '@dsh-mcp/testkit'
import type { ModelCall, Turn } from '@dsh-mcp/testkit'
import { describe, expect, it } from 'vitest'
import { hostSuite } from '../composition/host-suite.ts'
import { everythingRow } from '../composition/reference-servers.ts'

const suite = hostSuite()

/** A call, and what the model is to read: text blocks in order, an image as its media type in angle brackets. */
const CALLS: readonly (readonly [name: string, args: object, shown: readonly (string | RegExp)[]])[] = [
  ['echo', { message: 'grüße 工具' }, ['Echo: grüße 工具']],
  ['get-annotated-message', { messageType: 'error' }, ['Error: Operation failed']],
  ['get-annotated-message', { messageType: 'debug' }, ['Debug: Cache hit ratio 0.95, latency 150ms']],
  [
    // Both blocks are for the user alone.
    'get-annotated-message',
    { messageType: 'success', includeImage: true },
    ['(get-annotated-message returned no model-visible content)'],
  ],
  // A list of variables that the host's own policy may shorten.
  ['get-env', {}, [/^\{\n {2}"\w+": "/]],
  [
    'get-resource-links',
    { count: 2 },
    [
      [
        'Here are 2 resource links to resources available in this server:',
        'Resource link: Blob Resource 1 (demo://resource/dynamic/blob/1), text/plain: Resource 1: plaintext resource',
        'Resource link: Text Resource 2 (demo://resource/dynamic/text/2), text/plain: Resource 2: plaintext resource\n' +
          '[mcp__everything__read_resource reads a linked resource by its URI]',
      ].join('\n'),
    ],
  ],
  [
    'get-resource-reference',
    { resourceType: 'Text', resourceId: 1 },
    [
      /^Returning resource reference for Resource 1:\nEmbedded resource demo:\/\/resource\/dynamic\/text\/1 \(text\/plain\):\nResource 1: This is a plaintext resource created at [^\n]+\nYou can access this resource using the URI: demo:\/\/resource\/dynamic\/text\/1$/,
    ],
  ],
  [
    'get-resource-reference',
    { resourceType: 'Blob', resourceId: 2 },
    [
      /^Returning resource reference for Resource 2:\n\[embedded resource demo:\/\/resource\/dynamic\/blob\/2: text\/plain, saved as base64 text\. The whole is stored at \S+ \(\d+ bytes\)\. [^\n]+\]\nYou can access/,
    ],
  ],
  [
    'get-structured-content',
    { location: 'Chicago' },
    ['{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}'],
  ],
  ['get-sum', { a: 2, b: 3 }, ['The sum of 2 and 3 is 5.']],
  // A model that writes numbers as strings is understood.
  ['get-sum', { a: '20', b: '22' }, ['The sum of 20 and 22 is 42.']],
  [
    'get-tiny-image',
    {},
    ["Here's the image you requested:", '<image/png>', 'The image above is the MCP logo.'],
  ],
  [
    'gzip-file-as-resource',
    { name: 'a.gz', data: 'data:text/plain,the%20file', outputType: 'resource' },
    [
      /^\[embedded resource demo:\/\/resource\/session\/a\.gz: application\/gzip, saved as base64 text\. The whole is stored at \S+ /,
    ],
  ],
  [
    'gzip-file-as-resource',
    { name: 'b.gz', data: 'data:text/plain,the%20file' },
    [
      /^Resource link: b\.gz \(demo:\/\/resource\/session\/b\.gz\), application\/gzip\n\[mcp__everything__read_resource reads/,
    ],
  ],
  ['toggle-simulated-logging', {}, [/^Started simulated, random-leveled logging/]],
  ['toggle-subscriber-updates', {}, [/^Started simulated resource updated notifications/]],
  [
    'trigger-long-running-operation',
    { duration: 0.1, steps: 2 },
    ['Long running operation completed. Duration: 0.1 seconds, Steps: 2.'],
  ],
  // Needs a task: it is followed to its end.
  ['simulate-research-query', { topic: 'x' }, [/^# Research Report: x\n/]],
  [
    'list_resources',
    { query: 'startup' },
    [/^\{"resources":\[\{"uri":"demo:\/\/resource\/static\/document\/startup\.md"/],
  ],
  [
    'read_resource',
    { uri: 'demo://resource/dynamic/text/7' },
    [/^Embedded resource demo:\/\/resource\/dynamic\/text\/7 \(text\/plain\):\nResource 7: /],
  ],
]

/** What the model reads of each call of a turn, in order. */
function readings({ events }: Turn): string[][] {
  return events
    .flatMap((event) => (event.type === 'tool/result' ? event.data.message.content : []))
    .map((result) =>
      (result.type === 'tool-result' ? result.content : []).map((block) =>
        block.type === 'text'
          ? block.text
          : block.type === 'image'
            ? `<${block.attachment.mediaType}>`
            : block.type,
      ),
    )
}

describe('server-everything in the agent loop', () => {
  it('gives the model what each tool has', async () => {
    const host = await suite.boot({
      extra: ['spill'],
      rows: [everythingRow({ roots: 'off', logLevel: 'off' })],
    })
    const called = new Set(CALLS.map(([name]) => `mcp__everything__${name}`))
    expect([...called].toSorted()).toEqual(
      host
        .tools()
        .filter((name) => name.startsWith('mcp__everything__'))
        .toSorted(),
    )
    const calls: ModelCall[] = CALLS.map(([name, args]) => ({ name: `mcp__everything__${name}`, args }))
    const turn = await runTurn(host, { script: [{ calls }] })
    const shown = readings(turn)
    expect(shown).toHaveLength(CALLS.length)
    for (const [at, [name, , expected]] of CALLS.entries()) {
      const matchers = expected.map((text): unknown =>
        typeof text === 'string' ? text : expect.stringMatching(text),
      )
      expect(shown[at], name).toEqual(matchers)
    }
    // What is stored is what the server sent.
    const zipped = CALLS.findIndex(([, args]) => 'outputType' in args)
    const [, path = ''] = /stored at (\S+) \(/.exec(shown[zipped]?.[0] ?? '') ?? []
    expect(String(gunzipSync(Buffer.from(readFileSync(path, 'utf8'), 'base64')))).toBe('the file')
    // No bytes of an image in the log or in a request.
    expect(JSON.stringify([turn.events, turn.requests])).not.toContain('iVBORw0KGgo')
    expect(host.logs.filter(({ type, name }) => name === 'mcp-client' && type === 'error')).toEqual([])
  })
})
