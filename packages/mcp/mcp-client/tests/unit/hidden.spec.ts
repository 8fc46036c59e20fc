/** Owns the tests of the finding of hidden text in a definition. */
import { describe, expect, it } from 'vitest'
import { flaggedLine, hiddenOf } from '../../src/discovery/hidden.ts'
import type { CatalogEntry } from '../../src/types.ts'
import { makeEntry } from '../composition/registry-host.ts'

const find = (over: Partial<CatalogEntry>) =>
  hiddenOf(makeEntry(over), (text) => text.replaceAll('s3cret', '[redacted]'))

describe('hiddenOf', () => {
  it('finds nothing in a plain definition, whatever its script', () => {
    const description = 'Überprüft\tdie Köpfe\r\n家族 👨‍👩‍👧 می‌خواهم'
    expect(
      find({ description, title: 'Kopf', annotations: { title: 'Kopf', readOnlyHint: true } }),
    ).toBeUndefined()
  })

  it.each<[string, Partial<CatalogEntry>, number, string]>([
    ['a name', { rawName: 'a\u200bb' }, 1, 'name'],
    ['a title', { title: '\u202etitle' }, 1, 'title'],
    ['a description', { description: 'x\u{e0041}\u{e0042}' }, 2, 'description'],
    ['a terminal sequence', { description: 'x\u001b[31my' }, 1, 'description'],
    ['a lone return', { description: 'x\ry' }, 1, 'description'],
    ['a lone surrogate', { description: 'x\ud800y' }, 1, 'description'],
    ['an annotation', { annotations: { title: '\u2066' } }, 1, 'annotations/title'],
    [
      'an enum',
      { inputSchema: { properties: { a: { enum: ['b', 'c\u00ad'] } } } },
      1,
      'inputSchema/properties/a/enum/1',
    ],
    ['a key', { inputSchema: { properties: { 'a\u200bb': {} } } }, 1, 'inputSchema/properties'],
    ['an output schema', { outputSchema: { $comment: '\ufeff' } }, 1, 'outputSchema/$comment'],
  ])('finds it in %s', (_what, over, hidden, place) => {
    expect(find(over)).toMatchObject({ hidden, places: [place] })
  })

  it('is clean, bounded and without secrets itself', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 60_000 }, (_, at) => [
        `s3cret${at}`,
        { description: '\u200b\u001b[31m'.repeat(2) },
      ]),
    )
    const found = find({ rawName: `s3cret\u202e${'x'.repeat(500)}`, inputSchema: { properties } as never })
    expect(found?.name).toMatch(/^\[redacted\]x+…$/)
    expect(found?.name.length).toBeLessThanOrEqual(80)
    expect(found?.places).toHaveLength(10)
    expect(found?.places).toContain('inputSchema/properties/[redacted]0/description')
    expect(found?.hidden).toBeLessThan(60_000)
  })
})

describe('flaggedLine', () => {
  it('says nothing of nothing, and few words of many', () => {
    expect(flaggedLine([])).toBeUndefined()
    const flagged = Array.from({ length: 7 }, (_, at) => ({
      name: `t${at}`,
      hidden: 2,
      places: ['a', 'b', 'c', 'd'],
    }))
    expect(flaggedLine(flagged.slice(0, 1))).toBe(
      'hidden characters were removed from the definitions of tools: "t0" (2 in a, b, c)',
    )
    expect(flaggedLine(flagged)).toMatch(/"t4" \(2 in a, b, c\); 2 more$/)
  })
})
