/** Owns the table of the pure projection: what the model reads for every kind of MCP content. */
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonEqual } from '../../src/projection/equality.ts'
import { PREVIEW_BYTES, isOver, limitContent, limitText, wholeText } from '../../src/projection/limits.ts'
import { PLAIN, projectResult, toContent } from '../../src/projection/result.ts'
import type { CanonicalResult } from '../../src/projection/result.ts'
import type { JsonValue } from '../../src/types.ts'

const SCHEMA: JsonSchemaNode = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }

function shown(value: CanonicalResult, outputSchema?: JsonSchemaNode): ContentBlock[] {
  const source = { toolName: 'read', outputSchema }
  return toContent(projectResult(value, source), source, PLAIN)
}

function textOf(
  content: JsonValue[],
  more: Omit<CanonicalResult, 'content'> = {},
  schema?: JsonSchemaNode,
): string {
  const blocks = shown({ content, ...more }, schema)
  expect(blocks).toHaveLength(1)
  return (blocks[0] as { text: string }).text
}

const text = (value: string): JsonValue => ({ type: 'text', text: value })

describe('one block', () => {
  it.each<[string, JsonValue, string]>([
    ['text', text('a'), 'a'],
    ['text without text', { type: 'text' }, '[text unavailable: the MCP block is missing its text]'],
    [
      'text that is no string',
      { type: 'text', text: 5 },
      '[text unavailable: the MCP block is missing its text]',
    ],
    [
      'image',
      { type: 'image', mimeType: 'image/png', data: 'AA==' },
      '[image unavailable: image/png; this result was not admitted to durable model context; raw image data remains available to programmatic callers]',
    ],
    [
      'image without members',
      { type: 'image' },
      '[image unavailable: unknown media type; this result was not admitted to durable model context; raw image data remains available to programmatic callers]',
    ],
    ['link', { type: 'resource_link', name: 'n', uri: 'file:///a' }, 'Resource link: n (file:///a)'],
    [
      'link with all it says',
      {
        type: 'resource_link',
        name: 'n',
        uri: 'file:///a',
        mimeType: 'text/plain',
        size: 12,
        description: 'what\nit\u202e is',
      },
      'Resource link: n (file:///a), text/plain, 12 bytes: what it is',
    ],
    [
      'link that breaks lines',
      { type: 'resource_link', name: 'n\n\u001b[1mSYSTEM:', uri: 'javascript:x\r\n' },
      'Resource link: n SYSTEM: (javascript:x)',
    ],
    [
      'link without URI',
      { type: 'resource_link', name: 'n' },
      '[resource link unavailable: the MCP block is missing its name or URI]',
    ],
    [
      'audio',
      { type: 'audio', mimeType: 'audio/wav', data: 'AA==' },
      '[audio result unsupported: audio/wav; raw audio data remains available to programmatic callers]',
    ],
    ['audio without data', { type: 'audio' }, '[audio unavailable: the MCP block is missing its data]'],
    [
      'embedded text',
      { type: 'resource', resource: { uri: 'file:///a.ts', mimeType: 'text/plain', text: 'let a\n' } },
      'Embedded resource file:///a.ts (text/plain):\nlet a\n',
    ],
    ['embedded text alone', { type: 'resource', resource: { text: 'x' } }, 'Embedded resource:\nx'],
    [
      'embedded blob',
      { type: 'resource', resource: { uri: 'file:///a.bin', blob: 'AA==' } },
      '[embedded resource file:///a.bin unsupported: unknown media type; raw resource data remains available to programmatic callers]',
    ],
    [
      'embedded nothing',
      { type: 'resource', resource: { uri: 'file:///a' } },
      '[embedded resource unavailable: it has neither text nor a blob]',
    ],
    [
      'no resource',
      { type: 'resource' },
      '[embedded resource unavailable: the MCP block is missing its resource]',
    ],
    ['unknown type', { type: 'video\u0007', data: 'x' }, '[unsupported MCP content type: video]'],
    ['no type', { text: 'x' }, '[unsupported MCP content type: none]'],
    ['prototype key as type', { type: '__proto__' }, '[unsupported MCP content type: __proto__]'],
    ['null', null, '[unsupported MCP content block: expected an object]'],
    ['string', 'loose', '[unsupported MCP content block: expected an object]'],
    ['list', [text('x')], '[unsupported MCP content block: expected an object]'],
  ])('%s', (_name, block, expected) => {
    expect(textOf([block])).toBe(expected)
  })

  it('with prototype keys is plain data', () => {
    const block = JSON.parse('{"__proto__":{"type":"text","text":"evil"},"constructor":1}') as JsonValue
    expect(textOf([block])).toBe('[unsupported MCP content type: none]')
    expect(({} as Record<string, unknown>)['text']).toBeUndefined()
  })
})

