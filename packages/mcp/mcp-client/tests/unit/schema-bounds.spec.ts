import { assertSupportedJsonSchema } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import { checkArguments } from '../../src/schema/check.ts'
import { normalizeInput, normalizeOutput } from '../../src/schema/normalize.ts'
import type { JsonObject } from '../../src/types.ts'

/** Nothing may hold the event loop for a second; on a busy machine these take a tenth of that. */
/** Far above what it takes, far below what an unbounded walk takes: shared cores and coverage slow it tenfold. */
const LIMIT_MS = 10_000

const property = (schema: unknown, $defs: unknown = {}): unknown => ({
  type: 'object',
  properties: { p: schema },
  $defs,
})

function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let schema: unknown = { type: 'string', minLength: 2 }
  for (let level = 0; level < levels; level += 1) schema = wrap(schema)
  return schema
}

function chained(levels: number, wrap: (ref: unknown) => unknown): unknown {
  const $defs: Record<string, unknown> = { [`d${levels}`]: { type: 'string', minLength: 2 } }
  for (let level = 0; level < levels; level += 1) $defs[`d${level}`] = wrap({ $ref: `#/$defs/d${level + 1}` })
  return property({ $ref: '#/$defs/d0' }, $defs)
}

const many = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index))
const named = (count: number, make: (index: number) => unknown): unknown =>
  Object.fromEntries(many(count, (index) => [`p${index}`, make(index)]))

const BOMBS: readonly (readonly [string, unknown])[] = [
  ['objects in objects', nested(3_000, (inner) => ({ type: 'object', properties: { p: inner } }))],
  ['lists in lists', property(nested(3_000, (inner) => ({ type: 'array', items: inner })))],
  ['unions in unions', property(nested(3_000, (inner) => ({ anyOf: [inner, { type: 'null' }] })))],
  ['negations in negations', property(nested(3_000, (inner) => ({ not: inner })))],
  ['allOf in allOf', property(nested(3_000, (inner) => ({ allOf: [inner] })))],
  ['conditions in conditions', property(nested(3_000, (inner) => ({ if: inner, else: inner })))],
  [
    'everything doubled',
    nested(60, (inner) => ({
      properties: { p: inner, q: inner },
      items: inner,
      anyOf: [inner, inner],
      allOf: [inner, inner],
      not: inner,
      if: inner,
      else: inner,
    })),
  ],
  ['doubling objects', chained(60, (ref) => ({ type: 'object', properties: { p: ref, q: ref } }))],
  ['doubling unions', chained(60, (ref) => ({ anyOf: [ref, ref] }))],
  ['doubling allOf', chained(60, (ref) => ({ allOf: [ref, ref] }))],
  [
    'doubling alternatives',
    chained(60, (ref) => ({ type: 'object', properties: { q: {} }, oneOf: [ref, ref] })),
  ],
  ['a long chain', chained(20_000, (ref) => ref)],
  [
    'two hundred thousand properties',
    { type: 'object', properties: named(200_000, () => ({ type: 'string' })) },
  ],
  ['a hundred thousand branches', property({ anyOf: many(100_000, (index) => ({ const: `v${index}` })) })],
  [
    'four thousand overlapping objects',
    property({ anyOf: many(4_000, (index) => ({ type: 'object', properties: { [`k${index}`]: {} } })) }),
  ],
  ['three hundred thousand values', property({ enum: many(300_000, (index) => `v${index}`) })],
  ['three megabytes of description', property({ description: '{{x'.repeat(1_000_000) })],
  ['three million hidden characters', property({ description: '\u200b'.repeat(3_000_000) })],
  [
    'a value twenty thousand levels deep',
    property({
      const: nested(20_000, (inner) => [inner]),
      default: nested(20_000, (inner) => [inner]),
      enum: [nested(20_000, (inner) => [inner])],
    }),
  ],
  [
    'many anchors to find',
    property(
      { $ref: '#none' },
      named(100_000, (index) => ({ $anchor: `a${index}` })),
    ),
  ],
]

describe.each(BOMBS)('%s', (_title, schema) => {
  it('is normalised, or refused alone, in time and in bounds', () => {
    const start = performance.now()
    const result = normalizeInput(schema)
    const output = normalizeOutput(schema)
    expect(performance.now() - start).toBeLessThan(LIMIT_MS)
    if (output.schema !== undefined) assertSupportedJsonSchema(output.schema)
    if (!result.ok) return expect(result.reason).toBe('the input schema does not fit into 65536 bytes')
    assertSupportedJsonSchema(result.schema)
    expect(Buffer.byteLength(JSON.stringify(result.schema))).toBeLessThanOrEqual(64 * 1024)
    expect(result.rewrites.length).toBeLessThanOrEqual(100)
    const again = normalizeInput(result.schema)
    return expect(again.ok && again.schema).toEqual(result.schema)
  })

  it('is checked in time', () => {
    const start = performance.now()
    let args: JsonObject = { p: '1', q: '2' }
    for (let level = 0; level < 40; level += 1) args = { p: args, q: { p: '[1]' } }
    checkArguments(schema as JsonObject, args)
    checkArguments(schema as JsonObject, { p: many(10_000, String), q: 'x' })
    expect(performance.now() - start).toBeLessThan(LIMIT_MS)
  })
})

describe('a schema that is only large', () => {
  it('keeps every argument and loses texts first', () => {
    const schema = {
      type: 'object',
      properties: named(200, (index) => ({ type: 'string', description: `${index} ${'word '.repeat(200)}` })),
    }
    const result = normalizeInput(schema)
    expect(result.ok && Object.keys(result.schema['properties'] as JsonObject)).toHaveLength(200)
    expect(result.ok && result.rewrites[0]).toEqual({ path: '/', keyword: '', reason: 'too-large' })
    expect(JSON.stringify(result)).toContain('word…')
  })

  it('keeps the types of what it does not show', () => {
    const wide = (inner: unknown): unknown => ({ type: 'object', properties: named(12, () => inner) })
    const leaf = {
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'array', items: { type: 'integer' } } } },
    }
    const result = normalizeInput(wide(wide(wide(leaf))))
    const text = JSON.stringify(result)
    expect(text).toContain('"type":"object","description":"(its inner form is not shown)"')
    expect(text).toContain('too-deep')
  })

  it('shows a list by its type where it is too deep', () => {
    const deep = nested(40, (inner) => ({ type: 'array', items: inner }))
    expect(JSON.stringify(normalizeInput(property(deep)))).toContain(
      '{"type":"array","description":"(its inner form is not shown)","items":{}}',
    )
    expect(JSON.stringify(normalizeOutput(property(deep)))).toContain(
      '{"type":"array","description":"(its inner form is not shown)"}',
    )
  })

  it('tells a long enum by its first values', () => {
    const result = normalizeInput(property({ enum: many(1_001, (index) => `v${index}`) }))
    expect(JSON.stringify(result)).toContain('989 more')
    const joined = normalizeInput(property({ anyOf: many(1_001, (index) => ({ const: index })) }))
    expect(JSON.stringify(joined)).toContain('(one of 1001 values)')
  })

  it('is refused where the names alone are too many', () => {
    expect(normalizeInput({ type: 'object', properties: named(9_000, () => ({ type: 'string' })) })).toEqual({
      ok: false,
      reason: 'the input schema does not fit into 65536 bytes',
    })
    expect(normalizeOutput({ type: 'object', properties: named(9_000, () => ({ type: 'string' })) })).toEqual(
      { rewrites: [] },
    )
  })
})
