/** Owns the tests of parsing listed tools and of making a catalog of them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY_CATALOG, catalogMaker, createCatalog, itemOf } from '../../src/discovery/catalog.ts'
import { canonicalJson, parseTool } from '../../src/discovery/parse.ts'
import { McpError } from '../../src/errors.ts'
import type { CatalogEntry, JsonValue } from '../../src/types.ts'

const REJECT = { serverName: 'demo', tools: { duplicates: 'reject' } } as const
const KEEP_FIRST = { serverName: 'demo', tools: { duplicates: 'keep-first' } } as const

const walk = (...items: readonly unknown[]) => ({ items, warnings: [] })

function entryOf(item: unknown): CatalogEntry {
  const parsed = parseTool('demo', item, 0)
  if (!parsed.ok) throw new Error(parsed.quarantined.reason)
  return parsed.entry
}

/** Nested by text: no function of ours or of JSON walks it. */
function deep(levels: number): JsonValue {
  return JSON.parse(`${'{"properties":'.repeat(levels)}{}${'}'.repeat(levels)}`) as JsonValue
}

describe('parseTool', () => {
  it('reads everything a tool may have', () => {
    const entry = entryOf({
      name: 'get.thing',
      title: 'Get a thing',
      description: 'Gets it.',
      inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
      outputSchema: { type: 'object' },
      annotations: {
        title: 'Thing',
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
        other: true,
      },
      execution: { taskSupport: 'required' },
      icons: [{ src: 'ignored' }],
    })
    expect(entry).toEqual({
      rawName: 'get.thing',
      publicName: expect.stringMatching(/^mcp__demo__get_thing_[0-9a-f]{12}$/) as string,
      title: 'Get a thing',
      description: 'Gets it.',
      inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
      outputSchema: { type: 'object' },
      annotations: {
        title: 'Thing',
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      taskRequired: true,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    })
    expect(Object.isFrozen(entry)).toBe(true)
  })

  it.each<[string, unknown]>([
    ['nothing but a name', { name: 'a' }],
    [
      'null for all',
      { name: 'a', title: null, description: null, inputSchema: null, outputSchema: null, annotations: null },
    ],
    [
      'wrong kinds',
      { name: 'a', title: 7, description: [], outputSchema: 'x', annotations: [], execution: 'required' },
    ],
    [
      'wrong hints',
      { name: 'a', title: '', annotations: { title: 5, readOnlyHint: 'yes', openWorldHint: 1 } },
    ],
    ['another task support', { name: 'a', execution: { taskSupport: 'optional' } }],
  ])('repairs what cannot be misread: %s', (_what, item) => {
    expect(entryOf(item)).toEqual({
      rawName: 'a',
      publicName: 'mcp__demo__a',
      description: '',
      inputSchema: { type: 'object' },
      annotations: {},
      taskRequired: false,
      digest: entryOf({ name: 'a' }).digest,
    })
  })

  it('gives a changed definition another digest, whatever changed', () => {
    const base = { name: 'a', description: 'x', inputSchema: { type: 'object' } }
    const digests = [
      base,
      { ...base, name: 'b' },
      { ...base, title: 'T' },
      { ...base, description: 'y' },
      { ...base, inputSchema: { type: 'object', required: ['a'] } },
      { ...base, outputSchema: {} },
      { ...base, annotations: { readOnlyHint: true } },
      { ...base, annotations: { readOnlyHint: false } },
      { ...base, execution: { taskSupport: 'required' } },
    ].map((item) => entryOf(item).digest)
    expect(new Set(digests).size).toBe(digests.length)
  })

  it('gives a definition with shuffled keys the same digest', () => {
    const shuffle = (value: JsonValue): JsonValue =>
      Array.isArray(value)
        ? value.map(shuffle)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .toReversed()
                .map(([key, member]) => [key, shuffle(member)]),
            )
          : value
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (schema) => {
        const plain = JSON.parse(JSON.stringify(schema)) as JsonValue
        expect(entryOf({ name: 'a', inputSchema: shuffle(plain) }).digest).toBe(
          entryOf({ inputSchema: plain, name: 'a' }).digest,
        )
      }),
    )
  })

  it('tells apart what only looks alike', () => {
    expect(canonicalJson({ a: [1, 2] })).not.toBe(canonicalJson({ a: [2, 1] }))
    expect(canonicalJson({ a: '1' })).not.toBe(canonicalJson({ a: 1 }))
    expect(canonicalJson({ a: null })).not.toBe(canonicalJson({}))
    expect(canonicalJson({})).not.toBe(canonicalJson([]))
    expect(canonicalJson({ b: { d: 1, c: [{ f: 1, e: 2 }] }, a: 'x' })).toBe(
      '{"a":"x","b":{"c":[{"e":2,"f":1}],"d":1}}',
    )
    // As JSON has it: a member without a value is none.
    expect(canonicalJson({ a: undefined as never, b: 1 })).toBe('{"b":1}')
  })

  it('counts a __proto__ member like any other and sets nothing by it', () => {
    const parse = (text: string): JsonValue => JSON.parse(text) as JsonValue
    const tainted = parse('{"type":"object","properties":{"__proto__":{"polluted":true}}}')
    expect(canonicalJson(tainted)).not.toBe(canonicalJson(parse('{"type":"object","properties":{}}')))
    expect(canonicalJson(tainted)).toContain('"__proto__":{"polluted":true}')
    const entry = entryOf({ name: '__proto__', inputSchema: tainted })
    expect(entry.publicName).toBe('mcp__demo____proto__')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect(entryOf(parse('{"name":"a","__proto__":{"description":"inherited"}}')).description).toBe('')
  })

  it.each(['inputSchema', 'outputSchema'])('leaves out an %s that is too deep to walk', (member) => {
    const parsed = parseTool('demo', { name: 'pit', [member]: deep(50_000) }, 0)
    expect(parsed).toEqual({
      ok: false,
      quarantined: { name: 'pit', reason: 'the definition is nested too deeply' },
    })
  })
})

