import { jsonSchemaToPy, jsonSchemaToTs, renderToolsSdk } from '@deepseek-ai/dsh-tools'
import { renderPrompt } from '@deepseek-ai/dsh-system-prompt'
import { describe, expect, it } from 'vitest'
import { normalizeInput, normalizeOutput, safeText } from '../../src/schema/normalize.ts'
import { withHints } from '../../src/schema/prose.ts'
import { SHAPES } from '../corpus/schemas.ts'

const HOSTILE = 'Use {{name}} or {{{x}}} */ declare const evil ```\n} \u202E\u200b\u{E0041} {"a":{"b":1}}'

describe('safeText', () => {
  it.each([
    ['plain', 'plain'],
    ['  around \n', 'around'],
    ['{{name}}', '{ {name} }'],
    ['{{{{x}}}}', '{ { { {x} } } }'],
    ['{\u200b{x}\u200b}', '{ {x} }'],
    ['a ```ts\ncode``` `b` ````', "a '''ts\ncode''' `b` '''"],
    ['src/**/*.ts', 'src/**/*.ts'],
    ['\u202Eevil\u{E0041}', 'evil'],
    ['a\ufe0f\u200d😀', 'a😀'],
  ])('of %j is %j', (text, safe) => {
    expect(safeText(text, 1_000)).toBe(safe)
    expect(safeText(safe, 1_000)).toBe(safe)
  })

  it('cuts at a character, by bytes', () => {
    expect(safeText('ääää', 8)).toBe('ääää')
    expect(safeText('äääää', 8)).toBe('ää…')
    expect(safeText('word word', 8)).toBe('word…')
    expect(safeText('abc', 2)).toBe('')
    expect(safeText('\u200b'.repeat(10_000), 100)).toBe('…')
    expect(safeText(safeText('x'.repeat(10_000), 100), 100)).toBe(`${'x'.repeat(97)}…`)
  })

  it('gives hints half of the room and drops a text that has none', () => {
    expect(withHints('text', ['a', 'a', 'b'], 100)).toBe('text (a; b)')
    expect(withHints('', ['a'], 100)).toBe('(a)')
    expect(withHints('text', [], 100)).toBe('text')
    expect(withHints('a text that is long', ['12345678'], 16)).toBe('(12345678)')
  })
})

describe('what the host builds from it', () => {
  const tools = SHAPES.flatMap(({ schema }, index) => {
    const input = normalizeInput(schema)
    return input.ok
      ? [
          {
            name: `mcp__s__t${index}`,
            description: safeText(HOSTILE, 2_048),
            parameters: input.schema,
            output: normalizeOutput(schema).schema ?? {},
          },
        ]
      : []
  })
  const text = renderToolsSdk(tools)

  it('is a prompt that renders, whatever the server wrote', () => {
    const assembly = (body: string): Parameters<typeof renderPrompt>[0] => ({
      sections: [{ name: 'tools:sdk', text: body }],
      contexts: [],
      tools: [],
      variables: {},
    })
    expect(renderPrompt(assembly(text))).toBe(text)
    // Without the defence one description fails the whole prompt.
    const raw = renderToolsSdk([
      { name: 't', description: HOSTILE, parameters: { type: 'object' }, output: {} },
    ])
    expect(() => renderPrompt(assembly(raw))).toThrow('prompt variable')
    const braces = renderToolsSdk([
      {
        name: 't',
        description: 'x',
        parameters: { type: 'object', properties: { '{{x}}': { type: 'string' } } },
        output: {},
      },
    ])
    expect(() => renderPrompt(assembly(braces))).toThrow('prompt variable')
  })

  it('has one fence, closed comments and no hidden character', () => {
    expect(text.match(/```/g)).toHaveLength(2)
    for (const line of text.split('\n')) {
      const comment = line.indexOf('/**')
      if (comment >= 0) expect(line.indexOf('*/', comment)).toBe(line.length - 2)
    }
    expect(text).not.toMatch(/[\u200b\u202a-\u202e\u001b]|\u{E0041}/u)
  })

  it('names what could not be shown, and shows the rest', () => {
    const attack = SHAPES.find((shape) => shape.title.startsWith('texts that attack'))
    const result = normalizeInput(attack?.schema)
    expect(result.ok && result.schema).toEqual({
      type: 'object',
      description:
        "Use { {name} } here */ '''\nimport x\n''' evil (a property has a name with hidden characters and is left out; " +
        'a property is named "{ {name} }", its braces without the spaces)',
      properties: {
        glob: { type: 'string', description: 'src/**/*.ts', examples: ['**/*'] },
        hidden: { type: 'string', description: '(values with hidden characters are left out)', enum: ['ok'] },
        pick: { type: 'string', description: 'one (one of "{ {a} }", "b", braces without the spaces)' },
        template: { type: 'string', description: 'Such as { { {user} } } or {"a":{"b":1} } red zero' },
      },
    })
    expect(JSON.stringify(normalizeOutput({ enum: ['o\u200bk', 'b'] }))).toContain(
      '{"type":"string","description"',
    )
    expect(JSON.stringify(normalizeInput({ properties: { p: { enum: ['\u200b'] } } }))).toContain(
      '{"type":"string","description"',
    )
    // A name that is left out must not be forbidden by what is left.
    const closed = { type: 'object', properties: { '{{x}}': {}, a: {} }, additionalProperties: false }
    expect(normalizeInput(closed)).not.toHaveProperty('schema.additionalProperties')
    expect(normalizeOutput(closed)).not.toHaveProperty('schema.additionalProperties')
    expect(JSON.stringify(normalizeInput({ required: ['{{a}}'] }))).toContain('a required property is named')
  })

  it('has Python types as well', () => {
    for (const tool of tools) expect(jsonSchemaToPy(tool.parameters)).not.toBe('Any')
    for (const tool of tools) expect(jsonSchemaToTs(tool.parameters)).not.toBe('unknown')
  })
})
