/** The arguments of a call as people type them, and the word they meant. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readArguments } from '../../src/cli/arguments.ts'
import { distanceOf, nearest } from '../../src/cli/distance.ts'
import { versionFault } from '../../src/cli/node-version.ts'
import { inOrder } from '../../src/cli/queue.ts'

describe('arguments', () => {
  it.each([
    [[], {}],
    [['{"a":1}'], { a: 1 }],
    [['a=1', 'b=two words', 'c=true', 'd=null'], { a: 1, b: 'two words', c: true, d: null }],
    [['a=[1,2]', 'b={"x":"y"}'], { a: [1, 2], b: { x: 'y' } }],
    [['a==1', 'b:="1"'], { a: '1', b: '1' }],
    [['a.b=1', 'a.c=2', 'd='], { a: { b: 1, c: 2 }, d: '' }],
    [['a=1', 'a.b=2'], { a: { b: 2 } }],
    [['url=http://x/?q=1&r=2'], { url: 'http://x/?q=1&r=2' }],
  ])('%j is %j', (words, expected) => expect(readArguments(words)).toEqual(expected))

  it('takes a name that every object has as plain data', () => {
    const value = readArguments(['__proto__=1', 'constructor.prototype=2'])
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor'])
    expect(({} as Record<string, unknown>)['prototype']).toBeUndefined()
  })

  it.each([
    [['[1]'], 'one JSON object, not a list'],
    [['{"a":'], 'no JSON'],
    [['word'], 'key=value'],
    [['=1'], 'key=value'],
    [['a:=nope'], 'a:= needs a JSON value'],
  ])('refuses %j', (words, message) => expect(() => readArguments(words)).toThrow(message))
})

describe('the nearest word', () => {
  it.each([
    ['nodee', 'node'],
    ['ndoe', 'node'],
    ['nod', 'node'],
    ['NPX', 'npx'],
    ['uxv', 'uvx'],
    ['zzzzz', undefined],
    ['npx-of-mine', undefined],
  ])('%s is %s', (word, meant) => expect(nearest(word, ['node', 'npx', 'uvx', word])).toBe(meant))

  it('is a distance: nothing to itself, the same both ways, never more than the longer word', () => {
    const word = fc.string({ maxLength: 12 })
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(distanceOf(a, a)).toBe(0)
        expect(distanceOf(a, b)).toBe(distanceOf(b, a))
        expect(distanceOf(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length))
      }),
    )
    expect(distanceOf('ab', 'ba')).toBe(1)
    expect(distanceOf('a'.repeat(65), 'b')).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('the version of Node', () => {
  it.each(['v22.19.0', 'v22.23.5', 'v24.0.0', 'v26.1.0'])('%s will do', (version) =>
    expect(versionFault(version)).toBeUndefined(),
  )
  it.each(['v18.20.0', 'v20.20.2', 'v22.18.9', 'v23.5.0', ''])('%s will not', (version) =>
    expect(versionFault(version)).toContain(`this is ${version}`),
  )
})

describe('work a few at a time', () => {
  it('keeps the order, and the limit', async () => {
    let now = 0
    let most = 0
    const results = await inOrder([3, 1, 2, 0], 2, async (item) => {
      now += 1
      most = Math.max(most, now)
      for (let turn = 0; turn < item; turn += 1) await Promise.resolve()
      now -= 1
      return item * 10
    })
    expect(results).toEqual([30, 10, 20, 0])
    expect(most).toBe(2)
    expect(await inOrder([], 4, async () => 1)).toEqual([])
  })
})
