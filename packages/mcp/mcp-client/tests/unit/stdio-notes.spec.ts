/** Owns the tests of how much one stdio server may say to the operator. */
import { describe, expect, it, vi } from 'vitest'
import { StdioNotes } from '../../src/connection/stdio-notes.ts'
import { createRedactor } from '../../src/redaction.ts'

describe('StdioNotes', () => {
  it('shows the first of a kind, counts the rest, and tells the count once', () => {
    const onNote = vi.fn<(level: string, text: string) => void>()
    const notes = new StdioNotes(onNote, (text) => text)
    const text = vi.fn<() => string>(() => 'stray')
    for (let index = 0; index < 20_000; index += 1) notes.note('noise', 'warn', text)
    for (let index = 0; index < 9; index += 1) notes.note('stderr', 'debug', () => 'words')
    notes.note('problem', 'warn', () => 'a batch')
    notes.finish()
    notes.finish()
    expect(onNote.mock.calls).toEqual([
      ['warn', 'stray'],
      ['debug', 'words'],
      ['warn', 'a batch'],
      ['debug', '19999 more of the kind "noise" from the server process'],
    ])
    expect(text).toHaveBeenCalledTimes(1)
  })

  it('quotes a text clean, short and without secrets', () => {
    const notes = new StdioNotes(() => undefined, createRedactor(['sk-1234567890']))
    expect(notes.quote('a\u001b[31mb\n\u0007c sk-123\u200b4567890 sk-1234567890')).toBe(
      'ab c [redacted] [redacted]',
    )
    expect(notes.quote('x'.repeat(1 << 20))).toHaveLength(200)
  })
})
