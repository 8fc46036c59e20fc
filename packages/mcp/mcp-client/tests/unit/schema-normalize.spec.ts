import { assertSupportedJsonSchema, jsonSchemaToTs } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import { checkArguments } from '../../src/schema/check.ts'
import { normalizeInput, normalizeOutput } from '../../src/schema/normalize.ts'
import type { RewriteReason } from '../../src/schema/normalize.ts'
import type { JsonObject } from '../../src/types.ts'
import { SHAPES } from '../corpus/schemas.ts'
import { shuffled } from './schema-arbitraries.ts'

/** The normalised schema, or a failed test. */
function input(schema: unknown): JsonObject {
  const result = normalizeInput(schema)
  if (!result.ok) throw new Error(result.reason)
  return result.schema
}

/** The node of one property. */
function property(schema: unknown): unknown {
  return (input({ type: 'object', properties: { p: schema } })['properties'] as JsonObject)['p']
}

function reasons(schema: unknown): readonly RewriteReason[] {
  const result = normalizeInput(schema)
  return result.ok ? result.rewrites.map((rewrite) => rewrite.reason) : []
}

describe.each(SHAPES)('$title', ({ schema, valid }) => {
  it('becomes an object schema of the host, typed, bounded and stable', () => {
    const once = input(schema)
    assertSupportedJsonSchema(once)
    expect(once).toMatchObject({ type: 'object', properties: {} })
    expect(jsonSchemaToTs(once)).not.toBe('unknown')
    expect(Buffer.byteLength(JSON.stringify(once))).toBeLessThanOrEqual(64 * 1024)
    expect(JSON.stringify(input(once))).toBe(JSON.stringify(once))
    expect(JSON.stringify(input(shuffled(schema)))).toBe(JSON.stringify(once))
  })

  it('still takes what the server takes', () => {
    for (const args of valid)
      expect(checkArguments(input(schema), args)).toMatchObject({ ok: true, coerced: [] })
  })

  it('has an output form that the host takes', () => {
    const { schema: node } = normalizeOutput(schema)
    if (node !== undefined) assertSupportedJsonSchema(node)
  })
})