describe('createCatalog', () => {
  it('loses one tool for one bad entry: nine broken, two good', () => {
    const { entries, quarantined, warnings } = createCatalog(REJECT, {
      items: [
        { name: 'good-1', inputSchema: { type: 'object' } },
        null,
        'a string',
        ['an array'],
        42,
        {},
        { name: 7 },
        { name: '' },
        { name: `\u001b[31m${'x'.repeat(2_000)}` },
        { name: 'list-schema', inputSchema: [] },
        { name: '(instructions)' },
        { name: 'good-2' },
      ],
      warnings: ['page 2 has no tools array'],
    })
    expect(entries.map(({ rawName }) => rawName)).toEqual(['good-1', 'good-2'])
    expect(entries[1]?.inputSchema).toEqual({ type: 'object' })
    expect(quarantined).toEqual([
      { name: '#1', reason: 'the entry is not an object' },
      { name: '#2', reason: 'the entry is not an object' },
      { name: '#3', reason: 'the entry is not an object' },
      { name: '#4', reason: 'the entry is not an object' },
      { name: '#5', reason: 'the entry has no name' },
      { name: '#6', reason: 'the entry has no name' },
      { name: '#7', reason: 'the name is empty' },
      { name: `${'x'.repeat(79)}…`, reason: 'the name is longer than 1024 characters' },
      { name: 'list-schema', reason: 'inputSchema is not an object' },
      { name: '(instructions)', reason: 'the name is that of the instructions among the pins' },
    ])
    expect(warnings).toEqual(['page 2 has no tools array'])
  })

  it.each(['a string', 7, true])('leaves out a tool whose inputSchema is %j', (inputSchema) => {
    expect(createCatalog(REJECT, walk({ name: 'a', inputSchema }, { name: 'b' }))).toMatchObject({
      entries: [{ rawName: 'b' }],
      quarantined: [{ name: 'a', reason: 'inputSchema is not an object' }],
    })
  })

  it('takes names that are members of every object for what they are: names', () => {
    const names = ['__proto__', 'constructor', 'hasOwnProperty', 'toString']
    const { entries } = createCatalog(REJECT, walk(...names.map((name) => ({ name }))))
    expect(entries.map(({ rawName }) => rawName)).toEqual(names.toSorted())
  })

  it('refuses a list that names a tool twice', () => {
    const act = (): unknown => createCatalog(REJECT, walk({ name: 'a' }, { name: 'b' }, { name: 'a' }))
    expect(act).toThrow(McpError)
    expect(act).toThrow('server listed tool "a" more than once — invalid tool list')
    try {
      act()
    } catch (error) {
      expect(error).toMatchObject({
        code: 'MCP_LIST_INVALID',
        server: 'demo',
        stage: 'discovery',
        data: { tool: 'a' },
      })
    }
  })

  it('keeps the first one where the row says so', () => {
    const { entries, quarantined } = createCatalog(
      KEEP_FIRST,
      walk({ name: 'a', description: 'first' }, { name: 'a', description: 'second' }, { name: 'a' }),
    )
    expect(entries).toMatchObject([{ rawName: 'a', description: 'first' }])
    const reason = 'listed more than once; the first entry is kept'
    expect(quarantined).toEqual([
      { name: 'a', reason },
      { name: 'a', reason },
    ])
  })

  it.each([REJECT, KEEP_FIRST])(
    'leaves out the later of two that would share a public name: $tools',
    (spec) => {
      const twin = entryOf({ name: 'x.y' }).publicName.slice('mcp__demo__'.length)
      const items = [{ name: twin }, { name: 'x.y' }, { name: 'other' }]
      const catalog = createCatalog(spec, walk(...items))
      expect(catalog.entries.map(({ rawName }) => rawName)).toEqual(['other', 'x.y'])
      expect(catalog.quarantined).toEqual([
        { name: twin, reason: `its public name mcp__demo__${twin} is that of the tool "x.y"` },
      ])
      expect(createCatalog(spec, walk(...items.toReversed()))).toEqual(catalog)
    },
  )

  it('does not count a broken entry as the first of its name', () => {
    const { entries } = createCatalog(REJECT, walk({ name: 'a', inputSchema: 7 }, { name: 'a' }))
    expect(entries).toHaveLength(1)
  })

  it('is the same catalog in whatever order the tools are listed', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1 }), { maxLength: 20 })
    fc.assert(
      fc.property(
        names.chain((list) =>
          fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
        ),
        ([list, shuffled]) => {
          const [a, b] = [list, shuffled].map((order) =>
            createCatalog(REJECT, walk(...order.map((name) => ({ name })))),
          )
          expect(a).toEqual(b)
        },
      ),
    )
  })

  it('is frozen', () => {
    const catalog = createCatalog(REJECT, walk({ name: 'a' }))
    for (const part of [catalog, catalog.entries, catalog.quarantined, catalog.warnings, EMPTY_CATALOG]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
    expect(EMPTY_CATALOG.entries).toEqual([])
  })
})

