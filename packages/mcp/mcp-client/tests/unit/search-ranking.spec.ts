/** Owns the tests of the index of tools: what is found, in which order, and how much work a hostile text is. */
import { describe, expect, it } from 'vitest'
import { fieldsOf } from '../../src/search/fields.ts'
import { judge } from '../../src/search/judging.ts'
import { nearestNames } from '../../src/search/nearest.ts'
import { unitsOf } from '../../src/search/question.ts'
import { MAX_JUDGED, MAX_QUESTION_TOKENS, createToolIndex } from '../../src/search/ranking.ts'
import type { SearchableTool } from '../../src/search/ranking.ts'
import type { JsonObject } from '../../src/types.ts'

interface Draft {
  readonly title?: string
  readonly properties?: JsonObject
}

function tool(serverName: string, rawName: string, description: string, draft: Draft = {}): SearchableTool {
  const { title, properties = {} } = draft
  return {
    publicName: `mcp__${serverName}__${rawName}`,
    rawName,
    serverName,
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema: { type: 'object', properties },
  }
}

const TOOLS = [
  tool('github', 'create_issue', 'Create a new issue in a repository'),
  tool('github', 'create_issue_label', 'Create a label for issues in a repository'),
  tool('github', 'merge_pull_request', 'Merge a pull request'),
  tool('git', 'merge', 'Join two branches', { title: 'Git merge' }),
  tool('files', 'delete_folder', 'Removes a directory', {
    properties: { recursive: { type: 'boolean', description: 'Also what lies within' }, path: true },
  }),
  tool('files', 'read_file', 'Contents of a file as text'),
  tool('weather', 'get_forecast', 'Forecast for a place'),
  tool('memory', 'search_nodes', 'Search the knowledge graph'),
]
const index = createToolIndex(TOOLS)
const found = (query: string, options: Partial<Parameters<typeof index.search>[1]> = {}): string[] =>
  index.search(query, { limit: 5, ...options }).hits.map(({ publicName }) => publicName.replace('mcp__', ''))

describe('createToolIndex', () => {
  it.each([
    ['create issue', 'github__create_issue'],
    ['report a bug', 'github__create_issue'],
    ['get rid of the directory', 'files__delete_folder'],
    ['take that old folder away', 'files__delete_folder'],
    ['do I need an umbrella tomorrow', 'weather__get_forecast'],
    ['what did I tell you about the trip', 'memory__search_nodes'],
    ['what does notes.txt say', 'files__read_file'],
    ['把这个分支合并', 'git__merge'],
    ['删掉这个文件夹', 'files__delete_folder'],
    ['合并请求', 'github__merge_pull_request'],
  ])('finds for "%s" first %s', (query, first) => {
    expect(found(query)[0]).toBe(first)
  })

  it('prefers the name that says no more than was asked', () => {
    expect(found('create an issue').slice(0, 2)).toEqual([
      'github__create_issue',
      'github__create_issue_label',
    ])
  })

  it('forgives a misspelled word and half of one, of four letters and more', () => {
    expect(found('reposittory')[0]).toMatch(/^github__create_issue/)
    expect(found('recurs')).toEqual(['files__delete_folder'])
    expect(found('recursife')).toEqual(['files__delete_folder'])
    expect(found('xq')).toEqual([])
  })

  it('finds nothing for words of no tool', () => {
    expect(index.search('zzzzzzzz', { limit: 5 })).toEqual({ hits: [], total: 0 })
  })

  it('keeps to one server and to what is accepted, before it counts and cuts', () => {
    expect(found('merge', { server: 'git' })).toEqual(['git__merge'])
    expect(
      index.search('merge', { limit: 1, accepts: (name) => !name.endsWith('git__merge') }),
    ).toMatchObject({
      hits: [{ publicName: 'mcp__github__merge_pull_request' }],
      total: 1,
    })
    expect(found('merge', { server: 'nowhere' })).toEqual([])
  })

  it('pages without a gap and without a repeat', () => {
    const all = found('create issue in a repository', { limit: 50 })
    const pages = all.map((_name, offset) => found('create issue in a repository', { limit: 1, offset }))
    expect(pages.flat()).toEqual(all)
  })

  it('lists every tool by name for a blank question', () => {
    expect(index.search('  ', { limit: 2 })).toEqual({
      hits: [
        { publicName: 'mcp__files__delete_folder', score: 0 },
        { publicName: 'mcp__files__read_file', score: 0 },
      ],
      total: TOOLS.length,
    })
    expect(found('', { server: 'weather' })).toEqual(['weather__get_forecast'])
    expect(index.size).toBe(TOOLS.length)
  })

  it('gives the same ranking for the same tools in another order', () => {
    const other = createToolIndex(TOOLS.toReversed())
    const query = 'create an issue about merging'
    expect(other.search(query, { limit: 3 }).hits).toEqual(index.search(query, { limit: 3 }).hits)
  })

  it('has equals in the order of their names', () => {
    const twins = ['b', 'a', 'c'].map((server) => tool(server, 'list_rooms', 'All rooms'))
    const names = createToolIndex(twins)
      .search('rooms', { limit: 3 })
      .hits.map(({ publicName }) => publicName)
    expect(names).toEqual(names.toSorted())
  })

  it('is not fooled by names of prototype members', () => {
    const odd = createToolIndex([tool('odd', 'constructor', '__proto__ toString hasOwnProperty')])
    expect(odd.search('constructor toString', { limit: 5 }).total).toBe(1)
    expect(odd.search('valueOf', { limit: 5 }).total).toBe(0)
  })
})

