/** Owns the tests of the check of `x-mcp-header`: which tools are left out, why, and on which connections. */
import { describe, expect, it } from 'vitest'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { resolveConfig } from '../../src/config.ts'
import { headerFault, withoutBadHeaders } from '../../src/discovery/headers.ts'
import { createCatalog } from '../../src/discovery/catalog.ts'
import { createReader } from '../../src/discovery/reader.ts'
import type { Catalog, JsonObject, JsonValue } from '../../src/types.ts'
import { makeSession } from '../composition/registry-host.ts'

const HTTP = { url: 'http://127.0.0.1/mcp' }
const STDIO = { command: 'server' }

function schemaOf(properties: JsonObject, rest: JsonObject = {}): JsonObject {
  return { type: 'object', properties, ...rest }
}

function annotated(name: JsonValue, type: JsonValue = 'string'): JsonObject {
  return { type, 'x-mcp-header': name }
}

function toolsOf(...schemas: readonly JsonObject[]): JsonObject {
  return { tools: schemas.map((inputSchema, index) => ({ name: `tool-${index}`, inputSchema })) }
}

const BAD = schemaOf({ score: annotated('Score', 'number') })
const GOOD = schemaOf({ region: annotated('Region') })

describe('the annotations of a schema', () => {
  it.each<[string, JsonObject]>([
    ['none', schemaOf({ a: { type: 'string' } })],
    [
      'each type that fits',
      schemaOf({ a: annotated('A'), b: annotated('B', 'integer'), c: annotated('C', 'boolean') }),
    ],
    ['a nested property', schemaOf({ a: schemaOf({ b: annotated('B') }) })],
    ['every character that a name may have', schemaOf({ a: annotated("!#$%&'*+-.^_`|~0aZ") })],
    ['a property that has the name of the annotation', schemaOf({ 'x-mcp-header': { type: 'string' } })],
    [
      'the word as data',
      schemaOf({ a: { type: 'string', enum: [annotated('') as JsonValue], default: annotated('') } }),
    ],
    [
      'a definition that has the name of the annotation',
      schemaOf({}, { $defs: { 'x-mcp-header': { type: 'string' } } }),
    ],
    [
      'keywords that hold something else than schemas',
      schemaOf({}, { properties: ['x'], $defs: 'text', allOf: 1, not: true }),
    ],
  ])('may be: %s', (_what, schema) => {
    expect(headerFault(schema)).toBeUndefined()
  })

  it.each<[string, JsonObject, string]>([
    ['an empty name', schemaOf({ a: annotated('') }), 'x-mcp-header of "a" is no name of an HTTP header'],
    [
      'a name that is no text',
      schemaOf({ a: annotated(7) }),
      'x-mcp-header of "a" is no name of an HTTP header',
    ],
    [
      'a line break',
      schemaOf({ a: annotated('A\r\nB') }),
      'x-mcp-header of "a" is no name of an HTTP header',
    ],
    [
      'a trailing line break',
      schemaOf({ a: annotated('A\n') }),
      'x-mcp-header of "a" is no name of an HTTP header',
    ],
    ['a colon', schemaOf({ a: annotated('A:B') }), 'x-mcp-header of "a" is no name of an HTTP header'],
    [
      'a letter beyond ASCII',
      schemaOf({ a: annotated('Région') }),
      'x-mcp-header of "a" is no name of an HTTP header',
    ],
    [
      'a number',
      schemaOf({ a: annotated('A', 'number') }),
      'x-mcp-header of "a" needs the type string, integer or boolean',
    ],
    [
      'an array',
      schemaOf({ a: annotated('A', 'array') }),
      'x-mcp-header of "a" needs the type string, integer or boolean',
    ],
    [
      'two types',
      schemaOf({ a: annotated('A', ['string', 'null']) }),
      'x-mcp-header of "a" needs the type string, integer or boolean',
    ],
    [
      'no type',
      schemaOf({ a: { 'x-mcp-header': 'A' } }),
      'x-mcp-header of "a" needs the type string, integer or boolean',
    ],
    [
      'one name twice',
      schemaOf({ a: annotated('Same'), b: schemaOf({ c: annotated('sAME') }) }),
      'x-mcp-header names "Same" twice',
    ],
    [
      'the root',
      { ...schemaOf({}), ...annotated('A') },
      'x-mcp-header stands where no single argument is described ("")',
    ],
    [
      'the items of an array',
      schemaOf({ a: { items: annotated('A') } }),
      'x-mcp-header stands where no single argument is described ("a")',
    ],
    [
      'a property of items',
      schemaOf({ a: { items: schemaOf({ b: annotated('B') }) } }),
      'x-mcp-header stands where no single argument is described ("a.b")',
    ],
    [
      'a property further below items',
      schemaOf({ a: { items: schemaOf({ b: schemaOf({ c: annotated('C') }) }) } }),
      'x-mcp-header stands where no single argument is described ("a.b.c")',
    ],
    [
      'a branch',
      schemaOf({}, { anyOf: [{}, schemaOf({ a: annotated('A') })] }),
      'x-mcp-header stands where no single argument is described ("a")',
    ],
    [
      'a definition',
      schemaOf({}, { $defs: { d: annotated('A') } }),
      'x-mcp-header stands where no single argument is described ("")',
    ],
    [
      'a property name that hides something',
      schemaOf({ 'a\u001b[31m\u200bb': annotated('') }),
      'x-mcp-header of "ab" is no name of an HTTP header',
    ],
  ])('must not be: %s', (_what, schema, fault) => {
    expect(headerFault(schema)).toBe(fault)
  })

  it('are found at any depth and in any number', () => {
    let schema: JsonObject = annotated('')
    for (let depth = 0; depth < 5_000; depth++) schema = { not: schema }
    expect(headerFault(schema)).toContain('no single argument')
    const names = Array.from({ length: 150_000 }, (_, index) => [`p${index}`, { type: 'string' }] as const)
    expect(headerFault(schemaOf(Object.fromEntries(names)))).toBeUndefined()
  })
})

