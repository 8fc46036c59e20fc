import { assertSupportedJsonSchema, jsonSchemaToTs, validateJsonSchemaValue } from '@deepseek-ai/dsh-tools'
import { fromJsonSchema } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkArguments } from '../../src/schema/check.ts'
import { normalizeInput } from '../../src/schema/normalize.ts'
import { normalizeOutput } from '../../src/schema/output.ts'
import type { JsonObject } from '../../src/types.ts'
import { anySchema, fittingArguments, fittingValue, shuffled } from './schema-arbitraries.ts'

const runs = { numRuns: 150, interruptAfterTimeLimit: 5_000 }

describe('normalizeInput, whatever a server publishes', () => {
  it('gives a root object that the host and a function-calling endpoint take, with types', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        const result = normalizeInput(schema)
        if (!result.ok) {
          expect(result.reason).not.toBe('')
          return
        }
        assertSupportedJsonSchema(result.schema)
        expect(result.schema).toMatchObject({ type: 'object', properties: {} })
        expect(jsonSchemaToTs(result.schema)).not.toBe('unknown')
        const text = JSON.stringify(result.schema)
        expect(text).not.toMatch(/\{\{|\u200b|\u202e|\u001b|\u{E0041}|\\u001b|```/u)
        // Braces may stand together only as JSON's own.
        expect(jsonSchemaToTs(result.schema)).not.toMatch(/\{\{|\}\}/)
      }),
      runs,
    )
  })

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        const once = normalizeInput(schema)
        if (!once.ok) return
        const twice = normalizeInput(once.schema)
        expect(twice.ok && JSON.stringify(twice.schema)).toBe(JSON.stringify(once.schema))
      }),
      runs,
    )
  })

  it('lets the model send everything that the server takes', () => {
    fc.assert(
      fc.property(fittingArguments, ({ schema, value }) => {
        const result = normalizeInput(schema)
        expect(result.ok && checkArguments(result.schema, value)).toMatchObject({ ok: true, coerced: [] })
      }),
      runs,
    )
  })

  it('gives the same bytes and reasons in whatever order the keys come', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        expect(JSON.stringify(normalizeInput(shuffled(schema)))).toBe(JSON.stringify(normalizeInput(schema)))
      }),
      runs,
    )
  })
})

describe('normalizeOutput, whatever a server publishes', () => {
  it('is accepted by the host, stable, and independent of key order', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        const { schema: once } = normalizeOutput(schema)
        expect(JSON.stringify(normalizeOutput(shuffled(schema)).schema)).toBe(JSON.stringify(once))
        if (once === undefined) return
        assertSupportedJsonSchema(once)
        expect(JSON.stringify(normalizeOutput(once).schema)).toBe(JSON.stringify(once))
      }),
      runs,
    )
  })

  it('allows every value that the schema of the server allows', () => {
    fc.assert(
      fc.property(fittingValue, ({ schema, value }) => {
        const { schema: node } = normalizeOutput(schema)
        if (node !== undefined)
          expect(validateJsonSchemaValue(node, JSON.parse(JSON.stringify(value)))).toEqual([])
      }),
      runs,
    )
  })
})

describe('checkArguments', () => {
  it('never refuses and never changes what the schema allows', () => {
    fc.assert(
      fc.property(fittingArguments, ({ schema, value }) => {
        const result = checkArguments(schema, value)
        expect(result).toEqual({ ok: true, args: value, coerced: [] })
        expect(result.ok && result.args).toBe(value)
      }),
      runs,
    )
  })

  it('agrees with a full validator wherever it refuses', async () => {
    await fc.assert(
      fc.asyncProperty(fittingArguments, fittingArguments, async (one, other) => {
        const result = checkArguments(one.schema, other.value)
        // The full validator looks for __proto__ where no own property is, and takes neither draft 04 nor foreign references.
        if (result.ok || /__proto__|"exclusiveMinimum":true|else\.test/.test(JSON.stringify(one.schema)))
          return
        const full = await fromJsonSchema(one.schema)['~standard'].validate(other.value)
        expect(full.issues, result.message).toBeDefined()
      }),
      { numRuns: 100, interruptAfterTimeLimit: 5_000 },
    )
  })

  it('repairs only into what the schema allows', () => {
    fc.assert(
      fc.property(fittingArguments, ({ schema, value }) => {
        const written = Object.fromEntries(
          Object.entries(value).map(([name, item]) => [
            name,
            typeof item === 'string' ? item : JSON.stringify(item),
          ]),
        )
        const result = checkArguments(schema, written)
        if (result.ok)
          expect(checkArguments(schema, result.args)).toEqual({ ok: true, args: result.args, coerced: [] })
        else expect(result.faults.length).toBeLessThanOrEqual(10)
      }),
      runs,
    )
  })

  it('survives any schema and any arguments, in time', () => {
    const slowest = { ms: 0 }
    fc.assert(
      fc.property(
        anySchema,
        fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.jsonValue({ maxDepth: 3 })),
        (schema, args) => {
          const start = performance.now()
          checkArguments(schema as JsonObject, args as JsonObject)
          slowest.ms = Math.max(slowest.ms, performance.now() - start)
        },
      ),
      runs,
    )
    expect(slowest.ms).toBeLessThan(10_000)
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})
