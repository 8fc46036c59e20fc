/** Owns the tests of writing to a server: batches, back-pressure, the cap, and one outcome for each message. */
import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { McpError } from '../../src/errors.ts'
import { StdioOutput } from '../../src/connection/stdio-output.ts'

const CLOSED = new McpError('closed', { code: 'MCP_CONNECTION_CLOSED', server: 's', stage: 'connect' })

/** A pipe whose reader takes a chunk when the test says so. */
function setup(maxBytes = 1_000_000) {
  const writes: string[] = []
  const takes: ((error?: Error) => void)[] = []
  const stream = new Writable({
    highWaterMark: 100,
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      writes.push(chunk)
      takes.push(done)
    },
  })
  stream.on('error', () => undefined)
  const output = new StdioOutput({ stream, serverName: 's', maxBytes })
  return { stream, writes, output, take: (error?: Error) => takes.shift()?.(error) }
}

const outcome = (promise: Promise<void>): Promise<string> =>
  promise.then(
    () => 'written',
    (error: McpError) => `${error.code}: ${error.message}`,
  )
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('StdioOutput', () => {
  it('writes the first message at once, and all that come while it is on its way as one', async () => {
    const { output, writes, take } = setup()
    const first = output.send('a\n')
    expect(writes).toEqual(['a\n'])
    const second = Promise.resolve().then(() => output.send('b\n'))
    await tick()
    const third = output.send('c\n')
    expect(writes).toEqual(['a\n'])
    take()
    await first
    expect(writes).toEqual(['a\n', 'b\nc\n'])
    take()
    await Promise.all([second, third])
    // Nothing is on its way any more.
    const last = output.send('d\n')
    expect(writes.at(-1)).toBe('d\n')
    take()
    await last
  })

  it('holds back while the pipe is full, and then sends in order', async () => {
    const { output, writes, stream, take } = setup()
    const sends = ['x'.repeat(200), 'y', 'z'].map((text) => output.send(text))
    await tick()
    for (const text of ['la', 'st']) {
      sends.push(output.send(text))
      await tick()
    }
    // What waited for room goes out as one, so it was kept here and not handed to the stream.
    expect(writes).toEqual(['x'.repeat(200)])
    expect(stream.writableLength).toBe(200)
    take()
    await tick()
    expect(writes.slice(1)).toEqual(['yzlast'])
    take()
    expect(new Set(await Promise.all(sends.map(outcome)))).toEqual(new Set(['written']))
  })

  it('cuts a large queue into writes of a bounded size', async () => {
    const { output, stream, writes, take } = setup()
    const wide = ['a', 'b', 'c'].map((letter) => output.send(letter.repeat(40_000)))
    await tick()
    for (let turn = 0; turn < 3; turn += 1) {
      take()
      await tick()
    }
    await Promise.all(wide)
    expect(writes.map((text) => text.length)).toEqual([40_000, 40_000, 40_000])
    expect(stream.writableLength).toBe(0)
  })

  it('refuses what passes the cap, and takes again when there is room', async () => {
    const { output, take } = setup(10)
    expect(await outcome(output.send('é'.repeat(6)))).toBe(
      'MCP_MESSAGE_TOO_LARGE: the message of 12 bytes is larger than 10 bytes (twice limits.messageBytes)',
    )
    const first = output.send('12345678')
    expect(await outcome(output.send('abc'))).toBe(
      'MCP_MESSAGE_TOO_LARGE: the server does not read its input: 8 bytes of earlier messages wait already, and with 3 ' +
        'more they would pass 10 bytes (twice limits.messageBytes)',
    )
    await tick()
    take()
    await first
    const next = output.send('abc')
    await tick()
    take()
    await next
  })

  it('tells a broken pipe apart from an end of our own', async () => {
    const { output, take } = setup()
    const broken = outcome(output.send('a'))
    await tick()
    take(new Error('EPIPE'))
    expect(await broken).toBe('MCP_CONNECTION_CLOSED: the server does not take input any more')
    // Later ones find a destroyed stream.
    expect(await outcome(output.send('b'))).toBe(
      'MCP_CONNECTION_CLOSED: the server does not take input any more',
    )
    output.fail(CLOSED)
    expect(await outcome(output.send('c'))).toBe('MCP_CONNECTION_CLOSED: closed')
  })

  it('writes out what it has before the end', async () => {
    const { output, stream, writes, take } = setup()
    const last = [outcome(output.send('good')), outcome(output.send('bye'))]
    output.end(CLOSED)
    expect(await outcome(output.send('late'))).toBe('MCP_CONNECTION_CLOSED: closed')
    take()
    await tick()
    expect(writes).toEqual(['good', 'bye'])
    take()
    expect(await Promise.all(last)).toEqual(['written', 'written'])
    await tick()
    expect(stream.writableFinished).toBe(true)
  })

  it('cuts a full pipe off at the end, and settles all that waits', async () => {
    const { output, stream } = setup()
    const stuck = [outcome(output.send('x'.repeat(200)))]
    await tick()
    stuck.push(outcome(output.send('more')))
    output.end(CLOSED)
    expect(await Promise.all(stuck)).toEqual(Array(2).fill('MCP_CONNECTION_CLOSED: closed'))
    expect(stream.destroyed).toBe(true)
  })

  it('gives the reason of the end to a write that fails after it', async () => {
    const { output, take } = setup()
    const small = outcome(output.send('a'))
    output.end(CLOSED)
    take(new Error('EPIPE'))
    expect(await small).toBe('MCP_CONNECTION_CLOSED: closed')
  })
})
