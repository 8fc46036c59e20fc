/** Owns the tests of the pure parts of resources: definitions, pages, contents, watches. */
import { describe, expect, it } from 'vitest'
import { McpError } from '../../src/errors.ts'
import { toCallResult } from '../../src/resources/contents.ts'
import { offerOf, resourceEntries } from '../../src/resources/entries.ts'
import { PAGE_ITEMS, pageOf, readListing } from '../../src/resources/listing.ts'
import { MAX_WATCHED, Watches } from '../../src/resources/watches.ts'
import type { JsonObject, Session } from '../../src/types.ts'

const RUN = { list: async () => ({}), read: async () => ({}) }
const LIMITS = { pages: 10, messageBytes: 1_000_000 }
const ANY = { signal: new AbortController().signal }

describe('the two tools', () => {
  it('are there where the server announces resources, and watch where it tells of changes', () => {
    expect(offerOf({ capabilities: {} })).toBeUndefined()
    expect(offerOf({ capabilities: { resources: {} } })).toEqual({ canWatch: false })
    expect(offerOf({ capabilities: { resources: true } })).toEqual({ canWatch: false })
    expect(offerOf({ capabilities: { resources: { subscribe: true } } })).toEqual({ canWatch: true })
  })

  it('have the same bytes each time, and others where they can watch', () => {
    const [first, again, other] = [false, false, true].map((canWatch) =>
      resourceEntries('kit', { canWatch }, RUN),
    )
    expect(JSON.stringify(again)).toBe(JSON.stringify(first))
    expect(first?.map(({ publicName }) => publicName)).toEqual([
      'mcp__kit__list_resources',
      'mcp__kit__read_resource',
    ])
    expect(JSON.stringify(first)).not.toContain('watch')
    expect(other?.[1]?.digest).not.toBe(first?.[1]?.digest)
    expect(other?.[0]?.digest).toBe(first?.[0]?.digest)
    expect(new Set(first?.map(({ digest }) => digest)).size).toBe(2)
  })
})