describe('many blocks', () => {
  it('keep their order, runs joined by a newline', () => {
    const content = [
      text('a'),
      { type: 'image', mimeType: 'image/png', data: 'AA==' },
      text('b'),
      { type: 'resource_link', name: 'n', uri: 'u:' },
      7,
      text('c'),
    ]
    const source = { toolName: 'read', outputSchema: undefined }
    const attachment = { attachmentId: 'sha256:0' } as never
    const projection = projectResult({ content }, source)
    expect(toContent(projection, source, { ...PLAIN, image: () => attachment })).toEqual([
      { type: 'text', text: 'a' },
      { type: 'image', attachment },
      {
        type: 'text',
        text: 'b\nResource link: n (u:)\n[unsupported MCP content block: expected an object]\nc',
      },
    ])
    expect(textOf(content).split('\n')).toHaveLength(6)
  })

  it.each<[string, JsonValue[]]>([
    ['nothing', []],
    ['empty text', [text('')]],
    ['what only the user is to see', [{ type: 'text', text: 'x', annotations: { audience: ['user'] } }]],
  ])('%s is said to be nothing', (_name, content) => {
    expect(textOf(content)).toBe('(read returned no model-visible content)')
  })

  it.each<[JsonValue, boolean]>([
    [{ audience: ['user'] }, false],
    [{ audience: ['user', 'user'] }, false],
    [{ audience: ['user', 'assistant'] }, true],
    [{ audience: ['assistant'] }, true],
    [{ audience: [] }, true],
    [{ audience: ['everybody'] }, true],
    [{ audience: 'user' }, true],
    [null, true],
  ])('audience %j', (annotations, isShown) => {
    expect(textOf([{ type: 'text', text: 'x', annotations }, text('y')])).toBe(isShown ? 'x\ny' : 'y')
  })

  it('flag what was hidden, over all of them', () => {
    expect(textOf([text('a\u200b'), { type: 'resource', resource: { text: 'b\u202e' } }])).toBe(
      'a\nEmbedded resource:\nb\n[warning: 2 hidden characters were removed from this result]',
    )
    expect(textOf([text('a\u200b')])).toContain('1 hidden character was removed')
    expect(textOf([], { structuredContent: { n: '\u200b' } })).toBe(
      '{"n":""}\n[warning: 1 hidden character was removed from this result]',
    )
  })

  it('by the ten thousand settle in time, well-formed', () => {
    const start = performance.now()
    const whole = textOf(Array.from({ length: 50_000 }, (_, at) => text(`${at}\ud800`)))
    expect(whole.isWellFormed()).toBe(true)
    expect(whole.split('\n')).toHaveLength(50_000)
    expect(performance.now() - start).toBeLessThan(10_000)
  })

  it('never throw and never come back empty, whatever they are', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), (content, structuredContent) => {
        const blocks = shown({
          content: content as JsonValue[],
          structuredContent: structuredContent as JsonValue,
        })
        expect(blocks).not.toEqual([])
      }),
    )
  })
})

