/** Owns the tests of tokens and stems: what is one word, and how much of a text is read at all. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stemOf } from '../../src/search/stem.ts'
import { runTerms, tokensOf } from '../../src/search/tokens.ts'

const textsOf = (text: string, max = 50): string[] => tokensOf(text, max).map((token) => token.text)

describe('stemOf', () => {
  it.each([
    ['files', 'file'],
    ['filed', 'file'],
    ['moving', 'move'],
    ['moves', 'move'],
    ['create', 'creat'],
    ['creating', 'creat'],
    ['merged', 'merg'],
    ['queries', 'query'],
    ['ties', 'tie'],
    ['branches', 'branch'],
    ['classes', 'class'],
    ['running', 'run'],
    ['adding', 'add'],
    ['status', 'status'],
    ['string', 'string'],
    ['using', 'using'],
    ['needed', 'need'],
    ['speed', 'speed'],
    ['pr', 'pr'],
    ['s3s3s3', 's3s3s3'],
    ['x'.repeat(33), 'x'.repeat(33)],
  ])('%s is %s', (word, stem) => {
    expect(stemOf(word)).toBe(stem)
  })
})

describe('tokensOf', () => {
  it('cuts names at humps and separators', () => {
    expect(textsOf('createIssue-comment_v2 HTMLParser')).toEqual(
      ['creat', 'issue', 'comment', 'v2', 'html', 'parser'].map(stemOf),
    )
  })

  it('drops accents, apostrophes and width', () => {
    expect(textsOf("Anna's café don't ＡＢＣ")).toEqual(['anna', 'cafe', 'dont', 'abc'])
  })

  it('keeps characters without spaces together, apart from words beside them', () => {
    expect(tokensOf('把PR合并到main', 50)).toEqual([
      { kind: 'run', text: '把' },
      { kind: 'word', text: 'pr' },
      { kind: 'run', text: '合并到' },
      { kind: 'word', text: 'main' },
    ])
    expect(textsOf('привет мир')).toEqual(['привет', 'мир'])
  })

  it('reads no more than its cap, of tokens, of characters of a token, of a run', () => {
    expect(tokensOf('a b '.repeat(300_000), 20)).toHaveLength(20)
    expect(textsOf('x'.repeat(1_000_000))).toEqual(['x'.repeat(40)])
    expect(tokensOf('字'.repeat(1_000_000), 20).map(({ text }) => text.length)).toEqual([64, 64, 64, 64, 64])
  })

  it('takes any text, within the cap', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.nat(20), (text, max) => {
        const tokens = tokensOf(text, max)
        expect(tokens.length).toBeLessThanOrEqual(max)
        for (const token of tokens) expect(token.text).not.toMatch(/^$|[\s#~]/)
      }),
    )
  })

  it.each([
    ['GitHub', ['github']],
    ['the GitLab repo', ['the', 'gitlab', 'repo']],
    ['MongoDB', ['mongodb']],
    ['getGitHubIssue', ['get', 'github', 'issu']],
  ])('reads a product name with a hump as one word: %s', (text, texts) => {
    expect(textsOf(text)).toEqual(texts)
  })
})

describe('runTerms', () => {
  it('gives words, and pairs of what stands alone', () => {
    expect(runTerms('合并分支')).toEqual(['合并', '分支'])
    expect(runTerms('我你他')).toEqual(['我你', '你他'])
    expect(runTerms('画')).toEqual(['画'])
  })
})
