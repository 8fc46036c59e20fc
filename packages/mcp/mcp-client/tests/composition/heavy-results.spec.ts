/**
 * Owns the tests of very large results over a real wire: within the caps for the model, stored whole, and whole for a
 * program in Code Mode. How they are cut in the registry alone is in result-size.spec.ts.
 */
import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createHash } from 'node:crypto'
import { runTurn, stdioRow, stdioServer } from '@dsh-mcp/testkit'
import { describe, expect, it } from 'vitest'
import { blocks, image, text } from '../wire/fixtures/heavy.ts'
import { openWireHost } from '../wire/wire-host.ts'
import { hostSuite } from './host-suite.ts'
import { makeAgent } from './registry-host.ts'

const FIXTURE = fileURLToPath(new URL('../wire/fixtures/heavy.ts', import.meta.url))
const MiB = 1024 * 1024
/** Where the testkit's host has its spill policy: what is over it is shown as a preview. */
const POLICY_BYTES = 2_000

const suite = hostSuite()
const sha = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')

describe('an image of 20 MiB', { timeout: 60_000 }, () => {
  it('is stored where the limits of the store admit it, and shown', async () => {
    const admitting = {
      maxImageBytes: 32 * MiB,
      maxMessageImageBytes: 32 * MiB,
      maxImageDimension: 4_000,
    }
    const host = await openWireHost(stdioRow('kit', stdioServer(FIXTURE)), { attachments: admitting })
    suite.after(() => host.close())
    const start = performance.now()
    const result = await host.call('image', { agent: makeAgent('vision') })
    expect(performance.now() - start).toBeLessThan(20_000)
    const [block] = result.content
    if (block?.type !== 'image') throw new Error(JSON.stringify(block).slice(0, 300))
    const saved = await host.ctx.attachments.readImage(block.attachment)
    expect(saved.data.length).toBeGreaterThan(20 * MiB)
    expect(sha(saved.data)).toBe(sha(image()))
  })

  it('is a diagnostic where they do not, in time', async () => {
    const host = await openWireHost(stdioRow('kit', stdioServer(FIXTURE)))
    suite.after(() => host.close())
    const result = await host.call('image', { agent: makeAgent('vision') })
    expect(result.content).toEqual([
      {
        type: 'text',
        text: expect.stringMatching(/^\[image unavailable: image\/png; image admission rejected/) as string,
      },
    ])
    const { content } = result.value as unknown as { readonly content: readonly { readonly data: string }[] }
    expect(sha(Buffer.from(content[0]?.data ?? '', 'base64'))).toBe(sha(image()))
  })
})

describe('in the agent loop', { timeout: 60_000 }, () => {
  it('50 MiB of text and 500 blocks are cut for the model, stored, and whole for a program', async () => {
    const host = await suite.boot({
      mode: 'both',
      extra: ['spill'],
      rows: [stdioRow('kit', stdioServer(FIXTURE), { limits: { resultTextBytes: 1_500 } })],
    })
    const program = [
      'const [text, blocks] = await Promise.all([tools.mcp__kit__text({}), tools.mcp__kit__blocks({})])',
      'const whole = text.content[0].text',
      'const all = blocks.content',
      'return [whole.length, whole.slice(-7), all.length, all[497].text.length, all[498].data.length, all[499].text]',
    ]
    const turn = await runTurn(host, {
      script: [
        {
          calls: [
            { name: 'mcp__kit__text', args: {} },
            { name: 'mcp__kit__blocks', args: {} },
          ],
        },
        { call: { name: 'run_code', args: { description: 'measure', code: program.join('\n') } } },
      ],
    })
    const results = turn.events.flatMap((event) =>
      event.type === 'tool/result' ? event.data.message.content : [],
    )
    const contents = results.map((result) => (result.type === 'tool-result' ? result.content : []))
    const texts = contents.map((content) =>
      content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n'),
    )
    const [shownText = '', shownBlocks = '', measured = ''] = texts
    for (const shown of [shownText, shownBlocks]) {
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(POLICY_BYTES)
    }

    expect(shownText).toMatch(/^line of text\n/)
    expect(shownText).toMatch(/the end$/)
    const [, path = '', bytes] = /stored at (\S+) \((\d+) bytes\)/.exec(shownText) ?? []
    expect(Number(bytes)).toBe(Buffer.byteLength(text()))
    expect(statSync(path).size).toBe(Number(bytes))

    expect(shownBlocks).toMatch(/^block 0 b/)
    expect(shownBlocks).toMatch(/<image>\nthe last block$/)
    const [, list = ''] = /stored at (\S+) \(/.exec(shownBlocks) ?? []
    expect(readFileSync(list, 'utf8')).toMatch(/block 497 b+\n\[image\]\nthe last block$/)

    const lengths = blocks().map(({ text: words, data }) => String(words ?? data).length)
    expect(JSON.parse(measured)).toEqual([
      text().length,
      'the end',
      500,
      lengths[497],
      lengths[498],
      'the last block',
    ])
    // Neither the log of the session nor any request has the whole.
    expect(JSON.stringify(turn.events).length).toBeLessThan(MiB)
    expect(JSON.stringify(turn.requests).length).toBeLessThan(MiB)
  })
})
