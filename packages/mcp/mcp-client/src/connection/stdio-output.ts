/**
 * Owns what goes to a server's stdin: one write at a time, and the next one has all messages that came meanwhile (a third
 * less CPU for each of many calls); a cap on what waits, and one outcome for each message.
 */
import type { Writable } from 'node:stream'
import { McpError } from '../errors.ts'

/** One write takes messages up to this, or one message. */
const BATCH_BYTES = 65_536

interface Waiting {
  readonly text: string
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (reason: McpError) => void
}

export interface OutputOptions {
  readonly stream: Writable
  readonly serverName: string
  /** Cap of what waits, in UTF-8 bytes. */
  readonly maxBytes: number
}

export class StdioOutput {
  private readonly options: OutputOptions
  private queue: Waiting[] = []
  private readonly inFlight = new Set<readonly Waiting[]>()
  private waitingBytes = 0
  private ended: McpError | undefined

  constructor(options: OutputOptions) {
    this.options = options
  }

  /** Settles with the write of this line: MCP_MESSAGE_TOO_LARGE over the cap, or the error that ended the output. */
  send(text: string): Promise<void> {
    if (this.ended !== undefined) return Promise.reject(this.ended)
    const bytes = Buffer.byteLength(text)
    if (this.waitingBytes + bytes > this.options.maxBytes) return Promise.reject(this.overflow(bytes))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.queue.push({ text, bytes, resolve, reject })
    this.waitingBytes += bytes
    // A write that the pipe takes at once settles after the microtasks of this turn: what they send waits for that.
    if (this.inFlight.size === 0) this.writeNext()
    return promise
  }

  /** Write what can be written and end the stream; a full pipe is cut off, since its reader would never see the end. */
  end(reason: McpError): void {
    const { stream } = this.options
    while (this.queue.length > 0 && !stream.writableNeedDrain) this.writeNext()
    this.ended = reason
    if (stream.writableNeedDrain) {
      this.fail(reason)
      stream.destroy()
    } else {
      stream.end()
    }
  }

  /** Settle everything that still waits; nothing is taken any more. */
  fail(reason: McpError): void {
    this.ended = reason
    for (const batch of [...this.inFlight, this.queue]) for (const waiting of batch) waiting.reject(reason)
    this.inFlight.clear()
    this.queue = []
  }

  private writeNext(): void {
    const batch = this.takeBatch()
    this.inFlight.add(batch)
    const text = batch.length === 1 ? (batch[0] as Waiting).text : batch.map(({ text }) => text).join('')
    this.options.stream.write(text, (error) => this.settle(batch, error))
  }

  private takeBatch(): readonly Waiting[] {
    if (this.queue.length === 1) return this.queue.splice(0)
    let count = 0
    let bytes = 0
    for (const waiting of this.queue) {
      bytes += waiting.bytes
      if (count > 0 && bytes > BATCH_BYTES) break
      count += 1
    }
    return this.queue.splice(0, count)
  }

  private settle(batch: readonly Waiting[], error: Error | null | undefined): void {
    this.inFlight.delete(batch)
    for (const { bytes, resolve, reject } of batch) {
      this.waitingBytes -= bytes
      if (error) reject(this.ended ?? this.broken(error))
      else resolve()
    }
    if (this.queue.length > 0 && this.inFlight.size === 0) this.writeNext()
  }

  private broken(cause: Error): McpError {
    const { serverName } = this.options
    const details = { code: 'MCP_CONNECTION_CLOSED', server: serverName, stage: 'connect', cause } as const
    return new McpError('the server does not take input any more', details)
  }

  private overflow(bytes: number): McpError {
    const { serverName, maxBytes } = this.options
    const text =
      this.waitingBytes === 0
        ? `the message of ${bytes} bytes is larger than ${maxBytes} bytes (twice limits.messageBytes)`
        : `the server does not read its input: ${this.waitingBytes} bytes of earlier messages wait already, and with ` +
          `${bytes} more they would pass ${maxBytes} bytes (twice limits.messageBytes)`
    const details = { code: 'MCP_MESSAGE_TOO_LARGE', server: serverName, stage: 'execution' } as const
    return new McpError(text, { ...details, data: { limitBytes: maxBytes } })
  }
}
