/**
 * Owns the reading of reply bodies: inflated where the server compressed them unasked, whole within a cap, or let go
 * so that the connection can be used again. Every reader leaves the body ended or destroyed.
 */
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Clock } from '../clock.ts'
import { headerOf } from './http-headers.ts'
import type { ReplyHeaders } from './http-headers.ts'

/** How much of an unwanted body is read before its connection is given up. */
const DRAIN_BYTES = 64 * 1024
const DRAIN_MS = 500

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** How the reading of a body ended. */
export type Collected =
  | { readonly kind: 'whole'; readonly text: string }
  /** The connection ended first; the text is what came. */
  | { readonly kind: 'cut'; readonly text: string }
  | { readonly kind: 'too-large'; readonly text: string }

/** The bytes as the server meant them, or the name of an encoding that is not known. */
export function inflated(headers: ReplyHeaders, body: Readable): Readable | string {
  const encoding = (headerOf(headers, 'content-encoding') ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity' || encoding === '') return body
  const create = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined
  if (create === undefined) return encoding.slice(0, 40)
  const decoder = create()
  // The error, if any, comes out of the decoder as well, where the reader sees it.
  pipeline(body, decoder, () => undefined)
  return decoder
}

/** Read a whole body as UTF-8, at most `maxBytes` of it. Never rejects. */
export function collect(body: Readable, maxBytes: number): Promise<Collected> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    let settled = false
    const settle = (kind: Collected['kind']): void => {
      if (settled) return
      settled = true
      resolve({
        kind,
        text: Buffer.concat(chunks)
          .toString('utf8')
          .replace(/^\ufeff/, ''),
      })
    }
    body.on('data', (chunk: Buffer) => {
      const room = maxBytes - bytes
      bytes += chunk.length
      chunks.push(chunk.length > room ? chunk.subarray(0, Math.max(0, room)) : chunk)
      if (bytes <= maxBytes) return
      settle('too-large')
      body.destroy()
    })
    body.once('end', () => settle('whole'))
    body.on('error', () => settle('cut'))
    body.once('close', () => settle('cut'))
  })
}

/** Let the rest of a body pass for a moment, so that its connection can be used again; then destroy it. */
export function drain(body: Readable, clock: Clock): void {
  if (body.closed) return
  let bytes = 0
  const cancel = clock.after(DRAIN_MS, () => body.destroy())
  body.on('error', () => undefined)
  body.once('close', cancel)
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > DRAIN_BYTES) body.destroy()
  })
}
