import { describe, expect, it } from 'vitest'
import { checkArguments } from '../../src/schema/check.ts'
import type { JsonObject, JsonValue } from '../../src/types.ts'
import { SHAPES } from '../corpus/schemas.ts'

/** Check one argument `p`. */
function check(
  schema: JsonValue,
  value: JsonValue,
  rest: JsonObject = {},
): ReturnType<typeof checkArguments> {
  return checkArguments({ type: 'object', properties: { p: schema }, ...rest }, { p: value })
}

/** What was expected of it; empty where it fits. */
function expected(schema: JsonValue, value: JsonValue, rest: JsonObject = {}): readonly string[] {
  const result = check(schema, value, rest)
  return result.ok ? [] : result.faults.map((fault) => fault.expected)
}

describe.each(SHAPES)('$title', ({ schema, valid, invalid = [] }) => {
  const document = schema as JsonObject

  it.each(valid.map((args) => [args]))('takes %j as it is', (args) => {
    const result = checkArguments(document, args)
    expect(result).toEqual({ ok: true, args, coerced: [] })
    expect(result.ok && result.args).toBe(args)
  })

  it.each(invalid.map((args) => [args]))('refuses %j', (args) => {
    expect(checkArguments(document, args).ok).toBe(false)
  })
})

describe('a refusal', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        items: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
      },
      kind: { enum: ['a', 'b'] },
      when: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
    },
    required: ['kind'],
    additionalProperties: false,
  }

  it('names paths, expectations and what came instead', () => {
    const result = checkArguments(schema, {
      items: [{ count: `x${'y'.repeat(99)}` }, {}, { count: 1.5 }, [], null],
      when: 'later',
      'odd name': { a: 1 },
    })
    expect(!result.ok && result.message.split('\n')).toEqual([
      "The arguments do not fit the tool's schema; nothing was sent.",
      'arguments.kind: expected a value, got nothing',
      `arguments.items[0].count: expected integer, got string "x${'y'.repeat(59)}…"`,
      'arguments.items[1].count: expected integer, got nothing',
      'arguments.items[2].count: expected integer, got number 1.5',
      'arguments.items[3]: expected object, got an array of 0',
      'arguments.items[4]: expected object, got null',
      'arguments.when: expected boolean or null, got string "later"',
      'arguments["odd name"]: expected no property of this name (there are items, kind, when), got an object',
    ])
  })

  it('asks for a required argument even where the schema forbids its name', () => {
    const result = checkArguments({ required: ['a'], additionalProperties: false }, {})
    expect(!result.ok && result.faults).toEqual([{ path: 'arguments.a', expected: 'a value' }])
  })

  it('has at most ten faults', () => {
    const many = { items: Array.from({ length: 50 }, () => ({})), kind: 'a' }
    const result = checkArguments(schema, many)
    expect(!result.ok && result.faults).toHaveLength(10)
    const wide = checkArguments({ required: Array.from({ length: 50 }, (_, index) => `r${index}`) }, {})
    expect(!wide.ok && wide.faults).toHaveLength(10)
    const extra = checkArguments(
      { additionalProperties: false },
      Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`x${index}`, 1])),
    )
    expect(!extra.ok && extra.faults).toHaveLength(10)
    expect(!extra.ok && extra.message).toContain('(there are none)')
  })

  it('is safe to show: what the server wrote is clean and capped', () => {
    const names = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`n${index}\u202E{{x}}`, {}]))
    const result = checkArguments(
      {
        properties: { ...names, e: { enum: Array.from({ length: 50 }, (_, index) => `${index}{{\u200b`) } },
        additionalProperties: false,
      },
      { e: 'q', 'x\u001b[31m\u200b': '{{y}}' },
    )
    const message = result.ok ? '' : result.message
    expect(message).not.toMatch(/\{\{|\u202e|\u200b|\u001b/)
    expect(message).toContain('8 more')
    expect(message.length).toBeLessThan(1_200)
  })

  it.each([
    [null, 'null'],
    [[], 'an array of 0'],
    ['{}', 'string "{}"'],
    [3, 'number 3'],
  ])('refuses arguments that are no object: %j', (args, got) => {
    const result = checkArguments({ type: 'object' }, args as unknown as JsonObject)
    expect(!result.ok && result.message).toContain(`arguments: expected object, got ${got}`)
  })
})