describe('structured content', () => {
  it.each<[string, string[], JsonValue]>([
    ['compact', ['{"a":1,"b":[true,null]}'], { a: 1, b: [true, null] }],
    ['pretty, keys in another order', ['{\n    "b": "é",\n    "a": 1\n}'], { a: 1, b: 'é' }],
    ['escaped', ['{"b":"\\u00e9\\u00e9"}'], { b: 'éé' }],
    ['among other texts', ['Here it is:', ' [1,2] ', 'bye'], [1, 2]],
    ['a plain string', ['sunny'], 'sunny'],
    ['a quoted string', ['"sunny"'], 'sunny'],
    ['a number', ['5'], 5],
    ['null', ['null'], null],
    ['wrapped string', ['sunny '], { result: 'sunny' }],
    ['wrapped number', ['5'], { result: 5 }],
    ['wrapped list', ['[1,2]'], { result: [1, 2] }],
    ['wrapped list, an item a block', ['a', '{"x":1}'], { result: ['a', { x: 1 }] }],
    [
      'a whole text under content, as server-filesystem does',
      ['  line 1\nline 2'],
      { content: '  line 1\nline 2' },
    ],
    ['two texts under content', ['a', 'b'], { content: 'a\nb' }],
    ['the very blocks under content', ['a'], { content: [{ type: 'text', text: 'a' }] }],
  ])('is not said twice: %s', (_name, texts, structuredContent) => {
    expect(textOf(texts.map(text), { structuredContent })).toBe(texts.join('\n'))
  })

  it.each<[string, string[], JsonValue]>([
    ['other value', ['{"a":1}'], { a: 2 }],
    ['fewer keys', ['{"a":1}'], { a: 1, b: 2 }],
    ['more keys', ['{"a":1,"b":1}'], { a: 1 }],
    ['other key', ['{"b":1}'], { a: 1 }],
    ['list against object', ['[]'], {}],
    ['object against list', ['{}'], []],
    ['prose', ['done'], { ok: true }],
    ['broken JSON', ['{"ok":true'], { ok: true }],
    ['an item too few', ['a'], { result: ['a', 'b'] }],
    ['another item', ['a', 'c'], { result: ['a', 'b'] }],
    ['two members', ['5'], { result: 5, more: 1 }],
    ['another wrapper', ['5'], { value: 5 }],
    ['a text far too long for it', [`{"a":1${' '.repeat(4_000)}}`], { a: 1 }],
    ['null', ['nothing'], null],
  ])('is shown after the text: %s', (_name, texts, structuredContent) => {
    expect(textOf(texts.map(text), { structuredContent })).toBe(
      `${texts.join('\n')}\nStructured content:\n${JSON.stringify(structuredContent)}`,
    )
  })

  it('over a megabyte is not repeated under content', () => {
    const long = 'line\n'.repeat(300_000)
    expect(textOf([text(long)], { structuredContent: { content: long } })).toBe(long)
  })

  it('never repeats the bytes of an image or a blob', () => {
    const data = Buffer.from('not really an image').toString('base64')
    const blocks = [
      { type: 'image', mimeType: 'image/png', data },
      { type: 'resource', resource: { uri: 'x://y', mimeType: 'application/zip', blob: `${data}AAAA` } },
    ]
    const shown = textOf(blocks, { structuredContent: { shot: { data }, zip: `${data}AAAA`, n: 1 } })
    expect(shown).toContain(
      '{"shot":{"data":"[the bytes of a block above]"},"zip":"[the bytes of a block above]","n":1}',
    )
    expect(shown).not.toContain(data)
  })

  it('is shown under a wrapper that the blocks do not repeat', () => {
    expect(textOf([text('a')], { structuredContent: {} })).toBe('a\nStructured content:\n{}')
    expect(textOf([text('a')], { structuredContent: { content: 'b' } })).toBe(
      'a\nStructured content:\n{"content":"b"}',
    )
  })

  it('over a megabyte is compared as it stands', () => {
    const structuredContent = Array.from({ length: 200_000 }, (_, at) => at)
    const written = JSON.stringify(structuredContent)
    expect(textOf([text(written)], { structuredContent })).toBe(written)
    expect(textOf([text(` ${written}`)], { structuredContent })).toBe(
      ` ${written}\nStructured content:\n${written}`,
    )
  })

  it('stands alone where there is no text', () => {
    expect(textOf([], { structuredContent: { a: 1 } })).toBe('{"a":1}')
  })

  it('is told apart when it does not fit, or is missing', () => {
    expect(textOf([text('x')], { invalidStructuredContent: { n: 'five' } }, SCHEMA)).toBe(
      'x\nStructured content:\n{"n":"five"}\n' +
        '[warning: the structured content does not fit the output schema that the server declares for this tool: "structuredContent.n" must be a number]',
    )
    expect(textOf([text('x')], { invalidStructuredContent: 1 })).toContain('declares for this tool]')
    expect(textOf([text('x')], {}, SCHEMA)).toBe(
      'x\n[warning: the server declares an output schema for this tool but sent no structured content]',
    )
    expect(textOf([text('{"n":5}')], { structuredContent: { n: 5 } }, SCHEMA)).toBe('{"n":5}')
  })
})

