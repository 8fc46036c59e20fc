/** Owns the tests of the image header reader: real images of every format, cut and lying ones. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRaster } from '../../src/projection/raster.ts'
import { SAMPLES, png } from './image-samples.ts'

const bytesOf = (name: keyof typeof SAMPLES): Buffer => Buffer.from(SAMPLES[name], 'base64')

describe('readRaster', () => {
  it.each([
    ['png', 'image/png'],
    ['jpeg', 'image/jpeg'],
    ['gif', 'image/gif'],
    ['webp', 'image/webp'],
    ['webpLossless', 'image/webp'],
    ['webpAlpha', 'image/webp'],
  ] as const)('%s', (name, mediaType) => {
    expect(readRaster(bytesOf(name))).toEqual({ mediaType, width: 5, height: 3 })
  })

  it('reads large dimensions without decoding', () => {
    expect(readRaster(png(60_000, 4_000_000_000))).toMatchObject({ width: 60_000, height: 4_000_000_000 })
  })

  it('finds a JPEG frame behind fill bytes, standalone markers and long segments', () => {
    const frame = Buffer.from([0xff, 0xc2, 0, 11, 8, 0, 3, 0, 5, 1, 1])
    const before = Buffer.from([0xff, 0xd8, 0xff, 0x01, 0xff, 0xd0, 0xff, 0xff, 0xff, 0xc4, 0, 4, 9, 9])
    expect(readRaster(Buffer.concat([before, frame]))).toEqual({
      mediaType: 'image/jpeg',
      width: 5,
      height: 3,
    })
  })

  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'.repeat(3))],
    ['a PNG without size', png(0, 5)],
    ['a PNG without height', png(5, 0)],
    [
      'a PNG without IHDR first',
      Buffer.concat([png(1, 1).subarray(0, 12), Buffer.from('IDAT'), png(1, 1).subarray(16)]),
    ],
    ['a RIFF that is no WebP', Buffer.from(`RIFF....WAVE${' '.repeat(40)}`)],
    ['a WebP of an unknown kind', Buffer.from(`RIFF....WEBPVP9 ${' '.repeat(40)}`)],
    ['a JPEG that ends before its frame', bytesOf('jpeg').subarray(0, 40)],
    ['a JPEG with a hole', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])],
    ['a JPEG without a segment', Buffer.from([0xff, 0xd8, 0x00, 0xe0, 0, 4, 1, 1, 0, 0])],
    [
      'a JPEG whose segments have no length',
      Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.from('ffe00000'.repeat(50), 'hex')]),
    ],
    ['a GIF of no revision', Buffer.from('GIF88a..........')],
    ['a GIF without size', Buffer.from('GIF89a\0\0\0\0\0\0', 'latin1')],
  ])('%s is no image', (_name, bytes) => {
    expect(readRaster(bytes)).toBeUndefined()
  })

  it('never throws, on any bytes, behind any magic', () => {
    const magic = fc.constantFrom(...Object.values(SAMPLES).map((sample) => Buffer.from(sample, 'base64')))
    fc.assert(
      fc.property(magic, fc.nat(120), fc.uint8Array({ maxLength: 64 }), (sample, keep, rest) => {
        const raster = readRaster(Buffer.concat([sample.subarray(0, keep), rest]))
        expect(raster === undefined || raster.width > 0).toBe(true)
      }),
    )
  })
})
