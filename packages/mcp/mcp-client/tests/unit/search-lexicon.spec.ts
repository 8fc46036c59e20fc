/** Owns the tests of the lexicon: its format, its tables, and how a text is read by it. */
import { describe, expect, it } from 'vitest'
import { lexicon, readLexicon } from '../../src/search/concepts.ts'
import { ACTIONS } from '../../src/search/lexicon/actions.ts'
import { CODE } from '../../src/search/lexicon/code.ts'
import { DATA } from '../../src/search/lexicon/data.ts'
import { FILES } from '../../src/search/lexicon/files.ts'
import { LIFE } from '../../src/search/lexicon/life.ts'
import { MEDIA } from '../../src/search/lexicon/media.ts'
import { PEOPLE } from '../../src/search/lexicon/people.ts'
import { SAYINGS } from '../../src/search/lexicon/sayings.ts'
import { WEB } from '../../src/search/lexicon/web.ts'
import { nameWords, termsOf } from '../../src/search/meaning.ts'
import { shapesOf } from '../../src/search/shapes.ts'
import { tokensOf } from '../../src/search/tokens.ts'

const read = (text: string): string[] => termsOf(tokensOf(text, 50))
const named = (concept: string): { concept: string; isCue: boolean } => ({ concept, isCue: false })
const hinted = (concept: string): { concept: string; isCue: boolean } => ({ concept, isCue: true })

describe('readLexicon', () => {
  const { english, chinese, split, size } = readLexicon([
    'drop: delete get_rid_of | 删除 删 | trash throw~away throw~far_out\nheap: trash | 堆 | delete',
    'pull_request: pull_request | 合并请求\npull: pull | 合并 |\nask: ask | 请求 |',
  ])

  it('knows words, phrases and cues by their stems', () => {
    expect(size).toBe(5)
    expect(english.meaningsOf('delet')).toEqual([named('#drop'), hinted('#heap')])
    expect(english.meaningsOf('trash')).toEqual([hinted('#drop'), named('#heap')])
    expect(english.meaningsOf('delete')).toBeUndefined()
  })

  it('finds the longest phrase that begins at a token', () => {
    const tokens = tokensOf('please get rid of pull requests', 10)
    expect(english.longest(tokens, 0)).toBeUndefined()
    expect(english.longest(tokens, 1)).toEqual({ meanings: [named('#drop')], length: 3 })
    expect(english.longest(tokens, 4)).toEqual({ meanings: [named('#pull_request')], length: 2 })
    expect(english.longest(tokensOf('get rid', 10), 0)).toBeUndefined()
    expect(english.longest(tokensOf('pull', 10), 0)).toEqual({ meanings: [named('#pull')], length: 1 })
  })

  it('finds the longest words of a run, each once', () => {
    expect(chinese.longest('把合并请求删除了')).toEqual([[named('#pull_request')], [named('#drop')]])
    expect(chinese.longest('合并堆')).toEqual([[named('#pull')], [named('#heap')]])
    expect(chinese.longest('无')).toEqual([])
  })

  it('keeps phrases with other words in them apart, by how they begin', () => {
    expect(split.get('throw')?.meaningsOf('away')).toEqual([hinted('#drop')])
    expect(split.get('throw')?.meaningsOf('far out')).toEqual([hinted('#drop')])
  })
})

describe('the tables', () => {
  const tables = { ACTIONS, CODE, DATA, FILES, LIFE, MEDIA, PEOPLE, SAYINGS, WEB }
  const FULL = /^[a-z0-9_]+: [^|:]+\|[^|:]*(\|[^|:]*)?$/
  /** A line there adds to one of another table: it may have cues only. */
  const ADDED = /^[a-z0-9_]+: [^|:]*\|[^|:]*\|[^|:]*$/

  it('are read once and have several hundred concepts', () => {
    expect(lexicon()).toBe(lexicon())
    expect(lexicon().size).toBeGreaterThan(400)
  })

  it.each(Object.entries(tables))('%s keeps to the format', (name, table) => {
    const lines = table.trim().split('\n')
    for (const line of lines) expect(line).toMatch(name === 'SAYINGS' ? ADDED : FULL)
    const ids = lines.map((line) => line.split(':')[0])
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
  })

  it('have English words before the first bar and Chinese ones before the second', () => {
    for (const line of Object.values(tables).join('').trim().split('\n')) {
      const [english = '', chinese = ''] = line.split('|')
      expect(english).not.toMatch(/\p{Script=Han}/u)
      for (const word of chinese.split(' ').filter(Boolean)) expect(word, line).toMatch(/\p{Script=Han}/u)
    }
  })
})

describe('termsOf', () => {
  it('has the words of a tool and what they mean, without empty ones', () => {
    expect(read('Remove the folder')).toEqual(
      expect.arrayContaining(['#delete', '#directory', 'remov', 'folder']),
    )
    expect(read('Remove the folder')).not.toContain('the')
    expect(read('删除文件夹')).toEqual(expect.arrayContaining(['#delete', '#directory', '删除', '文件']))
  })

  it('takes no hint from a tool', () => {
    expect(read('umbrella')).not.toContain('#weather')
  })

  it('reads a phrase as one: a pull request pulls nothing', () => {
    expect(read('pull request')).toContain('#pull_request')
    expect(read('pull request')).not.toContain('#pull')
  })

  it('leaves the first word of a hinting phrase its own meaning', () => {
    expect(read('commit by mistake')).toContain('#commit')
    expect(read('throw errors')).toContain('#error')
    expect(read('look into files')).toContain('#file')
    expect(read('open a file')).toEqual(expect.arrayContaining(['#open', '#file']))
  })
})

describe('nameWords', () => {
  it('has each telling word of a name with its concepts', () => {
    const words = nameWords('get_pull_request_files')
    expect(words.map(([word]) => word)).toEqual(['pull', 'request', 'file'])
    expect(words[0]).toContain('#pull_request')
    expect(words[1]).toContain('#pull_request')
    expect(words[2]).toContain('#file')
  })

  it('reads no more of a name than of a name', () => {
    expect(nameWords('word_'.repeat(10_000)).length).toBeLessThanOrEqual(24)
  })
})

describe('shapesOf', () => {
  it.each([
    ['open https://example.com/a', '#url'],
    ['go to example.com', '#web_page'],
    ['write to a.b@example.org', '#email'],
    ['ask @tom', '#user'],
    ['what was said in #general', '#channel'],
    ['what is #ff8800', '#color'],
    ['is 10.0.0.1 up', '#ip_address'],
    ['does 1.2.3 do', '#semver'],
    ['show me cat.PNG', '#image'],
    ['read notes.txt', '#file'],
    ['look into ./src/lib', '#path'],
    ['when does 0 3 * * 1 fire', '#cron_expression'],
    ['at 3pm', '#time'],
    ['what is at 48.85, 2.29', '#reverse_geocode'],
    ['how much is 3 * 4', '#math'],
    ['select a from b', '#sql'],
  ])('%s hints at %s', (question, concept) => {
    expect(shapesOf(question)).toContain(concept)
  })

  it('sees none in plain words, and looks at no more than the beginning', () => {
    expect(shapesOf('what did I save yesterday about the trip')).toEqual([])
    expect(shapesOf(`${'word '.repeat(300)} a@b.c`)).toEqual([])
  })
})
