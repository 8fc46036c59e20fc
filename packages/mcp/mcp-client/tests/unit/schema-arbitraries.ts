/** Schemas for the property tests: a generator of the whole vocabulary, sound or not, and one of schema and value. */
import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../src/types.ts'

const names = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', '{{x}}', 'z\u200b', '1', 'a b')
const texts = fc.constantFrom(
  '',
  'plain',
  '{{x}} }}',
  '*/ ``` x',
  'a\u202Eb\u{E0041}',
  '\u001b[31mred',
  'ü\ud800',
  '  ',
)
const scalars = fc.oneof(
  fc.constantFrom(0, -0, 1, 2.5, 1e300, 'x', '{{', 'o\u200bk', '', true, false, null),
  fc.integer(),
)
const bounds = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom<unknown>('1', true, false, null, Number.MAX_SAFE_INTEGER),
)
const typeNames = fc.constantFrom(
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
  'any',
  'OBJECT',
  'int',
)
const references = fc.constantFrom(
  '#',
  '#/$defs/one',
  '#/$defs/two',
  '#/properties/a',
  '#named',
  '#/nowhere',
  'https://else.test/x#/y',
  '#/%zz',
  '',
)

/** Anything a server may publish as a schema. */
export const anySchema: fc.Arbitrary<unknown> = fc.letrec<{ schema: unknown; map: unknown; list: unknown }>(
  (tie) => ({
    map: fc.dictionary(names, tie('schema'), { maxKeys: 3 }),
    list: fc.array(tie('schema'), { maxLength: 3 }),
    schema: fc.oneof(
      { maxDepth: 4, withCrossShrink: true, depthSize: 'small' },
      fc.oneof(fc.boolean(), fc.constantFrom<unknown>(null, {}, 'string', 3, [])),
      fc.record(
        {
          type: fc.oneof(
            { weight: 6, arbitrary: typeNames },
            { weight: 1, arbitrary: fc.array(typeNames, { maxLength: 3 }) },
            { weight: 1, arbitrary: scalars },
          ),
          description: texts,
          title: texts,
          default: fc.oneof(scalars, fc.array(scalars, { maxLength: 2 })),
          enum: fc.oneof(
            fc.array(scalars, { maxLength: 4 }),
            fc.array(fc.array(scalars, { maxLength: 2 }), { maxLength: 2 }),
            scalars,
          ),
          const: fc.oneof(scalars, fc.dictionary(names, scalars, { maxKeys: 2 })),
          nullable: fc.boolean(),
          properties: fc.oneof({ weight: 5, arbitrary: tie('map') }, { weight: 1, arbitrary: scalars }),
          required: fc.oneof(fc.array(names, { maxLength: 3 }), fc.boolean(), fc.constant(null)),
          additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
          items: fc.oneof(tie('schema'), tie('list')),
          prefixItems: tie('list'),
          additionalItems: tie('schema'),
          anyOf: tie('list'),
          oneOf: tie('list'),
          allOf: tie('list'),
          $ref: references,
          minimum: bounds,
          maximum: bounds,
          exclusiveMinimum: bounds,
          exclusiveMaximum: bounds,
          minLength: bounds,
          pattern: fc.constantFrom('(a+)+$', '[', '^x{{2}}$'),
          format: texts,
          examples: fc.array(scalars, { maxLength: 2 }),
        },
        { requiredKeys: [] },
      ),
      fc.record(
        {
          $schema: fc.constantFrom(
            'http://json-schema.org/draft-07/schema#',
            'https://json-schema.org/draft/2020-12/schema',
          ),
          $id: fc.constantFrom('https://own.test/a', '#named', 'x'),
          $anchor: fc.constantFrom('named'),
          type: typeNames,
          $defs: fc.record({ one: tie('schema'), two: tie('schema') }),
          properties: tie('map'),
          anyOf: tie('list'),
          if: tie('schema'),
          // oxlint-disable-next-line unicorn/no-thenable -- the keyword's name
          then: tie('schema'),
          else: tie('schema'),
          not: tie('schema'),
          contains: tie('schema'),
          patternProperties: tie('map'),
          propertyNames: tie('schema'),
          dependentRequired: fc.dictionary(names, fc.array(names, { maxLength: 2 }), { maxKeys: 2 }),
          dependentSchemas: tie('map'),
          dependencies: fc.dictionary(names, fc.oneof(tie('schema'), fc.array(names, { maxLength: 2 })), {
            maxKeys: 2,
          }),
          unevaluatedProperties: fc.boolean(),
          minProperties: bounds,
          minItems: bounds,
          uniqueItems: fc.boolean(),
          deprecated: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    ),
  }),
).schema

/** A schema, and a value that it allows. */
export interface Fitting {
  readonly schema: JsonObject
  readonly value: JsonValue
}

const safeNames = fc.constantFrom('a', 'b', 'c', 'd', '__proto__')
const plainTexts = fc.constantFrom('', 'x', '5', 'true', '[1]', '{"a":1}', 'null', 'text')

const leaves: fc.Arbitrary<Fitting> = fc.oneof(
  plainTexts.map((value) => ({ schema: { type: 'string', minLength: value.length, maxLength: 9 }, value })),
  plainTexts.map((value) => ({ schema: { type: ['integer', 'string'] }, value })),
  plainTexts.map((value) => ({ schema: { enum: [1, value, null] }, value })),
  plainTexts.map((value) => ({ schema: { const: value, format: 'uuid' }, value })),
  fc
    .integer({ min: -9, max: 9 })
    .map((value) => ({ schema: { type: 'integer', minimum: value, maximum: 9 }, value })),
  fc
    .integer({ min: -9, max: 9 })
    .map((value) => ({ schema: { type: 'number', minimum: value - 1, exclusiveMinimum: true }, value })),
  fc
    .integer({ min: -9, max: 9 })
    .map((value) => ({ schema: { exclusiveMaximum: value + 1, exclusiveMinimum: value - 1 }, value })),
  fc.boolean().map((value) => ({ schema: { type: 'boolean' }, value })),
  fc.constant({ schema: { type: 'string', nullable: true }, value: null }),
  fc.constant({ schema: { type: 'null' }, value: null }),
  fc.jsonValue({ maxDepth: 2 }).map((value) => ({ schema: {}, value: value as JsonValue })),
  fc
    .jsonValue({ maxDepth: 2 })
    .map((value) => ({ schema: { $ref: 'https://else.test/#/x' }, value: value as JsonValue })),
)

const objectOf = (members: readonly (readonly [string, Fitting])[], closed: boolean): Fitting => {
  const properties = Object.fromEntries(members.map(([name, member]) => [name, member.schema]))
  const value = Object.fromEntries(members.map(([name, member]) => [name, member.value]))
  const required = Object.keys(value)
  return {
    schema: { type: 'object', properties, required, ...(closed ? { additionalProperties: false } : {}) },
    value,
  }
}

const objects = (member: fc.Arbitrary<Fitting>): fc.Arbitrary<Fitting> =>
  fc
    .tuple(
      fc.uniqueArray(fc.tuple(safeNames, member), { maxLength: 4, selector: ([name]) => name }),
      fc.boolean(),
    )
    .map(([members, closed]) => objectOf(members, closed))

const fitting: fc.Arbitrary<Fitting> = fc.letrec<{ any: Fitting }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaves,
    objects(tie('any')),
    fc.array(tie('any'), { maxLength: 3 }).map((items) => ({
      schema: {
        type: 'array',
        prefixItems: items.map((item) => item.schema),
        items: false,
        minItems: items.length,
      },
      value: items.map((item) => item.value),
    })),
    tie('any').map(({ schema, value }) => ({
      schema: { type: 'array', items: schema },
      value: [value, value],
    })),
    fc
      .tuple(tie('any'), tie('any'))
      .map(([one, other]) => ({ schema: { anyOf: [other.schema, one.schema] }, value: one.value })),
    fc
      .tuple(tie('any'), leaves)
      .map(([one, other]) => ({ schema: { anyOf: [one.schema, other.schema] }, value: one.value })),
    tie('any').map(({ schema, value }) => ({ schema: { allOf: [schema, schema, {}] }, value })),
    tie('any').map(({ schema, value }) => ({
      schema: { type: 'object', additionalProperties: schema },
      value: { p: value, q: value },
    })),
  ),
})).any

/** An object schema of a tool, and arguments that it allows. */
export const fittingArguments: fc.Arbitrary<Fitting & { readonly value: JsonObject }> = objects(fitting).map(
  (both) => both as Fitting & { readonly value: JsonObject },
)

/** Any schema with a value that it allows. */
export const fittingValue = fitting

/** The same JSON with the keys of every object in another order. */
export function shuffled(value: unknown, depth = 0): unknown {
  // Deeper than any reader of schemas looks.
  if (typeof value !== 'object' || value === null || depth > 200) return value
  if (Array.isArray(value)) return value.map((item) => shuffled(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, shuffled(item, depth + 1)]),
  )
}
