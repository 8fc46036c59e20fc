/**
 * Owns faults of bytes and lines on stdout and stderr.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { NO_ANSWER, numberOption, text, tool } from '../behaviour.ts'
import type { BehaviourFactory } from '../behaviour.ts'

/** Text that breaks a careless reader: multi-byte, line separators, escapes. */
export const DELICATE_TEXT = 'grüße 工具 🧰 \u2028\u2029 "quoted" \\ \t end'

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`

export const framing = {
  /** Lines that are no messages before everything and in each call: text, invalid UTF-8, NUL, JSON that is no RPC. */
  noise: () => {
    const noise = Buffer.concat([
      Buffer.from('Server listening...\n\n'),
      Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x0a, 0x00, 0x00, 0x0a]),
      Buffer.from('{"level":"info"}\n[1,2]\n"text"\nnull\n{"jsonrpc":"2.0"\n'),
    ])
    return {
      onStart: (peer) => void peer.raw(noise),
      callTool(_params, peer) {
        void peer.raw(noise)
        return text('through the noise')
      },
    }
  },

  /** A BOM before the first message. */
  bom: () => ({ onStart: (peer) => void peer.raw('\uFEFF') }),

  /** Answers each call byte by byte with DELICATE_TEXT. */
  'byte-by-byte': () => ({
    async callTool(_params, peer, { id }) {
      for (const byte of Buffer.from(line({ id, result: text(DELICATE_TEXT) }))) {
        await peer.raw(Uint8Array.of(byte))
        await turn()
      }
      return NO_ANSWER
    },
  }),

  /** A call writes `bytes` (320 MB) without a line end. */
  'huge-line': (options) => ({
    async callTool(_params, peer, { id }) {
      await peer.raw(
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`,
      )
      const chunk = Buffer.alloc(1 << 20, 'x')
      for (let left = numberOption(options, 'bytes', 320e6); left > 0; left -= chunk.length)
        await peer.raw(chunk)
      return NO_ANSWER
    },
  }),

  /** A call writes `bytes` (20 MB) to stderr, with the option `secret` in it, and then answers. */
  'stderr-flood': (options) => ({
    callTool(_params, peer) {
      const secret = typeof options['secret'] === 'string' ? options['secret'] : 'nothing'
      const row = `${'e'.repeat(100)} ${secret} \u001b[31mred\u001b[0m\n`
      const bytes = numberOption(options, 'bytes', 20e6)
      for (let sent = 0; sent < bytes; sent += 1000 * row.length) peer.stderr(row.repeat(1000))
      return text('flooded')
    },
  }),

  /** A call sends `count` (100,000) log notifications and then answers. */
  'log-flood': (options) => ({
    capabilities: { tools: {}, logging: {} },
    async callTool(_params, peer) {
      const note = line({
        method: 'notifications/message',
        params: { level: 'info', data: 'again and again' },
      })
      for (let left = numberOption(options, 'count', 100_000); left > 0; left -= 1000) {
        await peer.raw(note.repeat(Math.min(left, 1000)))
      }
      return text('logged')
    },
  }),

  /** The reply comes in a JSON-RPC batch array. */
  batch: () => ({
    tools: [tool('echo')],
    callTool(_params, peer, { id }) {
      peer.send([{ jsonrpc: '2.0', id, result: text('from the batch') }])
      return NO_ANSWER
    },
  }),
} satisfies Record<string, BehaviourFactory>
