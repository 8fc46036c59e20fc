/** Owns the tests of foreign text that is set apart for a person: marked, fenced, quoted, and counted where it is cut. */
import { describe, expect, it } from 'vitest'
import { fenceLines, markLines, nameOf, shorten } from '../../src/marked.ts'

const redact = (text: string) => text.replaceAll('s3cret', '***')

describe('foreign text', () => {
  it('is marked on each of its lines', () => {
    expect(markLines('a\r\nb\u2028c', 100)).toEqual(['| a', '| b', '| c'])
  })

  it('loses its middle, and says how much', () => {
    expect(markLines('a'.repeat(30), 10)).toEqual(['| aaaaa', '| (20 characters are not shown)', '| aaaaa'])
    const lines = markLines('a\n'.repeat(100), 1_000)
    expect(lines).toHaveLength(61)
    expect(lines[30]).toBe('| (41 lines are not shown)')
  })

  it('stands in a fence that nothing in it can end', () => {
    expect(fenceLines('plain', 100)).toEqual(['```', 'plain', '```'])
    expect(fenceLines('a ``` b\n`````', 100)).toEqual(['``````', 'a ``` b', '`````', '``````'])
  })

  it('breaks long lines of a fence at spaces, and only there', () => {
    const [, first = '', second = ''] = fenceLines('word '.repeat(40).trim(), 1_000)
    expect(first.length).toBeLessThanOrEqual(120)
    expect(`${first} ${second}`).toBe('word '.repeat(40).trim())
    expect(fenceLines('x'.repeat(300), 1_000)[1]).toHaveLength(300)
  })

  it('is one quoted line as a name', () => {
    expect(nameOf('a"b\n s3cret', redact)).toBe('"a\\"b\\n ***"')
    expect(shorten('abc', 3)).toBe('abc')
    expect(shorten('abcd', 3)).toBe('ab…')
    expect(shorten('a😀b', 3)).toBe('a\ufffd…')
  })
})
