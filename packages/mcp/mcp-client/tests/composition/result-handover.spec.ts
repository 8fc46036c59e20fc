/**
 * Owns the tests of the definition in the real registry: output contract, policies that keep the last word, spilled
 * texts and blobs, generations, failures.
 */
import { readFile } from 'node:fs/promises'
import { assertSupportedJsonSchema } from '@deepseek-ai/dsh-tools'
import type { JsonSchemaNode, PostToolDecision } from '@deepseek-ai/dsh-tools'
import { afterEach, describe, expect, it } from 'vitest'
import { createDefinition } from '../../src/execution/definition.ts'
import type { CatalogEntry, JsonObject, JsonValue } from '../../src/types.ts'
import { SAMPLES } from '../unit/image-samples.ts'
import { makeAgent, makeEntry, makeSpec, openRegistryHost, textOf } from './registry-host.ts'
import type { HostOptions, RegistryHost } from './registry-host.ts'

const NAME = makeEntry().publicName
const SCHEMA: JsonSchemaNode = {
  type: 'object',
  properties: { n: { type: 'number' } },
  required: ['n'],
  additionalProperties: false,
}

let host: RegistryHost
let unregister: () => void
afterEach(async () => host.close())

async function open(
  options: HostOptions & { schema?: JsonSchemaNode; entry?: Partial<CatalogEntry> } = {},
): Promise<void> {
  host = await openRegistryHost(options)
  unregister = host.register(
    createDefinition(makeEntry(options.entry), { type: 'object' }, options.schema, host.context),
  )
}

const text = (value: string): JsonValue => ({ type: 'text', text: value })
const withImage = [text('a'), { type: 'image', mimeType: 'image/png', data: SAMPLES.png }]
const vision = { agent: makeAgent('vision') }
const answer = (result: JsonObject): void => host.answer(() => structuredClone(result))

function policy(decide: (next: () => Promise<PostToolDecision>) => Promise<PostToolDecision>): void {
  host.ctx.on('tools/post-execute', (_exec, _result, next) => decide(next))
}

