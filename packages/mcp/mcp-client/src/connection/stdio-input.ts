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
import type { Opening, RequestId } from './oversize.ts'
import type { StdioNotes } from './stdio-notes.ts'

/** Longest stretch of one turn of the event loop, in milliseconds. */
const SLICE_MS = 10
/** Longest stretch for what was received before the end. */
const LAST_SLICE_MS = 250
/** A line that nobody can be told about and that goes on for so many times the cap will not end. */
const ENDLESS_FACTOR = 4
/** The same for a line whose call has its answer, and that only keeps all other calls waiting. */
const ANSWERED_FACTOR = 64
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
  /** Paused: lines wait for the next turn, and the stream for them. */
  private state: 'reading' | 'paused' | 'finished' = 'reading'
  /** End of the running slice; undefined between turns. */
  private sliceEnd: number | undefined
  /** Start of the message being skipped. */
  private skipped: Opening = { answers: false }
  private isEndless = false
  private readonly onData = (chunk: Buffer): void => {
    this.lines.feed(chunk)
    this.run()
  }

  constructor(options: InputOptions) {
    this.options = options
    this.lines = new LineSplitter(options.maxBytes)
    options.stream.on('data', this.onData)
  }

  /** Deliver what has been received, for a bounded time, and stop reading. */
  finish(): void {
    const { stream, now } = this.options
    this.state = 'finished'
    stream.off('data', this.onData)
    stream.pause()
    const end = now() + LAST_SLICE_MS
    while (this.drain(end)) {
      const chunk = stream.read() as Buffer | null
      if (chunk === null) return this.readRest()
      this.lines.feed(chunk)
    }
  }

  private run(): void {
    if (this.sliceEnd === undefined) {
      this.sliceEnd = this.options.now() + SLICE_MS
      setImmediate(() => this.nextTurn())
    }
    if (this.drain(this.sliceEnd)) return
    this.state = 'paused'
    this.options.stream.pause()
  }

  private nextTurn(): void {
    this.sliceEnd = undefined
    if (this.state !== 'paused') return
    this.state = 'reading'
    // Resuming first: if the rest takes a whole slice again, it is paused again before anything is read.
    this.options.stream.resume()
    this.run()
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

  private take(line: Line): void {
    switch (line.kind) {
      case 'text':
        return this.read(line.text)
      case 'oversize':
        this.skipped = readOpening(line.head)
        return this.refuse(this.skipped)
      case 'skipped':
        // Where the start named the request, it has had its answer.
        if (this.skipped.answers && this.skipped.id === undefined) this.answer(idAtEnd(line.tail))
    }
  }

  private read(text: string): void {
    const { notes, onMessage } = this.options
    const value = parse(text)
    if (value === undefined) {
      // A banner or a debug print; an empty line is not worth a word.
      if (text.trim() !== '')
        notes.note('noise', 'warn', () => `stray text on stdout, skipped: ${notes.quote(text)}`)
      return
    }
    const { messages, problem } = readEnvelope(value)
    if (problem !== undefined) notes.note('problem', 'warn', () => `the server sent ${notes.quote(problem)}`)
    for (const message of messages) onMessage(message)
  }

  /** A last message without its newline is complete if it parses; the torn end of a killed server is no news. */
  private readRest(): void {
    const rest = this.lines.end()
    if (rest?.kind === 'text' && parse(rest.text) !== undefined) this.read(rest.text)
  }

  private refuse({ answers, id }: Opening): void {
    const { maxBytes, notes } = this.options
    const text = `the server sent a message over ${maxBytes} bytes (limits.messageBytes); it is skipped`
    notes.note('oversize', 'warn', () => text)
    if (answers) this.answer(id)
  }

  private answer(id: RequestId | undefined): void {
    const { maxBytes, onMessage } = this.options
    if (id !== undefined) onMessage(tooLargeAnswer(id, maxBytes))
  }

  /** A call that has its answer can wait a while for the line to end; otherwise all that is left is to give up. */
  private checkEndless(): void {
    const { maxBytes, onEndless } = this.options
    const limit = maxBytes * (this.skipped.id === undefined ? ENDLESS_FACTOR : ANSWERED_FACTOR)
    if (this.isEndless || this.lines.skippedBytes <= limit) return
    this.isEndless = true
    onEndless(`a line without end on stdout: over ${limit} bytes (limits.messageBytes is ${maxBytes})`)
  }
}

/** Any JSON value, or undefined for what is not JSON. A byte order mark before it is dropped. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text) as unknown
  } catch {
    return undefined // noise; the caller shows it once
  }
}
