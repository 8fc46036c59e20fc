/**
 * Owns the image batch of one result: strict decoding of every image, proof that the calling agent's exact route
 * takes images, one atomic save. Any refusal refuses the whole batch; nothing here throws.
 */
import type { ImageAdmissionErrorCode, ImageAttachmentRef, ImageMediaType } from '@deepseek-ai/dsh-attachment'
import type { AttachmentStore, SaveImageAttachment } from '@deepseek-ai/dsh-attachment'
import { messageOf } from '../errors.ts'
import { cleanLine } from '../text.ts'
import { withLimit } from './host.ts'
import type { Execution, HostServices } from './host.ts'
import { readRaster } from './raster.ts'
import type { Raster } from './raster.ts'
import type { ImagePart } from './result.ts'

/** How long an adapter may take to say what a model can read, in milliseconds. */
const ROUTE_LIMIT_MS = 10_000
const MAX_REASON_CHARS = 300

const MEDIA_TYPES: Readonly<Record<ImageMediaType, string>> = {
  'image/png': 'PNG',
  'image/jpeg': 'JPEG',
  'image/webp': 'WebP',
  'image/gif': 'GIF',
}

/** Refusals that the image itself earns, by the store's stable codes. */
const ADMISSION_CODES: Readonly<Record<ImageAdmissionErrorCode, true>> = {
  TOO_MANY_IMAGES: true,
  IMAGES_TOO_LARGE: true,
  UNSUPPORTED_IMAGE_TYPE: true,
  INVALID_IMAGE_BASE64: true,
  INVALID_IMAGE: true,
  IMAGE_TYPE_MISMATCH: true,
  IMAGE_TOO_LARGE: true,
  IMAGE_TOO_MANY_PIXELS: true,
  IMAGE_DIMENSION_TOO_LARGE: true,
}

/** What became of the batch: a reference for every image, or a reason for every image. */
export type ImageOutcome =
  | { readonly kind: 'saved'; readonly refOf: (part: ImagePart) => ImageAttachmentRef }
  | { readonly kind: 'refused'; readonly reasonOf: (part: ImagePart) => string }

type Decoded = { readonly image: SaveImageAttachment; readonly raster: Raster }
type Admission = { readonly store: AttachmentStore } | { readonly reason: string }

/** Decode, prove and save all images of one result, in order. */
export async function saveImages(
  parts: readonly ImagePart[],
  exec: Execution,
  host: Pick<HostServices, 'attachments' | 'llm'>,
): Promise<ImageOutcome> {
  const decoded: Decoded[] = []
  const faults = new Map<ImagePart, string>()
  for (const part of parts) {
    const result = decode(part)
    if (typeof result === 'string') faults.set(part, result)
    else decoded.push(result)
  }
  if (faults.size > 0) {
    const other = 'another image in the same result was invalid'
    return { kind: 'refused', reasonOf: (part) => faults.get(part) ?? other }
  }
  const admission = await admit(decoded, exec, host)
  if ('reason' in admission) return refuseAll(admission.reason)
  let refs: readonly ImageAttachmentRef[]
  try {
    refs = await admission.store.saveImages(decoded.map(({ image }) => image))
  } catch (error) {
    return refuseAll(storeRefusal(error))
  }
  if (refs.length !== parts.length) return refuseAll('durable image storage rejected the result')
  return { kind: 'saved', refOf: (part) => refs[parts.indexOf(part)] as ImageAttachmentRef }
}

function refuseAll(reason: string): ImageOutcome {
  return { kind: 'refused', reasonOf: () => reason }
}

/** Decoded once; the comparison with its own re-encoding proves the base64 canonical, in linear time. */
function decode(part: ImagePart): Decoded | string {
  const { mediaType, data: base64 } = part
  if (!isImageMediaType(mediaType)) return 'the declared media type is not PNG, JPEG, WebP, or GIF'
  if (base64 === undefined || base64 === '') return 'the image data is not canonical base64'
  const data = Buffer.from(base64, 'base64')
  if (data.toString('base64') !== base64) return 'the image data is not canonical base64'
  const raster = readRaster(data)
  if (raster === undefined) return `the image data is not a readable ${MEDIA_TYPES[mediaType]} image`
  if (raster.mediaType !== mediaType) {
    return `the image data is ${MEDIA_TYPES[raster.mediaType]}, not the declared ${MEDIA_TYPES[mediaType]}`
  }
  return { image: { data, mediaType }, raster }
}

function isImageMediaType(mediaType: string | undefined): mediaType is ImageMediaType {
  return mediaType !== undefined && Object.hasOwn(MEDIA_TYPES, mediaType)
}

/** The store, once the calling agent's latest exact route has said that it reads images. */
async function admit(
  decoded: readonly Decoded[],
  exec: Execution,
  host: Pick<HostServices, 'attachments' | 'llm'>,
): Promise<Admission> {
  const store = host.attachments()
  if (store === undefined) return { reason: 'no attachment store is mounted' }
  const route = exec.agent?.session.requestHeader()?.config
  const provider = route?.provider ?? exec.agent?.options.provider
  const model = route?.model ?? exec.agent?.options.model
  const llm = host.llm()
  if (provider === undefined || model === undefined || llm === undefined) {
    return { reason: 'the current model route could not be resolved' }
  }
  let modalities: readonly string[] | undefined
  try {
    const info = await withLimit(llm.resolveModelInfo(provider, model, exec.signal), ROUTE_LIMIT_MS)
    modalities = info.inputModalities
  } catch {
    return { reason: 'the current model route could not be verified' }
  }
  if (modalities === undefined || !modalities.includes('image')) {
    return { reason: `model "${cleanLine(model, 128)}" does not declare image input` }
  }
  const bomb = boundsFault(decoded, store)
  if (bomb !== undefined) return { reason: bomb }
  if (exec.signal.aborted) return { reason: 'the tool call was canceled before image storage' }
  return { store }
}

/** The store's own limits, held against the headers before its decoder runs. */
function boundsFault(decoded: readonly Decoded[], store: AttachmentStore): string | undefined {
  const { maxImageDimension, maxImagePixels } = store.imageLimits
  for (const { raster } of decoded) {
    const { width, height } = raster
    if (Math.max(width, height) > maxImageDimension || width * height > maxImagePixels) {
      return (
        `image admission rejected the result: ${width} x ${height} pixels are over the limit of ` +
        `${maxImageDimension} a side and ${maxImagePixels} in all`
      )
    }
  }
  return undefined
}

function storeRefusal(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && Object.hasOwn(ADMISSION_CODES, code)
    ? `image admission rejected the result: ${cleanLine(messageOf(error), MAX_REASON_CHARS)}`
    : 'durable image storage rejected the result'
}
