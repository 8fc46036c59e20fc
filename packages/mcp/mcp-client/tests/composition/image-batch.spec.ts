/** Owns the tests of the image batch through the real registry, model runtime and attachment store. */
import { afterEach, describe, expect, it } from 'vitest'
import { createDefinition } from '../../src/execution/definition.ts'
import type { JsonObject, JsonValue } from '../../src/types.ts'
import { SAMPLES, png, stored } from '../unit/image-samples.ts'
import { makeAgent, makeEntry, openRegistryHost, textOf } from './registry-host.ts'
import type { HostOptions, RegistryHost } from './registry-host.ts'

const NAME = makeEntry().publicName
const RAW = 'raw image data remains available to programmatic callers'

let host: RegistryHost
afterEach(async () => host.close())

async function open(options: HostOptions = {}): Promise<void> {
  host = await openRegistryHost(options)
  host.register(createDefinition(makeEntry(), { type: 'object' }, undefined, host.context))
}

const image = (data: string, mimeType = 'image/png'): JsonValue => ({ type: 'image', mimeType, data })
const text = (value: string): JsonValue => ({ type: 'text', text: value })
const answer = (...content: JsonValue[]): void => host.answer((): JsonObject => ({ content }))

describe('admitted', () => {
  it('keeps the order, the base64 only in the value, and each image readable in the store', async () => {
    await open()
    const content = [
      text('a'),
      text('b'),
      image(SAMPLES.png),
      image(SAMPLES.jpeg, 'image/jpeg'),
      text('c'),
      image(SAMPLES.webp, 'image/webp'),
      image(SAMPLES.gif, 'image/gif'),
    ]
    answer(...content)
    const result = await host.execute(NAME, { agent: makeAgent('vision') })
    expect(result.isError).toBe(false)
    expect(result.value).toEqual({ content })
    expect(result.content.map((block) => (block.type === 'text' ? block.text : block.type))).toEqual([
      'a\nb',
      'image',
      'image',
      'c',
      'image',
      'image',
    ])
    expect(JSON.stringify(result.content)).not.toContain(SAMPLES.png)
    const types: string[] = []
    for (const block of result.content) {
      if (block.type !== 'image') continue
      const read = await host.ctx.attachments.readImage(block.attachment)
      types.push(read.ref.mediaType)
    }
    expect(types).toEqual(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])
  })

  it('asks the latest exact route, with the signal of the call', async () => {
    await open()
    answer(image(SAMPLES.png))
    const controller = new AbortController()
    const header = { provider: 'test', model: 'vision' }
    const admitted = await host.execute(NAME, { agent: makeAgent('text', header), signal: controller.signal })
    expect(admitted.content[0]?.type).toBe('image')
    expect(host.models.lookups[0]).toBeInstanceOf(AbortSignal)
    const refused = await host.execute(NAME, {
      agent: makeAgent('vision', { provider: 'test', model: 'text' }),
    })
    expect(textOf(refused)).toBe(
      `[image unavailable: image/png; model "text" does not declare image input; ${RAW}]`,
    )
  })

  it('takes 16 MiB where the store does', { timeout: 60_000 }, async () => {
    await open({ attachments: { maxImageBytes: 20 * 1024 * 1024 } })
    const large = stored(2_000, 2_000)
    expect(large.length).toBeGreaterThan(15 * 1024 * 1024)
    answer(image(large.toString('base64')))
    const result = await host.execute(NAME, { agent: makeAgent('vision') })
    expect(result.content).toMatchObject([
      { type: 'image', attachment: { bytes: large.length, width: 2_000 } },
    ])
  })
})

