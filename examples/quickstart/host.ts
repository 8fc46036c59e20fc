/**
 * Owns the run: temporary folders, the notes server over HTTP, and the real host of cordis.yml in this process. All
 * three end with close().
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { format } from 'node:util'
import type { Context } from '@deepseek-ai/cordis'
import { boot } from '@deepseek-ai/dsh-app-boot'
import type { Report } from './notes-server.ts'
import { reasonOf } from './report.ts'

const FOLDER = import.meta.dirname
const PLUGIN = '@deepseek-ai/dsh-mcp-client'

/** A row of the MCP client, as cordis.yml has it. */
export interface ServerRow {
  readonly serverName: string
  readonly transport: string
}

/** What a row may look like: the transport follows from the url or the command where it is left out. */
interface RawRow {
  readonly serverName: string
  readonly transport?: string
  readonly url?: unknown
}

export interface Host {
  readonly ctx: Context
  /** Folder that the filesystem server may touch. */
  readonly files: string
  /** Process id of the notes server, which is a child of this process but not of the host. */
  readonly notesPid: number | undefined
  /** Raw tool names that reached the notes server, in order. */
  readonly calledOnTheWire: readonly string[]
  /** Warnings and errors that the host logged since the last call. */
  takeLog(): string[]
  servers(): ServerRow[]
  /** Dispose the host; what it started is gone when this settles. */
  dispose(): Promise<void>
  /** Dispose the host, end the notes server and remove the folders. */
  close(): Promise<void>
}

/** Boot everything. What was started already is ended when a later part fails. */
export async function openHost(): Promise<Host> {
  const home = mkdtempSync(join(tmpdir(), 'quickstart-home-'))
  const files = mkdtempSync(join(tmpdir(), 'quickstart-files-'))
  const calledOnTheWire: string[] = []
  const log: string[] = []
  const notes = startNotes(calledOnTheWire)
  let ctx: Context | undefined
  let disposal: Promise<void> | undefined

  const dispose = (): Promise<void> => (disposal ??= ctx?.fiber.dispose() ?? Promise.resolve())
  const close = async (): Promise<void> => {
    await dispose()
    await endNotes(notes)
    rmSync(home, { recursive: true, force: true })
    rmSync(files, { recursive: true, force: true })
  }

  try {
    process.chdir(FOLDER)
    process.env['DSH_HOME'] = home
    process.env['QUICKSTART_FILES'] = files
    process.env['QUICKSTART_NOTES_URL'] = await urlOf(notes)
    ctx = await boot('quickstart', join(FOLDER, 'cordis.yml'), undefined, (prepared) =>
      keepLog(prepared, log),
    )
  } catch (error) {
    await close()
    throw error
  }
  const host = ctx
  return {
    ctx,
    files,
    notesPid: notes.pid,
    calledOnTheWire,
    takeLog: () => log.splice(0),
    servers: () => rowsOf(host),
    dispose,
    close,
  }
}

function startNotes(calledOnTheWire: string[]): ChildProcess {
  const notes = fork(join(FOLDER, 'notes-server.ts'), ['notes', '--http'], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  notes.on('message', (report: Report) => {
    if ('calledOnTheWire' in report) calledOnTheWire.push(report.calledOnTheWire)
  })
  return notes
}

async function urlOf(notes: ChildProcess): Promise<string> {
  const ended = once(notes, 'exit').then(([code]) => {
    throw new Error(`the notes server ended with code ${code} before it listened`)
  })
  const told = once(notes, 'message').then(([report]) => (report as { url: string }).url)
  return Promise.race([told, ended])
}

async function endNotes(notes: ChildProcess): Promise<void> {
  if (notes.exitCode !== null || notes.signalCode !== null) return
  const ended = once(notes, 'exit')
  notes.kill()
  await ended
}

/** The host logs to nobody by itself: without this, a server that fails says nothing. */
function keepLog(ctx: Context, log: string[]): void {
  ctx.logger.exporter({
    levels: { default: 3 },
    export({ type, args }) {
      if (type !== 'warn' && type !== 'error') return
      const [words, ...rest] = args.map((arg: unknown) => (arg instanceof Error ? reasonOf(arg) : arg))
      // %C is the host's own sign for a value in colour.
      log.push(format(typeof words === 'string' ? words.replaceAll('%C', '%s') : words, ...rest))
    },
  })
}

function rowsOf(ctx: Context): ServerRow[] {
  return [...ctx.loader.entries()]
    .filter((entry) => entry.options.name === PLUGIN && !entry.disabled)
    .map(({ options }) => {
      const { serverName, transport, url } = options.config as RawRow
      return { serverName, transport: transport ?? (url === undefined ? 'stdio' : 'streamable-http') }
    })
}
