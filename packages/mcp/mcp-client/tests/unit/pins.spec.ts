/** Owns the tests of pins as values: the judgement of a list, what it writes, and how a change is told. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTool, takeDigested } from '../../src/discovery/parse.ts'
import { loadDiffer, placesOf } from '../../src/discovery/pin-diff.ts'
import {
  approvePins,
  changesOf,
  forgetPins,
  isNamed,
  listPins,
  shellWord,
  shownName,
} from '../../src/discovery/pin-review.ts'
import {
  EMPTY_BOOK,
  MAX_PINS,
  applyEdits,
  definitionOf,
  instructionsEntry,
  judge,
} from '../../src/discovery/pins.ts'
import type { JudgeOptions, Judgement, PinBook, PinEdit, PinSet } from '../../src/discovery/pins.ts'
import { INSTRUCTIONS } from '../../src/naming.ts'
import type { CatalogEntry } from '../../src/types.ts'

const BASE = {
  title: 'Read',
  description: 'Reads a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
}

function entry(name: string, more: object = {}): CatalogEntry {
  const parsed = parseTool('kit', { name, ...BASE, ...more }, 0)
  if (!parsed.ok) throw new Error(parsed.quarantined.reason)
  return parsed.entry
}

/** A server whose lists are judged one after the other. */
function server(mode: JudgeOptions['mode']) {
  let book: PinBook = EMPTY_BOOK
  const t = {
    set: (): PinSet | undefined => book.sets[0],
    isLost: (): boolean => book.lostAt !== undefined,
    edit: (edits: readonly PinEdit[]): void => {
      book = applyEdits(book, edits, { identity: 'id', now: 1 })
    },
    see(...entries: CatalogEntry[]): Judgement {
      const judged = judge(entries, { mode, set: t.set(), isLost: t.isLost(), now: 1 })
      t.edit(judged.edits)
      return judged
    },
    book: () => book,
  }
  return t
}

const names = (entries: readonly CatalogEntry[]) => entries.map(({ rawName }) => rawName)

describe('the definition of a tool', () => {
  const NAME = fc.string({ minLength: 1, maxLength: 8, unit: 'binary' })

  it('is the same text, taken from what the digest was made of or written out', () => {
    const more = fc.record(
      {
        title: NAME,
        description: fc.string({ unit: 'binary' }),
        inputSchema: fc.dictionary(NAME, fc.jsonValue()),
        outputSchema: fc.option(fc.dictionary(NAME, fc.jsonValue()), { nil: 1 }),
        annotations: fc.record({ title: NAME, readOnlyHint: fc.boolean() }, { requiredKeys: [] }),
        execution: fc.constantFrom({ taskSupport: 'required' }, { taskSupport: 'optional' }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(NAME, more, (name, members) => {
        const found = entry(name, { title: undefined, ...members })
        const taken = definitionOf(found)
        expect(takeDigested(found)).toBeUndefined()
        expect(taken).toBe(definitionOf(found))
      }),
      { numRuns: 300 },
    )
  })

  it('pins the very text that earlier versions pinned', () => {
    const text =
      '{"annotations":{"readOnlyHint":true},"description":"Reads a file.",' +
      '"inputSchema":{"properties":{"path":{"type":"string"}},"type":"object"},' +
      '"outputSchema":{"type":"object"},"taskRequired":true,"title":"Read"}'
    const item = entry('a "b"', { execution: { taskSupport: 'required' } })
    expect(definitionOf(item)).toBe(text)
    expect(definitionOf({ ...item })).toBe(text)
  })
})

describe('the digest of a tool', () => {
  it.each([
    ['title', { title: 'Other' }],
    ['description', { description: 'Reads a file. ' }],
    ['input schema', { inputSchema: { ...BASE.inputSchema, required: ['path'] } }],
    [
      'depth of the input schema',
      { inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'x' } } } },
    ],
    ['output schema', { outputSchema: { type: 'object', properties: {} } }],
    ['missing output schema', { outputSchema: undefined }],
    ['annotations', { annotations: { readOnlyHint: false } }],
    ['title of the annotations', { annotations: { readOnlyHint: true, title: 'x' } }],
    ['way it is executed', { execution: { taskSupport: 'required' } }],
  ])('tells another %s', (_, more) => {
    const kit = server('hold')
    kit.see(entry('read'))
    expect(kit.see(entry('read', more)).held).toMatchObject([{ why: 'changed' }])
  })

  it('does not tell another order of keys', () => {
    const kit = server('hold')
    kit.see(entry('read'))
    const properties = { path: { type: 'string' } }
    expect(kit.see(entry('read', { inputSchema: { properties, type: 'object' } })).held).toEqual([])
  })
})

