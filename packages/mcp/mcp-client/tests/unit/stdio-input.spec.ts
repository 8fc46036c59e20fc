/** Owns the tests of reading from a server: what is a message, what is not, slices, and the last words. */
import { PassThrough } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { StdioInput } from '../../src/connection/stdio-input.ts'
import { StdioNotes } from '../../src/connection/stdio-notes.ts'

function setup(maxBytes = 1_000, now: () => number = () => 0) {
  const stream = new PassThrough({ highWaterMark: 1 << 20 })
  const messages: unknown[] = []
  const notes: string[] = []
  const onEndless = vi.fn<(reason: string) => void>()
  const input = new StdioInput({
    stream,
    maxBytes,
    notes: new StdioNotes(
      (level, text) => notes.push(`${level}: ${text}`),
      (text) => text,
    ),
    now,
    onMessage: (message) => messages.push(message),
    onEndless,
  })
  return { stream, input, messages, notes, onEndless }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const answer = (id: unknown, result = {}) => JSON.stringify({ jsonrpc: '2.0', id, result })
const tooLarge = (id: unknown) =>
  expect.objectContaining({ id, error: expect.objectContaining({ code: -32603 }) as object }) as object

describe('StdioInput', () => {
  it('takes CRLF, a byte order mark, empty lines and sloppy envelopes', async () => {
    const { stream, messages, notes } = setup()
    stream.write(`\uFEFF${answer(1)}\r\n\r\n  \n{"id":2,"result":{},"_meta":{}}\n[${answer(3)}]\n42\n`)
    await turn()
    expect(messages).toEqual([1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, result: {} })))
    expect(notes).toEqual([
      'warn: the server sent a JSON-RPC batch of 1',
      'warn: the server sent a message that is not a JSON object',
    ])
  })

  it('skips noise and says it once', async () => {
    const { stream, messages, notes } = setup()
    stream.write(
      Buffer.concat([
        Buffer.from([0, 0xff, 0xfe, 0x0a]),
        Buffer.from('\u001b[1mBanner\n'.repeat(500)),
        Buffer.from(`${answer(1)}\n`),
      ]),
    )
    await turn()
    expect(messages).toHaveLength(1)
    expect(notes).toEqual(['warn: stray text on stdout, skipped: \ufffd\ufffd'])
  })

  it('answers for a message that is too large: at the cap by its start, at the end by its end, else not', async () => {
    const { stream, messages, notes } = setup(50)
    stream.write(`{"jsonrpc":"2.0","id":7,"result":{"t":"${'x'.repeat(60)}`)
    await turn()
    expect(messages).toEqual([tooLarge(7)])
    stream.write(`"},"id":7}\n{"result":{"t":"${'x'.repeat(60)}"},"jsonrpc":"2.0","id":"b"}\n`)
    stream.write(`{"method":"m","params":{"t":"${'x'.repeat(60)}"},"id":9}\n`)
    stream.write(`{"result":{"t":"${'x'.repeat(60)}"}}\n${answer(1)}\n`)
    await turn()
    expect(messages).toEqual([tooLarge(7), tooLarge('b'), { jsonrpc: '2.0', id: 1, result: {} }])
    expect(notes).toEqual(
      Array(4).fill('warn: the server sent a message over 50 bytes (limits.messageBytes); it is skipped'),
    )
  })

  it('gives up a line without end later where its call has its answer', async () => {
    const { stream, onEndless, messages } = setup(100)
    stream.write(`{"id":1,"result":{"t":"${'x'.repeat(6_000)}`)
    await turn()
    expect(messages).toEqual([tooLarge(1)])
    expect(onEndless).not.toHaveBeenCalled()
    stream.write('x'.repeat(1_000))
    await turn()
    expect(onEndless.mock.calls).toEqual([
      ['a line without end on stdout: over 6400 bytes (limits.messageBytes is 100)'],
    ])
  })

  it('gives up a line without end, once', async () => {
    const { stream, onEndless, messages } = setup(100)
    stream.write(`{"id":1,"result":{"t":"${'x'.repeat(1_000)}`)
    await turn()
    expect(messages).toEqual([tooLarge(1)])
    expect(onEndless).not.toHaveBeenCalled()
    stream.write(`\n${'x'.repeat(400)}`)
    await turn()
    expect(onEndless).not.toHaveBeenCalled()
    stream.write('x')
    stream.write('x')
    await turn()
    expect(onEndless.mock.calls).toEqual([
      ['a line without end on stdout: over 400 bytes (limits.messageBytes is 100)'],
    ])
  })

  it('works in slices: other events have their turn, and the order stays', async () => {
    let time = 0
    // Each look at the clock costs a millisecond, so a slice is ten lines.
    const { stream, messages } = setup(1_000, () => (time += 1))
    const ids = Array.from({ length: 100 }, (_, index) => index)
    stream.write(ids.map((id) => `${answer(id)}\n`).join(''))
    stream.write(`${answer('last')}\n`)
    let turns = 0
    for (; messages.length < 101 && turns < 100; turns += 1) await turn()
    expect(messages.map((message) => (message as { id: unknown }).id)).toEqual([...ids, 'last'])
    expect(turns).toBeGreaterThanOrEqual(9)
    expect(stream.isPaused()).toBe(false)
  })

  it('delivers at the end what it has received, and a last message without its newline', async () => {
    let time = 0
    const { stream, input, messages, notes } = setup(1_000, () => (time += 0.9))
    stream.write(Array.from({ length: 40 }, (_, id) => `${answer(id)}\n`).join(''))
    await turn()
    expect(messages.length).toBeLessThan(40)
    stream.write(`${answer('next')}\n${answer('bare')}`)
    input.finish()
    expect(messages).toHaveLength(42)
    // Later turns and bytes change nothing any more.
    stream.write(`\n${answer('late')}\n`)
    await turn()
    expect(messages).toHaveLength(42)
    expect(notes).toEqual([])
  })

  it('is silent about a torn message, an unfinished huge one and none at the end', () => {
    for (const rest of ['{"id":1,', '', 'x'.repeat(2_000)]) {
      const { stream, input, messages, notes } = setup()
      stream.write(rest)
      input.finish()
      expect(messages).toEqual([])
      expect(notes).toHaveLength(rest.length > 1_000 ? 1 : 0)
    }
  })

  it('does not spend more than a moment on the end', async () => {
    let time = 0
    const { stream, input, messages } = setup(1_000, () => (time += 20))
    stream.write(Array.from({ length: 100 }, (_, id) => `${answer(id)}\n`).join(''))
    await turn()
    input.finish()
    expect(messages.length).toBeLessThan(20)
  })
})