describe('an index made from the one before', () => {
  const query = 'create an issue, merge the branch, delete the folder'
  const answer = (of: typeof index): unknown => [
    of.search(query, { limit: 9 }),
    of.nearest('merg', 9),
    of.size,
  ]

  it('answers as a new one does', () => {
    const [first, second, ...others] = TOOLS as [SearchableTool, SearchableTool, ...SearchableTool[]]
    const next = [{ ...second, description: 'Merge a branch' }, ...others, tool('new', 'delete_branch', '')]
    const again = createToolIndex(next, createToolIndex([first, second, ...others]))
    expect(answer(again)).toEqual(answer(createToolIndex(next)))
    expect(answer(createToolIndex([], again))).toEqual(answer(createToolIndex([])))
  })

  it.each<[string, Partial<SearchableTool>]>([
    ['nothing', {}],
    ['a raw name', { rawName: 'drop_branch' }],
    ['a server', { serverName: 'hub' }],
    ['a title', { title: 'Drop' }],
    ['a description', { description: 'Forget a branch' }],
    ['a schema', { inputSchema: { type: 'object', properties: { branch: {} } } }],
  ])('sees a change of %s', (_what, change) => {
    const old = tool('git', 'delete_branch', 'Delete a branch')
    const next = { ...old, ...change }
    const again = createToolIndex([next], createToolIndex([old]))
    for (const query of ['drop', 'forget', 'branch', 'hub']) {
      expect(again.search(query, { limit: 1 })).toEqual(createToolIndex([next]).search(query, { limit: 1 }))
    }
    expect(again.search('branch', { limit: 1, server: next.serverName }).total).toBe(1)
  })

  it('reads the unchanged tools no second time', () => {
    let reads = 0
    const counted = TOOLS.map((known): SearchableTool => {
      const inputSchema = Object.defineProperty({}, 'properties', { get: () => ((reads += 1), {}) })
      return { ...known, inputSchema: inputSchema as JsonObject }
    })
    const first = createToolIndex(counted)
    expect(reads).toBe(TOOLS.length)
    createToolIndex([...counted.map((known) => ({ ...known })), tool('new', 'tool', '')], first)
    expect(reads).toBe(TOOLS.length)
  })
})

