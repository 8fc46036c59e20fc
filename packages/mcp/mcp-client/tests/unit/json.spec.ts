/** Owns the tests of src/json.ts: what is an object, and what says the same. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/discovery/parse.ts'
import { isJsonObject, isSameJson, jsonText } from '../../src/json.ts'
import type { JsonValue } from '../../src/types.ts'

describe('isJsonObject', () => {
  it.each([
    [{}, true],
    [[], false],
    [null, false],
    ['a', false],
  ])('%j: %s', (value, is) => {
    expect(isJsonObject(value)).toBe(is)
  })
})

describe('jsonText', () => {
  it('is JSON, or words where there is none', () => {
    expect(jsonText({ a: [1] })).toBe('{"a":[1]}')
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    expect(jsonText(deep)).toBe('(nested too deeply to be shown)')
  })
})

describe('isSameJson', () => {
  it.each([
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: 1 }, { a: 2 }],
    [[], {}],
    [{}, []],
    [[1], [1, 2]],
    [[1], [2]],
    [{ a: null }, { a: {} }],
    [{ a: {} }, { a: null }],
    [{ a: {} }, { a: 'b' }],
    ['1', 1],
    [JSON.parse('{"__proto__":1}'), JSON.parse('{"a":1}')],
  ])('%j is not %j', (left, right) => {
    expect(isSameJson(left, right)).toBe(false)
  })

  it('says what the canonical form says', () => {
    const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>
    fc.assert(
      fc.property(value, value, (left, right) => {
        expect(isSameJson(left, right)).toBe(canonicalJson(left) === canonicalJson(right))
        expect(isSameJson(left, JSON.parse(JSON.stringify(left)))).toBe(true)
      }),
    )
  })

  it('does not throw for what is nested too deeply', () => {
    const deep = () => JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown
    expect(isSameJson(deep(), deep())).toBe(false)
  })
})
