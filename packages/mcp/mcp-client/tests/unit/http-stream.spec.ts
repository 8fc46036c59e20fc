/** Event streams and bodies, chunk by chunk. */
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collect, drain } from '../../src/connection/http-body.ts'
import { readEvents } from '../../src/connection/http-stream.ts'
import { ManualClock } from '../wire/http-server.ts'

async function events(chunks: readonly Buffer[], enough = Infinity, maxChars = 1_000) {
  const clock = new ManualClock()
  const data: string[] = []
  const retries: number[] = []
  const body = Readable.from(chunks, { objectMode: false })
  const end = await readEvents(
    body,
    { maxChars, onRetry: (ms) => retries.push(ms), onEvent: (event) => data.push(event.data) >= enough },
    clock,
  )
  return { end, data, retries, body, clock }
}

describe('readEvents', () => {
  it('is the same for every way to cut the bytes and every line end', async () => {
    const texts = fc.array(
      fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replace(/[\r\n\ufeff]/g, '')),
      { maxLength: 5 },
    )
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.boolean(),
        fc.array(fc.nat(8), { minLength: 1, maxLength: 8 }),
        async (all, line, mark, cuts) => {
          const bytes = Buffer.from(
            (mark ? '\ufeff' : '') +
              all.map((text) => `: c${line}id: 1${line}data: ${text}${line}${line}`).join(''),
          )
          const chunks: Buffer[] = []
          for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
            const size = (cuts[turn % cuts.length] ?? 0) + 1
            chunks.push(bytes.subarray(at, at + size))
            at += size
          }
          expect(await events(chunks)).toMatchObject({ end: 'end', data: all })
        },
      ),
      { numRuns: 200 },
    )
  })

  it('stops when the sink has enough, and lets the rest pass', async () => {
    const { end, data, clock, body } = await events(
      [Buffer.from('data: 1\n\ndata: 2\n\n'), Buffer.from('data: 3\n\n')],
      1,
    )
    expect({ end, data }).toEqual({ end: 'done', data: ['1'] })
    if (!body.closed) await new Promise((resolve) => body.once('close', resolve))
    expect(clock.armed()).toBe(0)
  })

  it('destroys a stream with too large an event, on one line or on many', async () => {
    for (const text of ['data: ' + 'x'.repeat(2_000), 'data: xxxxxxxx\n'.repeat(200)]) {
      const { end, data, body } = await events([Buffer.from(text), Buffer.from('\n\n')])
      expect({ end, data, destroyed: body.destroyed }).toEqual({
        end: 'too-large',
        data: [],
        destroyed: true,
      })
    }
  })

  it('reads times and skips what is no field', async () => {
    expect(await events([Buffer.from('retry: 5\nretry: x\nnonsense\n\ndata: 1\n\n')])).toMatchObject({
      retries: [5],
      data: ['1'],
    })
  })

  it('takes a megabyte of carriage returns in linear time', async () => {
    const since = performance.now()
    await events(Array.from({ length: 16 }, () => Buffer.alloc(64 * 1024, '\r')))
    expect(performance.now() - since).toBeLessThan(10_000)
  })

  it('tells a broken stream from one that ended', async () => {
    const body = new Readable({ read: () => undefined })
    const reading = readEvents(
      body,
      { maxChars: 9, onRetry: () => undefined, onEvent: () => false },
      new ManualClock(),
    )
    body.destroy(new Error('reset'))
    expect(await reading).toBe('cut')
  })
})

describe('collect', () => {
  it.each([
    ['\ufeffé', 10, { kind: 'whole', text: 'é' }],
    ['12345', 5, { kind: 'whole', text: '12345' }],
    ['123456', 5, { kind: 'too-large', text: '12345' }],
  ])('%j within %i bytes', async (text, cap, expected) => {
    expect(await collect(Readable.from([Buffer.from(text)], { objectMode: false }), cap)).toEqual(expected)
  })
})

describe('drain', () => {
  it('gives up a body that is long, or slow; and needs no time for one that is over', async () => {
    const clock = new ManualClock()
    const long = Readable.from(
      Array.from({ length: 9 }, () => Buffer.alloc(16 * 1024)),
      { objectMode: false },
    )
    drain(long, clock)
    await new Promise((resolve) => long.once('close', resolve))
    expect(long.readableEnded).toBe(false)
    const slow = new Readable({ read: () => undefined })
    drain(slow, clock)
    await clock.fire(500)
    expect(slow.destroyed).toBe(true)
    await new Promise((resolve) => slow.once('close', resolve))
    drain(slow, clock)
    expect(clock.armed()).toBe(0)
  })
})
