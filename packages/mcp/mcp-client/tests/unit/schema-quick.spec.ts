/** Owns the tests of the quick yes: it says yes for what is plainly fine, and never where the walker finds a fault. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { surelyFits } from '../../src/schema/quick.ts'
import { referencesOf } from '../../src/schema/references.ts'
import { faultsOf, startWalk } from '../../src/schema/walker.ts'
import type { JsonObject } from '../../src/types.ts'
import { SHAPES } from '../corpus/schemas.ts'
import { anySchema } from './schema-arbitraries.ts'

const SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Where' },
    mode: { type: 'string', enum: ['r', 'w'] },
    count: { type: 'integer' },
    page: { type: 'integer', minimum: 1 },
    tags: { type: 'array', items: { type: 'string' } },
    odd: true,
    nothing: { type: 'string', enum: [] },
  },
  required: ['path'],
  additionalProperties: false,
}

function walkerFinds(schema: JsonObject, value: JsonObject): number {
  const references = referencesOf(schema)
  const source = { schema, base: references.root, chain: undefined }
  return faultsOf(startWalk(references), source, { value, trail: undefined, depth: 0 }).length
}

describe('surelyFits', () => {
  it.each<readonly [string, JsonObject, boolean]>([
    ['what is required', { path: 'x' }, true],
    ['scalars', { path: 'x', mode: 'r', count: 1 }, true],
    ['nothing of what is required', {}, false],
    ['a value of another type', { path: 'x', count: '1' }, false],
    ['a value that is not listed', { path: 'x', mode: 'a' }, false],
    ['a name that is not allowed', { path: 'x', other: 1 }, false],
    ['what takes more than a look: a bound', { path: 'x', page: 1 }, false],
    ['what takes more than a look: a list', { path: 'x', tags: [] }, false],
    ['what takes more than a look: anything', { path: 'x', odd: 1 }, false],
    ['what takes more than a look: no values', { path: 'x', nothing: 'x' }, false],
  ])('%s', (_what, args, expected) => {
    expect(surelyFits(SCHEMA, args)).toBe(expected)
    expect(surelyFits(SCHEMA, args)).toBe(expected)
    if (expected) expect(walkerFinds(SCHEMA, args)).toBe(0)
  })

  it('allows other names where the schema does', () => {
    expect(surelyFits({ type: 'object' }, { any: [1] })).toBe(true)
    expect(surelyFits({ type: 'object', additionalProperties: true, properties: {} }, { any: 1 })).toBe(true)
  })

  it.each<readonly [string, JsonObject]>([
    ['no type', { properties: {} }],
    ['a keyword it does not know', { type: 'object', anyOf: [] }],
    ['properties that are none', { type: 'object', properties: [] }],
    ['a schema for other properties', { type: 'object', additionalProperties: {} }],
    ['required that is no list', { type: 'object', required: true }],
    ['required names that are none', { type: 'object', required: [1] }],
    [
      'very many properties',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`p${at}`, {}])),
      },
    ],
    [
      'very many required names',
      { type: 'object', required: Array.from({ length: 201 }, (_, at) => `p${at}`) },
    ],
  ])('says nothing about %s', (_what, schema) => {
    expect(surelyFits(schema, {})).toBe(false)
  })

  it('never says yes where the walker finds a fault', () => {
    const values = fc.dictionary(
      fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', '1'),
      fc.oneof(fc.constantFrom(0, -0, 1, 2.5, 'x', '', true, null), fc.constant([]), fc.constant({})),
      { maxKeys: 4 },
    ) as fc.Arbitrary<JsonObject>
    let yes = 0
    fc.assert(
      fc.property(anySchema, values, (schema, args) => {
        if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return
        const root = { type: 'object', properties: { a: schema, b: schema }, required: [] } as JsonObject
        for (const each of [schema as JsonObject, root]) {
          if (!surelyFits(each, args)) continue
          yes += 1
          expect(walkerFinds(each, args)).toBe(0)
        }
      }),
      { numRuns: 500, interruptAfterTimeLimit: 3_000 },
    )
    expect(yes).toBeGreaterThan(5)
    for (const { schema, invalid = [] } of SHAPES)
      for (const args of invalid) expect(surelyFits(schema as JsonObject, args)).toBe(false)
  })
})