describe('a catalog', () => {
  it('loses the bad tools and keeps all others', () => {
    const { spec } = resolveConfig({ serverName: 'demo', ...HTTP })
    const walk = { items: toolsOf(BAD, GOOD)['tools'] as JsonValue[], warnings: ['cut'], freshMs: 0 }
    const catalog = createCatalog(spec, walk)
    const kept = withoutBadHeaders(catalog)
    expect(kept.entries.map(({ rawName }) => rawName)).toEqual(['tool-1'])
    expect(kept.warnings).toEqual(['cut'])
    expect(kept.quarantined).toEqual([
      { name: 'tool-0', reason: 'x-mcp-header of "score" needs the type string, integer or boolean' },
    ])
    expect(withoutBadHeaders(kept)).toBe(kept)
  })

  it.each<[string, object, 'modern' | 'legacy', readonly string[]]>([
    ['over HTTP in the modern era', HTTP, 'modern', ['tool-1']],
    ['over HTTP in the legacy era', HTTP, 'legacy', ['tool-0', 'tool-1']],
    ['over stdio', STDIO, 'modern', ['tool-0', 'tool-1']],
  ])('is read %s', async (_how, target, era, names) => {
    const { spec } = resolveConfig({ serverName: 'demo', ...target })
    const session = {
      ...makeSession(() => ({})),
      facts: { era, revision: '2026-07-28', capabilities: { tools: {} } },
      listTools: async () => toolsOf(BAD, GOOD),
    }
    const catalogs: Catalog[] = []
    const reader = createReader({
      spec,
      clock: SYSTEM_CLOCK,
      current: () => session,
      adopt: (catalog) => void catalogs.push(catalog),
      say: () => undefined,
    })
    expect(await reader.first(session, new AbortController().signal)).toBeUndefined()
    expect(catalogs[0]?.entries.map(({ rawName }) => rawName)).toEqual(names)
    await reader.close()
  })
})