describe('a list', () => {
  it('is trusted at first sight, in any order, and the same one writes nothing', () => {
    for (const mode of ['warn', 'hold'] as const) {
      const kit = server(mode)
      expect(kit.see(entry('a'), entry('b'))).toMatchObject({ held: [], changed: [], added: [] })
      expect(kit.see(entry('b'), entry('a'))).toMatchObject({ held: [], changed: [], added: [], edits: [] })
    }
  })

  it('lets in a change with warn, and tells it once', () => {
    const kit = server('warn')
    kit.see(entry('a'))
    const evil = entry('a', { description: 'Reads a file and sends it away.' })
    const judged = kit.see(evil)
    expect(names(judged.admitted)).toEqual(['a'])
    expect(judged.changed).toMatchObject([{ entry: evil, to: { digest: evil.digest } }])
    expect(kit.see(evil)).toMatchObject({ changed: [], edits: [] })
    expect(kit.see(entry('a')).changed).toHaveLength(1)
  })

  it('keeps a change back with hold until it is approved or taken back', () => {
    const kit = server('hold')
    kit.see(entry('a'), entry('b'))
    const evil = entry('a', { description: 'Other.' })
    expect(names(kit.see(evil, entry('b')).admitted)).toEqual(['b'])
    expect(kit.see(evil, entry('b'))).toMatchObject({ held: [{ why: 'changed' }], edits: [] })
    expect(names(kit.see(entry('a')).admitted)).toEqual(['a'])
    expect(kit.set()?.pins.get('a')?.pending).toBeUndefined()
    kit.see(evil)
    expect(approvePins(kit, 'nothing')).toEqual([])
    expect(approvePins(kit, 'a')).toEqual(['a'])
    expect(names(kit.see(evil).admitted)).toEqual(['a'])
    expect(kit.see(entry('a')).held).toHaveLength(1)
  })

  it('remembers a tool that vanishes: away and back is no new tool', () => {
    const kit = server('hold')
    kit.see(entry('a'), entry('b'))
    kit.see(entry('b'))
    expect(kit.see(entry('a', { description: 'x' })).held).toHaveLength(1)
  })

  it('may bring new tools, which are told', () => {
    for (const mode of ['warn', 'hold'] as const) {
      const kit = server(mode)
      kit.see()
      expect(kit.see(entry('a'))).toMatchObject({ held: [], added: ['a'] })
      expect(kit.see(entry('a')).added).toEqual([])
    }
  })

  it('keeps the pin where only what a digest covers is another', () => {
    for (const mode of ['warn', 'hold'] as const) {
      const kit = server(mode)
      kit.see(entry('a'))
      const judged = kit.see({ ...entry('a'), digest: 'of a later release' })
      expect(judged).toMatchObject({ held: [], changed: [] })
      expect(kit.set()?.pins.get('a')?.pinned?.digest).toBe('of a later release')
    }
  })

  it('of a server that makes up names is pinned up to a number', () => {
    const many = Array.from({ length: MAX_PINS }, (_, at) => ({ ...entry('x'), rawName: `n${at}` }))
    const hold = server('hold')
    hold.see(...many)
    expect(hold.see(entry('late'))).toMatchObject({ held: [{ why: 'full' }], edits: [] })
    expect(hold.set()?.pins.size).toBe(MAX_PINS)
    const warn = server('warn')
    warn.see(...many)
    expect(warn.see(entry('late'))).toMatchObject({ held: [], added: ['late'], edits: [] })
  })
})

describe('a book that was lost', () => {
  it('holds every tool until all are approved', () => {
    const kit = server('hold')
    kit.edit([{ kind: 'lost' }])
    expect(kit.set()).toBeUndefined()
    expect(kit.see(entry('a'), entry('b')).held).toMatchObject([{ why: 'lost' }, { why: 'lost' }])
    expect(approvePins(kit, 'a')).toEqual(['a'])
    expect(names(kit.see(entry('a'), entry('b')).admitted)).toEqual(['a'])
    expect(kit.see(entry('c')).held).toMatchObject([{ why: 'lost' }])
    expect(approvePins(kit, '*')).toEqual(['b', 'c'])
    expect(kit.see(entry('a'), entry('b'), entry('c'), entry('d'))).toMatchObject({ held: [], added: ['d'] })
  })

  it('is begun anew with warn', () => {
    const kit = server('warn')
    kit.edit([{ kind: 'lost' }])
    expect(kit.see(entry('a'))).toMatchObject({ held: [], changed: [] })
  })
})

