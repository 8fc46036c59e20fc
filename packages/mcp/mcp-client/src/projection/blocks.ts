/**
 * Owns the reading of MCP content blocks: each untrusted block becomes one part the model may see, or nothing.
 * Pure; one malformed block costs one diagnostic.
 */
import { isJsonObject } from '../json.ts'
import { cleanLine, inspectText } from '../text.ts'

const MAX_NAME_CHARS = 512
const MAX_URI_CHARS = 2_048
const MAX_ABOUT_CHARS = 1_000
const MAX_TYPE_CHARS = 128

/** One visible part of a result, in the server's order. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'image'
      /** Position among the blocks of the result. */
      readonly index: number
      readonly mediaType: string | undefined
      readonly data: string | undefined
    }
  | {
      /** Bytes that the model cannot read: audio, and the blob of an embedded resource. */
      readonly kind: 'bytes'
      readonly index: number
      readonly what: 'audio' | 'resource'
      readonly mediaType: string
      readonly uri: string | undefined
      readonly data: string
    }

export interface Reading {
  readonly parts: readonly Part[]
  /** Hidden characters that were taken out of the texts. */
  readonly hidden: number
  /** Whether there are resource links that the model may follow. */
  readonly hasLinks: boolean
}

type Dict = Record<string, unknown>
type Place = { readonly index: number; hidden: number }

/** Read the blocks of one result. Blocks for the user alone are left out. Never throws. */
export function readBlocks(content: readonly unknown[]): Reading {
  const parts: Part[] = []
  let hidden = 0
  let hasLinks = false
  for (const [index, value] of content.entries()) {
    const place: Place = { index, hidden: 0 }
    const part = isJsonObject(value)
      ? isForModel(value) && readBlock(value, place)
      : text('[unsupported MCP content block: expected an object]')
    if (part !== false) parts.push(part)
    if (part !== false && isJsonObject(value) && value['type'] === 'resource_link') hasLinks = true
    hidden += place.hidden
  }
  return { parts, hidden, hasLinks }
}

function readBlock(block: Dict, place: Place): Part {
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string'
        ? text(clean(block['text'], place))
        : text('[text unavailable: the MCP block is missing its text]')
    case 'image':
      return {
        kind: 'image',
        index: place.index,
        mediaType: string(block['mimeType']),
        data: string(block['data']),
      }
    case 'resource_link':
      return text(readLink(block))
    case 'audio':
      return bytes('audio', block, place)
    case 'resource':
      return readResource(block['resource'], place)
    default:
      return text(`[unsupported MCP content type: ${typeName(block['type'])}]`)
  }
}

/** `Resource link: name (uri), text/plain, 12 bytes: what it is`. Never followed. */
function readLink(link: Dict): string {
  const [name, uri, about] = [string(link['name']), string(link['uri']), string(link['description'])]
  if (name === undefined || uri === undefined)
    return '[resource link unavailable: the MCP block is missing its name or URI]'
  const size = typeof link['size'] === 'number' ? `, ${link['size']} bytes` : ''
  const words = about === undefined ? '' : `: ${cleanLine(about, MAX_ABOUT_CHARS)}`
  return `Resource link: ${cleanLine(name, MAX_NAME_CHARS)} (${cleanLine(uri, MAX_URI_CHARS)})${mediaTypeOf(link, ', ', '')}${size}${words}`
}

function readResource(resource: unknown, place: Place): Part {
  if (!isJsonObject(resource))
    return text('[embedded resource unavailable: the MCP block is missing its resource]')
  if (typeof resource['text'] !== 'string')
    return bytes('resource', { ...resource, data: resource['blob'] }, place)
  const uri = string(resource['uri'])
  const head = uri === undefined ? 'Embedded resource' : `Embedded resource ${cleanLine(uri, MAX_URI_CHARS)}`
  return text(`${head}${mediaTypeOf(resource, ' (', ')')}:\n${clean(resource['text'], place)}`)
}

function bytes(what: 'audio' | 'resource', block: Dict, place: Place): Part {
  const data = string(block['data'])
  if (data === undefined) {
    return text(
      what === 'audio'
        ? '[audio unavailable: the MCP block is missing its data]'
        : '[embedded resource unavailable: it has neither text nor a blob]',
    )
  }
  const uri = string(block['uri'])
  return {
    kind: 'bytes',
    index: place.index,
    what,
    mediaType: mediaTypeOf(block, '', '') || 'unknown media type',
    uri: uri === undefined ? undefined : cleanLine(uri, MAX_URI_CHARS),
    data,
  }
}

/** An audience that names somebody, and not the assistant, keeps the block from the model. */
function isForModel(block: Dict): boolean {
  const audience = isJsonObject(block['annotations']) ? block['annotations']['audience'] : undefined
  return !Array.isArray(audience) || !audience.includes('user') || audience.includes('assistant')
}

function mediaTypeOf(block: Dict, before: string, after: string): string {
  const mediaType = string(block['mimeType'])
  return mediaType === undefined ? '' : `${before}${cleanLine(mediaType, MAX_TYPE_CHARS)}${after}`
}

function typeName(type: unknown): string {
  return typeof type === 'string' ? cleanLine(type, MAX_TYPE_CHARS) : 'none'
}

function clean(raw: string, place: Place): string {
  const cleaned = inspectText(raw)
  place.hidden += cleaned.hidden
  return cleaned.text
}

function text(value: string): Part {
  return { kind: 'text', text: value }
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
