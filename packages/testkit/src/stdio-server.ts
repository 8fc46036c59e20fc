/**
 * Owns the test's side of a scripted stdio server: how to start it, and its journal.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BehaviourName } from './behaviours/index.ts'
import { temporaryFolder } from './folder.ts'
import { readJournal } from './journal.ts'
import type { JournalEntry } from './journal.ts'

export interface StdioServer {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly journalFile: string
  /** What the server saw and said so far, over all its starts. */
  journal(): Promise<JournalEntry[]>
}

export interface StdioServerOptions {
  /** Extra environment of the child, as a config row gives it. */
  readonly env?: Readonly<Record<string, string>>
  /** Goes to the behaviour. */
  readonly [option: string]: unknown
}

const CHILD = fileURLToPath(new URL('servers/stdio.ts', import.meta.url))

/**
 * Describe a scripted server; nothing is started. `behaviour` is a name of behaviours/index.ts, or the absolute path of
 * a .ts file that exports `behaviour`, a BehaviourFactory.
 */
export function stdioServer(
  behaviour: BehaviourName | (string & {}),
  { env = {}, ...options }: StdioServerOptions = {},
): StdioServer {
  const folder = temporaryFolder('server')
  const journalFile = join(folder, 'journal.jsonl')
  const all = { ...options, journal: journalFile, state: join(folder, 'starts') }
  return {
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', CHILD, behaviour, JSON.stringify(all)],
    env,
    journalFile,
    journal: () => readJournal(journalFile),
  }
}
