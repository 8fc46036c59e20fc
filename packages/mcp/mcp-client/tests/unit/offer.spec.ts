/** Owns the tests of what the model is given of one tool as a whole. */
import { describe, expect, it } from 'vitest'
import { toOffer } from '../../src/schema/offer.ts'
import type { Offer } from '../../src/schema/offer.ts'
import type { JsonObject } from '../../src/types.ts'

const UNION = {
  oneOf: [
    { type: 'object', properties: { content: { type: 'string' } }, required: ['content'] },
    { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
  ],
}

function offer(description: string, inputSchema: JsonObject, outputSchema?: JsonObject) {
  const made: Offer = toOffer({ description, inputSchema, ...(outputSchema ? { outputSchema } : {}) })
  if (!made.ok) throw new Error(made.reason)
  return made
}

describe('toOffer', () => {
  it('puts what is said of the arguments as a whole into the description of the tool, once', () => {
    const made = offer('Adds a source.', UNION)
    expect(made.description).toBe(
      'Adds a source.\n\n(exactly one of these, "?" marks what may be left out: 1) content; 2) url)',
    )
    expect(made.parameters).toEqual({
      type: 'object',
      properties: { content: { type: 'string' }, url: { type: 'string' } },
    })
    expect(made.rewrites.map(({ reason }) => reason)).toContain('alternatives-told')
  })

  it('leaves the rest as it is', () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string', description: 'the a' } } }
    expect(offer('Reads.', inputSchema)).toEqual({
      ok: true,
      description: 'Reads.',
      parameters: inputSchema,
      outputSchema: undefined,
      rewrites: [],
    })
  })

  it.each([
    ['Reads a file.', 'Reads a file.', 'Reads a file.'],
    ['', 'Arguments of read.', 'Arguments of read.'],
    ['Reads.', 'Arguments of read.', 'Reads.\n\nArguments of read.'],
    ['Reads.', '', 'Reads.'],
    ['', '', ''],
  ])('joins %j and the description %j of the arguments', (text, notes, joined) => {
    const made = offer(text, { type: 'object', description: notes, properties: {} })
    expect(made.description).toBe(joined)
    expect(made.parameters).not.toHaveProperty('description')
  })

  it('bounds and tames a description', () => {
    const { description } = offer(`{{x}} ${'long '.repeat(10_000)}`, UNION)
    expect(description).toMatch(/^\{ \{x\} \} long/)
    expect(Buffer.byteLength(description)).toBeLessThan(20_000)
    expect(description).toMatch(/2\) url\)$/)
  })

  it('has the rewrites of both schemas, and tells them apart', () => {
    const pair = { type: ['string', 'null'] }
    const schema = { type: 'object', properties: { a: pair } }
    const made = offer('', schema, schema)
    expect(made.rewrites).toEqual([
      { path: '/a', keyword: 'type', reason: 'type-list' },
      { path: 'output:/a', keyword: 'type', reason: 'type-list' },
    ])
    expect(made.outputSchema).toEqual({
      type: 'object',
      properties: { a: { oneOf: [{ type: 'string' }, { type: 'null' }] } },
    })
  })

  it('says why a tool cannot be expressed', () => {
    expect(toOffer({ description: 'x', inputSchema: { type: 'string' } })).toEqual({
      ok: false,
      reason: 'the input schema does not take an object',
    })
  })
})
