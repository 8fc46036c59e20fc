/**
 * Owns what comes from a server's stdout: lines into messages, in order and in slices, so that a burst of 100 000
 * lines leaves timers and other servers their turn. What is no message costs a note, never the connection.
 */
import type { Readable } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { readEnvelope } from './envelope.ts'
import { LineSplitter } from './lines.ts'
import type { Line } from './lines.ts'
import { idAtEnd, readOpening, tooLargeAnswer } from './oversize.ts'
import type { Opening } from './oversize.ts'
import type { StdioNotes } from './stdio-notes.ts'

/** Longest stretch of one turn of the event loop, in milliseconds. */
const SLICE_MS = 10
/** Longest stretch for what was received before the end. */
const LAST_SLICE_MS = 250
/** A line that nobody can be told about and that goes on for so many times the cap will not end. */
const ENDLESS_FACTOR = 4
const BYTE_ORDER_MARK = 0xfeff

export interface InputOptions {
  readonly stream: Readable
  /** Longest line in bytes: limits.messageBytes. */
  readonly maxBytes: number
  readonly notes: StdioNotes
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly onMessage: (message: JSONRPCMessage) => void
  /** The stream lost its framing: a line without end. At most once. */
  readonly onEndless: (reason: string) => void
}

export class StdioInput {
  private readonly options: InputOptions
  private readonly lines: LineSplitter
  /** End of the running slice; undefined between turns. */
  private sliceEnd: number | undefined
  private isPaused = false
  /** The message being skipped. */
  private oversize: Opening = { answers: false }
  private isEndless = false
  private readonly onData = (chunk: Buffer): void => {
    this.lines.feed(chunk)
    this.run()
  }

  constructor(options: InputOptions) {
    this.options = options
    this.lines = new LineSplitter(options.maxBytes)
    options.stream.on('data', this.onData)
    options.stream.once('end', () => this.take(this.lines.end()))
  }

  /** Deliver what has been received, for a bounded time, and stop reading. */
  finish(): void {
    const { stream, now } = this.options
    stream.off('data', this.onData)
    stream.pause()
    const end = now() + LAST_SLICE_MS
    for (let chunk: Buffer | null = null; ; ) {
      this.drain(end)
      chunk = now() < end ? (stream.read() as Buffer | null) : null
      if (chunk === null) return
      this.lines.feed(chunk)
    }
  }

  private run(): void {
    if (this.sliceEnd === undefined) {
      this.sliceEnd = this.options.now() + SLICE_MS
      setImmediate(() => this.nextTurn())
    }
    this.isPaused = !this.drain(this.sliceEnd)
    if (this.isPaused) this.options.stream.pause()
  }

  private nextTurn(): void {
    this.sliceEnd = undefined
    if (!this.isPaused || this.options.stream.listenerCount('data') === 0) return
    this.run()
    if (!this.isPaused) this.options.stream.resume()
  }

  /** Deliver lines until there are no more, or the time is over. Tells whether there are no more. */
  private drain(end: number): boolean {
    for (let line = this.lines.next(); line !== undefined; line = this.lines.next()) {
      this.take(line)
      if (this.options.now() >= end) return false
    }
    this.checkEndless()
    return true
  }

  private take(line: Line | undefined): void {
    switch (line?.kind) {
      case 'text':
        return this.read(line.text)
      case 'oversize':
        this.oversize = readOpening(line.head)
        return this.refuse(this.oversize)
      case 'skipped':
        // Where the start named the request, it has had its answer.
        if (this.oversize.answers && this.oversize.id === undefined) {
          const id = idAtEnd(line.tail)
          if (id !== undefined) this.refuse({ answers: true, id })
        }
        return
      case undefined:
    }
  }

  private read(text: string): void {
    const { notes, onMessage } = this.options
    const json = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
    let value: unknown
    try {
      value = JSON.parse(json)
    } catch {
      // Not JSON: a banner or a debug print. An empty line is not worth a word.
      if (json.trim() !== '') notes.note('noise', 'warn', `the server wrote to stdout what is no message: ${notes.quote(json)}`)
      return
    }
    const { messages, problem } = readEnvelope(value)
    if (problem !== undefined) notes.note('problem', 'warn', `the server sent ${notes.quote(problem)}`)
    for (const message of messages) onMessage(message)
  }

  private refuse({ answers, id }: Opening): void {
    const { maxBytes, notes, onMessage } = this.options
    const whose = answers && id !== undefined ? `; its call fails` : ''
    notes.note('oversize', 'warn', `the server sent a message over ${maxBytes} bytes (limits.messageBytes); it is skipped${whose}`)
    if (answers && id !== undefined) onMessage(tooLargeAnswer(id, maxBytes))
  }

  /** A call that has its answer can wait for the line to end; otherwise all that is left is to give up. */
  private checkEndless(): void {
    const { maxBytes, onEndless } = this.options
    const limit = maxBytes * ENDLESS_FACTOR
    if (this.isEndless || this.oversize.id !== undefined || this.lines.skippedBytes <= limit) return
    this.isEndless = true
    onEndless(`a line without end on stdout: over ${limit} bytes (limits.messageBytes is ${maxBytes})`)
  }
}
