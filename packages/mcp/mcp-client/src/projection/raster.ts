/**
 * Owns what an image's first bytes say: its true media type and its dimensions, before any decoder sees it
 * (image bombs, media type lies). Pure, bounded reads only.
 */
import type { ImageMediaType } from '@deepseek-ai/dsh-attachment'

export interface Raster {
  readonly mediaType: ImageMediaType
  readonly width: number
  readonly height: number
}

/** Read the header of a PNG, JPEG, GIF or WebP image; `undefined` where it is none of them or is cut short. */
export function readRaster(data: Uint8Array): Raster | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const size = readPng(bytes) ?? readGif(bytes) ?? readWebp(bytes) ?? readJpeg(bytes)
  return size === undefined || size.width === 0 || size.height === 0 ? undefined : size
}

function readPng(bytes: Buffer): Raster | undefined {
  if (bytes.length < 24 || bytes.toString('latin1', 0, 8) !== '\u0089PNG\r\n\u001a\n') return undefined
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
  return { mediaType: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

function readGif(bytes: Buffer): Raster | undefined {
  if (bytes.length < 10 || !/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) return undefined
  return { mediaType: 'image/gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
}

function readWebp(bytes: Buffer): Raster | undefined {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF') return undefined
  if (bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined
  const size = webpSize(bytes)
  return size === undefined ? undefined : { mediaType: 'image/webp', ...size }
}

function webpSize(bytes: Buffer): { width: number; height: number } | undefined {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    default:
      return undefined
  }
}

/** Walk the marker segments up to the frame header. Each step moves forward by at least two bytes. */
function readJpeg(bytes: Buffer): Raster | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8 || bytes[2] !== 0xff) return undefined
  let at = 2
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined
    const marker = bytes.readUInt8(at + 1)
    if (marker === 0xff) {
      at += 1 // fill byte
    } else if (isFrameHeader(marker)) {
      return {
        mediaType: 'image/jpeg',
        height: bytes.readUInt16BE(at + 5),
        width: bytes.readUInt16BE(at + 7),
      }
    } else {
      at += isStandalone(marker) ? 2 : 2 + Math.max(2, bytes.readUInt16BE(at + 2))
    }
  }
  return undefined
}

/** SOF0 to SOF15 without the Huffman, arithmetic and reserved markers among them. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

function isStandalone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)
}
