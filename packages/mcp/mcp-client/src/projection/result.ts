/**
 * Owns what the model reads of one canonical result: blocks in order, text runs joined by a newline, structured
 * content once, warnings last. Pure: it runs in the registry's `output.render`, and again on replay.
 */
import type { ImageAttachmentRef } from '@deepseek-ai/dsh-attachment'
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import { validateJsonSchemaValue } from '@deepseek-ai/dsh-tools'
import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'
import { cleanLine, inspectText } from '../text.ts'
import type { JsonValue } from '../types.ts'
import { readBlocks } from './blocks.ts'
import type { Part } from './blocks.ts'
import { jsonEqual } from './equality.ts'

const MAX_FAULT_CHARS = 300
const MAX_MEDIA_TYPE_CHARS = 128
/** How many times longer than its compact form a text may be and still be taken for the same JSON. */
const MAX_SPREAD = 16
/** Compact JSON above this is compared as it stands: it is cut for the model anyway. */
const MAX_COMPARED_CHARS = 1024 * 1024
const NOT_ADMITTED = 'this result was not admitted to durable model context'

/** What a tools/call is worth to a program: the canonical value of the registry. A type, so that it is JSON. */
export type CanonicalResult = {
  content: JsonValue[]
  /** Fits the tool's declared output schema wherever it has one. */
  structuredContent?: JsonValue
  /** Structured content that does not fit the declared schema, as it came. */
  invalidStructuredContent?: JsonValue
}

/** The tool whose result is shown. */
export interface ResultSource {
  /** Raw name of the tool. */
  readonly toolName: string
  /** Declared schema of its structured content. */
  readonly outputSchema: JsonSchemaNode | undefined
  /** Public name of the tool that reads a resource link, where there is one. */
  readonly linkReader?: () => string | undefined
}

export type ImagePart = Extract<Part, { kind: 'image' }>
export type BytesPart = Extract<Part, { kind: 'bytes' }>

/** How the parts that are no text are shown; a diagnostic text is always possible. */
export interface Rendering {
  readonly image: (part: ImagePart) => ImageAttachmentRef | string
  readonly bytes: (part: BytesPart) => string
}

/** Without any host service: every image and every blob is a diagnostic. */
export const PLAIN: Rendering = {
  image: (part) => imageDiagnostic(part, NOT_ADMITTED),
  bytes: bytesDiagnostic,
}

/** Everything of a result that the model is to see, before rendering. */
export interface Projection {
  readonly parts: readonly Part[]
  readonly images: readonly ImagePart[]
  readonly blobs: readonly BytesPart[]
}

/** Read one canonical result into parts. Never throws. */
export function projectResult(value: CanonicalResult, source: ResultSource): Projection {
  const { parts, hidden, hasLinks } = readBlocks(value.content)
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  const all: Part[] = [...parts]
  const shown =
    value.structuredContent === undefined ? value.invalidStructuredContent : value.structuredContent
  let removed = hidden
  const written = shown === undefined ? undefined : JSON.stringify(shown, withoutBytesOf(parts))
  if (
    shown !== undefined &&
    written !== undefined &&
    !isSaid(shown, texts, { written, blocks: value.content })
  ) {
    const json = inspectText(written)
    removed += json.hidden
    all.push({ kind: 'text', text: parts.length === 0 ? json.text : `Structured content:\n${json.text}` })
  }
  const reader = hasLinks ? source.linkReader?.() : undefined
  if (reader !== undefined) all.push({ kind: 'text', text: `[${reader} reads a linked resource by its URI]` })
  for (const warning of warningsOf(value, source, removed))
    all.push({ kind: 'text', text: `[warning: ${warning}]` })
  return {
    parts: all,
    images: parts.filter((part) => part.kind === 'image'),
    blobs: parts.filter((part) => part.kind === 'bytes'),
  }
}

/** Host content of a projection: text runs joined by a newline, images at their places. Never empty. */
export function toContent(
  projection: Projection,
  source: ResultSource,
  rendering: Rendering,
): ContentBlock[] {
  const content: ContentBlock[] = []
  let run: string[] = []
  const flush = (): void => {
    if (run.length > 0) content.push({ type: 'text', text: run.join('\n') })
    run = []
  }
  for (const part of projection.parts) {
    const shown =
      part.kind === 'text' ? part.text : part.kind === 'image' ? rendering.image(part) : rendering.bytes(part)
    if (typeof shown === 'string') {
      run.push(shown)
    } else {
      flush()
      content.push({ type: 'image', attachment: shown })
    }
  }
  flush()
  const isBlank = content.every((block) => block.type === 'text' && block.text === '')
  return isBlank
    ? [{ type: 'text', text: `(${cleanLine(source.toolName, 128)} returned no model-visible content)` }]
    : content
}