describe('itemOf', () => {
  it.each<[string, unknown]>([
    ['plain', { name: 'a' }],
    [
      'with everything',
      {
        name: 'a.b',
        title: 'T',
        description: 'D',
        inputSchema: { type: 'object' },
        outputSchema: { type: 'object' },
        annotations: { title: 'X', readOnlyHint: false },
        execution: { taskSupport: 'required' },
      },
    ],
  ])('gives back what parses to the same entry: %s', (_what, item) => {
    const entry = entryOf(item)
    expect(entryOf(JSON.parse(JSON.stringify(itemOf(entry))))).toEqual(entry)
  })
})

describe('catalogMaker', () => {
  const tool = (name: string, description = '') => ({ name, description, inputSchema: { type: 'object' } })

  it('gives the same catalog for a list that says the same', () => {
    const make = catalogMaker(REJECT)
    const first = make(walk(tool('a'), tool('b')))
    expect(first).toEqual(createCatalog(REJECT, walk(tool('a'), tool('b'))))
    expect(make(walk(tool('a'), tool('b')))).toBe(first)
  })

  it.each([
    ['a text', walk(tool('a', 'other'), tool('b'))],
    ['a tool less', walk(tool('a'))],
    ['a place of a broken one', walk(tool('a'), tool('b'), 5)],
    ['a warning', { ...walk(tool('a'), tool('b')), warnings: ['the list was cut'] }],
  ])('makes a new one where %s is different', (_name, next) => {
    const make = catalogMaker(REJECT)
    const first = make(walk(tool('a'), tool('b')))
    const second = make(next)
    expect(second).not.toBe(first)
    expect(second).toEqual(createCatalog(REJECT, next))
  })

  it('knows only the last list, and not one that was refused', () => {
    const make = catalogMaker(REJECT)
    const first = make(walk(tool('a')))
    expect(() => make(walk(tool('b'), tool('b')))).toThrow(McpError)
    expect(() => make(walk(tool('b'), tool('b')))).toThrow(McpError)
    expect(make(walk(tool('a')))).toBe(first)
    make(walk(tool('c')))
    expect(make(walk(tool('a')))).not.toBe(first)
  })

  it('takes a list with shuffled keys for the same', () => {
    const make = catalogMaker(REJECT)
    const first = make(walk({ name: 'a', description: 'b' }))
    expect(make(walk({ description: 'b', name: 'a' }))).toBe(first)
  })

  it('reads a list that is nested too deeply in full each time', () => {
    const make = catalogMaker(REJECT)
    const odd = () => walk(tool('a'), { name: 'b', inputSchema: deep(100_000) })
    const first = make(odd())
    expect(first.entries.map(({ rawName }) => rawName)).toEqual(['a'])
    expect(first.quarantined).toHaveLength(1)
    const second = make(odd())
    expect(second).not.toBe(first)
    expect(second).toEqual(first)
  })
})
