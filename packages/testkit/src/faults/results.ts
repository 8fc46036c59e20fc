/**
 * Owns the rows of what a call brings back, and of odd arguments.
 */
import assert from 'node:assert/strict'
import { text, tool } from '../behaviour.ts'
import { failed, succeeded } from './checks.ts'
import { named } from './named.ts'
import type { FaultRow } from './row.ts'

/** The head of a PNG that claims these dimensions. */
function pngClaiming(width: number, height: number): string {
  const head = Buffer.alloc(33)
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]).copy(head)
  head.write('IHDR', 12, 'latin1')
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  head.set([8, 6, 0, 0, 0], 24)
  return head.toString('base64')
}

export const results: readonly FaultRow[] = [
  {
    id: 'content-string',
    title: 'content is a string, is missing, holds null or an unknown kind',
    right: 'error or text; no crash',
    server: () => named('content-kinds'),
    async check(scene) {
      for (const name of [
        'content-string',
        'content-missing',
        'unknown-kind',
        'text-missing',
        'null-member',
        'empty',
      ]) {
        assert.ok((await scene.call(name)).text.length >= 0)
      }
      succeeded(await scene.call('unknown-kind'), /before[\s\S]*after/)
    },
  },
  {
    id: 'is-error',
    title: 'isError true with text',
    right: 'an error to the model, with the text',
    server: () => named('content-kinds'),
    async check(scene) {
      failed(await scene.call('error'), /it did not work/)
    },
  },
  {
    id: 'structured-wrong',
    title: 'structuredContent does not fit outputSchema, or is missing',
    right: 'not passed off as valid; the text is not lost',
    server: () => named('content-kinds'),
    async check(scene) {
      const wrong = await scene.call('structured-wrong')
      assert.match(wrong.text, /three/)
      assert.match(wrong.text, /schema|expected|does not/i)
      assert.match((await scene.call('structured-missing')).text, /no structure/)
    },
  },
  {
    id: 'nonsense-output-schema',
    title: 'outputSchema is nonsense for one tool',
    right: 'the list as a whole survives, and the tool runs',
    server: () => ({
      tools: [
        tool('odd', { outputSchema: { type: 'object', properties: { a: { type: 'banana' } } } }),
        tool('good'),
      ],
      callTool: () => text('ran', { structuredContent: { a: 1 } }),
    }),
    async check(scene) {
      assert.match((await scene.call('odd')).text, /ran|banana|schema/)
      succeeded(await scene.call('good'), /ran/)
    },
  },
  {
    id: 'giant-image',
    title: 'PNG header claiming 60 000 x 60 000',
    right: 'refused before decoding; memory bounded',
    server: () => ({
      callTool: () => ({
        content: [
          { type: 'image', data: pngClaiming(60_000, 60_000), mimeType: 'image/png' },
          { type: 'text', text: 'beside it' },
        ],
      }),
    }),
    async check(scene) {
      const before = process.memoryUsage().rss
      assert.match((await scene.call('echo')).text, /beside it/)
      assert.ok(process.memoryUsage().rss - before < 250 * 2 ** 20)
    },
  },
  {
    id: 'many-blocks',
    title: '50 000 text blocks',
    right: 'settles in time',
    server: () => ({
      callTool: () => ({
        content: Array.from({ length: 50_000 }, (_, index) => ({ type: 'text', text: `b${index}` })),
      }),
    }),
    config: { toolCallTimeoutMs: 10_000 },
    async check(scene) {
      const outcome = await scene.call('echo')
      succeeded(outcome, /b0/)
      assert.ok(
        Buffer.byteLength(outcome.text) < 110 * 1024,
        `${outcome.text.length} characters to the model`,
      )
    },
  },
  {
    id: 'odd-arguments',
    title: 'the model sends odd arguments: __proto__ key, nested null, 500 KB string',
    right: 'sent as given or refused; no pollution',
    server: () => ({
      callTool: ({ arguments: args }) => text(`got ${Object.keys(args as object).join(',')}`),
    }),
    config: { toolCallTimeoutMs: 5_000 },
    async check(scene) {
      const args: unknown = JSON.parse('{"__proto__":{"polluted":true},"message":"m","deep":{"a":null}}')
      assert.ok((await scene.call('echo', args)).text.length > 0)
      assert.equal(Reflect.get({}, 'polluted'), undefined)
      succeeded(await scene.call('echo', { message: 'x'.repeat(500_000) }), /got message/)
    },
  },
  {
    id: 'large-result',
    title: 'a text of 20 MB',
    right: 'capped for the model, in time',
    server: () => ({ callTool: () => text('y'.repeat(20 * 2 ** 20)) }),
    config: { toolCallTimeoutMs: 20_000 },
    async check(scene) {
      const outcome = await scene.call('echo')
      assert.ok(!outcome.isError, outcome.text.slice(0, 300))
      assert.ok(outcome.text.length < 150 * 1024, `${outcome.text.length} characters to the model`)
    },
  },
  {
    id: 'regex-bomb',
    title: 'outputSchema pattern (a+)+$ and a hostile structuredContent',
    right: 'the host never blocks',
    server: () => ({
      tools: [
        tool('echo', {
          outputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
        }),
      ],
      callTool: () => text('bomb', { structuredContent: { a: `${'a'.repeat(60)}!` } }),
    }),
    async check(scene) {
      const outcome = await scene.call('echo')
      assert.match(outcome.text, /bomb/)
      assert.ok(outcome.ms < 3_000)
    },
  },
]