describe('the wire', () => {
  it('gets the raw name, the schema and the arguments as they are, never the public name', async () => {
    await open()
    answer({ content: [text('ok')] })
    const args = JSON.parse('{"__proto__":{"x":1},"a":{"b":null}}') as JsonValue
    const result = await host.execute(NAME, { args })
    expect(result).toMatchObject({ isError: false, value: { content: [text('ok')] } })
    expect(host.calls).toEqual([{ tool: { rawName: 'get.thing', inputSchema: { type: 'object' } }, args }])
    expect(Object.keys(host.calls[0]?.args ?? {})).toEqual(['__proto__', 'a'])
    expect(JSON.stringify(host.calls)).not.toContain(NAME)
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it.each<[string, unknown, string]>([
    ['a list', ['a'], 'a list'],
    ['null', null, 'null'],
    ['a string', '{}', 'a string'],
  ])('is never asked with %s as arguments', async (_name, args, words) => {
    await open()
    const result = await host.execute(NAME, { args })
    expect(textOf(result)).toBe(
      `Error: Tool "get.thing" takes its arguments as one JSON object, not ${words}; nothing was sent`,
    )
    expect(host.calls).toEqual([])
  })

  it('is never asked for a tool that needs a task', async () => {
    await open({ entry: { taskRequired: true } })
    const result = await host.execute(NAME)
    expect(result).toMatchObject({ isError: true, error: { info: { code: 'MCP_UNSUPPORTED' } } })
    expect(textOf(result)).toBe(
      'Error: Tool "get.thing" requires task-based execution, which its server does not offer',
    )
    expect(host.calls).toEqual([])
  })
})

describe('the output contract', () => {
  it('is in the enforced subset and shared by untyped tools', async () => {
    await open()
    const one = createDefinition(makeEntry(), {}, undefined, host.context).output.schema
    const two = createDefinition(makeEntry(), {}, undefined, host.context).output.schema
    expect(one).toBe(two)
    expect(() => assertSupportedJsonSchema(one)).not.toThrow()
    const typed = createDefinition(makeEntry(), {}, SCHEMA, host.context).output.schema
    expect(() => assertSupportedJsonSchema(typed)).not.toThrow()
    expect(typed.properties?.['structuredContent']).toBe(SCHEMA)
    expect(typed.required).toEqual(['content'])
  })

  it('holds what fits', async () => {
    await open({ schema: SCHEMA })
    answer({ content: [text('{"n":5}')], structuredContent: { n: 5 }, _meta: { x: 1 } })
    const result = await host.execute(NAME)
    expect(result.value).toEqual({ content: [text('{"n":5}')], structuredContent: { n: 5 } })
    expect(textOf(result)).toBe('{"n":5}')
  })

  it('keeps what does not fit under another name, with a warning, and no lost result', async () => {
    await open({ schema: SCHEMA })
    answer({ content: [text('five')], structuredContent: { n: 'five' } })
    const result = await host.execute(NAME)
    expect(result).toMatchObject({
      isError: false,
      value: { content: [text('five')], invalidStructuredContent: { n: 'five' } },
    })
    expect(result.value).not.toHaveProperty('structuredContent')
    expect(textOf(result)).toContain('[warning: the structured content does not fit')
  })

  it('bears a result without the promised structured content', async () => {
    await open({ schema: SCHEMA })
    answer({ content: [text('x')] })
    const result = await host.execute(NAME)
    expect(result.value).toEqual({ content: [text('x')] })
    expect(textOf(result)).toContain('sent no structured content')
  })

  it.each<[JsonValue]>([[[1]], ['s'], [3], [null], [true]])(
    'bears the modern era: %j',
    async (structuredContent) => {
      await open()
      answer({ content: [], structuredContent })
      const result = await host.execute(NAME)
      expect(result.value).toEqual({ content: [], structuredContent })
      expect(textOf(result)).toBe(JSON.stringify(structuredContent))
    },
  )

  it('takes numbers that are no lossless JSON, and prototype keys as data', async () => {
    await open()
    const raw = '{"content":[],"structuredContent":{"a":-0,"b":[1e400,-0],"__proto__":{"evil":1}}}'
    host.answer(() => JSON.parse(raw) as JsonObject)
    const result = await host.execute(NAME)
    expect(result.isError).toBe(false)
    expect(JSON.stringify(result.value)).toBe(
      '{"content":[],"structuredContent":{"a":0,"b":[null,0],"__proto__":{"evil":1}}}',
    )
    expect(({} as Record<string, unknown>)['evil']).toBeUndefined()
  })
})

describe('the last word', () => {
  it('is the staged projection where nobody says anything', async () => {
    await open()
    answer({ content: withImage })
    policy((next) => next())
    expect((await host.execute(NAME, vision)).content.map(({ type }) => type)).toEqual(['text', 'image'])
  })

  it('is a block', async () => {
    await open()
    answer({ content: withImage })
    policy(() => Promise.resolve({ kind: 'block', feedback: [{ type: 'text', text: 'not today' }] }))
    expect(await host.execute(NAME, vision)).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'not today' }],
    })
  })

  it('is replaced content', async () => {
    await open()
    answer({ content: withImage })
    policy(() => Promise.resolve({ kind: 'accept', content: [{ type: 'text', text: 'other' }] }))
    expect((await host.execute(NAME, vision)).content).toEqual([{ type: 'text', text: 'other' }])
  })

  it('is a replaced value, with its own rendering', async () => {
    await open()
    answer({ content: withImage })
    policy(() => Promise.resolve({ kind: 'accept', value: { content: [text('other')] } }))
    const result = await host.execute(NAME, vision)
    expect(result).toMatchObject({
      value: { content: [text('other')] },
      content: [{ type: 'text', text: 'other' }],
    })
  })

  it('is another value even where its rendering is the same', async () => {
    await open()
    answer({ content: withImage })
    const other = [text('a'), { type: 'image', mimeType: 'image/png', data: SAMPLES.gif }]
    policy(() => Promise.resolve({ kind: 'accept', value: { content: other } }))
    expect((await host.execute(NAME, vision)).content.map(({ type }) => type)).toEqual(['text'])
  })

  it('is an error, although a projection is staged', async () => {
    await open()
    answer({ content: withImage })
    const definition = createDefinition(
      makeEntry({ publicName: 'mcp__demo__other' }),
      {},
      undefined,
      host.context,
    )
    let staged: Parameters<NonNullable<typeof definition.finalizeContent>> | undefined
    host.register({
      ...definition,
      async execute(args, exec) {
        const value = await definition.execute(args, exec)
        const content = definition.output.render(args, value as JsonValue)
        staged = [exec, { isError: true, error: { message: 'x' }, content, value } as never]
        return value
      },
      finalizeContent: () => undefined,
    })
    await host.execute('mcp__demo__other', vision)
    if (staged === undefined) throw new Error('never ran')
    // An error that still carries value and content: only the isError check can tell.
    expect(definition.finalizeContent?.(...staged)).toBeUndefined()
  })

  it('is taken once, by the generation that staged it', async () => {
    await open()
    answer({ content: withImage })
    const make = (): ReturnType<typeof createDefinition> =>
      createDefinition(makeEntry(), {}, undefined, host.context)
    const [older, newer] = [make(), make()]
    unregister()
    const taken: unknown[] = []
    host.register({
      ...newer,
      finalizeContent(exec, result) {
        taken.push(
          older.finalizeContent?.(exec, result),
          newer.finalizeContent?.(exec, result),
          newer.finalizeContent?.(exec, result),
        )
        return undefined
      },
    })
    await host.execute(NAME, vision)
    expect(taken).toEqual([
      undefined,
      [expect.anything(), expect.objectContaining({ type: 'image' })],
      undefined,
    ])
  })

  it('belongs to each of two calls at once, also when a re-sync replaces the definition between them', async () => {
    await open()
    const answers: ((result: JsonObject) => void)[] = []
    host.answer(() => new Promise((resolve) => answers.push(resolve)))
    const first = host.execute(NAME, vision)
    while (answers.length < 1) await Promise.resolve()
    unregister()
    host.register(createDefinition(makeEntry(), {}, undefined, host.context))
    const second = host.execute(NAME, vision)
    while (answers.length < 2) await Promise.resolve()
    answers[1]?.({ content: [text('second')] })
    expect(textOf(await second)).toBe('second')
    answers[0]?.({ content: withImage })
    expect(await first).toMatchObject({ isError: false, value: { content: withImage } })
  })
})

