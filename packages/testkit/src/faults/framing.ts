/**
 * Owns the rows of bytes and lines on stdout and stderr.
 */
import assert from 'node:assert/strict'
import { NO_ANSWER, text, tool } from '../behaviour.ts'
import { DELICATE_TEXT } from '../behaviours/framing.ts'
import { failed, succeeded, told, untilTold } from './checks.ts'
import { named } from './named.ts'
import type { FaultRow } from './row.ts'

export const framing: readonly FaultRow[] = [
  {
    id: 'noise',
    title: 'invalid UTF-8, NUL bytes and lines that are no messages',
    right: 'skipped, said once and cleanly',
    transports: ['stdio'],
    server: () => named('noise'),
    async check(scene) {
      succeeded(await scene.call('echo'), /through the noise/)
    },
  },
  {
    id: 'bom',
    title: 'UTF-8 BOM before the first message',
    right: 'tolerated',
    transports: ['stdio'],
    server: () => named('bom'),
    async check(scene) {
      succeeded(await scene.call('echo', { message: 'read' }), /read/)
    },
  },
  {
    id: 'endless-line',
    title: '320 MB without a line end during a call',
    right: 'reader stops at its cap; the call fails with a clear error; memory bounded; no orphan',
    transports: ['stdio'],
    eras: ['legacy'],
    server: () => named('huge-line'),
    config: { toolCallTimeoutMs: 20_000, limits: { messageBytes: 8 * 2 ** 20 } },
    async check(scene) {
      const before = process.memoryUsage().rss
      failed(await scene.call('echo'), /8388608|messageBytes/)
      const grown = (process.memoryUsage().rss - before) / 2 ** 20
      assert.ok(grown < 250, `memory grew by ${grown} MiB`)
    },
  },
  {
    id: 'byte-by-byte',
    title: 'a reply written byte by byte, with multi-byte text, U+2028 and escapes',
    right: 'decoded exactly',
    transports: ['stdio'],
    server: () => named('byte-by-byte'),
    config: { toolCallTimeoutMs: 8_000 },
    async check(scene) {
      const { isError, text: shown } = await scene.call('echo')
      assert.ok(!isError, shown)
      assert.ok(shown.includes('grüße 工具 🧰'), shown)
      // What the model sees is cleaned of line separators only.
      assert.equal(shown.replaceAll(/\s+/g, ' '), DELICATE_TEXT.replaceAll(/\s+/g, ' '))
    },
  },
  {
    id: 'crlf',
    title: 'lines end in CR LF',
    right: 'read as usual',
    transports: ['stdio'],
    server: () => ({
      callTool(_params, peer, { id }) {
        const answer = JSON.stringify({ jsonrpc: '2.0', id, result: text('with CR LF') })
        void peer.raw(`\r\n${answer}\r\n`)
        return NO_ANSWER
      },
    }),
    async check(scene) {
      succeeded(await scene.call('echo'), /with CR LF/)
    },
  },
  {
    id: 'log-flood',
    title: '100 000 log notifications during a call',
    right: 'the call completes; event loop alive; logs bounded',
    transports: ['stdio'],
    server: () => named('log-flood'),
    // A machine with much else to do may need long for it.
    config: { toolCallTimeoutMs: 50_000 },
    async check(scene) {
      succeeded(await scene.call('echo'), /logged/)
    },
  },
  {
    id: 'stdout-flood',
    title: 'a stray line on stdout 20 000 times',
    right: 'the call completes; log rate-limited',
    transports: ['stdio'],
    server: () => ({
      async callTool(_params, peer) {
        await peer.raw('Server is busy \u001b[31mreally\u001b[0m\n'.repeat(20_000))
        return text('done')
      },
    }),
    config: { toolCallTimeoutMs: 20_000 },
    async check(scene) {
      succeeded(await scene.call('echo'), /done/)
    },
  },
  {
    id: 'stderr-flood',
    title: 'prints its own token on stderr, with ANSI, 20 MB of it, and dies in the next call',
    right: 'drained; configured secrets cut out before any log; no raw control characters',
    transports: ['stdio'],
    server: () => ({
      ...named('stderr-flood', { secret: process.env['FAULT_TOKEN'] ?? 'nothing' }),
      tools: [tool('flood'), tool('die')],
      callTool(params, peer, request) {
        const flood = named('stderr-flood', { secret: process.env['FAULT_TOKEN'] ?? 'nothing' })
        if (params['name'] === 'flood') return flood.callTool?.(params, peer, request)
        process.stderr.write(`\u001b[2Jlast words ${process.env['FAULT_TOKEN']}\n`, () => peer.exit(9))
        return NO_ANSWER
      },
    }),
    config: { toolCallTimeoutMs: 20_000 },
    async check(scene) {
      succeeded(await scene.call('flood'), /flooded/)
      failed(await scene.call('die'), /exit code 9/)
      await untilTold(scene, /last words/)
    },
  },
  {
    id: 'split-secret',
    title: 'prints its token with a hidden character inside',
    right: 'cut out all the same',
    transports: ['stdio'],
    eras: ['legacy'],
    server: () => ({
      callTool(_params, peer) {
        const token = process.env['FAULT_TOKEN'] ?? ''
        process.stderr.write(`token ${token.slice(0, 4)}\u200b${token.slice(4)}\n`, () => peer.exit(9))
        return NO_ANSWER
      },
    }),
    config: { toolCallTimeoutMs: 20_000 },
    async check(scene) {
      failed(await scene.call('echo'), /exit code 9/)
      told(scene, /exit code 9/)
    },
  },
  {
    id: 'surrogates',
    title: 'lone surrogates and NUL in text',
    right: 'delivered; text for the model is well formed',
    server: () => named('content-kinds'),
    async check(scene) {
      const outcome = await scene.call('surrogates')
      succeeded(outcome, /lone .* and .* end/)
      assert.ok(outcome.text.isWellFormed(), 'text with a lone surrogate')
    },
  },
]
