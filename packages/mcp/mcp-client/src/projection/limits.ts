/**
 * Owns the cap on model-visible text: head, tail, byte counts, and where the whole lies. Pure.
 */
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import { cutBytes, cutBytesEnd } from '../text.ts'

/**
 * Bytes of head and tail together once a text is over its limit. Well under the 50 000 bytes at which the host's spill
 * policy acts: it would store the cut text as the whole.
 */
export const PREVIEW_BYTES = 32 * 1024

/** Whether all text blocks together have more UTF-8 bytes. */
export function isOver(content: readonly ContentBlock[], maxBytes: number): boolean {
  // A unit is a byte at least: the bytes of a text that is over in any case are not counted here.
  const units = content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0)
  return units > maxBytes || content.reduce((sum, block) => sum + bytesOf(block), 0) > maxBytes
}

function bytesOf(block: ContentBlock): number {
  return block.type === 'text' ? Buffer.byteLength(block.text) : 0
}

/** All text of a result in one string, images named, for a store that keeps the whole. */
export function wholeText(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
}

/**
 * Content whose text is over `maxBytes` is cut: the start and the end stay, one notice takes the place of the middle,
 * blocks that are no text keep their places. Content within the limit comes back as it is.
 * @param whole sentence that says where the whole text is
 */
export function limitContent(content: ContentBlock[], maxBytes: number, whole: string): ContentBlock[] {
  // Counted once: a text may have 64 MiB.
  const sizes = content.map(bytesOf)
  const total = sizes.reduce((sum, bytes) => sum + bytes, 0)
  if (total <= maxBytes) return content
  const shownBytes = Math.min(maxBytes, PREVIEW_BYTES)
  const headBytes = Math.ceil(shownBytes / 2)
  const tailStart = total - (shownBytes - headBytes)
  const kept: { block: ContentBlock; isTail: boolean }[] = []
  let start = 0
  let shown = 0
  for (const [at, block] of content.entries()) {
    if (block.type !== 'text') {
      kept.push({ block, isTail: start >= headBytes })
      continue
    }
    const bytes = Number(sizes[at])
    const head = cutBytes(block.text, Math.min(bytes, Math.max(0, headBytes - start)))
    const tail = cutBytesEnd(
      block.text,
      Math.min(bytes, Math.max(0, start + bytes - Math.max(start, tailStart))),
    )
    for (const [text, isTail] of [
      [head, false],
      [tail, true],
    ] as const) {
      if (text === '') continue
      kept.push({ block: { type: 'text', text }, isTail })
      shown += Buffer.byteLength(text)
    }
    start += bytes
  }
  const notice = `[${total - shown} of ${total} bytes of text left out here. ${whole}]`
  return withNotice(kept, notice)
}

/** The same for one text. */
export function limitText(text: string, maxBytes: number, whole: string): string {
  return limitContent([{ type: 'text', text }], maxBytes, whole)
    .map((block) => (block as { text: string }).text)
    .join('\n')
}

/** Put the notice between head and tail, and join it with the texts beside it. */
function withNotice(
  kept: readonly { block: ContentBlock; isTail: boolean }[],
  notice: string,
): ContentBlock[] {
  const at = kept.findIndex((entry) => entry.isTail)
  const blocks = kept.map((entry) => entry.block)
  blocks.splice(at === -1 ? blocks.length : at, 0, { type: 'text', text: notice })
  const joined: ContentBlock[] = []
  for (const block of blocks) {
    const last = joined.at(-1)
    if (block.type === 'text' && last?.type === 'text') {
      joined[joined.length - 1] = { type: 'text', text: `${last.text}\n${block.text}` }
    } else {
      joined.push(block)
    }
  }
  return joined
}