describe('large and unreadable parts', () => {
  const spec = { limits: { ...makeSpec().limits, resultTextBytes: 1_000 } }
  const long = `${'head '.repeat(2_000)}${'tail '.repeat(2_000)}`

  it('are cut, stored whole, and stay whole for programs', async () => {
    await open({ spill: true, spec })
    answer({ content: [text(long)] })
    const result = await host.execute(NAME, vision)
    expect(result.value).toEqual({ content: [text(long)] })
    const shown = textOf(result)
    expect(shown).toMatch(/^head /)
    expect(shown).toMatch(/tail $/)
    expect(shown).toContain('[19000 of 20000 bytes of text left out here. The whole is stored at ')
    expect(Buffer.byteLength(shown)).toBeLessThan(1_500)
    const [, path = ''] = /stored at (\S+) \(20000 bytes\)/.exec(shown) ?? []
    expect(await readFile(path, 'utf8')).toBe(long)
  })

  it.each<[string, HostOptions, { agent?: ReturnType<typeof makeAgent> }]>([
    ['no store', {}, vision],
    ['no session to store them under', { spill: true }, {}],
  ])('are cut alike with %s', async (_name, options, input) => {
    await open({ ...options, spec })
    answer({ content: [text(long)] })
    const result = await host.execute(NAME, input)
    expect(textOf(result)).toContain('The whole remains available to programmatic callers')
    expect(result.value).toEqual({ content: [text(long)] })
  })

  it('cost their part where the store fails, with a line for the operator', async () => {
    await open({ spill: true, spec })
    const store = host.context.host.spillStore()
    if (store === undefined) throw new Error('no store')
    store.saveText = () => Promise.reject(new Error('no space\nleft'))
    answer({ content: [text(long), { type: 'audio', data: 'AA==', mimeType: 'audio/wav' }] })
    const shown = textOf(await host.execute(NAME, vision))
    expect(shown).toContain('[audio result unsupported: audio/wav; raw audio data remains available')
    expect(shown).toContain('The whole remains available to programmatic callers')
    expect(host.logs).toContain(`warn: the result of ${NAME} could not be spilled: no space left`)
  })

  it('are cut beside an image too', async () => {
    await open({ spec })
    answer({ content: [text(long), ...withImage] })
    const result = await host.execute(NAME, vision)
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'image'])
    expect(Buffer.byteLength(textOf(result))).toBeLessThan(1_500)
  })

  it('audio and blobs are saved as base64 text, up to twenty', async () => {
    await open({ spill: true })
    const blob = { type: 'resource', resource: { uri: 'file:///a.bin', blob: 'AQID' } }
    answer({
      content: [
        { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' },
        ...Array.from({ length: 20 }, () => blob),
      ],
    })
    const lines = textOf(await host.execute(NAME, vision)).split('\n')
    expect(lines[0]).toMatch(/^\[audio result: audio\/wav, saved as base64 text. The whole is stored at /)
    expect(lines[19]).toMatch(
      /^\[embedded resource file:\/\/\/a.bin: unknown media type, saved as base64 text/,
    )
    expect(lines[20]).toMatch(
      /^\[embedded resource file:\/\/\/a.bin unsupported: unknown media type; raw resource/,
    )
    const [, path = ''] = /stored at (\S+) \(/.exec(lines[0] ?? '') ?? []
    expect(await readFile(path, 'utf8')).toBe('AAEC')
  })
})

describe('a failure', () => {
  it('of the tool is its text, all blocks, capped, cleaned, without secrets, and stores nothing', async () => {
    await open({ spec: { limits: { ...makeSpec().limits, resultTextBytes: 200 } } })
    let saves = 0
    host.ctx.attachments.saveImages = () => {
      saves += 1
      return Promise.resolve([])
    }
    answer({
      isError: true,
      content: [text('one'), text('two\u202e s3cret'), ...withImage],
      structuredContent: { why: 1 },
    })
    const result = await host.execute(NAME, vision)
    expect(result).toMatchObject({
      isError: true,
      error: { info: { name: 'McpError', code: 'MCP_TOOL_FAILED' } },
    })
    const shown = textOf(result)
    expect(shown).toMatch(/^Error: one\ntwo \*\*\*\na\n\[image unavail/)
    expect(shown).toContain('bytes of text left out here')
    expect(shown).toMatch(/was removed from this result\]$/)
    expect(saves).toBe(0)
    expect(host.logs).toEqual([])
  })

  it.each<[string, JsonObject, string]>([
    ['no content', { isError: true }, 'Error: (no output)'],
    ['structured content alone', { isError: true, structuredContent: { code: 7 } }, 'Error: {"code":7}'],
    ['content that is a string', { isError: true, content: 'bad' }, 'Error: bad'],
  ])('with %s', async (_name, raw, expected) => {
    await open({ schema: SCHEMA })
    answer(raw)
    expect(textOf(await host.execute(NAME))).toBe(expected)
  })

  it.each<[string, JsonObject, string, string]>([
    [
      'input required',
      { resultType: 'input_required', inputRequests: {} },
      'MCP_UNSUPPORTED',
      'answered with further input, which this client did not offer',
    ],
    [
      'unknown type',
      { resultType: 'stream', content: [] },
      'MCP_UNSUPPORTED',
      'a result of the unknown type "stream"',
    ],
    [
      'content is a number',
      { content: 5 },
      'MCP_RESULT_INVALID',
      'ran, but answered with a result whose content is no list',
    ],
    ['content is an object', { content: { a: 1 } }, 'MCP_RESULT_INVALID', 'no list of content blocks'],
  ])('of the result: %s', async (_name, raw, code, words) => {
    await open()
    answer(raw)
    const result = await host.execute(NAME)
    expect(result).toMatchObject({ isError: true, error: { info: { code } } })
    expect(textOf(result)).toContain(words)
    expect(host.logs).toEqual([
      expect.stringMatching(new RegExp(`^warn: call of "get.thing" failed \\(${code}\\): `)),
    ])
  })

  it.each([
    ['structuredContent', 'a result nested deeper than 512 levels'],
    ['resultType', 'a result of the unknown type (nested too deeply to be shown)'],
  ])('of a result whose %s is nested without end', async (key, words) => {
    await open()
    host.answer(
      () => JSON.parse(`{"content":[],"${key}":${'['.repeat(50_000)}${']'.repeat(50_000)}}`) as JsonObject,
    )
    expect(textOf(await host.execute(NAME))).toContain(words)
  })

  it.each<[string, JsonObject, JsonValue[], string]>([
    ['a string', { content: 'plain' }, [text('plain')], 'plain'],
    ['one block', { content: text('one') as JsonObject }, [text('one')], 'one'],
    ['nothing at all', {}, [text('(no output)')], '(no output)'],
    ['null', { content: null }, [text('(no output)')], '(no output)'],
    ['toolResult', { toolResult: { a: 1 } }, [text('{"a":1}')], '{"a":1}'],
    [
      'complete',
      { resultType: 'complete', content: [] },
      [],
      '(get.thing returned no model-visible content)',
    ],
  ])('is not what content given as %s is', async (_name, raw, content, shown) => {
    await open()
    answer(raw)
    const result = await host.execute(NAME)
    expect(result).toMatchObject({ isError: false, value: { content } })
    expect(textOf(result)).toBe(shown)
  })
})

describe('the card', () => {
  it.each<[Partial<CatalogEntry>, unknown, string]>([
    [{}, {}, 'get.thing'],
    [{ title: 'Get\u202e a\nthing' }, undefined, 'Get a thing'],
    [
      { annotations: { title: 'Annotated' } },
      { a: 1, b: { deep: true }, c: 'x\ny', d: false, e: 'no' },
      'Annotated: a=1, c=x y, d=false',
    ],
    [{}, 'half', 'get.thing'],
    [{}, null, 'get.thing'],
    [{}, ['x'], 'get.thing'],
    [{ title: 'T'.repeat(200) }, { q: 'y'.repeat(500) }, `${'T'.repeat(79)}…: q=${'y'.repeat(59)}…`],
  ])('%j with %j', async (entry, args, title) => {
    await open()
    const view = createDefinition(makeEntry(entry), {}, undefined, host.context).presentCall?.(args)
    expect(view).toEqual({
      card: 'generic',
      title,
      kind: 'other',
      ...(args === undefined ? {} : { rawInput: args }),
    })
  })

  it.each<[boolean, object, string, boolean | undefined]>([
    [false, { readOnlyHint: true }, 'other', undefined],
    [true, { readOnlyHint: true }, 'read', true],
    [true, { readOnlyHint: false }, 'execute', undefined],
  ])(
    'with trustAnnotations %s and %j is of the kind %s',
    async (trustAnnotations, annotations, kind, safe) => {
      await open({ spec: { trustAnnotations } })
      const definition = createDefinition(makeEntry({ annotations }), {}, undefined, host.context)
      expect(definition.presentCall?.({})).toMatchObject({ kind })
      expect(definition.isConcurrencySafe?.({})).toBe(safe)
    },
  )

  it('of a finished call is the host’s own: it shows what the model reads', async () => {
    await open()
    const definition = createDefinition(makeEntry(), {}, undefined, host.context)
    expect(definition.presentResult).toBeUndefined()
    expect(definition.output.presentationMeta).toBeUndefined()
  })
})
