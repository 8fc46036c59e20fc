/** Owns the steps that run turns of the real agent loop, with the scripted model in the place of a real one. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContentBlock, ImageBlock } from '@deepseek-ai/dsh-llm'
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import { openConversation } from '../conversation.ts'
import type { Host } from '../host.ts'
import { cut, inline, size } from '../report.ts'
import { requests, script } from '../scripted-model.ts'
import type { Step as ModelStep } from '../scripted-model.ts'
import { callTool, toolStartingWith } from '../stage.ts'
import type { Step } from '../stage.ts'
import { rowsOf } from '../transcript.ts'

const IMAGE_TOOL = 'mcp__everything__get-tiny-image'
const ROUTE = { provider: 'scripted', model: 'scripted-vision' }

export const imageStep: Step = {
  title: 'Images of two servers: stored as an attachment, never in the log',
  async run({ host, show }) {
    const base64 = await base64OfServer(host)
    const path = join(host.files, 'picture.png')
    await writeFile(path, Buffer.from(base64, 'base64'))
    const events = await play(host, 'Show me the picture, and the one in the file.', [
      { call: { name: IMAGE_TOOL, args: {} } },
      { call: { name: 'mcp__filesystem__read_media_file', args: { path } } },
      { text: 'Here they are.' },
    ])
    const images = imagesOf(requests.at(-1)?.messages.flatMap(({ content }) => content) ?? [])
    const log = JSON.stringify(events)
    show('calls', `${IMAGE_TOOL} {}`)
    show('calls', `mcp__filesystem__read_media_file ${inline({ path })}`)
    for (const { attachment } of images) {
      const { attachmentId, mediaType, width, height, bytes } = attachment
      const stored = await host.ctx.attachments.readImage(attachment)
      show('attachment', `${mediaType}, ${width}x${height}, ${size(bytes)}, ${cut(attachmentId, 24)}`)
      assert.equal(Buffer.from(stored.data).toString('base64'), base64, 'the stored image is another one')
      assert(log.includes(attachmentId), 'the log does not name the attachment')
    }
    assert.equal(images.length, 2, 'the model was not given both images')
    assert(!log.includes(base64.slice(0, 64)), 'the log has the image in base64')
    show('session log', `${size(log.length)}, with none of the ${size(base64.length)} of base64`)
  },
}

export const turnStep: Step = {
  title: 'A turn of the agent loop: the same servers natively and in Code Mode',
  async run({ host, show }) {
    const search = toolStartingWith(host.ctx, 'mcp__notes__notes_search_')
    const code = [
      `const desk = await tools.mcp__desk__search({ query: 'key' })`,
      `const picture = await tools['${IMAGE_TOOL}']({})`,
      `return { desk: desk.content[0].text, picture: picture.content.map((block) => block.type) }`,
    ].join('\n')
    const events = await play(
      host,
      'What do my notes say about the sink, and what is in the desk and the picture?',
      [
        { call: { name: search, args: { query: 'sink' } } },
        { call: { name: 'run_code', args: { description: 'Desk and picture in one go', code } } },
        {
          text: 'The sink leaks and the plumber is to be called; the bicycle key is in the desk; I see the picture.',
        },
      ],
    )
    for (const event of events) for (const row of rowsOf(event)) show(...row)
    const seen = imagesOf(requests.at(-1)?.messages.flatMap(({ content }) => content) ?? [])
    assert.equal(seen.length, 1, 'the image was not forwarded from the program to the model')
    const results = events.filter((event) => event.type === 'tool/result')
    assert.equal(results.length, 2, 'the model made other calls')
    assert(!JSON.stringify(results).includes('"isError":true'), 'a call failed')
    assert.deepEqual(
      events.at(-1)?.data,
      { turn: 1, reason: { kind: 'completed' } },
      'the turn did not complete',
    )
  },
}

/** One turn in a conversation of its own; the events of its session. */
async function play(
  host: Host,
  prompt: string,
  steps: readonly ModelStep[],
): Promise<readonly SessionEvent[]> {
  script.splice(0, script.length, ...steps)
  const conversation = await openConversation(host.ctx, ROUTE)
  try {
    await conversation.say(prompt)
    return conversation.events()
  } finally {
    await conversation.end()
  }
}

function imagesOf(content: readonly ContentBlock[]): ImageBlock[] {
  return content.flatMap((block) => {
    if (block.type === 'tool-result') return imagesOf(block.content)
    return block.type === 'image' ? [block] : []
  })
}

/** The image as the server sends it: the canonical value of a program, which has no route to a model. */
async function base64OfServer({ ctx }: Host): Promise<string> {
  const result = await callTool(ctx, IMAGE_TOOL, {})
  assert(!result.isError)
  const { content } = result.value as unknown as { content: readonly { type: string; data?: string }[] }
  const data = content.find((block) => block.type === 'image')?.data
  assert(data, 'the server sent no image')
  return data
}