describe('the root', () => {
  const empty = { type: 'object', properties: {} }

  it.each([
    [undefined],
    [null],
    [true],
    [{}],
    [{ type: 'object' }],
    [{ type: null }],
    [{ type: 'any' }],
    [{ allOf: [true] }],
  ])('of %j is an object without properties', (schema) => expect(input(schema)).toEqual(empty))

  it.each([
    [false, 'no arguments'],
    ['string', 'a string'],
    [7, 'a number'],
    [[], 'an array'],
    [{ type: 'string' }, 'does not take an object'],
    [{ type: ['string', 'null'] }, 'does not take an object'],
    [{ allOf: [{ type: 'object' }, false] }, 'does not take an object'],
  ])('of %j cannot be expressed: %s', (schema, reason) => {
    const result = normalizeInput(schema)
    expect(!result.ok && result.reason).toContain(reason)
  })

  it('loses what says nothing to a model', () => {
    const schema = {
      $schema: 'x',
      $id: 'y',
      $comment: 'z',
      title: 'fooArguments',
      type: 'object',
      'x-own': 1,
      $defs: {},
    }
    expect(JSON.stringify(input(schema))).toBe(JSON.stringify(empty))
  })

  it('keeps its description, and ignores an enum of whole objects', () => {
    expect(input({ description: ' About\u200b it ', enum: [{ a: 1 }], properties: {} })).toEqual({
      type: 'object',
      description: 'About it',
      properties: {},
    })
  })

  it('flattens alternatives and tells which belong together', () => {
    const schema = {
      properties: { dry: { type: 'boolean' } },
      oneOf: [
        {
          title: 'Create',
          properties: { op: { const: 'create' }, name: { type: 'string' }, tag: { type: 'string' } },
          required: ['op', 'name'],
        },
        {
          properties: { op: { const: 'delete' }, id: { type: 'integer' }, tag: { type: 'string' } },
          required: ['op', 'id'],
        },
        { type: 'string' },
      ],
    }
    expect(input(schema)).toEqual({
      type: 'object',
      description:
        '(exactly one of these, "?" marks what may be left out: 1) Create: name, op="create", tag?; 2) id, op="delete", tag?)',
      properties: {
        op: { type: 'string', enum: ['create', 'delete'] },
        dry: { type: 'boolean' },
        id: { type: 'integer' },
        name: { type: 'string' },
        tag: { type: 'string' },
      },
      required: ['op'],
    })
    expect(reasons(schema)).toEqual(
      expect.arrayContaining(['root-object', 'alternatives-told', 'branch-dropped', 'const-as-enum']),
    )
  })

  it('tells at least one of anyOf, and what a base property must be', () => {
    const schema = {
      type: 'object',
      properties: { kind: { type: 'string' }, task: { type: 'string' } },
      anyOf: [{ required: ['kind'] }, { properties: { task: { const: 'x' }, kind: { type: 'string' } } }, {}],
    }
    expect(input(schema)['description']).toBe(
      '(one of these, "?" marks what may be left out: 1) kind; 2) task?="x"; 3) nothing more)',
    )
  })

  it('does not tell a constant that could not be sent back', () => {
    const schema = {
      oneOf: [
        { properties: { k: { const: '{{x}}' } }, required: ['k'] },
        { properties: { k: { const: 1 } } },
      ],
    }
    expect(input(schema)['description']).toContain('1) k; 2) k?=1)')
  })

  it('is closed where every alternative is', () => {
    const branch = (name: string): JsonObject => ({ properties: { [name]: {} }, additionalProperties: false })
    expect(input({ anyOf: [branch('a'), branch('b')] })).toMatchObject({ additionalProperties: false })
    expect(input({ anyOf: [branch('a'), { properties: { b: {} } }] })).not.toHaveProperty(
      'additionalProperties',
    )
    expect(input({ anyOf: [{ type: 'string' }, false] })).toEqual(empty)
  })

  it('tells no more than a dozen alternatives, and takes no more than 64', () => {
    const many = Array.from({ length: 80 }, (_, index) => ({
      properties: { [`p${index}`]: {} },
      required: [`p${index}`],
    }))
    const schema = input({ oneOf: many })
    expect(schema['description']).toContain('52 more')
    expect(Object.keys(schema['properties'] as JsonObject)).toHaveLength(64)
    const doubled = input({ oneOf: [{ oneOf: many }, { oneOf: many }] })
    expect(Object.keys(doubled['properties'] as JsonObject)).toHaveLength(64)
  })

  it('takes in unions of unions to a depth', () => {
    let schema: JsonObject = { properties: { deep: {} }, required: ['deep'] }
    for (let level = 0; level < 8; level += 1)
      schema = { title: `T${level}`, anyOf: [schema], properties: { [`l${level}`]: {} } }
    const names = Object.keys(input(schema)['properties'] as JsonObject)
    expect(names).toEqual(expect.arrayContaining(['l7', 'l3']))
    expect(names).not.toContain('deep')
  })
})

