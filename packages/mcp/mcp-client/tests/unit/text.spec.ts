/** Owns the tests of src/text.ts: cleaning, lines, byte cuts. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanLine, cleanText, cutBytes, cutBytesEnd, inspectText, safeLine } from '../../src/text.ts'

describe('inspectText', () => {
  it.each([
    ['plain', 'a\tb\r\nc', 'a\tb\r\nc', 0],
    ['C0 and DEL', 'a\u0000b\u0008\u000b\u007fc', 'abc', 4],
    ['C1', 'a\u0085\u0090b', 'ab', 2],
    ['bidi overrides', 'a\u202eb\u2066c\u200ed\u061c', 'abcd', 4],
    ['zero width', 'a\u200bb\u2060c\ufeffd\u00ad\u034fe', 'abcde', 5],
    ['joiners between ASCII letters', 'a\u200db\u200cc', 'abc', 2],
    ['tags', 'ok\u{e0049}\u{e0067}\u{e0001}!', 'ok!', 3],
    ['selectors of the supplement', 'a\u{e0101}\u{e01ef}', 'a', 2],
    ['musical controls', 'a\u{1d173}\u{1d11e}', 'a\u{1d11e}', 1],
    ['fillers and vowel signs', '\u3164\u115f\uffa0\u17b4x\ufff9', 'x', 5],
    ['selectors behind nothing that varies', 'a\ufe01b\ufe0f\u200b', 'ab', 3],
    ['lone surrogates', 'a\ud800b\udc00', 'a\ufffdb\ufffd', 0],
    ['lone surrogates in the slow pass', '\u0000a\ud800b', 'a\ufffdb', 1],
    ['a tag in two halves', 'a\udb40\u200b\udc41', 'a\ufffd\ufffd', 1],
    ['a joiner before nothing that joins', '😀\u200d\u200b', '😀', 2],
    ['a joiner before a hidden filler', 'क\u200d\u17b4', 'क', 2],
    ['a joiner behind a selector that goes', 'a\ufe0f\u200d😀', 'a😀', 2],
    ['a high surrogate of the tag plane alone', 'a\udb40', 'a\ufffd', 0],
  ])('%s', (_name, text, clean, hidden) => {
    expect(inspectText(text)).toEqual({ text: clean, hidden })
  })

  it.each([
    ['emoji sequences', '👨‍👩‍👧 ❤️ ❤︎ ⚕️ 1️⃣ ©️ 🏳️‍🌈'],
    ['Persian and Devanagari joiners', 'می‌خواهم क्‍ष'],
    ['selectors of Han and of signs', '葛\u{e0100} 㐂︀ ≨︀'],
    ['joiners of the later Indic blocks', '\ua9c0\u200d\ua99a'],
    ['the registered sign as an emoji', '®\ufe0f ®\ufe0e'],
    ['line separators', 'a\u2028b\u2029c'],
  ])('keeps %s', (_name, text) => {
    expect(inspectText(text)).toEqual({ text, hidden: 0 })
  })

  it.each([
    ['colour', '\u001b[1;31mred\u001b[0m', 'red', 0],
    ['8-bit CSI', '\u009b31mred', 'red', 0],
    ['title by BEL and by ST', '\u001b]0;t\u0007a\u001b]8;;http://x\u001b\\b', 'ab', 0],
    ['device strings', '\u001bPq#0\u001b\\a\u001b_x\u001b\\', 'a', 0],
    ['two-byte and charset', '\u001bca\u001b(Bb\u001b=', 'ab', 0],
    ['an introducer without an end', 'a\u001b[\u00e9b\u001b', 'a[\u00e9b', 2],
    ['an unfinished title', 'a\u001b]0;text', 'a]0;text', 1],
    ['a title broken by another sequence', '\u001b]0;t\u001b[1mx', ']0;tx', 1],
    ['a charset at the end', 'a\u001b(', 'a(', 1],
    ['an escape before what ends nothing', '\u001b\u001f\u001b\u00e9', '\u00e9', 3],
    ['a charset without its letter', '\u001b(\u00e9', '(\u00e9', 1],
    ['a title that never ends', `\u001b]${'x'.repeat(5_000)}`, `]${'x'.repeat(5_000)}`, 1],
  ])('terminal: %s', (_name, text, clean, hidden) => {
    expect(inspectText(text)).toEqual({ text: clean, hidden })
  })

  it('is idempotent, well-formed, and leaves printable ASCII alone', () => {
    const odd = fc.string({ unit: 'binary', maxLength: 200 })
    const unit = fc.constantFrom(
      '\u001b',
      '[',
      'm',
      '\u200d',
      '\u202e',
      'a',
      '\ud800',
      '\udb40',
      '\udc01',
      '😀',
      '\ufe0f',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          odd,
          fc.array(unit, { maxLength: 40 }).map((units) => units.join('')),
        ),
        (text) => {
          const once = cleanText(text)
          expect(cleanText(once)).toBe(once)
          expect(once.isWellFormed()).toBe(true)
          expect(once).not.toMatch(
            /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b]/,
          )
        },
      ),
    )
  })

  it('is linear in hidden characters', () => {
    const timed = (units: number): number => {
      const start = performance.now()
      expect(inspectText('a\u200b'.repeat(units)).hidden).toBe(units)
      return performance.now() - start
    }
    timed(100_000)
    expect(timed(1_600_000)).toBeLessThan(timed(200_000) * 8 * 8 + 500)
  })
})

describe('cleanLine', () => {
  it('is one line without control characters', () => {
    expect(cleanLine(' a\r\nb\u2028c\u0085d\u001b[2Je\tf ', 80)).toBe('a b c de f')
  })
  it('is cut with a mark, never inside a character', () => {
    expect(cleanLine('abcdef', 6)).toBe('abcdef')
    expect(cleanLine('abcdefg', 6)).toBe('abcde…')
    expect(cleanLine('abcd😀efg', 6)).toBe('abcd…')
    expect(cleanLine('abc', 0)).toBe('…')
  })
  it('marks what it never read', () => {
    expect(cleanLine(`ok${'\u200b'.repeat(10_000)}rest`, 100)).toBe('ok…')
  })
})

describe('cutBytes', () => {
  it.each([
    ['aé€😀', 0, '', ''],
    ['aé€😀', 1, 'a', ''],
    ['aé€😀', 2, 'a', ''],
    ['aé€😀', 3, 'aé', ''],
    ['aé€😀', 4, 'aé', '😀'],
    ['aé€😀', 6, 'aé€', '😀'],
    ['aé€😀', 7, 'aé€', '€😀'],
    ['aé€😀', 10, 'aé€😀', 'aé€😀'],
    ['aé€😀', 99, 'aé€😀', 'aé€😀'],
  ])('%s at %i bytes', (text, bytes, head, tail) => {
    expect(cutBytes(text, bytes)).toBe(head)
    expect(cutBytesEnd(text, bytes)).toBe(tail)
  })

  it('keeps the limit, well-formed ends, and as much as fits', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 }).map((value) => value.toWellFormed())
    fc.assert(
      fc.property(text, fc.nat(80), (value, max) => {
        const head = cutBytes(value, max)
        const tail = cutBytesEnd(value, max)
        expect(value.startsWith(head) && value.endsWith(tail)).toBe(true)
        for (const part of [head, tail]) {
          expect(part.isWellFormed()).toBe(true)
          expect(Buffer.byteLength(part)).toBeLessThanOrEqual(max)
          expect(Buffer.byteLength(part)).toBeGreaterThan(Math.min(max, Buffer.byteLength(value)) - 4)
        }
      }),
    )
  })
})

describe('safeLine', () => {
  const redact = (text: string): string => text.replaceAll('top\tsecret', '#').replaceAll('s3cret', '#')
  it.each([
    ['a secret with a hidden character in it', 'a s3c\u200bret b', 'a # b'],
    ['a secret that cleaning would change', 'a top\tsecret b', 'a # b'],
    ['a secret across the cut', `${'x'.repeat(17)}s3cret and more`, `${'x'.repeat(17)}# …`],
  ])('%s', (_name, text, line) => {
    expect(safeLine(text, redact, 20)).toBe(line)
  })

  it('reads a bounded part of a huge text', () => {
    let read = 0
    const line = safeLine('y'.repeat(10_000_000), (text) => ((read += text.length), text), 20)
    expect(line).toBe(`${'y'.repeat(19)}…`)
    expect(read).toBeLessThan(20_000)
  })
})

describe('inspectText of a long text', () => {
  /** A long text is looked at in windows of 16 384 bytes, four at a time. */
  const LONG = 20_001

  it('gives a plain one back as it is', () => {
    const text = 'plain\ttext ~\n'.repeat(3_000)
    expect(inspectText(text)).toEqual({ text, hidden: 0 })
  })

  it('finds every hidden unit at every place of a word and of a window', () => {
    const units = Array.from({ length: 0x100 }, (_unit, code) => String.fromCharCode(code))
    for (const at of [0, 1, 2, 3, 16_383, 16_384, LONG - 1]) {
      for (const unit of [...units, '\u200b', '\ud800', '\udb40', '\u{e0041}', 'ｱ', '漢']) {
        // An escape takes the letter behind it along.
        const short = inspectText(`${unit}x`)
        const { text, hidden } = inspectText(`${'\n'.repeat(at)}${unit}${'x'.repeat(LONG - at)}`)
        expect(hidden, JSON.stringify({ unit, at })).toBe(short.hidden)
        expect(text === `${'\n'.repeat(at)}${short.text}${'x'.repeat(LONG - at - 1)}`, unit).toBe(true)
      }
    }
  })

  it('says of any text what it says of its lines', () => {
    const unit = fc.constantFrom(
      'a',
      '\t',
      '~',
      '\u0000',
      '\u007f',
      '\u0080',
      '\u00ad',
      '\r',
      'é',
      '\ufeff',
      '🙂',
    )
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), fc.nat(4_100), (odd, at) => {
        const text = odd.join('')
        const long = inspectText(`${'a'.repeat(at)}${text}b${'c'.repeat(5_000)}`)
        const short = inspectText(`a${text}b`)
        expect(long.hidden).toBe(short.hidden)
        expect(long.text).toBe(`${'a'.repeat(at)}${short.text.slice(1)}${'c'.repeat(5_000)}`)
      }),
      { numRuns: 200 },
    )
  })
})
