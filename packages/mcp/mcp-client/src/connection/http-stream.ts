/**
 * Owns the reading of one event stream (text/event-stream) from a reply body: UTF-8 across chunks, byte order mark,
 * all three line ends, a cap for each event. The grammar itself is eventsource-parser's.
 */
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import type { EventSourceMessage } from 'eventsource-parser'
import type { Clock } from '../clock.ts'
import { drain } from './http-body.ts'

export interface EventSink {
  /** Cap of one event, in characters. */
  readonly maxChars: number
  /** Takes one event; true ends the reading and lets the body go. */
  onEvent(event: EventSourceMessage): boolean
  /** The server names its reconnection time, in milliseconds. */
  onRetry(delayMs: number): void
}

/** How the reading ended: the sink had enough, the server ended the stream, it broke, one event was too large. */
export type StreamEnd = 'done' | 'end' | 'cut' | 'too-large'

/** Read events until one of the ends. Never rejects; afterwards the body is ended, destroyed or being drained. */
export function readEvents(body: Readable, sink: EventSink, clock: Clock): Promise<StreamEnd> {
  return new Promise((resolve) => {
    let end: StreamEnd | undefined
    const settle = (how: StreamEnd): void => {
      if (end !== undefined) return
      end = how
      resolve(how)
    }
    const parser = createParser({
      maxBufferSize: sink.maxChars,
      onRetry: (delayMs) => sink.onRetry(delayMs),
      onEvent: (event) => {
        if (end === undefined && sink.onEvent(event)) settle('done')
      },
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') settle('too-large')
      },
    })
    const lines = new LineDecoder()
    const onData = (chunk: Buffer): void => {
      parser.feed(lines.decode(chunk))
      if (end === undefined) return
      body.off('data', onData)
      if (end === 'too-large') body.destroy()
      else drain(body, clock)
    }
    body.on('data', onData)
    body.once('end', () => {
      // A last event without its blank line is taken when the stream ended in order.
      if (end === undefined) parser.feed(`${lines.rest()}\n\n`)
      settle('end')
    })
    body.on('error', () => settle('cut'))
    body.once('close', () => settle('cut'))
  })
}

/** Bytes to text with line feeds only: the parser would wait for what follows a CR, and is slow on many of them. */
class LineDecoder {
  private readonly utf8 = new StringDecoder('utf8')
  private started = false
  private endedInCr = false

  decode(chunk: Buffer): string {
    return this.normalize(this.utf8.write(chunk))
  }

  rest(): string {
    return this.normalize(this.utf8.end())
  }

  private normalize(text: string): string {
    if (text === '') return text
    let from = 0
    if (!this.started && text.startsWith('\ufeff')) from = 1
    if (this.endedInCr && text.startsWith('\n')) from = 1
    this.started = true
    this.endedInCr = text.endsWith('\r')
    const rest = from === 0 ? text : text.slice(from)
    return rest.includes('\r') ? rest.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : rest
  }
}
