/**
 * Owns the tests of the short way for plain schemas: where it goes, it gives what the long way gives, byte for byte. A
 * keyword that neither knows sends a schema the long way.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fitPlain } from '../../src/schema/fit.ts'
import { normalizeInput } from '../../src/schema/normalize.ts'
import { normalizeOutput } from '../../src/schema/output.ts'
import { SHAPES } from '../corpus/schemas.ts'
import { anySchema } from './schema-arbitraries.ts'

type Dict = Record<string, unknown>
const long = (schema: unknown): Dict => ({ ...(schema as Dict), 'x-long-way': true })

function bothWays(schema: unknown): { readonly isPlain: boolean } {
  expect(JSON.stringify(normalizeInput(schema))).toBe(JSON.stringify(normalizeInput(long(schema))))
  expect(JSON.stringify(normalizeOutput(schema))).toBe(JSON.stringify(normalizeOutput(long(schema))))
  expect(fitPlain('input', long(schema))).toBeUndefined()
  return { isPlain: fitPlain('input', schema) !== undefined }
}

const names = fc.constantFrom('a', 'b', 'path', '1', 'z.y', '$x', 'constructor')
const texts = fc.constantFrom(
  '',
  '  ',
  'What it is',
  'a',
  'Größe\u200b',
  '{{x}} ```',
  'A path; `as is`',
  'Path',
)
const plainish: fc.Arbitrary<Dict> = fc.letrec<{ node: Dict }>((tie) => ({
  node: fc
    .tuple(
      fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'object', 'array'),
      fc.record(
        {
          description: texts,
          title: texts,
          default: fc.oneof(
            fc.constantFrom<unknown>(-0, 1.5, 'x', '', null, true, [], {}, [1], { b: 1, a: 2 }),
            texts,
          ),
          minimum: fc.constantFrom<unknown>(0, 5, 'no'),
          exclusiveMinimum: fc.constantFrom<unknown>(true, 3),
          maxLength: fc.integer({ min: 0, max: 9 }),
          pattern: fc.constantFrom('^a{{1}}$', 'x'.repeat(300), ''),
          format: fc.constantFrom('date-time', 'uri'),
          uniqueItems: fc.boolean(),
          deprecated: fc.boolean(),
          $comment: texts,
          $id: fc.constantFrom('https://x.test/y', '#z'),
        },
        { requiredKeys: [] },
      ),
      fc.record(
        {
          properties: fc.dictionary(names, tie('node'), { maxKeys: 4 }),
          required: fc.uniqueArray(names, { maxLength: 3 }),
          additionalProperties: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
      fc.option(fc.oneof(tie('node'), fc.constant({})), { nil: undefined }),
      fc.option(fc.array(fc.constantFrom('x', 'y', '', 'a b', 'ü'), { maxLength: 4 }), { nil: undefined }),
    )
    .map(([type, texts_, object, items, values]) => ({
      type,
      ...texts_,
      ...(type === 'object' ? object : {}),
      ...(type === 'array' && items !== undefined ? { items } : {}),
      ...(type === 'string' && values !== undefined ? { enum: values } : {}),
    })),
})).node

describe('shapePlain', () => {
  it('gives what the long way gives, for nearly plain schemas', () => {
    let plain = 0
    fc.assert(
      fc.property(plainish, (schema) => {
        if (bothWays(schema).isPlain) plain += 1
        bothWays({ ...schema, type: 'object', properties: { p: schema } })
      }),
      { numRuns: 300, interruptAfterTimeLimit: 3_000 },
    )
    expect(plain).toBeGreaterThan(50)
  })

  it('gives what the long way gives, whatever a server publishes', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) bothWays(schema)
      }),
      { numRuns: 300, interruptAfterTimeLimit: 3_000 },
    )
    for (const { schema } of SHAPES as readonly { readonly schema?: unknown }[])
      if (typeof schema === 'object' && schema !== null) bothWays(schema)
  })

  it.each<readonly [string, Dict]>([
    [
      'a nested object',
      { type: 'object', properties: { a: { type: 'object', properties: {} } }, required: ['a'] },
    ],
    ['a list without items', { type: 'array' }],
    ['an open list', { type: 'array', items: {} }],
    ['a list of lists', { type: 'array', items: { type: 'array', items: { type: 'string' } } }],
    ['no properties, closed', { type: 'object', additionalProperties: false }],
    [
      'numbered names',
      { type: 'object', properties: { 2: { type: 'null' }, 10: { type: 'null' }, a: { type: 'null' } } },
    ],
    ['definitions nobody refers to', { type: 'object', $defs: { a: { $ref: '#/nowhere' } }, $schema: 'x' }],
    ['a title that tells', { type: 'object', properties: { a: { type: 'string', title: 'The First' } } }],
    ['a title that does not', { type: 'object', properties: { first: { type: 'string', title: 'First' } } }],
    [
      'a bound',
      { type: 'object', properties: { n: { type: 'integer', minimum: 0, exclusiveMinimum: true } } },
    ],
    ['a list of values', { type: 'string', enum: ['b', 'a', 'b'] }],
  ])('takes %s', (_what, schema) => {
    expect(bothWays(schema).isPlain).toBe(true)
  })

  const inside = (property: unknown): Dict => ({ type: 'object', properties: { p: property } })
  it.each<readonly [string, Dict]>([
    ['no type', { properties: {} }],
    ['a type of another language', inside({ type: 'int' })],
    ['a property that is none', inside(true)],
    ['a description that is none', inside({ type: 'string', description: 3 })],
    ['values of a number', inside({ type: 'integer', enum: ['1'] })],
    ['values that are none', inside({ type: 'string', enum: [] })],
    ['a value with braces', inside({ type: 'string', enum: ['{{x}}'] })],
    ['a value that is no text', inside({ type: 'string', enum: ['x', 1] })],
    ['properties that are none', { type: 'object', properties: [] }],
    ['properties of a text', inside({ type: 'string', properties: {} })],
    ['a closed text', inside({ type: 'string', additionalProperties: false })],
    ['items of a text', inside({ type: 'string', items: { type: 'string' } })],
    ['items that are none', inside({ type: 'array', items: true })],
    ['items that are not plain', inside({ type: 'array', items: { anyOf: [{ type: 'string' }] } })],
    ['required as a flag', inside({ type: 'string', required: true })],
    ['a required name that is not there', { type: 'object', required: ['gone'] }],
    ['a name with a space', { type: 'object', properties: { 'a b': { type: 'string' } } }],
    [
      'the name of the prototype',
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"null"}}}') as Dict,
    ],
    ['a schema for other properties', { type: 'object', additionalProperties: { type: 'string' } }],
    ['a long default', inside({ type: 'array', default: Array(80).fill('abc') })],
    ['a default with braces', inside({ type: 'string', default: '{{x}}' })],
    [
      'a lot of text',
      {
        type: 'object',
        properties: {
          a: { type: 'string', description: 'x'.repeat(2_000) },
          ...Object.fromEntries(
            Array.from({ length: 8 }, (_, at) => [
              `b${at}`,
              { type: 'string', description: 'y'.repeat(1_500) },
            ]),
          ),
        },
      },
    ],
    [
      'a lot of places',
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 250 }, (_, at) => [`b${at}`, { type: 'string' }]),
        ),
      },
    ],
    [
      'a deep place',
      Array.from({ length: 9 }).reduce<Dict>((inner) => inside({ ...inner }), { type: 'object' }),
    ],
  ])('leaves %s to the long way', (_what, schema) => {
    expect(bothWays(schema).isPlain).toBe(false)
  })
})