describe('refused as a whole', () => {
  const other = 'another image in the same result was invalid'
  it.each<[string, JsonValue, string, string]>([
    [
      'a foreign media type',
      image('AA==', 'image/svg+xml'),
      'image/svg+xml',
      'the declared media type is not PNG, JPEG, WebP, or GIF',
    ],
    [
      'a prototype key as media type',
      image('AA==', 'toString'),
      'toString',
      'the declared media type is not PNG, JPEG, WebP, or GIF',
    ],
    [
      'no media type',
      { type: 'image', data: 'AA==' },
      'unknown media type',
      'the declared media type is not PNG, JPEG, WebP, or GIF',
    ],
    [
      'no data',
      { type: 'image', mimeType: 'image/png' },
      'image/png',
      'the image data is not canonical base64',
    ],
    ['empty data', image(''), 'image/png', 'the image data is not canonical base64'],
    [
      'data with a line break',
      image(`${SAMPLES.png.slice(0, 76)}\n${SAMPLES.png.slice(76)}`),
      'image/png',
      'the image data is not canonical base64',
    ],
    ['URL-safe data', image('_-8='), 'image/png', 'the image data is not canonical base64'],
    ['data without padding', image('iVBORw0KGgo'), 'image/png', 'the image data is not canonical base64'],
    ['loose bits', image('AB=='), 'image/png', 'the image data is not canonical base64'],
    [
      'a data URL',
      image(`data:image/png;base64,${SAMPLES.png}`),
      'image/png',
      'the image data is not canonical base64',
    ],
    [
      'another format than declared',
      image(SAMPLES.jpeg),
      'image/png',
      'the image data is JPEG, not the declared PNG',
    ],
    [
      'bytes that are no image',
      image(Buffer.from('<svg/>').toString('base64')),
      'image/png',
      'the image data is not a readable PNG image',
    ],
  ])('%s', async (_name, bad, mediaType, reason) => {
    await open()
    const content = [text('a'), image(SAMPLES.png), bad, text('b')]
    answer(...content)
    const result = await host.execute(NAME, { agent: makeAgent('vision') })
    expect(result.value).toEqual({ content })
    expect(result.content).toEqual([
      {
        type: 'text',
        text: [
          'a',
          `[image unavailable: image/png; ${other}; ${RAW}]`,
          `[image unavailable: ${mediaType}; ${reason}; ${RAW}]`,
          'b',
        ].join('\n'),
      },
    ])
  })

  it.each<[string, HostOptions, Parameters<typeof makeAgent> | undefined, string]>([
    ['no store', { attachments: false }, ['vision'], 'no attachment store is mounted'],
    ['no agent', {}, undefined, 'the current model route could not be resolved'],
    ['no model runtime', { llm: false }, ['vision'], 'the current model route could not be resolved'],
    [
      'a route nobody serves',
      {},
      ['x', { provider: 'gone', model: 'x' }],
      'the current model route could not be verified',
    ],
    ['a lookup that fails', {}, ['broken'], 'the current model route could not be verified'],
    ['modalities not declared', {}, ['mute'], 'model "mute" does not declare image input'],
    ['text only', {}, ['text'], 'model "text" does not declare image input'],
    [
      'too many',
      { attachments: { maxImagesPerMessage: 1 } },
      ['vision'],
      'image admission rejected the result: Image batch exceeds the configured image-count limit.',
    ],
    [
      'too large',
      { attachments: { maxImageBytes: 50 } },
      ['vision'],
      'image admission rejected the result: Image exceeds the configured byte limit.',
    ],
  ])('%s', async (_name, options, agent, reason) => {
    await open(options)
    answer(image(SAMPLES.png), image(SAMPLES.gif, 'image/gif'))
    const result = await host.execute(NAME, { agent: agent && makeAgent(...agent) })
    expect(textOf(result)).toBe(
      `[image unavailable: image/png; ${reason}; ${RAW}]\n[image unavailable: image/gif; ${reason}; ${RAW}]`,
    )
  })

  it('a bomb, before anything decodes it', async () => {
    await open()
    answer(image(png(60_000, 60_000).toString('base64')))
    const validate = host.ctx.attachments.validateImage
    let decoded = 0
    host.ctx.attachments.validateImage = (input) => {
      decoded += 1
      return validate.call(host.ctx.attachments, input)
    }
    const result = await host.execute(NAME, { agent: makeAgent('vision') })
    expect(textOf(result)).toContain(
      '60000 x 60000 pixels are over the limit of 2000 a side and 40000000 in all',
    )
    answer(image(png(1_999, 1_999).toString('base64')))
    expect(textOf(await host.execute(NAME, { agent: makeAgent('vision') }))).toContain(
      'Unsupported or malformed image data.',
    )
    expect(decoded).toBe(1)
  })

  it.each<[string, () => Promise<never>]>([
    ['fails without a code', () => Promise.reject(new Error('disk full at /secret/path'))],
    [
      'fails with a storage code',
      () => Promise.reject(Object.assign(new Error('x'), { code: 'ATTACHMENT_WRITE_FAILED' })),
    ],
    ['fails with a number', () => Promise.reject(Object.assign(new Error('x'), { code: 28 }))],
    ['throws a text', () => Promise.reject('no')],
    ['returns too few references', () => Promise.resolve([] as never)],
  ])('a store that %s', async (_name, saveImages) => {
    await open()
    answer(image(SAMPLES.png))
    host.ctx.attachments.saveImages = saveImages
    const result = await host.execute(NAME, { agent: makeAgent('vision') })
    expect(textOf(result)).toBe(
      `[image unavailable: image/png; durable image storage rejected the result; ${RAW}]`,
    )
  })
})

describe('cancelled', () => {
  it('during the model lookup: nothing is stored, the registry says aborted', async () => {
    await open()
    answer(image(SAMPLES.png))
    let saves = 0
    host.ctx.attachments.saveImages = () => {
      saves += 1
      return Promise.resolve([])
    }
    const controller = new AbortController()
    const pending = host.execute(NAME, { agent: makeAgent('silent'), signal: controller.signal })
    while (host.models.lookups.length === 0) await Promise.resolve()
    controller.abort()
    expect(await pending).toMatchObject({ isError: true, error: { info: { code: 'ABORTED' } } })
    expect(saves).toBe(0)
  })

  it('between lookup and storage', async () => {
    await open()
    answer(image(SAMPLES.png))
    const controller = new AbortController()
    let saves = 0
    host.ctx.attachments.saveImages = () => {
      saves += 1
      return Promise.resolve([])
    }
    const resolveModel = host.models.resolveModel.bind(host.models)
    host.models.resolveModel = async (provider, model, signal) => {
      const info = await resolveModel(provider, model, signal)
      queueMicrotask(() => controller.abort())
      return info
    }
    const result = await host.execute(NAME, { agent: makeAgent('vision'), signal: controller.signal })
    expect(result).toMatchObject({ isError: true, error: { info: { code: 'ABORTED' } } })
    expect(saves).toBe(0)
  })
})