describe('a property', () => {
  it.each<[string, unknown, unknown]>([
    [
      'numbers that meet',
      { allOf: [{ enum: [0, 1, null, [-0], 'x'.repeat(9)] }, { enum: [-0, null, [0]] }] },
      {
        description: '(one of [0])',
        oneOf: [{ type: 'integer', enum: [0] }, { type: 'array', items: {} }, { type: 'null' }],
      },
    ],
    [
      'strings that differ by their default',
      {
        anyOf: [
          { type: 'string', default: 'a' },
          { type: 'string', default: 'b' },
        ],
      },
      { type: 'string', default: 'a' },
    ],
    [
      'values too large to compare',
      {
        allOf: [
          { enum: ['a', Array.from({ length: 300 }, () => 1)] },
          { enum: ['a', Array.from({ length: 300 }, () => 1)] },
        ],
      },
      { type: 'string', enum: ['a'] },
    ],
    ['a plain type', { type: 'string' }, { type: 'string' }],
    [
      'a list of types',
      { type: ['null', 'string'], minLength: 1 },
      { description: '(minLength 1)', oneOf: [{ type: 'string' }, { type: 'null' }] },
    ],
    ['integer beside number', { type: ['integer', 'number'] }, { type: 'number' }],
    ['a list that repeats', { type: ['string', 'string'] }, { type: 'string' }],
    ['nullable', { type: 'integer', nullable: true }, { oneOf: [{ type: 'integer' }, { type: 'null' }] }],
    ['nullable without a type', { nullable: true }, {}],
    [
      'nullable enum',
      { enum: ['a'], nullable: true },
      { oneOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] },
    ],
    [
      'nullable union',
      { anyOf: [{ type: 'string' }, { type: 'integer' }], nullable: true },
      { oneOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
    ],
    ['an unknown type', { type: 'uuid' }, {}],
    ['a partly unknown list', { type: ['string', 'wat'] }, {}],
    ['a type in capitals', { type: 'STRING' }, { type: 'string' }],
    ['a type named like a prototype member', { type: 'constructor' }, {}],
    ['const', { const: 5 }, { type: 'integer', enum: [5] }],
    ['const null', { const: null }, { type: 'null' }],
    ['const true', { const: true }, { type: 'boolean', enum: [true] }],
    ['both booleans', { enum: [true, false] }, { type: 'boolean' }],
    ['enum of numbers', { type: 'number', enum: [1, -0] }, { type: 'number', enum: [1, 0] }],
    ['enum against its type', { type: 'string', enum: [1, 2] }, { type: 'integer', enum: [1, 2] }],
    ['enum with a foreign value', { type: 'string', enum: ['a', 1] }, { type: 'string', enum: ['a'] }],
    [
      'enum of integers among others',
      { type: ['integer', 'null'], enum: [1, null, 1.5, 'x', [1]] },
      { oneOf: [{ type: 'integer', enum: [1] }, { type: 'null' }] },
    ],
    [
      'enum of arrays by type',
      { type: 'array', enum: [[1], 1] },
      { type: 'array', description: '(one of [1])', items: {} },
    ],
    ['enum that repeats', { enum: ['a', 'a'] }, { type: 'string', enum: ['a'] }],
    [
      'enum of structures',
      { enum: [{ b: 1, a: 2 }, [1]] },
      {
        description: '(one of {"a":2,"b":1}, [1])',
        oneOf: [{ type: 'object' }, { type: 'array', items: {} }],
      },
    ],
    [
      'a huge structured value',
      { enum: [Array.from({ length: 300 }, () => 1)] },
      { type: 'array', description: '(one of "…")', items: {} },
    ],
    ['empty enum', { enum: [], type: 'string' }, { type: 'string' }],
    [
      'anyOf with null',
      { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
      { oneOf: [{ type: 'string' }, { type: 'null' }], default: null },
    ],
    [
      'anyOf of one',
      { anyOf: [{ type: 'string', description: 'in' }], description: 'out' },
      { type: 'string', description: 'out in' },
    ],
    ['the same twice', { anyOf: [{ type: 'string' }, { type: 'string' }] }, { type: 'string' }],
    [
      'a number that may be an integer',
      { anyOf: [{ type: 'number' }, { type: 'integer' }] },
      { type: 'number' },
    ],
    [
      'two kinds of string',
      { anyOf: [{ type: 'string', format: 'uri' }, { type: 'string', format: 'email' }, { type: 'string' }] },
      { type: 'string', description: '(format uri) or (format email)' },
    ],
    [
      'values with a text each',
      {
        oneOf: [
          { const: 'x', title: 'X!' },
          { const: 'y', description: 'why' },
        ],
      },
      { type: 'string', description: '("x": X!; "y": why)', enum: ['x', 'y'] },
    ],
    [
      'values beside a type',
      { oneOf: [{ const: 'x' }, { type: 'integer' }, { const: 'y' }, { const: true }, { const: false }] },
      { oneOf: [{ type: 'string', enum: ['x', 'y'] }, { type: 'integer' }, { type: 'boolean' }] },
    ],
    [
      'a branch that takes anything',
      { anyOf: [{ type: 'string' }, {}] },
      { description: '(one of: string or any value)' },
    ],
    [
      'a type beside a union',
      { type: 'string', anyOf: [{ minLength: 3 }, { type: 'integer' }] },
      { type: 'string', description: '(minLength 3)' },
    ],
    [
      'number beside integer in allOf',
      { allOf: [{ type: 'number' }, { type: 'integer' }] },
      { type: 'integer' },
    ],
    [
      'integer beside number in allOf',
      { allOf: [{ type: 'integer' }, { type: 'number' }] },
      { type: 'integer' },
    ],
    [
      'two unions',
      { anyOf: [{ type: 'string' }], oneOf: [{ minLength: 1 }, { maxLength: 0 }, false] },
      {
        type: 'string',
        description: '(also one of: string (minLength 1) or string (maxLength 0) or nothing)',
      },
    ],
    [
      'a described union in a union',
      { anyOf: [{ description: 'in', anyOf: [{ type: 'string' }, { type: 'integer' }] }, { type: 'null' }] },
      { oneOf: [{ description: 'in', oneOf: [{ type: 'string' }, { type: 'integer' }] }, { type: 'null' }] },
    ],
    [
      'bounds',
      { type: 'integer', minimum: 1, maximum: 9, multipleOf: 2 },
      { type: 'integer', description: '(minimum 1; maximum 9; multipleOf 2)' },
    ],
    [
      'bounds of draft 04',
      { type: 'integer', minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: true },
      { type: 'integer', description: '(greater than 1; less than 9)' },
    ],
    [
      'bounds that say nothing',
      { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: '3', minLength: null },
      { type: 'integer' },
    ],
    [
      'what to write',
      { type: 'string', description: 'When', format: 'date-time', pattern: '^\\d+$' },
      { type: 'string', description: 'When (pattern ^\\d+$; format date-time)' },
    ],
    [
      'the title where nothing else tells',
      { type: 'string', title: 'Search text' },
      { type: 'string', description: 'Search text' },
    ],
    ['a title that repeats the name', { type: 'string', title: 'P' }, { type: 'string' }],
    ['a list without items', { type: 'array' }, { type: 'array', items: {} }],
    [
      'a list of nothing',
      { type: 'array', items: false },
      { type: 'array', description: '(no items)', items: {} },
    ],
    [
      'a list with alternatives',
      { type: 'array', items: { type: 'string' }, anyOf: [{ minItems: 1 }, { maxItems: 3 }] },
      {
        type: 'array',
        description: '(one of: array (minItems 1) or array (maxItems 3))',
        items: { type: 'string' },
      },
    ],
    ['a list by its items', { items: { type: 'string' } }, { type: 'array', items: { type: 'string' } }],
    [
      'a list by its items beside a union',
      { items: { type: 'string' }, anyOf: [{ minItems: 1 }] },
      { type: 'array', description: '(one of: array (minItems 1))', items: { type: 'string' } },
    ],
    ['a string by its pattern', { pattern: 'x' }, { type: 'string', description: '(pattern x)' }],
    ['a number by its bound', { minimum: 1 }, { type: 'number', description: '(minimum 1)' }],
    [
      'a closed tuple',
      { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }], items: false },
      {
        type: 'array',
        description: '(items in this order: number, string, and no more)',
        items: { oneOf: [{ type: 'number' }, { type: 'string' }] },
      },
    ],
    [
      'a tuple with a rest',
      { type: 'array', items: [{ type: 'string' }, false], additionalItems: { type: 'boolean' } },
      {
        type: 'array',
        description: '(items in this order: string, any value, then any number of boolean)',
        items: {},
      },
    ],
    [
      'a long tuple',
      { type: 'array', prefixItems: Array.from({ length: 12 }, () => ({ type: 'integer' })) },
      {
        type: 'array',
        description: `(items in this order: ${'integer, '.repeat(8)}4 more)`,
        items: { type: 'integer' },
      },
    ],
    [
      'an object without a type',
      { properties: { a: { type: 'string' } }, required: ['a', 'b'] },
      { type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a', 'b'] },
    ],
    [
      'an object by requirement beside a union',
      { required: ['a'], anyOf: [{ required: ['b'] }] },
      {
        type: 'object',
        description: '(one of these, "?" marks what may be left out: 1) b)',
        properties: { a: {}, b: {} },
        required: ['a', 'b'],
      },
    ],
    [
      'a forbidden property',
      { type: 'object', properties: { a: false, b: {} }, required: ['a'], additionalProperties: false },
      { type: 'object', properties: { b: {} }, additionalProperties: false },
    ],
    [
      'allOf',
      {
        allOf: [
          { properties: { a: { type: 'string' } } },
          { properties: { a: { minLength: 1 } }, required: ['a'] },
        ],
      },
      {
        type: 'object',
        properties: { a: { type: 'string', description: '(minLength 1)' } },
        required: ['a'],
      },
    ],
    [
      'values that meet',
      { allOf: [{ enum: ['a', 'b', { x: 1 }] }, { enum: ['b', 'c', { x: 1 }] }] },
      { description: '(one of {"x":1})', oneOf: [{ type: 'string', enum: ['b'] }, { type: 'object' }] },
    ],
    [
      'a map',
      { type: 'object', additionalProperties: { type: 'number', minimum: 0 } },
      { type: 'object', description: '(every other property is number (minimum 0))' },
    ],
    [
      'a negation in a negation',
      { not: { not: { not: { not: { not: { not: { not: { not: { type: 'string' } } } } } } } } },
      expect.objectContaining({ description: expect.stringMatching(/^\(never any value \(never/) }),
    ],
    [
      'examples',
      { type: 'string', examples: ['b', 'a'], default: 'x' },
      { type: 'string', default: 'x', examples: ['b', 'a'] },
    ],
    [
      'a default with braces or hidden text',
      { type: 'string', examples: ['{{x}}'], default: 'o\u200bk' },
      { type: 'string' },
    ],
    ['a large default', { type: 'string', default: 'x'.repeat(600) }, { type: 'string' }],
    ['a default with keys out of order', { default: { b: 1, a: [-0] } }, { default: { a: [0], b: 1 } }],
    ['a default with a hidden key', { default: { 'a\u200b': 1 } }, {}],
    ['a default that is not JSON', { default: [() => 1, Number.NaN] }, {}],
    ['a number that is not JSON', { default: Number.NaN }, {}],
  ])('with %s', (_title, schema, expected) => {
    expect(property(schema)).toEqual(expected)
    // The order of keys is part of the bytes.
    expect(JSON.stringify(property(property(schema)))).toBe(JSON.stringify(property(schema)))
  })

  it.each([
    [false],
    [{ type: 'string', allOf: [{ type: 'integer' }] }],
    [{ anyOf: [false, false] }],
    [{ const: 1, enum: [2] }],
  ])('that nothing satisfies is left out: %j', (schema) => {
    expect(property(schema)).toBeUndefined()
    expect(reasons({ properties: { p: schema } })).toContain('contradiction')
  })

  it('comes with the required ones first, each part sorted', () => {
    const { properties, required } = input({
      properties: { z: {}, a: {}, m: {}, b: {} },
      required: ['z', 'm'],
    })
    expect([Object.keys(properties as JsonObject), required]).toEqual([
      ['m', 'z', 'a', 'b'],
      ['m', 'z'],
    ])
  })

  it('that a condition brings in is shown, and the condition told', () => {
    const schema = input(SHAPES.find((shape) => shape.title === 'draft 07 conditions')?.schema)
    expect(schema['description']).toBe(
      '(if it is object with reason?="duplicate" then it is object with of else it is object with evidence?)',
    )
    expect(Object.keys(schema['properties'] as JsonObject)).toEqual(['reason', 'evidence', 'of'])
    expect(input({ if: { required: ['a'] } })).toEqual({ type: 'object', properties: {} })
    expect(
      input({
        if: true,
        dependentSchemas: { a: { properties: { b: {}, c: {} } }, b: { properties: { b: {} } } },
      }),
    ).toMatchObject({
      properties: { b: {}, c: {} },
    })
  })

  it('malformed keywords tell nothing', () => {
    const malformed = {
      pattern: 3,
      format: '',
      uniqueItems: 'yes',
      readOnly: false,
      patternProperties: 3,
      contentEncoding: null,
      not: true,
      unevaluatedProperties: true,
      if: { required: ['a'] },
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword's name
      then: true,
      required: 'a',
      properties: [],
    }
    expect(input({ type: 'object', ...malformed })).toEqual({ type: 'object', properties: {} })
    expect(reasons({ type: 'object', ...malformed })).toEqual(['malformed', 'malformed'])
  })

  it('is outlined in a few words', () => {
    const outlineOf = (schema: unknown): unknown => input({ additionalProperties: schema })['description']
    const wide = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`p${index}`, {}]))
    expect(outlineOf({ type: 'array', items: { type: ['string', 'null'] } })).toBe(
      '(every other property is array)',
    )
    expect(outlineOf({ type: 'array', items: { type: 'object', properties: wide } })).toBe(
      '(every other property is array of object)',
    )
    expect(outlineOf({ type: 'object', properties: wide })).toBe(
      '(every other property is object with p0?, p1?, p2?, p3?, p4?, p5?, p6?, p7?, 2 more)',
    )
    expect(outlineOf({ enum: Array.from({ length: 10 }, (_, index) => index) })).toContain(
      '6 or 7 or 2 more)',
    )
    expect(outlineOf({ type: 'string', description: 'long '.repeat(40) })).toMatch(/string \(long .*…\)\)$/)
    expect(outlineOf({ properties: { k: { const: null } }, required: ['k'] })).toBe(
      '(every other property is object with k)',
    )
    expect(outlineOf({ properties: { k: { const: false } }, required: ['k'] })).toBe(
      '(every other property is object with k=false)',
    )
  })

  it('rules of dependence are told', () => {
    expect(
      input({
        dependentRequired: { a: ['b', 3, undefined], b: 'x' },
        dependencies: { c: ['d'], e: { required: ['f'] } },
        patternProperties: { '^x-': { type: 'string' } },
        unevaluatedProperties: false,
        deprecated: true,
        propertyNames: {},
        dependentSchemas: {},
        contains: 3,
      })['description'],
    ).toBe(
      '(properties that match ^x- are string; no other properties; with "a" also give "b", 3, null; with "b" also give ; ' +
        'with "c" also give "d"; with "e" it is object with f; deprecated)',
    )
  })
})

