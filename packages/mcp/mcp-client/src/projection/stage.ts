/**
 * Owns the richer projection of one result: images as attachments, bytes and oversized text in the spill store. The
 * one place of this step that does I/O; a service that fails costs its part, never the result.
 */
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import { messageOf } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import { cleanLine } from '../text.ts'
import { withLimit } from './host.ts'
import type { Execution, HostServices } from './host.ts'
import { saveImages } from './images.ts'
import { isOver, limitContent, wholeText } from './limits.ts'
import { PLAIN, bytesDiagnostic, imageDiagnostic, toContent } from './result.ts'
import type { BytesPart, CanonicalResult, Projection, Rendering, ResultSource } from './result.ts'

/** How long the spill store may take for one text, in milliseconds. */
const SPILL_LIMIT_MS = 10_000
/** Blobs of one result that are saved; further ones stay diagnostics. */
const MAX_BLOBS = 20
const REST_FOR_PROGRAMS =
  'The whole remains available to programmatic callers; ask the tool for less, or for a part, to read it here'
const REST_IS_LOST = 'Nothing keeps the rest'

export interface StageContext {
  readonly exec: Execution
  readonly host: HostServices
  /** Cap on the text that the model is shown, in UTF-8 bytes. */
  readonly maxTextBytes: number
}

/** And whether a program gets the value as it came, whatever the model is shown. */
interface Staging extends StageContext {
  readonly isKept: boolean
}

/** What a warning of the pure rendering may add to a text, in characters; there are at most two. */
const MAX_WARNINGS_CHARS = 2_000

/**
 * Whether a result may be worth more than its pure rendering: not where it is only text, and surely within the limit or
 * without a store for the whole.
 */
export function mayBeStaged(value: CanonicalResult, { exec, host, maxTextBytes }: StageContext): boolean {
  if (value.structuredContent !== undefined || value.invalidStructuredContent !== undefined) return true
  let chars = MAX_WARNINGS_CHARS
  for (const block of value.content) {
    if (!isJsonObject(block) || block['type'] !== 'text' || typeof block['text'] !== 'string') return true
    chars += block['text'].length + 1
  }
  // A UTF-16 unit is at most three bytes.
  if (chars * 3 <= maxTextBytes) return false
  return host.spillStore() !== undefined && exec.agent !== undefined
}

/** The content to install at the end, or `undefined` where the pure rendering is already all there is. */
export async function stageContent(
  projection: Projection,
  source: ResultSource,
  context: StageContext,
): Promise<ContentBlock[] | undefined> {
  const { content, isPlain, saved } = await stage(projection, source, { ...context, isKept: true })
  if (saved === undefined && isPlain) return undefined
  return limitContent(content, context.maxTextBytes, saved ?? REST_FOR_PROGRAMS)
}

/** The same for what no program gets, such as the messages of a prompt: what is left out is lost. */
export async function stageMessages(
  projection: Projection,
  source: ResultSource,
  context: StageContext,
): Promise<ContentBlock[]> {
  const { content, saved } = await stage(projection, source, { ...context, isKept: false })
  return limitContent(content, context.maxTextBytes, saved ?? REST_IS_LOST)
}

interface Staged {
  readonly content: ContentBlock[]
  /** No host service had a part in it. */
  readonly isPlain: boolean
  /** Where the whole text is, once it is over the limit and something keeps it. */
  readonly saved: string | undefined
}

async function stage(projection: Projection, source: ResultSource, staging: Staging): Promise<Staged> {
  const rendering: Rendering = {
    image: await imageRendering(projection, staging),
    bytes: await bytesRendering(projection, staging),
  }
  const content = toContent(projection, source, rendering)
  return {
    content,
    isPlain: rendering.image === PLAIN.image && rendering.bytes === PLAIN.bytes,
    saved: isOver(content, staging.maxTextBytes)
      ? await spill(wholeText(content), 'result', staging)
      : undefined,
  }
}

/** What can be shown without any host service: pure, for the registry's `output.render`. */
export function plainContent(
  projection: Projection,
  source: ResultSource,
  maxTextBytes: number,
): ContentBlock[] {
  return limitContent(toContent(projection, source, PLAIN), maxTextBytes, REST_FOR_PROGRAMS)
}

async function imageRendering(projection: Projection, context: Staging): Promise<Rendering['image']> {
  if (projection.images.length === 0) return PLAIN.image
  const outcome = await saveImages(projection.images, context.exec, context.host)
  return outcome.kind === 'saved'
    ? outcome.refOf
    : (part) => imageDiagnostic(part, outcome.reasonOf(part), context.isKept)
}

async function bytesRendering(projection: Projection, context: Staging): Promise<Rendering['bytes']> {
  const notes = new Map<BytesPart, string>()
  for (const part of projection.blobs.slice(0, MAX_BLOBS)) {
    const saved = await spill(part.data, part.what, context)
    if (saved === undefined) break
    const uri = part.uri === undefined ? '' : ` ${part.uri}`
    const audio = context.isKept ? 'audio result' : 'audio'
    const what = part.what === 'audio' ? audio : 'embedded resource'
    notes.set(part, `[${what}${uri}: ${part.mediaType}, saved as base64 text. ${saved}]`)
  }
  if (notes.size === 0 && context.isKept) return PLAIN.bytes
  return (part) => notes.get(part) ?? bytesDiagnostic(part, context.isKept)
}

/** Save one text; the sentence that says where, or `undefined` where nothing could keep it. */
async function spill(content: string, label: string, context: StageContext): Promise<string | undefined> {
  const { exec, host } = context
  const store = host.spillStore()
  const sessionId = exec.agent?.session.header.id
  if (store === undefined || sessionId === undefined) return undefined
  const input = {
    owner: { sessionId },
    source: { toolName: exec.name, callId: exec.callId, label },
    suggestedName: `${exec.name}-${label}.txt`,
    content,
  }
  try {
    const ref = await withLimit(store.saveText(input), SPILL_LIMIT_MS)
    return `The whole is stored at ${ref.locator} (${ref.bytes} bytes). ${ref.retrievalHint}`
  } catch (error) {
    host.log('warn', `the ${label} of ${exec.name} could not be spilled: ${cleanLine(messageOf(error), 300)}`)
    return undefined
  }
}
