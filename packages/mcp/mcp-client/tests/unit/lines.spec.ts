/** Owns the tests of line framing: any chunks, any text, any length, and no more memory than the cap. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineSplitter, WINDOW_BYTES } from '../../src/connection/lines.ts'
import type { Line } from '../../src/connection/lines.ts'

function split(chunks: Iterable<Buffer>, maxBytes: number): { lines: Line[]; splitter: LineSplitter } {
  const splitter = new LineSplitter(maxBytes)
  const lines: Line[] = []
  for (const chunk of chunks) {
    splitter.feed(chunk)
    for (let line = splitter.next(); line !== undefined; line = splitter.next()) lines.push(line)
  }
  return { lines, splitter }
}

function* cut(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

const texts = (lines: readonly Line[]): string[] =>
  lines.map((line) => (line.kind === 'text' ? line.text : `<${line.kind}>`))

describe('LineSplitter', () => {
  it('gives the same lines for every way to cut the bytes', () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 3_000 }).map((text) => text.replaceAll('\n', ' '))
    const sizes = fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), line, sizes, (whole, rest, pieces) => {
        const bytes = Buffer.from([...whole, rest].join('\n'))
        const { lines, splitter } = split(cut(bytes, pieces), 1 << 20)
        expect(texts(lines)).toEqual(whole)
        const last = splitter.end()
        expect(last === undefined ? '' : texts([last])[0]).toBe(rest)
        expect(splitter.end()).toBeUndefined()
      }),
    )
  })

  it('decodes a character whose bytes come one by one', () => {
    const { lines } = split(cut(Buffer.from('ä€😀\u2028\r\n'), [1]), 100)
    expect(texts(lines)).toEqual(['ä€😀\u2028\r'])
  })

  it('takes a line of exactly the cap and announces a longer one before it ends', () => {
    expect(texts(split([Buffer.from('12345\n')], 5).lines)).toEqual(['12345'])
    const { lines, splitter } = split([Buffer.from('a\n123'), Buffer.from('456')], 5)
    expect(lines).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'oversize', head: '123456' },
    ])
    expect(splitter.skippedBytes).toBe(6)
    splitter.feed(Buffer.from('78\nb\n'))
    expect([splitter.next(), splitter.next(), splitter.next()]).toEqual([
      { kind: 'skipped', tail: '12345678', bytes: 8 },
      { kind: 'text', text: 'b' },
      undefined,
    ])
    expect(splitter.skippedBytes).toBe(0)
  })

  it('keeps a window of the start and of the end of a long line, however it is cut', () => {
    const body = Buffer.from(Array.from({ length: 6_000 }, (_, index) => `${index},`).join(''))
    const sizes = fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 2, max: body.length - 1 }), (pieces, maxBytes) => {
        const [oversize, skipped, next] = split(
          cut(Buffer.concat([body, Buffer.from('\nok\n')]), pieces),
          maxBytes,
        ).lines
        if (oversize?.kind !== 'oversize' || skipped?.kind !== 'skipped') throw new Error('not skipped')
        // The start is known from the cap on: at least as much of it as the window holds.
        expect(body.toString().startsWith(oversize.head)).toBe(true)
        expect(oversize.head.length).toBeGreaterThanOrEqual(Math.min(maxBytes, WINDOW_BYTES))
        expect(oversize.head.length).toBeLessThanOrEqual(WINDOW_BYTES)
        expect(skipped).toEqual({
          kind: 'skipped',
          tail: body.subarray(-WINDOW_BYTES).toString(),
          bytes: body.length,
        })
        expect(next).toEqual({ kind: 'text', text: 'ok' })
      }),
    )
  })

  it('holds no more than the cap of a line without end', () => {
    const chunk = Buffer.alloc(65_536, 'x')
    const before = process.memoryUsage().arrayBuffers
    const { splitter } = split(Array.from({ length: 4_000 }, () => chunk).values(), 1 << 20)
    expect(splitter.skippedBytes).toBe(4_000 * 65_536)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 << 20)
    expect(splitter.end()).toEqual({ kind: 'skipped', tail: 'x'.repeat(WINDOW_BYTES), bytes: 4_000 * 65_536 })
  })

  it('copies small parts together instead of keeping a chunk for each', () => {
    const splitter = new LineSplitter(1 << 20)
    // Each byte in a slab of its own, as a stream gives them.
    for (let index = 0; index < 2_000; index += 1) {
      splitter.feed(Buffer.alloc(65_536, 'y').subarray(0, 1))
      expect(splitter.next()).toBeUndefined()
    }
    expect(splitter.end()).toEqual({ kind: 'text', text: 'y'.repeat(2_000) })
    expect((splitter as unknown as { parts: Buffer[] }).parts).toEqual([])
  })

  it('joins a large line once', () => {
    const line = Buffer.alloc(32 << 20, 'z')
    const started = performance.now()
    const { lines } = split(cut(Buffer.concat([line, Buffer.from('\n')]), [65_536]), 64 << 20)
    // The SDK's way, joining for each chunk, takes about a second here and four for twice the bytes.
    expect(performance.now() - started).toBeLessThan(5_000)
    expect(texts(lines)[0]?.length).toBe(32 << 20)
  })
})
