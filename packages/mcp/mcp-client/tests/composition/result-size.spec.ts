/**
 * Owns the tests of very large results in the real registry, beside the host's own spill policy: bounded for the model,
 * whole for programs, and in seconds.
 */
import { stat } from 'node:fs/promises'
import * as spillPolicy from '@deepseek-ai/dsh-spill-policy'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDefinition } from '../../src/execution/definition.ts'
import type { JsonObject, JsonValue } from '../../src/types.ts'
import { SAMPLES } from '../unit/image-samples.ts'
import { makeAgent, makeEntry, openRegistryHost, textOf } from './registry-host.ts'
import type { RegistryHost } from './registry-host.ts'

const NAME = makeEntry().publicName
const MiB = 1024 * 1024
/** Where the host's base profile has its policy. */
const POLICY_BYTES = 50_000

let host: RegistryHost
beforeEach(async () => {
  host = await openRegistryHost({ spill: true })
  await host.ctx.plugin(spillPolicy, { maxInlineBytes: POLICY_BYTES })
  host.register(createDefinition(makeEntry(), { type: 'object' }, undefined, host.context))
})
afterEach(async () => host.close())

const text = (value: string): JsonValue => ({ type: 'text', text: value })
const storedAt = (shown: string): string => /stored at:? (\S+)/.exec(shown)?.[1]?.replace(/\.$/, '') ?? ''

async function run(content: JsonValue[], more: JsonObject = {}) {
  host.answer(() => ({ content, ...more }))
  const start = performance.now()
  const result = await host.execute(NAME, { agent: makeAgent('vision') })
  const ms = performance.now() - start
  expect(result.isError).toBe(false)
  return { result, shown: textOf(result), ms }
}

describe('beside the spill policy', () => {
  it('a text between its limit and ours is the policy’s, whole', async () => {
    const { shown } = await run([text('x'.repeat(80_000))])
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(POLICY_BYTES)
    expect((await stat(storedAt(shown))).size).toBe(80_000)
  })

  it('a text over both limits is ours: stored once and whole, the policy has nothing to cut', async () => {
    const { shown, result } = await run([text('y'.repeat(300_000))])
    expect(shown).toContain('of 300000 bytes of text left out here')
    expect(Buffer.byteLength(shown)).toBeLessThan(POLICY_BYTES)
    expect((await stat(storedAt(shown))).size).toBe(300_000)
    expect(result.value).toEqual({ content: [text('y'.repeat(300_000))] })
  })

  it('an image keeps its place beside a text over both limits', async () => {
    const { result } = await run([
      text('z'.repeat(300_000)),
      { type: 'image', mimeType: 'image/png', data: SAMPLES.png },
    ])
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'image'])
  })
})

describe('very large', { timeout: 60_000 }, () => {
  it.each<[string, () => JsonValue[], JsonObject]>([
    ['50 MiB of text', () => [text('line of text\n'.repeat((50 * MiB) / 13))], {}],
    [
      '6 MiB of JSON beside the same as structured content',
      () => [text(JSON.stringify(big()))],
      { structuredContent: big() },
    ],
    ['8 MiB of hidden characters', () => [text('a\u200b'.repeat((8 * MiB) / 4))], {}],
    ['500 blocks', () => Array.from({ length: 500 }, (_, at) => text(`${at} ${'b'.repeat(2_000)}`)), {}],
    [
      '500 images',
      () => Array.from({ length: 500 }, () => ({ type: 'image', mimeType: 'image/png', data: SAMPLES.png })),
      {},
    ],
    ['20 MiB of audio', () => [{ type: 'audio', mimeType: 'audio/wav', data: 'A'.repeat(20 * MiB) }], {}],
  ])('%s', async (_name, content, more) => {
    const blocks = content()
    const { result, shown, ms } = await run(blocks, more)
    expect(Buffer.byteLength(shown)).toBeLessThan(POLICY_BYTES + 1)
    // Seconds, not minutes; how many is for the benchmark, on a machine that does nothing else.
    expect(ms).toBeLessThan(20_000)
    // Nothing is lost to a program.
    expect((result.value as JsonObject)['content']).toEqual(blocks)
  })
})

function big(): JsonValue[] {
  return Array.from({ length: 60_000 }, (_, at) => ({
    id: at,
    name: `item number ${at}`,
    tags: ['a', 'b', 'c'],
    more: 'x'.repeat(40),
  }))
}