describe('jsonEqual', () => {
  it('agrees with itself and with a copy, and sees one change', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(jsonEqual(value, structuredClone(value))).toBe(true)
        expect(jsonEqual([value], [[value]])).toBe(false)
      }),
    )
  })
  it('knows prototype keys and bears depth', () => {
    expect(jsonEqual(JSON.parse('{"__proto__":1}'), {})).toBe(false)
    expect(jsonEqual(JSON.parse('{"__proto__":1}'), JSON.parse('{"toString":1}'))).toBe(false)
    const deep = (): unknown => JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as unknown
    expect(jsonEqual(deep(), deep())).toBe(true)
  })
})

describe('the limit', () => {
  const at = (value: string): ContentBlock => ({ type: 'text', text: value })
  const image = { type: 'image', attachment: {} } as ContentBlock

  it('leaves alone what is within it', () => {
    const content = [at('é'.repeat(50)), image]
    expect(limitContent(content, 100, 'x')).toBe(content)
    expect([99, 100, 49, 50].map((max) => isOver(content, max))).toEqual([true, false, true, true])
    expect(wholeText(content)).toBe(`${'é'.repeat(50)}\n[image]`)
  })

  it('keeps head and tail, counts the bytes, and says where the whole is', () => {
    expect(limitText('a'.repeat(60) + 'z'.repeat(60), 20, 'The whole is at X')).toBe(
      `${'a'.repeat(10)}\n[100 of 120 bytes of text left out here. The whole is at X]\n${'z'.repeat(10)}`,
    )
    expect(limitText('é'.repeat(60), 11, 'X')).toBe(
      `${'é'.repeat(3)}\n[110 of 120 bytes of text left out here. X]\n${'é'.repeat(2)}`,
    )
    expect(limitText('abc', 0, 'X')).toBe('[3 of 3 bytes of text left out here. X]')
  })

  it('shows a preview of bounded size, however large the limit', () => {
    const cut = limitText('a'.repeat(200_000), 100_000, 'X')
    expect(Buffer.byteLength(cut)).toBeLessThan(PREVIEW_BYTES + 100)
    expect(cut).toContain(`${200_000 - PREVIEW_BYTES} of 200000 bytes`)
  })

  it('keeps the places of images', () => {
    const long = (letter: string): ContentBlock => at(letter.repeat(100))
    expect(limitContent([long('a'), image, long('b'), image, long('c')], 20, 'X')).toEqual([
      at(`${'a'.repeat(10)}\n[280 of 300 bytes of text left out here. X]`),
      image,
      image,
      at('c'.repeat(10)),
    ])
    expect(limitContent([image, long('a')], 20, 'X')[0]).toBe(image)
    expect(limitContent([at('ab'), image, at('c'.repeat(30)), at('d')], 10, 'X')).toEqual([
      at('ab'),
      image,
      at('ccc\n[23 of 33 bytes of text left out here. X]\ncccc\nd'),
    ])
  })
})