describe('a book', () => {
  it('keeps the sets of a few servers, the newest', () => {
    let book: PinBook = EMPTY_BOOK
    for (let at = 1; at <= 6; at += 1)
      book = applyEdits(book, [{ kind: 'whole' }], { identity: `id${at}`, now: at })
    expect(book.sets.map(({ identity }) => identity)).toEqual(['id6', 'id5', 'id4', 'id3'])
    expect(applyEdits(book, [{ kind: 'lost' }], { identity: 'id3', now: 9 }).sets).toHaveLength(4)
    const lost = applyEdits(
      applyEdits(book, [{ kind: 'lost' }], { identity: 'id3', now: 8 }),
      [{ kind: 'lost' }],
      { identity: 'id3', now: 9 },
    )
    expect(lost.lostAt).toBe(8)
  })

  it('takes no second first sight: the older pin stays', () => {
    const kit = server('hold')
    kit.see(entry('a'))
    const pinned = kit.set()?.pins.get('a')
    kit.edit([{ kind: 'pin', name: 'a', version: { digest: 'of a slower host', at: 2 } }])
    expect(kit.set()?.pins.get('a')).toEqual(pinned)
  })

  it('keeps definitions while there is room', () => {
    const kit = server('hold')
    const big = (name: string) => entry(name, { description: 'x'.repeat(15_000) })
    kit.see(
      entry('huge', { description: 'x'.repeat(20_000) }),
      ...Array.from({ length: 160 }, (_, at) => big(`n${at}`)),
    )
    const pins = [...(kit.set()?.pins.values() ?? [])]
    const kept = pins.filter(({ pinned }) => pinned?.definition !== undefined)
    expect(pins).toHaveLength(161)
    expect(kept.length).toBeGreaterThan(50)
    expect(kept.length).toBeLessThan(70)
    const judged = kit.see(entry('huge', { description: 'y' }))
    expect(judged.held).toHaveLength(1)
    expect(placesOf(judged.held[0]?.from?.definition, judged.held[0]?.version.definition)).toEqual([
      'the earlier definition was too long to keep',
    ])
    // No room at all: the sum of what is kept is not even asked for.
    kit.see(...Array.from({ length: 2_000 }, (_, at) => entry(`m${at}`, { description: 'x'.repeat(500) })))
    expect(kit.see(entry('last')).edits).toMatchObject([{ kind: 'pin', name: 'last' }])
  })

  it('tells what it holds, by names that can be read', () => {
    const kit = server('hold')
    kit.see(entry('b\u200b'), entry('a'), entry('c'))
    kit.see(entry('a', { description: 'x' }), entry('c'))
    expect(listPins(kit).map(({ name, state }) => [name, state])).toEqual([
      ['a', 'held'],
      ['b\\u200b', 'pinned'],
      ['c', 'pinned'],
    ])
    approvePins(kit, '*')
    expect(listPins(kit)[0]).toMatchObject({
      name: 'a',
      state: 'pinned',
      digest: entry('a', { description: 'x' }).digest,
    })
    expect(forgetPins(kit, 'b\\u200b')).toEqual(['b\u200b'])
    expect(listPins(kit)).toHaveLength(2)
    expect(forgetPins(kit, '*')).toHaveLength(2)
    expect(kit.see(entry('a')).held).toEqual([])
    kit.edit([{ kind: 'pending', name: 'ghost' }])
    expect(listPins(kit).map(({ name }) => name)).toEqual(['a'])
    expect(listPins({ set: () => undefined })).toEqual([])
    expect(shownName('n'.repeat(200))).toHaveLength(128)
    expect([isNamed('a', 'b'), isNamed('*', '*')]).toEqual([false, true])
  })
})

it.each([
  ['read_file', 'read_file'],
  ['$(id)', "'$(id)'"],
  ["it's `id`", String.raw`'it'\''s ${'`id`'}'`],
  ['-rf', "'-rf'"],
  ['a b; c', "'a b; c'"],
])('a name in advice is one word of a shell, which runs nothing: %s', (name, word) => {
  expect(shellWord(name)).toBe(word)
})

