/** Owns the world around a run of the command in a test: streams that are read, an environment, a folder. */
import { PassThrough } from 'node:stream'
import { temporaryFolder } from '@dsh-mcp/testkit'
import { runProgram } from '../../src/cli/program.ts'
import type { Io, Sink } from '../../src/cli/output.ts'

export interface FakeOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Both streams are terminals of this width. */
  readonly columns?: number
  readonly signal?: AbortSignal
  readonly platform?: NodeJS.Platform
  readonly stdin?: Io['stdin']
}

export interface FakeIo extends Io {
  out(): string
  err(): string
}

/** What a run needs of the environment to start programs: nothing else of ours gets in. */
const PATH = { PATH: process.env['PATH'] ?? '' }

let emptyHome: string | undefined

/** One for all runs that keep nothing; never that of the person who runs the tests. */
function home(): string {
  emptyHome ??= temporaryFolder('home')
  return emptyHome
}

export function fakeIo({
  env = {},
  cwd = import.meta.dirname,
  columns,
  signal,
  platform,
  stdin,
}: FakeOptions = {}): FakeIo {
  const stdout = sink(columns)
  const stderr = sink(columns)
  return {
    stdout: stdout.stream,
    stderr: stderr.stream,
    ...(stdin === undefined ? {} : { stdin }),
    env: { ...PATH, DSH_HOME: home(), ...env },
    cwd,
    platform: platform ?? process.platform,
    signal: signal ?? new AbortController().signal,
    out: stdout.text,
    err: stderr.text,
  }
}

function sink(columns: number | undefined): { readonly stream: Sink; text(): string } {
  const chunks: string[] = []
  const stream = new PassThrough()
  stream.on('data', (chunk: Buffer) => chunks.push(String(chunk)))
  const terminal =
    columns === undefined
      ? {}
      : { isTTY: true, columns, cursorTo: () => true, moveCursor: () => true, clearLine: () => true }
  return { stream: Object.assign(stream, terminal) as Sink, text: () => chunks.join('') }
}

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Run one command line in this process. */
export async function run(argv: readonly string[], options: FakeOptions = {}): Promise<Ran> {
  const io = fakeIo(options)
  const code = await runProgram(argv, io)
  return { code, out: io.out(), err: io.err() }
}

/** A screen without what differs from run to run: times, ports, folders, versions of Node. */
export function normalised(text: string): string {
  const root = new URL('../../../../../', import.meta.url).pathname.replace(/\/$/, '')
  return (
    text
      // Where a line is cut, and what of a path fits into one, hangs on the length of a path of this machine.
      .replace(/^(\S+ {2}stdio: )[^\n]*…$/gm, '$1…')
      .replace(/( stdio +\w+ +\d+ +)\/[^\n]*…$/gm, '$1…')
      .replace(/(ok +find command +\d+ ms +)[^\n]*/g, '$1PATH')
      .replaceAll(process.execPath, 'NODE')
      .replaceAll(root, 'ROOT')
      .replace(/^(\S+ {2}stdio: )NODE [^\n]*$/gm, '$1…')
      .replace(/\S*node_modules\/\.testkit\/\d+-(\w+)-\w{6}/g, 'FOLDER')
      .replace(/ +\d+ ms/g, ' N ms')
      .replace(/(127\.0\.0\.1|localhost):\d+/g, '$1:PORT')
      .replace(/v\d+\.\d+\.\d+/g, 'vX')
      .replace(/[^\n]*\(node:\d+\)[^\n]*\n/g, '')
  )
}