describe('keywords', () => {
  it.each<[string, JsonValue, JsonValue, readonly string[]]>([
    ['type', { type: 'integer' }, 1.5, ['integer']],
    ['type that is unknown', { type: 'uuid' }, 1, []],
    ['type list', { type: ['string', 'null'] }, 1, ['string or null']],
    ['empty type list', { type: [] }, 1, []],
    ['nullable', { type: 'string', nullable: true }, 1, ['string or null']],
    ['nullable enum', { type: 'string', nullable: true, enum: ['a'] }, null, []],
    ['nullable union', { nullable: true, anyOf: [{ type: 'string' }] }, null, []],
    ['enum', { enum: [1, 'a', { b: [1, { c: null }] }] }, { b: [1, { c: null }] }, []],
    ['enum of structures', { enum: [{ b: 1 }, [1], []] }, { b: 2 }, ['"{…}" or "[…]" or []']],
    ['enum with other keys', { enum: [{ b: 1 }] }, { c: 1 }, ['"{…}"']],
    ['enum with another length', { enum: [[1, 2]] }, [1], ['"[…]"']],
    ['empty enum', { enum: [] }, 1, []],
    ['const', { const: false }, 0, ['false']],
    ['false', false, 1, ['no value']],
    ['true', true, 1, []],
    ['minimum', { minimum: 2 }, 1, ['at least 2']],
    ['maximum', { maximum: 2 }, 3, ['at most 2']],
    ['exclusiveMinimum', { exclusiveMinimum: 2 }, 2, ['more than 2']],
    ['exclusiveMaximum', { exclusiveMaximum: 2 }, 2, ['less than 2']],
    ['exclusiveMinimum of draft 04', { minimum: 2, exclusiveMinimum: true }, 2, ['more than 2']],
    ['exclusiveMaximum of draft 04', { maximum: 2, exclusiveMaximum: true }, 2, ['less than 2']],
    [
      'bounds of draft 04 that hold',
      { minimum: 2, exclusiveMinimum: true, maximum: 4, exclusiveMaximum: true },
      3,
      [],
    ],
    [
      'bounds below those of draft 04',
      { minimum: 2, exclusiveMinimum: true, maximum: 4, exclusiveMaximum: false },
      5,
      ['at most 4'],
    ],
    ['bounds that are texts', { minimum: '9', maximum: null }, 1, []],
    ['minLength by code points', { minLength: 2 }, '😀', ['at least 2 characters']],
    ['maxLength by code points', { maxLength: 1 }, '😀', []],
    ['maxLength', { maxLength: 1 }, 'ab', ['at most 1 characters']],
    ['pattern, never run', { pattern: '^(a+)+$' }, `${'a'.repeat(50)}!`, []],
    ['format, never run', { format: 'email' }, 'nobody', []],
    ['minItems', { minItems: 1 }, [], ['at least 1 items']],
    ['minProperties', { minProperties: 1 }, {}, ['at least 1 properties']],
    ['items false', { items: false }, [1], ['no value']],
    ['items true', { items: true }, [1], []],
    [
      'prefixItems',
      { prefixItems: [{ type: 'string' }], items: { type: 'integer' } },
      ['a', 'b'],
      ['integer'],
    ],
    ['prefixItems beside a list of items', { prefixItems: [{}], items: [{ type: 'string' }] }, [1, 1], []],
    ['list of items', { items: [{ type: 'string' }], additionalItems: false }, ['a', 1], ['no value']],
    ['allOf', { allOf: [{ type: 'string' }, { minLength: 2 }] }, 'a', ['at least 2 characters']],
    [
      'anyOf by type',
      { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'string' }] },
      true,
      ['string or integer'],
    ],
    [
      'anyOf by the closest branch',
      {
        anyOf: [
          { type: 'object', required: ['a', 'b'] },
          { type: 'object', required: ['c'] },
          { type: 'null' },
        ],
      },
      {},
      ['a value'],
    ],
    ['oneOf, read leniently', { oneOf: [{ minimum: 1 }, { maximum: 5 }] }, 3, []],
    ['oneOf of nothing', { oneOf: [] }, 3, []],
    ['not, not read', { not: {} }, 3, []],
    ['a schema that is none', 'string', 3, []],
    ['properties that are none', { properties: [], required: 'x', additionalProperties: {} }, { a: 1 }, []],
    [
      'patternProperties, never run',
      { patternProperties: { a: {} }, additionalProperties: false },
      { a: 1 },
      [],
    ],
    [
      'patternProperties that are empty',
      { patternProperties: {}, additionalProperties: false },
      { a: 1 },
      ['no property of this name (there are none)'],
    ],
    ['dependentRequired', { dependentRequired: { a: ['b', 3], c: ['d'], e: 'f' } }, { a: 1 }, ['a value']],
    [
      'a requirement with a type',
      { properties: { a: { allOf: [{ type: 'integer' }] } }, required: ['a', 4] },
      {},
      ['integer'],
    ],
    ['a reference that leads nowhere', { $ref: '#/none' }, 1, []],
  ])('%s', (_title, schema, value, faults) => {
    expect(expected(schema, value)).toEqual(faults)
  })

  it('follows references with their own base', () => {
    const rest = {
      $defs: {
        x: { type: 'string' },
        part: { $id: 'part', $defs: { x: { type: 'integer' } }, properties: { q: { $ref: '#/$defs/x' } } },
      },
    }
    expect(expected({ $ref: '#/$defs/x' }, 1, rest)).toEqual(['string'])
    expect(expected({ $ref: 'part' }, { q: 'a' }, rest)).toEqual(['integer'])
    expect(expected({ $ref: '#/properties/p' }, 1, rest)).toEqual([])
  })

  it('does not look deeper than a hundred levels', () => {
    const nested = (levels: number): JsonObject => (levels === 0 ? { v: 'x' } : { p: nested(levels - 1) })
    const schema: JsonObject = { properties: { p: { $ref: '#' }, v: { type: 'integer' } } }
    expect(checkArguments(schema, nested(90)).ok).toBe(false)
    expect(checkArguments(schema, nested(110)).ok).toBe(true)
  })
})