/**
 * Stable diagnostic of an image the model cannot be given.
 * @param isKept whether a program gets the bytes all the same
 */
export function imageDiagnostic(part: ImagePart, reason: string, isKept = true): string {
  const mediaType = cleanLine(part.mediaType ?? 'unknown media type', MAX_MEDIA_TYPE_CHARS)
  const kept = isKept ? '; raw image data remains available to programmatic callers' : ''
  return `[image unavailable: ${mediaType}; ${reason}${kept}]`
}

/** Stable diagnostic of bytes the model cannot read; the same for them. */
export function bytesDiagnostic(part: BytesPart, isKept = true): string {
  const what = part.what === 'resource' ? 'embedded resource' : isKept ? 'audio result' : 'audio'
  const kept = isKept ? `; raw ${part.what} data remains available to programmatic callers` : ''
  const uri = part.uri === undefined ? '' : ` ${part.uri}`
  return `[${what}${uri} unsupported: ${part.mediaType}${kept}]`
}

function* warningsOf(value: CanonicalResult, source: ResultSource, hidden: number): Generator<string> {
  if (value.invalidStructuredContent !== undefined) {
    const fault = firstFault(value.invalidStructuredContent, source.outputSchema)
    yield `the structured content does not fit the output schema that the server declares for this tool${fault}`
  } else if (source.outputSchema !== undefined && value.structuredContent === undefined) {
    yield 'the server declares an output schema for this tool but sent no structured content'
  }
  if (hidden > 0)
    yield `${hidden} hidden ${hidden === 1 ? 'character was' : 'characters were'} removed from this result`
}

function firstFault(value: JsonValue, schema: JsonSchemaNode | undefined): string {
  const [fault] = schema === undefined ? [] : validateJsonSchemaValue(schema, value, 'structuredContent')
  return fault === undefined ? '' : `: ${cleanLine(fault, MAX_FAULT_CHARS)}`
}

/**
 * Whether the result says the structured value already: as JSON, as the plain string, as the items of the wrapper that
 * server frameworks put around what is no object, or as the very blocks (server-filesystem repeats images that way).
 */
function isSaid(
  value: JsonValue,
  texts: readonly string[],
  { written, blocks }: { readonly written: string; readonly blocks: readonly JsonValue[] },
): boolean {
  if (texts.includes(written)) return true
  const inner = unwrapped(value)
  if (inner === texts.join('\n') || jsonEqual(inner, blocks)) return true
  if (written.length > MAX_COMPARED_CHARS) return false
  // White space and escapes make a text longer than the compact JSON, but not that much longer.
  const limit = written.length * MAX_SPREAD + 1_024
  const candidates = texts.map((text) => (text.length <= limit ? text.trim() : ''))
  if (candidates.some((text) => says(text, value))) return true
  if (inner === undefined) return false
  if (candidates.some((text) => says(text, inner))) return true
  return (
    Array.isArray(inner) &&
    inner.length === texts.length &&
    inner.every((item, at) => says(candidates[at] as string, item))
  )
}

/** Bytes that a block holds already are not repeated as base64 inside the structured content. */
function withoutBytesOf(parts: readonly Part[]): ((key: string, member: JsonValue) => JsonValue) | undefined {
  const bytes = new Set(parts.flatMap((part) => (part.kind === 'text' ? [] : [part.data])))
  if (bytes.size === 0) return undefined
  return (_key, member) =>
    typeof member === 'string' && bytes.has(member) ? '[the bytes of a block above]' : member
}

/** The value inside `{ result: … }` or `{ content: … }`. */
function unwrapped(value: JsonValue): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const [key = '', ...others] = Object.keys(value)
  return others.length === 0 && (key === 'result' || key === 'content') ? value[key] : undefined
}

function says(text: string, value: JsonValue): boolean {
  if (typeof value === 'string' && text === value.trim()) return true
  // A cheap proof first: a text is parsed only where it can be this value.
  if (typeof value === 'object' && value !== null && text.charAt(0) !== (Array.isArray(value) ? '[' : '{'))
    return false
  try {
    return jsonEqual(JSON.parse(text), value)
  } catch {
    return false // no JSON
  }
}
