/**
 * Owns the journal of a scripted server: what it saw and said, one JSON line each, and waiting for an entry.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Message } from './behaviour.ts'

/** One line of the journal. Messages over 8 KB are cut to id and method, with their length in `chars`. */
export interface JournalEntry {
  readonly kind: 'start' | 'received' | 'sent' | 'noise' | 'signal' | 'eof' | 'exit' | 'note'
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Process that wrote the entry. */
  readonly pid: number
  readonly message?: Message
  readonly chars?: number
  /** `start`: how often the server was started, this start included. */
  readonly starts?: number
  readonly env?: Readonly<Record<string, string>>
  readonly argv?: readonly string[]
  readonly cwd?: string
  readonly signal?: string
  readonly code?: number
  readonly text?: string
  /** `note`: what the behaviour wrote down. */
  readonly name?: string
  readonly data?: unknown
}

/** Entries so far; an unfinished last line is left for later, a missing file is empty. */
export async function readJournal(file: string): Promise<JournalEntry[]> {
  let content: string
  try {
    content = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  return content
    .slice(0, content.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JournalEntry)
}

const POLL_MS = 10

/**
 * Wait until a record has an entry like this, and return it. Works on a journal and on any list: `waitFor(server.journal,
 * isCancelled)`, `waitFor(() => http.requests, (request) => request.method === 'DELETE')`.
 * @throws Error after `timeoutMs`, with the entries seen
 */
export async function waitFor<Entry>(
  read: () => readonly Entry[] | Promise<readonly Entry[]>,
  predicate: (entry: Entry) => boolean,
  timeoutMs = 5000,
): Promise<Entry> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const entries = await read()
    const found = entries.find(predicate)
    if (found !== undefined) return found
    if (performance.now() > end) {
      const seen = entries.slice(-10).map((entry) => JSON.stringify(entry).slice(0, 200))
      throw new Error(`No such entry within ${timeoutMs} ms. Last of ${entries.length}:\n${seen.join('\n')}`)
    }
    await delay(POLL_MS)
  }
}

/** The server got this method (and, for tools/call, this raw name). */
export function received(method: string, rawName?: string): (entry: JournalEntry) => boolean {
  return ({ kind, message }) =>
    kind === 'received' &&
    message?.method === method &&
    (rawName === undefined || message.params?.['name'] === rawName)
}
