import { assertSupportedJsonSchema, validateJsonSchemaValue } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import { normalizeOutput } from '../../src/schema/normalize.ts'
import type { JsonObject } from '../../src/types.ts'
import { SHAPES } from '../corpus/schemas.ts'

describe('normalizeOutput', () => {
  it.each([
    [undefined],
    [null],
    [true],
    [false],
    [{}],
    ['x'],
    [[]],
    [{ $ref: 'https://else.test/x' }],
    [{ description: 'Anything' }],
  ])('of %j enforces nothing', (schema) => expect(normalizeOutput(schema).schema).toBeUndefined())

  it.each<[string, unknown, unknown]>([
    [
      'lists that overlap',
      { anyOf: [{ type: 'array' }, { type: 'array', items: { type: 'string' } }] },
      { type: 'array', description: '(one of: array or array of string)' },
    ],
    [
      'the SDK of a server',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { n: { type: 'number', minimum: 0 } },
        required: ['n'],
        additionalProperties: false,
      },
      {
        type: 'object',
        properties: { n: { type: 'number', description: '(minimum 0)' } },
        required: ['n'],
        additionalProperties: false,
      },
    ],
    [
      'a value that is no object',
      { type: 'array', items: { type: 'string' } },
      { type: 'array', items: { type: 'string' } },
    ],
    [
      'types that cannot meet',
      { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      { oneOf: [{ type: 'string' }, { type: 'integer' }] },
    ],
    [
      'a union in a union',
      { anyOf: [{ description: 'x', anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'integer' }] },
      { oneOf: [{ type: 'string' }, { type: 'null' }, { type: 'integer' }] },
    ],
    [
      'strings that overlap',
      { anyOf: [{ type: 'string', format: 'uri' }, { type: 'string', minLength: 3 }, { type: 'null' }] },
      {
        description: '(one of: string (format uri) or string (minLength 3) or null)',
        oneOf: [{ type: 'null' }, { type: 'string' }],
      },
    ],
    [
      'numbers that overlap',
      { anyOf: [{ enum: [1, 2] }, { type: 'number', enum: [2.5, 1] }] },
      { type: 'number', description: '(one of: 1 or 2 or 2.5 or 1)' },
    ],
    [
      'enums that do not overlap',
      {
        anyOf: [
          { type: 'integer', enum: [1] },
          { type: 'number', enum: [2.5] },
        ],
      },
      {
        oneOf: [
          { type: 'integer', enum: [1] },
          { type: 'number', enum: [2.5] },
        ],
      },
    ],
    [
      'objects that overlap',
      { anyOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { type: 'object' }] },
      { type: 'object', description: '(one of: object with a? or object)' },
    ],
    [
      'objects told apart by a constant',
      {
        oneOf: [
          { type: 'object', properties: { k: { const: 'a' } }, required: ['k'] },
          { type: 'object', properties: { k: { const: 'b' } }, required: ['k'] },
        ],
      },
      {
        oneOf: [
          { type: 'object', properties: { k: { type: 'string', enum: ['a'] } }, required: ['k'] },
          { type: 'object', properties: { k: { type: 'string', enum: ['b'] } }, required: ['k'] },
        ],
      },
    ],
    [
      'a constant that is optional',
      {
        oneOf: [
          { type: 'object', properties: { k: { const: 'a' } }, required: ['k'] },
          { type: 'object', properties: { k: { const: 'b' } } },
        ],
      },
      { type: 'object', description: '(one of: object with k="a" or object with k?="b")' },
    ],
    [
      'an object with alternatives',
      {
        type: 'object',
        properties: { a: { type: 'string' } },
        anyOf: [{ properties: { b: { type: 'string' } }, required: ['b'] }, { required: ['a'] }],
      },
      { type: 'object', properties: { a: { type: 'string' } } },
    ],
    ['a schema without its type', { properties: { a: { type: 'string' } } }, undefined],
    [
      'an open tuple',
      { type: 'array', prefixItems: [{ type: 'string' }] },
      { type: 'array', description: '(items in this order: string)' },
    ],
    [
      'a closed tuple',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
      {
        type: 'array',
        description: '(items in this order: string, integer, and no more)',
        items: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
      },
    ],
    [
      'an array among values',
      { enum: [[1], 'a'] },
      { description: '(one of [1])', oneOf: [{ type: 'string', enum: ['a'] }, { type: 'array' }] },
    ],
    [
      'a condition',
      { type: 'object', if: { required: ['a'] }, else: { properties: { b: { type: 'string' } } } },
      { type: 'object', description: '(if it is object with a else it is object with b?)' },
    ],
  ])('takes %s', (_title, schema, node) => {
    expect(normalizeOutput(schema).schema).toEqual(node)
  })

  it('widens a long list of objects without comparing each with each', () => {
    const branches = Array.from({ length: 70 }, (_, index) => ({
      type: 'object',
      properties: { k: { const: `k${index}` } },
      required: ['k'],
    }))
    expect(normalizeOutput({ oneOf: branches }).schema).toMatchObject({ type: 'object' })
    expect(normalizeOutput({ oneOf: branches }).rewrites.map((rewrite) => rewrite.reason)).toContain(
      'union-widened',
    )
  })

  it.each(SHAPES)('never refuses what the server allows: $title', ({ schema, valid }) => {
    const { schema: node } = normalizeOutput(schema)
    if (node === undefined) return
    assertSupportedJsonSchema(node)
    for (const value of valid) expect(validateJsonSchemaValue(node, value satisfies JsonObject)).toEqual([])
  })
})
