/** Owns real images for tests: one small sample of each format, made by an encoder, and a PNG of any size. */
import { crc32, deflateSync } from 'node:zlib'

/** 5 x 3 pixels each. */
export const SAMPLES = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAAAUAAAADCAMAAABs6DXKAAAAA1BMVEXIHh4WiPieAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAC0lEQVQImWNgQAcAABIAAW/6Y7cAAAAASUVORK5CYII=',
  jpeg: '/9j/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////////////////////////2wBDAVVaWnhpeOuCguv/////////////////////////////////////////////////////////////////////////wAARCAADAAUDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAAAgT/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCQAKH/2Q==',
  gif: 'R0lGODlhBQADAIAAAExpccgeHiH5BAUAAAAALAAAAAAFAAMAAAIDjI9ZADs=',
  webp: 'UklGRjoAAABXRUJQVlA4IC4AAACwAQCdASoFAAMAAUAmJaACdLoABDAAAP7x3I/4DdfFtMv/vYL/3YL/3YL/WwAA',
  webpLossless: 'UklGRh4AAABXRUJQVlA4TBEAAAAvBIAAAAdQjyLXo/+BiOh/AAA=',
  webpAlpha:
    'UklGRlQAAABXRUJQVlA4WAoAAAAQAAAABAAAAgAAQUxQSAoAAAABB1DAiAhERP8DVlA4ICQAAABwAQCdASoFAAMADMDOJaACdAFAAAD+2iYRho1+LuxHGSQAAAA=',
} as const

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** A valid RGBA PNG without compression: `width * height * 4` bytes and a little more. */
export function stored(width: number, height: number): Buffer {
  const pixels = Buffer.alloc((width * 4 + 1) * height)
  return png(width, height, deflateSync(pixels, { level: 0 }))
}

/** A PNG whose header claims dimensions that its data need not have. */
export function png(width: number, height: number, compressed = deflateSync(Buffer.alloc(16))): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 6, 0, 0, 0], 8)
  const signature = Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1')
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', compressed),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