describe('work', () => {
  const many = createToolIndex(
    Array.from({ length: MAX_JUDGED + 44 }, (_, at) =>
      tool(`s${at}`, `list_things_${at}`, 'List all things'),
    ),
  )

  it('judges no more candidates than its cap; the rest keeps its place behind', () => {
    const { hits, total } = many.search('list things', { limit: 1_000 })
    expect(total).toBe(MAX_JUDGED + 44)
    expect(hits.filter(({ score }) => score > 0)).toHaveLength(MAX_JUDGED)
    expect(hits.slice(MAX_JUDGED).every(({ score }) => score === 0)).toBe(true)
  })

  it('reads no more of a question than its cap', () => {
    const units = unitsOf('delete file '.repeat(100_000), MAX_QUESTION_TOKENS)
    expect(units.length).toBeLessThanOrEqual(2 * MAX_QUESTION_TOKENS)
    expect(unitsOf('x'.repeat(1_000_000), MAX_QUESTION_TOKENS)).toHaveLength(1)
    expect(unitsOf('字'.repeat(1_000_000), MAX_QUESTION_TOKENS).length).toBeLessThan(1_000)
  })

  it('reads no more of a tool than its caps', () => {
    const read = (times: number): ReturnType<typeof fieldsOf> => {
      const words = 'word '.repeat(times)
      const properties = Object.fromEntries(
        Array.from({ length: times / 10 }, (_, at) => [`arg${at}`, { description: words }]),
      )
      return fieldsOf(tool('s '.repeat(times), words, words, { title: words, properties }))
    }
    expect(read(50_000)).toEqual(read(500))
    expect(read(500).args).toHaveLength(32)
  })

  it('takes a schema without properties and properties without text', () => {
    const bare = { ...tool('a', 'b', ''), inputSchema: { type: 'object' } }
    expect(fieldsOf(bare)).toMatchObject({ args: [], argTexts: [] })
    const odd = tool('a', 'b', '', { properties: { path: true, size: { description: 3 } } })
    expect(fieldsOf(odd).argTexts).toEqual([])
  })
})

describe('unitsOf', () => {
  const weightOf = (question: string, term: string): number =>
    Math.max(0, ...unitsOf(question, 20).map((unit) => unit.get(term) ?? 0))

  it('weighs the literal word above what it may mean, and a phrase above its words', () => {
    expect(weightOf('remove', 'remov')).toBe(1)
    expect(weightOf('remove', '#delete')).toBeLessThan(1)
    expect(weightOf('pull request', '#pull_request')).toBeGreaterThan(weightOf('pull request', 'pull'))
  })

  it('leaves numbers and empty words out', () => {
    expect(weightOf('the 482', '482')).toBe(0)
    expect(weightOf('what is the name of it', 'the')).toBe(0)
  })

  it('sees a phrase with other words in it, up to some words apart', () => {
    const near = weightOf('take the old one out', '#delete')
    expect(near).toBeGreaterThan(0)
    expect(weightOf('take a b c d e f g h i out', '#delete')).toBeLessThan(near)
    expect(weightOf('take', '#delete')).toBe(0)
  })
})

describe('judge', () => {
  const rarity = (): number => 1

  it('credits one word once, however many of its meanings are there', () => {
    const unit = new Map([
      ['a', 1],
      ['#a', 0.5],
    ])
    const one = judge({ match: { a: ['name'] }, score: 0, name: [] }, [unit], rarity)
    const both = judge({ match: { a: ['name'], '#a': ['name'] }, score: 0, name: [] }, [unit], rarity)
    expect(both).toBe(one)
  })

  it('gives a tool whose name was asked for all of its score', () => {
    const units = [new Map([['a', 1]])]
    const asked = judge({ match: { a: ['name'] }, score: 0, name: [['a']] }, units, rarity)
    const half = judge({ match: { a: ['name'] }, score: 0, name: [['a'], ['b']] }, units, rarity)
    expect(asked).toBeGreaterThan(half)
  })
})

describe('nearest', () => {
  it('names what an unknown name may have meant', () => {
    expect(index.nearest('mcp__github__creat_isue', 2)).toEqual([
      'mcp__github__create_issue',
      'mcp__github__create_issue_label',
    ])
    expect(index.nearest('createIssue', 1)).toEqual(['mcp__github__create_issue'])
    expect(index.nearest('zzz', 3)).toEqual([])
    expect(index.nearest('', 3)).toEqual([])
  })

  it('keeps the order of equals and reads no more of a name than its cap', () => {
    expect(nearestNames('abc', ['abc1', 'abc2'], 5)).toEqual(['abc1', 'abc2'])
    expect(nearestNames(`${'ab'.repeat(100)}${'xyz'.repeat(300_000)}`, ['abab'], 5)).toEqual(['abab'])
  })
})