describe('a listing', () => {
  function session(results: Readonly<Record<string, JsonObject | Error>>): Session {
    return {
      request: async (method: string, params: JsonObject) => {
        const result = results[`${method}${String(params['cursor'] ?? '')}`] ?? results[method]
        if (result instanceof Error) throw result
        return result ?? {}
      },
    } as Partial<Session> as Session
  }
  const rejected = (rpcCode: number): McpError =>
    new McpError('no', { code: 'MCP_REQUEST_REJECTED', server: 's', stage: 'execution', data: { rpcCode } })

  it('takes each item alone, over all pages, and what is shown of it clean and short', async () => {
    const listing = await readListing(
      session({
        'resources/list': {
          resources: [
            'odd',
            { name: 'no uri' },
            { uri: '' },
            { uri: `a:${'x'.repeat(3_000)}` },
            {
              uri: 'a:1',
              name: 'o\u200bne\n',
              title: 'One',
              description: 'd'.repeat(1_000),
              mimeType: 'text/plain',
              size: 3,
            },
          ],
          nextCursor: '2',
        },
        'resources/list2': { resources: [{ uri: 'a:2', name: 7, size: 'big', title: '' }] },
        'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'a:{id}', name: 'by id' }] },
      }),
      LIMITS,
      ANY,
    )
    expect(listing.resources).toHaveLength(2)
    expect(listing.resources[0]).toMatchObject({
      uri: 'a:1',
      name: 'one',
      title: 'One',
      mimeType: 'text/plain',
      size: 3,
    })
    expect(String(listing.resources[0]?.['description']).length).toBeLessThanOrEqual(400)
    expect(listing.resources[1]).toEqual({ uri: 'a:2', name: 'a:2' })
    expect(listing.templates).toEqual([{ uriTemplate: 'a:{id}', name: 'by id' }])
  })

  it('is empty where the server does not know a list, and rejects for any other reason', async () => {
    const half = session({
      'resources/list': { resources: [] },
      'resources/templates/list': rejected(-32_601),
    })
    expect(await readListing(half, LIMITS, ANY)).toEqual({ resources: [], templates: [], gaps: [] })
    await expect(readListing(session({ 'resources/list': rejected(-32_603) }), LIMITS, ANY)).rejects.toThrow(
      'no',
    )
    await expect(readListing(session({ 'resources/list': new Error('gone') }), LIMITS, ANY)).rejects.toThrow(
      'gone',
    )
  })

  it('says what may be missing: a list that is refused, none, or cut costs itself', async () => {
    const one = { resources: [{ uri: 'a:1', name: 'one' }] }
    const read = (results: Readonly<Record<string, JsonObject | Error>>) =>
      readListing(session(results), LIMITS, ANY)
    const templates = { resourceTemplates: [{ uriTemplate: 'a:{id}', name: 'by id' }] }
    expect(
      await read({ 'resources/list': one, 'resources/templates/list': rejected(-32_603) }),
    ).toMatchObject({ resources: one.resources, gaps: ['templates may be missing: no'] })
    expect(
      await read({ 'resources/list': rejected(-32_603), 'resources/templates/list': templates }),
    ).toMatchObject({ resources: [], gaps: ['resources may be missing: no'] })
    expect(await read({ 'resources/list': { resources: 7 }, 'resources/templates/list': templates })).toEqual(
      {
        resources: [],
        templates: templates.resourceTemplates,
        gaps: ['resources may be missing: page 1 has no resources array'],
      },
    )
    expect(
      await read({
        'resources/list': { ...one, nextCursor: 'again' },
        'resources/templates/list': templates,
      }),
    ).toMatchObject({
      gaps: ['resources may be missing: page 2 repeats a cursor: the list ends there'],
    })
    const items = Array.from({ length: 10_001 }, (_, at) => ({ uri: `a:${at}`, name: 'x' }))
    expect(
      (await read({ 'resources/list': { resources: items }, 'resources/templates/list': templates })).gaps,
    ).toEqual(['resources may be missing: the list was cut at 10000 resources'])
    await expect(
      read({ 'resources/list': one, 'resources/templates/list': new Error('gone') }),
    ).rejects.toThrow('gone')
  })

  const many = {
    resources: Array.from({ length: PAGE_ITEMS + 10 }, (_, at) => ({ uri: `a:${at}`, name: `Item ${at}` })),
    templates: [{ uriTemplate: 'a:{id}', name: 'by id', description: 'Any item' }],
  }

  it('comes in pages, templates first', () => {
    const first = pageOf(many, { query: '', cursor: '' })
    expect([first['templates'], (first['resources'] as unknown[]).length, first['nextCursor']]).toEqual([
      many.templates,
      PAGE_ITEMS - 1,
      '50',
    ])
    const second = pageOf(many, { query: '', cursor: '50' })
    expect((second['resources'] as unknown[]).length).toBe(11)
    expect(second).not.toHaveProperty('nextCursor')
    expect(second['templates']).toEqual([])
    expect(pageOf(many, { query: '', cursor: 'odd' })).toEqual(first)
    expect(pageOf(many, { query: '', cursor: '999999' })).toEqual({ resources: [], templates: [] })
  })

  it('can be searched by words in any field', () => {
    expect(pageOf(many, { query: 'item  ANY', cursor: '' })).toMatchObject({ resources: [], templates: [{}] })
    expect(pageOf(many, { query: 'a:17', cursor: '' })).toEqual({
      resources: [{ uri: 'a:17', name: 'Item 17' }],
      templates: [],
    })
  })
})

describe('contents', () => {
  it('become blocks that the projection knows', () => {
    const text = { uri: 'a:1', text: 'hi' }
    const pdf = { uri: 'a:2', blob: 'AAAA', mimeType: 'application/pdf' }
    expect(
      toCallResult({
        contents: [
          text,
          pdf,
          { uri: 'a:3', blob: 'AAAA', mimeType: 'image/png' },
          { uri: 'a:4', blob: 'AAAA', mimeType: 'audio/wav' },
          { uri: 'a:5', blob: 'AAAA' },
          'odd',
        ],
      }),
    ).toEqual({
      content: [
        { type: 'resource', resource: text },
        { type: 'resource', resource: pdf },
        { type: 'text', text: 'Resource a:3:' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'text', text: 'Resource a:4:' },
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'a:5', blob: 'AAAA' } },
        { type: 'resource', resource: 'odd' },
      ],
    })
  })

  it('of one image are the image alone, and one without a URI has none', () => {
    const image = { blob: 'AAAA', mimeType: 'image/png' }
    const block = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
    expect(toCallResult({ contents: [{ uri: 'a:3', ...image }] })).toEqual({ content: [block] })
    expect(toCallResult({ contents: [image, image] })).toEqual({ content: [block, block] })
  })

  it.each([[{}], [{ contents: [] }], [{ contents: 'odd' }]])(
    'that are none are said to be none: %j',
    (result) => {
      expect(toCallResult(result, ['note'])).toEqual({
        content: [
          { type: 'text', text: '(the resource has no contents)' },
          { type: 'text', text: 'note' },
        ],
      })
    },
  )
})

