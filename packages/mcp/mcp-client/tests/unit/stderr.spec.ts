/** Owns the tests of the bounded tail of stderr. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StderrTail } from '../../src/connection/stdio-stderr.ts'
import { createRedactor } from '../../src/redaction.ts'

const plain = (text: string): string => text

describe('StderrTail', () => {
  it('is empty at first, then the trimmed text', () => {
    const tail = new StderrTail(100, plain)
    expect(tail.text()).toBe('')
    tail.push(Buffer.from('one\r\ntwo'))
    tail.push(Buffer.from('\nthree\n\n'))
    expect(tail.text()).toBe('one\ntwo\nthree')
  })

  it('keeps whole last lines within the cap, for any chunks', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 6 })
    const all = Array.from({ length: 9_000 }, (_, index) => `line ${index}`)
    const bytes = Buffer.from(`${all.join('\n')}\n`)
    fc.assert(
      fc.property(sizes, fc.integer({ min: 0, max: 9_000 }), (pieces, maxBytes) => {
        const tail = new StderrTail(maxBytes, plain)
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = pieces[turn % pieces.length] ?? 1
          tail.push(bytes.subarray(at, at + size))
          at += size
        }
        const text = tail.text()
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes)
        const lines = text.split('\n')
        if (maxBytes > 20) expect(lines).toEqual(all.slice(-lines.length))
        if (maxBytes > 20) expect(Buffer.byteLength(text)).toBeGreaterThan(maxBytes - 20)
      }),
      { numRuns: 60 },
    )
  })

  it('cuts one line without end, and shows no control characters', () => {
    const tail = new StderrTail(10, plain)
    tail.push(Buffer.from(`\u001b[31m${'x'.repeat(20_000)}`))
    expect(tail.text()).toBe('…')
    tail.push(Buffer.from(' red\u001b[0m \u0007alert\rdone'))
    expect(tail.text()).toBe('done')
  })

  it('never shows a secret, at no place of the ring and through no trick', () => {
    const secret = 'sk-1234567890abcdef'
    const redact = createRedactor([secret])
    for (let padding = 0; padding < 60; padding += 1) {
      const tail = new StderrTail(40, redact)
      tail.push(Buffer.from(`token ${secret} ${'.'.repeat(padding)}\n${'x'.repeat(4_080)} token ${secret}`))
      tail.push(Buffer.from(`\nsk-123\u200b4567890\u001b[0mabcdef is split`))
      expect(tail.text()).toBe('[redacted] is split')
    }
    // A secret that cleaning would change is cut out before.
    const odd = new StderrTail(100, createRedactor(['two\r\nlines-of-it']))
    odd.push(Buffer.from('<two\r\nlines-of-it>'))
    expect(odd.text()).toBe('<[redacted]>')
    // The start of the secret is lost with the start of the ring; its end must go too.
    for (let lost = 1; lost < secret.length; lost += 1) {
      const tail = new StderrTail(4_000, redact)
      tail.push(Buffer.from(`${secret}\n${secret.repeat(2)}${' '.repeat(8_096 - secret.length - lost)}`))
      for (let rest = 4; rest < secret.length; rest += 1)
        expect(tail.text()).not.toContain(secret.slice(-rest))
    }
  })
})