describe('references', () => {
  const at = (properties: JsonObject, rest: JsonObject = {}): JsonObject =>
    input({ type: 'object', properties, ...rest })['properties'] as JsonObject

  it('inlines local ones: pointers, anchors, ids', () => {
    const $defs = {
      'a/b~c d': { type: 'string' },
      named: { $anchor: 'here', type: 'integer' },
      old: { id: '#old', type: 'boolean' },
      part: { $id: 'part.json', $defs: { x: { type: 'null' } }, items: { $ref: '#/$defs/x' } },
    }
    expect(
      at(
        {
          a: { $ref: '#/$defs/a~1b~0c%20d' },
          b: { $ref: '#here' },
          c: { $ref: '#old' },
          d: { $ref: 'part.json#/$defs/x' },
          e: { $ref: 'https://own.test/part.json' },
          f: { $dynamicRef: '#here' },
          g: { $ref: '#/$defs/part/items' },
        },
        { $id: 'https://own.test/tool.json', $defs },
      ),
    ).toEqual({
      a: { type: 'string' },
      b: { type: 'integer' },
      c: { type: 'boolean' },
      d: { type: 'null' },
      e: { type: 'array', items: { type: 'null' } },
      f: { type: 'integer' },
      g: { type: 'null' },
    })
  })

  it('takes pointers from the top where an embedded id leads nowhere', () => {
    expect(
      at(
        { a: { id: '/properties/a', items: { $ref: '#/definitions/x' } } },
        { definitions: { x: { type: 'string' } } },
      ),
    ).toEqual({
      a: { type: 'array', items: { type: 'string' } },
    })
  })

  it('leaves foreign and missing ones open, with a note, and fetches nothing', () => {
    expect(
      at({
        a: { $ref: 'https://else.test/x.json', description: 'Far' },
        b: { $ref: '#/$defs/none' },
        c: { $ref: '#none' },
        d: { $ref: '#/__proto__' },
        e: { $ref: '#/%' },
      }),
    ).toEqual({
      a: { description: 'Far (defined elsewhere: any value)' },
      b: { description: '(not defined by the server: any value)' },
      c: { description: '(not defined by the server: any value)' },
      d: { description: '(not defined by the server: any value)' },
      e: { description: '(not defined by the server: any value)' },
    })
  })

  it('cuts recursion at the second occurrence and says so', () => {
    const node = { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#/$defs/node' } } } }
    const schema = { properties: { root: { $ref: '#/$defs/node' }, self: { $ref: '#' } }, $defs: { node } }
    expect(input(schema)['properties']).toEqual({
      root: {
        type: 'object',
        properties: {
          kids: { type: 'array', items: { type: 'object', description: '(same form as node above)' } },
        },
      },
      self: { description: '(same form as the whole)' },
    })
    expect(reasons(schema)).toEqual(expect.arrayContaining(['reference-inlined', 'recursion-cut']))
    expect(input({ allOf: [{ $ref: '#' }], type: 'object' })).toMatchObject({ type: 'object' })
    const nullable = {
      properties: {
        a: { type: 'integer', allOf: [{ $ref: '#/properties/b' }] },
        b: { type: 'number', nullable: true, allOf: [{ $ref: '#/properties/b' }] },
      },
    }
    expect(input(nullable)['properties']).toMatchObject({
      a: { oneOf: [{ type: 'integer' }, { type: 'null' }] },
    })
    const narrowed = {
      properties: { b: { type: ['number', 'string'], $ref: '#/$defs/n' } },
      $defs: { n: { type: 'number', $ref: '#/$defs/n' } },
    }
    expect(input(narrowed)['properties']).toMatchObject({ b: { type: 'number' } })
  })

  it('takes the end of a long chain for what it is', () => {
    const $defs: JsonObject = { d63: true }
    for (let index = 0; index < 63; index += 1) $defs[`d${index}`] = { $ref: `#/$defs/d${index + 1}` }
    expect(at({ a: { $ref: '#/$defs/d0' } }, { $defs })).toEqual({
      a: { description: '(same form as d63 above)' },
    })
  })

  it('follows no more than 64 references of references', () => {
    const $defs: JsonObject = {}
    for (let index = 0; index < 100; index += 1) $defs[`d${index}`] = { $ref: `#/$defs/d${index + 1}` }
    expect(at({ a: { $ref: '#/$defs/d0' } }, { $defs })).toEqual({
      a: { description: '(same form as d63 above)' },
    })
  })

  it('keeps the texts beside a reference of an early draft, and nothing else', () => {
    const properties = {
      a: { type: 'string' },
      b: { $ref: '#/properties/a', description: 'B', title: 'T', minLength: 3, allOf: [{ maxLength: 1 }] },
    }
    expect(at(properties, { $schema: 'http://json-schema.org/draft-07/schema#' })['b']).toEqual({
      type: 'string',
      description: 'B',
    })
    expect(at(properties)['b']).toEqual({ type: 'string', description: 'B (minLength 3; maxLength 1)' })
  })

  it('names each rewrite with its place', () => {
    const schema = {
      type: 'object',
      properties: { ['a\u202Eb']: { const: 1 }, filter: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
    }
    const result = normalizeInput(schema)
    expect(result.ok && result.rewrites).toEqual([
      { path: '/ab', keyword: '', reason: 'unsafe-text' },
      { path: '/filter', keyword: 'anyOf', reason: 'union-rewritten' },
    ])
  })
})
