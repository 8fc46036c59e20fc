/**
 * Owns what a run writes and where: results to stdout, progress and notes to stderr. Colour and the spinner only on a
 * terminal, plain lines when piped, JSON alone on stdout where it was asked for.
 */
import { styleText } from 'node:util'
import Table from 'cli-table3'
import createSpinner from 'yocto-spinner'
import { cleanText } from '../text.ts'
import { visibleJson } from '../visible.ts'

/** A stream that may be a terminal. */
export type Sink = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }

/** A stream that is read, and may be a terminal. */
export type Source = NodeJS.ReadableStream & { readonly isTTY?: boolean; unref?(): void }

/** The world around a run: what a test puts in place. */
export interface Io {
  readonly stdout: Sink
  readonly stderr: Sink
  /** Read by a login that waits; absent where there is none. */
  readonly stdin?: Source
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly platform: NodeJS.Platform
  /** Aborted when the person wants the run to end. */
  readonly signal: AbortSignal
}

export interface OutputOptions {
  readonly json: boolean
  /** `false` for --no-color. */
  readonly color: boolean
  readonly verbose: boolean
}

type Style = Parameters<typeof styleText>[0]

/** Narrower than this a table is no use. */
const MIN_WIDTH = 40
const PIPED_WIDTH = 120
const BORDERLESS = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right', 'left']
    .concat(['left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
    .map((part) => [part, '']),
)

export class Output {
  readonly io: Io
  readonly options: OutputOptions
  private readonly isColored: boolean
  private readonly isLive: boolean

  constructor(io: Io, options: OutputOptions) {
    const { env, stdout, stderr } = io
    this.io = io
    this.options = options
    const wanted = options.color && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
    this.isColored = wanted && stdout.isTTY === true && !options.json
    this.isLive = stderr.isTTY === true && env['TERM'] !== 'dumb' && env['CI'] === undefined
  }

  /** One line of the result. */
  line(text = ''): void {
    if (!this.options.json) this.io.stdout.write(`${text}\n`)
  }

  /** A text of the result as it is, ended by a line break. */
  text(text: string): void {
    this.io.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }

  /** The whole result as JSON; nothing where JSON was not asked for. */
  json(value: unknown): void {
    if (this.options.json) this.io.stdout.write(`${visibleJson(JSON.stringify(value, undefined, 2))}\n`)
  }

  /** One line beside the result. */
  note(text: string): void {
    this.io.stderr.write(`${text}\n`)
  }

  /** One line beside the result, for --verbose. */
  detail(text: string): void {
    if (this.options.verbose) this.note(text)
  }

  style(style: Style, text: string): string {
    return this.isColored ? styleText(style, text, { validateStream: false }) : text
  }

  /** The lines of a table without borders; cells are one line each. */
  table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
    const table = new Table({
      head: head.map((cell) => this.style('bold', cell)),
      style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
      chars: { ...BORDERLESS, middle: '  ' },
    })
    for (const row of rows) table.push([...row])
    return table
      .toString()
      .split('\n')
      .map((line) => line.trimEnd())
      .filter((line) => cleanText(line) !== '')
  }

  /** Columns: those the environment asks for, else those of the terminal, else a plain width when piped. */
  get width(): number {
    const { env, stdout } = this.io
    const asked = /^[1-9]\d{0,4}$/.exec(env['COLUMNS'] ?? '')?.[0]
    const seen = stdout.isTTY === true ? (stdout.columns ?? 80) : PIPED_WIDTH
    return Math.max(MIN_WIDTH, asked === undefined ? seen : Number(asked))
  }

  /** Run work with a spinner on a terminal; when piped, with a line in --verbose. */
  async progress<T>(text: string, work: () => Promise<T>): Promise<T> {
    if (!this.isLive || this.options.json) {
      this.detail(text)
      return work()
    }
    const stream = this.io.stderr as unknown as NodeJS.WriteStream
    // The run itself knows what to do at a signal: the spinner must not end the process.
    const spinner = createSpinner({ text, stream, handleSignals: false }).start()
    try {
      return await work()
    } finally {
      spinner.stop()
    }
  }
}