describe('watches', () => {
  it('tell each agent what changed since it read it', () => {
    const watches = new Watches()
    const [ada, bob] = [{}, {}]
    expect([watches.add('a:1', ada), watches.add('a:1', ada), watches.add('a:1', bob)]).toEqual([
      'added',
      'known',
      'added',
    ])
    watches.add('a:2', ada)
    expect(watches.newsFor(ada)).toEqual([])
    watches.updated('a:1')
    watches.updated('a:unknown')
    expect([
      watches.newsFor(ada),
      watches.newsFor(bob),
      watches.newsFor({}),
      watches.newsFor(undefined),
    ]).toEqual([['a:1'], ['a:1'], [], []])
    expect([watches.read('a:1', ada), watches.read('a:1', ada), watches.read('a:unknown', ada)]).toEqual([
      true,
      false,
      false,
    ])
    expect([watches.newsFor(ada), watches.newsFor(bob)]).toEqual([[], ['a:1']])
    expect([watches.delete('a:1', ada), watches.delete('a:1', ada), watches.uris()]).toEqual([
      true,
      false,
      ['a:1', 'a:2'],
    ])
    expect([watches.delete('a:1', bob), watches.uris()]).toEqual([true, ['a:2']])
    expect(watches.delete('a:unknown', bob)).toBe(false)
  })

  it('are capped, and agents that are gone watch nothing', () => {
    const gone = new Set<object>()
    const watches = new Watches((agent) => ({ deref: () => (gone.has(agent) ? undefined : agent) }))
    const agents = Array.from({ length: MAX_WATCHED }, () => ({}))
    for (const [at, agent] of agents.entries()) expect(watches.add(`a:${at}`, agent)).toBe('added')
    expect(watches.add('a:more', {})).toBe('full')
    expect(watches.add('a:0', {})).toBe('added')
    gone.add(agents[0] as object).add(agents[1] as object)
    expect(watches.uris()).toHaveLength(MAX_WATCHED - 1)
    expect(watches.uris()).toContain('a:0')
    expect(watches.uris()).not.toContain('a:1')
    expect(watches.add('a:more', {})).toBe('added')
  })

  it('hear of parts of what is watched, and of a change for one agent alone', () => {
    const watches = new Watches()
    const [ada, bob] = [{}, {}]
    for (const agent of [ada, bob]) watches.add('a:dir', agent)
    watches.add('a:dirt', ada)
    watches.add('a:folder/', ada)
    watches.updated('a:dir/file')
    watches.updated('a:folder/file')
    expect(watches.newsFor(ada)).toEqual(['a:dir', 'a:folder/'])
    watches.read('a:dir', ada)
    watches.read('a:dir', bob)
    watches.updated('a:dir', bob)
    expect([watches.newsFor(ada), watches.newsFor(bob)]).toEqual([['a:folder/'], ['a:dir']])
  })

  it('name URIs as a prompt can hold them, and not too many', () => {
    const watches = new Watches()
    const agent = {}
    watches.add('a:{{persona}}\u202e\nb', agent)
    watches.updated('a:{{persona}}\u202e\nb')
    expect(watches.newsFor(agent)).toEqual(['a:%7B%7Bpersona%7D%7D b'])
    for (let at = 0; at < 30; at++) {
      watches.add(`a:${at}`, agent)
      watches.updated(`a:${at}`)
    }
    expect(watches.newsFor(agent)).toHaveLength(20)
  })
})