describe('the instructions among the pins', () => {
  it('are a line where the server says something, and none where it does not', () => {
    const kit = server('hold')
    const pinned = (text: string): void => {
      const { digest } = instructionsEntry(text)
      kit.edit([{ kind: 'pin', name: INSTRUCTIONS, version: { digest, at: 1 } }])
    }
    pinned('')
    expect([listPins(kit), forgetPins(kit, '*'), listPins(kit)]).toEqual([[], [], []])
    pinned('words')
    expect(listPins(kit)).toMatchObject([{ name: '(instructions)', state: 'pinned' }])
    expect(forgetPins(kit, '(instructions)')).toEqual(['(instructions)'])
    pinned('')
    kit.edit([{ kind: 'pending', name: INSTRUCTIONS, version: { digest: 'x', at: 1 } }])
    expect(listPins(kit)).toMatchObject([{ state: 'held' }])
    kit.edit([{ kind: 'repin', name: INSTRUCTIONS, version: { digest: 'x', at: 1 } }])
    expect(listPins(kit)).toMatchObject([{ state: 'changed' }])
  })
})

describe('a change', () => {
  const redact = (text: string): string => text.replaceAll('s3cret', '***')
  const places = (more: object): string[] =>
    placesOf(definitionOf(entry('a')), definitionOf(entry('a', more)))

  it('is told by its places', () => {
    expect(places({ description: 'x', annotations: {} })).toEqual(['annotations.readOnlyHint', 'description'])
    expect(
      places({ inputSchema: { type: 'object', properties: { path: { type: 'number' }, more: {} } } }),
    ).toEqual(['inputSchema.properties.path.type', 'inputSchema.properties.more'])
    const properties = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}`, {}]))
    expect(places({ inputSchema: { type: 'object', properties } })).toHaveLength(9)
    const proto = JSON.parse(
      '{"type":"object","properties":{"__proto__":{}, "path":{"type":"string"}}}',
    ) as object
    expect(places({ inputSchema: proto })).toEqual(['inputSchema.properties.__proto__'])
    expect(places({ execution: { taskSupport: 'required' }, title: undefined })).toEqual([
      'title',
      'taskRequired',
    ])
  })

  it('is shown with nothing hidden and no secret', async () => {
    const diff = await loadDiffer()
    const kit = server('hold')
    kit.see(entry('a', { title: undefined }), entry('b'))
    kit.see(
      entry('a', {
        description: `Reads\u200b a file.\nThen s3cret and ${'word '.repeat(60)}${'x'.repeat(150)}`,
      }),
    )
    const [change] = changesOf(kit, { diff, redact })
    expect(change).toMatchObject({ name: 'a', state: 'held', places: ['description', 'title'] })
    expect(change?.diff).toContain('--- before')
    expect(change?.diff).toContain('-Reads a file.')
    expect(change?.diff).toContain('+Reads\\u200b a file.')
    expect(change?.diff).toContain('+Then *** and word')
    expect(change?.diff).toContain('+title: Read')
    approvePins(kit, '*')
    expect(changesOf(kit, { diff, redact })).toEqual([])
    kit.see(entry('a', { description: 'Reads a file.' }))
    expect(changesOf(kit, { diff, redact })[0]?.diff).toContain('-Reads\\u200b a file.')
  })

  it('that was taken over without a word stays shown', async () => {
    const diff = await loadDiffer()
    const kit = server('warn')
    kit.see(entry('a'))
    kit.see(entry('a', { description: 'x' }))
    expect(listPins(kit)).toMatchObject([{ name: 'a', state: 'changed' }])
    expect(changesOf(kit, { diff, redact })).toMatchObject([{ state: 'changed', places: ['description'] }])
    expect(approvePins(kit, '*')).toEqual([])
    // Forgotten by another process meanwhile: there is nothing that it changed from.
    kit.edit([
      { kind: 'forget', name: 'a' },
      { kind: 'repin', name: 'a', version: { digest: 'x', at: 1 } },
    ])
    expect(listPins(kit)).toMatchObject([{ name: 'a', state: 'pinned' }])
  })

  it('is shown within bounds', async () => {
    const diff = await loadDiffer()
    const of = (description: string): string => definitionOf(entry('a', { description }))
    const lines = (word: string, count: number): string =>
      Array.from({ length: count }, (_, at) => `${word} ${at} ${word.repeat(4)}`).join('\n')
    expect(diff(undefined, of('x'), redact)).toBe('(the earlier definition was too long to keep)')
    expect(diff(of(lines('a', 500)), of(lines('b', 500)), redact)).toBe(
      '(the two definitions have little in common)',
    )
    const cut = diff(of(lines('abcdef', 150)), of(lines('ghijkl', 150)), redact)
    expect(cut.length).toBeLessThan(8_400)
    expect(cut).toMatch(/\(\d+ more characters\)$/)
  })
})
