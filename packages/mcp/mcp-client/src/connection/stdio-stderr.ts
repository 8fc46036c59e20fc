/** Owns the last words of a server: a bounded ring of its stderr, clean and redacted when it is read. */
import { cleanText, cutBytesEnd } from '../text.ts'

/** Kept beyond what is shown, so that a secret at the edge is still whole when it is redacted. */
const MARGIN_BYTES = 4_096

export class StderrTail {
  private readonly maxBytes: number
  private readonly redact: (text: string) => string
  private readonly keepBytes: number
  /** Twice what is kept: moving the end to the start is rare, so the cost stays linear in the bytes. */
  private ring: Buffer | undefined
  private used = 0
  private truncated = false

  constructor(maxBytes: number, redact: (text: string) => string) {
    this.maxBytes = maxBytes
    this.redact = redact
    this.keepBytes = maxBytes + MARGIN_BYTES
  }

  push(chunk: Buffer): void {
    this.ring ??= Buffer.allocUnsafe(this.keepBytes * 2)
    const part = chunk.subarray(-this.keepBytes)
    if (part.length < chunk.length) {
      this.used = 0
      this.truncated = true
    } else if (this.used + part.length > this.ring.length) {
      const from = this.used - (this.keepBytes - part.length)
      this.ring.copyWithin(0, from, this.used)
      this.used -= from
      this.truncated = true
    }
    this.used += part.copy(this.ring, this.used)
  }

  /** At most `maxBytes` of whole lines where there are any. Empty when the server said nothing. */
  text(): string {
    const raw = this.ring?.toString('utf8', Math.max(0, this.used - this.keepBytes), this.used) ?? ''
    const isCut = this.truncated || this.used > this.keepBytes
    const clean = cleanText(this.redact(raw).replace(/\r\n?/g, '\n'))
    const shown = this.redact(isCut ? withoutFirstPiece(clean) : clean).trim()
    const tail = cutBytesEnd(shown, this.maxBytes)
    return tail.length === shown.length ? shown : tail.slice(tail.indexOf('\n') + 1)
  }
}

/** The first piece may be the end of a secret whose start is gone: a line, or a word where there is one line only. */
function withoutFirstPiece(text: string): string {
  const line = text.indexOf('\n')
  return line === -1 ? text.replace(/^\S*/, '…') : text.slice(line + 1)
}