describe('a string in place of a value', () => {
  it.each<[JsonValue, JsonValue, JsonValue]>([
    [{ type: 'integer' }, '5', 5],
    [{ type: 'number' }, ' 2.5 ', 2.5],
    [{ type: 'number' }, '-0', 0],
    [{ type: 'boolean' }, 'true', true],
    [{ type: 'null' }, 'null', null],
    [{ type: ['integer', 'null'] }, 'null', null],
    [{ type: 'array' }, '[1,"2"]', [1, '2']],
    [{ type: 'array', items: { type: 'integer' } }, '["1",2]', [1, 2]],
    [{ type: 'array', items: { type: 'integer' } }, ['1', 2], [1, 2]],
    [{ type: 'object', properties: { a: { type: 'integer' } } }, '{"a":"1"}', { a: 1 }],
    [
      { type: 'object', properties: { a: { type: 'integer' } } },
      { a: '1', b: '1' },
      { a: 1, b: '1' },
    ],
    [{ type: 'object', additionalProperties: { type: 'boolean' } }, { a: 'false' }, { a: false }],
    [{ enum: [1, 2] }, '2', 2],
    [{ const: true }, 'true', true],
    [{ anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] }, '["a"]', ['a']],
    [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, '3', 3],
    [
      {
        anyOf: [
          { type: 'object', properties: { k: { const: 'a' }, n: { type: 'integer' } }, required: ['k'] },
          { type: 'object', properties: { k: { const: 'b' } }, required: ['k'] },
        ],
      },
      { k: 'a', n: '3' },
      { k: 'a', n: 3 },
    ],
    [
      {
        anyOf: [
          { type: 'object', properties: { n: { type: 'integer' } } },
          { type: 'object', properties: { n: { type: 'number' } } },
        ],
      },
      { n: '3' },
      { n: 3 },
    ],
    [
      {
        allOf: [
          { type: 'object', properties: { n: { type: 'integer' } } },
          { properties: { n: { minimum: 3 } } },
        ],
      },
      { n: '3' },
      { n: 3 },
    ],
    [{ $ref: '#/properties/other' }, '3', 3],
    [{ type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] }, ['1', '2'], [1, '2']],
  ])('%j takes %j as %j', (schema, written, value) => {
    const args = { p: written }
    const before = JSON.stringify(args)
    const result = checkArguments(
      { type: 'object', properties: { p: schema, other: { type: 'integer' } } },
      args,
    )
    expect(result.ok && result.args['p']).toEqual(value)
    expect(result.ok && result.coerced.length).toBeGreaterThan(0)
    expect(JSON.stringify(args)).toBe(before)
  })

  it.each<[JsonValue, JsonValue]>([
    [{ type: 'string' }, '5'],
    [{ type: ['integer', 'string'] }, '5'],
    [{}, '5'],
    [true, '[1]'],
    [{ enum: ['5', 5] }, '5'],
    [{ anyOf: [{ type: 'integer' }, {}] }, '5'],
    [{ anyOf: [{ type: 'integer' }, { $ref: 'https://else.test' }] }, '5'],
  ])('%j allows the string %j', (schema, value) => {
    expect(check(schema, value)).toEqual({ ok: true, args: { p: value }, coerced: [] })
  })

  it.each<[JsonValue, JsonValue]>(
    [
      [{ type: 'integer' }, '5.5'],
      [{ type: 'integer' }, '5 apples'],
      [{ type: 'integer' }, '0x10'],
      [{ type: 'integer' }, ''],
      [{ type: 'integer' }, '"5"'],
      [{ type: 'integer' }, '12345678901234567890'],
      [{ type: 'number' }, '1e400'],
      [{ type: 'boolean' }, 'yes'],
      [{ type: 'boolean' }, '1'],
      [{ type: 'integer', maximum: 4 }, '5'],
      [{ type: 'array', items: { type: 'integer' } }, '["a"]'],
      [{ type: 'object', required: ['a'] }, '{}'],
      [{ type: 'string', enum: ['a'] }, '5'],
      [{ type: 'array' }, `[${' '.repeat(1024 * 1024)}]`],
      [{ anyOf: [false, { type: 'integer' }] }, 'x'],
      // Two readings: neither is taken.
      [
        {
          anyOf: [
            { type: 'object', properties: { n: { type: 'integer' }, m: { type: 'string' } } },
            { type: 'object', properties: { n: { type: 'string' }, m: { type: 'integer' } } },
          ],
        },
        { n: '1', m: '2' },
      ],
    ].slice(0, -1) as [JsonValue, JsonValue][],
  )('%j refuses the string %j', (schema, value) => {
    expect(check(schema, value).ok).toBe(false)
  })

  it('is left alone where two readings differ', () => {
    const branch = (repaired: string, kept: string): JsonObject => ({
      type: 'object',
      properties: { [repaired]: { type: 'integer' }, [kept]: { type: 'string' } },
      additionalProperties: { type: 'boolean' },
      required: ['x'],
    })
    const schema = { anyOf: [branch('a', 'b'), branch('b', 'a')] }
    expect(check(schema, { a: '1', b: '2', x: 'true' }).ok).toBe(false)
    expect(check(schema, { a: '1', b: 'two', x: 'true' })).toMatchObject({
      ok: true,
      args: { p: { a: 1, b: 'two', x: true } },
    })
  })

  it('is left alone behind too many unions', () => {
    const union = (levels: number): JsonObject =>
      levels === 0 ? { type: 'integer' } : { anyOf: [union(levels - 1)] }
    expect(check(union(60), '5')).toMatchObject({ ok: true, args: { p: 5 } })
    expect(check(union(70), '5').ok).toBe(false)
  })

  it('names the places that were repaired', () => {
    const schema = { type: 'array', items: { type: 'object', properties: { count: { type: 'integer' } } } }
    expect(check(schema, '[{"count":"5"},{"count":6}]')).toEqual({
      ok: true,
      args: { p: [{ count: 5 }, { count: 6 }] },
      coerced: ['arguments.p', 'arguments.p[0].count'],
    })
  })

  it('leaves the keys of prototypes plain data', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"integer"},"p":{"type":"object"}}}')
    const result = checkArguments(
      schema,
      JSON.parse('{"__proto__":"5","p":"{\\"__proto__\\":{\\"polluted\\":true}}"}'),
    )
    expect(JSON.stringify(result)).toBe(
      '{"ok":true,"args":{"__proto__":5,"p":{"__proto__":{"polluted":true}}},"coerced":["arguments.__proto__","arguments.p"]}',
    )
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('is not looked for deeper than 64 levels', () => {
    const nested = (levels: number): JsonObject => (levels === 0 ? { v: '1' } : { p: nested(levels - 1) })
    const schema: JsonObject = { properties: { p: { $ref: '#' }, v: { type: 'integer' } } }
    expect(checkArguments(schema, nested(50)).ok).toBe(true)
    expect(checkArguments(schema, nested(80)).ok).toBe(false)
  })
})
