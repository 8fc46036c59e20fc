/** Owns the tests of the walk over the pages of a list: every way a list may end, and that it always does. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { walkPages } from '../../src/discovery/pages.ts'
import type { PageLimits } from '../../src/discovery/pages.ts'
import type { JsonObject, JsonValue } from '../../src/types.ts'

const LIMITS = { pages: 5, items: 100, chars: 10_000 }

/** Walk over pages that are there; asking for more than there are is a fault of the walk. */
async function walk(pages: readonly JsonObject[], over: Partial<PageLimits> = {}) {
  const cursors: (string | undefined)[] = []
  const result = await walkPages('tools', { ...LIMITS, ...over }, async (cursor) => {
    cursors.push(cursor)
    const page = pages[cursors.length - 1]
    if (page === undefined) throw new Error('read past the end')
    return page
  })
  return { ...result, cursors }
}

describe('walkPages', () => {
  it('reads one page', async () => {
    expect(await walk([{ tools: [1, 2] }])).toEqual({
      items: [1, 2],
      warnings: [],
      freshMs: 0,
      cursors: [undefined],
    })
  })

  it('follows cursors in order, also an empty one', async () => {
    const found = await walk([
      { tools: [1], nextCursor: '' },
      { tools: [], nextCursor: 'b' },
      { tools: [2], nextCursor: null },
    ])
    expect(found).toMatchObject({ items: [1, 2], warnings: [], cursors: [undefined, '', 'b'] })
  })

  it.each<[string, JsonValue, string[]]>([
    ['null', null, []],
    ['a number', 7, ['page 1 has a nextCursor that is no string']],
    ['an object', { page: 2 }, ['page 1 has a nextCursor that is no string']],
    ['false', false, ['page 1 has a nextCursor that is no string']],
  ])('takes %s for the end', async (_what, nextCursor, warnings) => {
    expect(await walk([{ tools: [1], nextCursor }])).toMatchObject({ items: [1], warnings })
  })

  it.each([
    [
      'at once',
      [
        { tools: [1], nextCursor: 'a' },
        { tools: [2], nextCursor: 'a' },
      ],
    ],
    [
      'the empty one',
      [
        { tools: [1], nextCursor: '' },
        { tools: [2], nextCursor: '' },
      ],
    ],
  ])('ends at a repeated cursor: %s', async (_what, pages) => {
    expect(await walk(pages)).toMatchObject({
      items: [1, 2],
      warnings: ['page 2 repeats a cursor: the list ends there'],
    })
  })

  it('ends at a cursor of long ago', async () => {
    const pages = ['a', 'b', 'c', 'a'].map((nextCursor, at) => ({ tools: [at], nextCursor }))
    expect((await walk(pages)).warnings).toEqual(['page 4 repeats a cursor: the list ends there'])
  })

  it('ends after limits.pages, however many cursors there are', async () => {
    let page = 0
    const found = await walkPages('tools', LIMITS, async () => ({ tools: [page], nextCursor: `c${page++}` }))
    expect(found).toMatchObject({
      items: [0, 1, 2, 3, 4],
      warnings: ['the list was cut after 5 pages (limits.pages)'],
    })
  })

  it('keeps a list that ends exactly at the cap without a word', async () => {
    const pages = ['a', 'b', 'c', 'd', undefined].map((nextCursor) => ({
      tools: [0],
      ...(nextCursor === undefined ? {} : { nextCursor }),
    }))
    expect((await walk(pages)).warnings).toEqual([])
    expect((await walk([{ tools: [1, 2, 3] }], { pages: 1, items: 3 })).warnings).toEqual([])
  })

  it('cuts at limits.items in the middle of a page and reads no further', async () => {
    const found = await walk(
      [
        { tools: [1, 2], nextCursor: 'a' },
        { tools: [3, 4], nextCursor: 'b' },
      ],
      {
        pages: 5,
        items: 3,
      },
    )
    expect(found).toMatchObject({
      items: [1, 2, 3],
      warnings: ['the list was cut at 3 tools (limits.tools)'],
    })
    expect(found.cursors).toHaveLength(2)
  })

  it.each<[string, JsonObject]>([
    ['nothing', {}],
    ['an object', { tools: { 0: 'a' } }],
    ['a string', { tools: 'abc' }],
    ['null', { tools: null }],
  ])('finds fault where the array is missing: %s', async (_what, page) => {
    expect(await walk([page])).toMatchObject({ fault: 'page 1 has no tools array' })
    const second = await walk([{ tools: [1], nextCursor: 'a' }, page])
    expect(second).toMatchObject({ fault: 'page 2 has no tools array' })
  })

  it('cuts a list that grows too large, over all pages, and reads no further', async () => {
    const tool = (size: number) => ({ name: 'x'.repeat(size) })
    const pages = [
      { tools: [tool(400), tool(400)], nextCursor: 'a' },
      { tools: [tool(100), tool(100), tool(1)], nextCursor: 'b' },
    ]
    const found = await walk(pages, { chars: 1_000 })
    expect(found).toMatchObject({
      items: [tool(400), tool(400), tool(100)],
      warnings: ['the list was cut at 1000 bytes (limits.messageBytes)'],
    })
    expect(found.cursors).toHaveLength(2)
    const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`) as JsonValue
    expect((await walk([{ tools: [deep] }], { chars: 1_000 })).items).toEqual([])
  })

  it('passes a rejection on: never half a list', async () => {
    await expect(walk([{ tools: [1], nextCursor: 'a' }])).rejects.toThrow('read past the end')
  })

  it('always ends, within both caps', async () => {
    const pages = fc.record(
      {
        tools: fc.oneof(fc.array(fc.jsonValue(), { maxLength: 8 }), fc.jsonValue()),
        nextCursor: fc.oneof(fc.constantFrom('', 'a', 'b', 'c'), fc.string(), fc.jsonValue()),
      },
      { requiredKeys: [] },
    )
    const limits = fc.record({
      pages: fc.integer({ min: 1, max: 6 }),
      items: fc.integer({ min: 1, max: 12 }),
      chars: fc.integer({ min: 1, max: 400 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(pages, { minLength: 1, maxLength: 10 }), limits, async (list, caps) => {
        let reads = 0
        const { items } = await walkPages(
          'tools',
          caps,
          async () => list[reads++ % list.length] as JsonObject,
        )
        expect(reads).toBeLessThanOrEqual(caps.pages)
        expect(items.length).toBeLessThanOrEqual(caps.items)
      }),
    )
  })
})
