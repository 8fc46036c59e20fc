/**
 * Owns what is remembered of one server between runs: the era verdict, and the last known catalog of a lazy row. One
 * file a server identity, private (0600), bounded; a damaged one is set aside and never stops a start.
 */
import { createHash } from 'node:crypto'
import { readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomic } from '@deepseek-ai/dsh-atomic-write'
import { messageOf } from './errors.ts'
import type { Era, ServerSpec } from './types.ts'

/** A larger file is not read and a larger catalog not kept, in bytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024
const VERSION = 1

export interface Remembered {
  /** When the era was found out, in milliseconds since the epoch. */
  readonly era?: { readonly era: Era; readonly at: number }
  /** Tools as a server lists them: parsed again when read, so nothing in the file is trusted. */
  readonly catalog?: { readonly items: readonly unknown[]; readonly at: number }
}

export interface Memory {
  read(): Remembered
  /** Merge and write behind; `undefined` forgets a part. */
  update(change: { readonly [K in keyof Remembered]?: Remembered[K] | undefined }): void
  /** Settles when everything is on disk. */
  flush(): Promise<void>
}

export interface MemoryOptions {
  /** Folder of this package's files; made when the first file is written. */
  readonly folder: string
  /** One line when a file was set aside or cannot be written. */
  readonly note: (text: string) => void
}

interface StoredFile extends Remembered {
  readonly version: number
  /** Digest over the credentials of the row: another login may see other tools. */
  readonly authorization: string
}

/** Open the memory of one server. Never rejects. */
export async function openMemory(spec: ServerSpec, options: MemoryOptions): Promise<Memory> {
  const path = join(options.folder, `${spec.serverName}-${identityOf(spec).slice(0, 16)}.json`)
  const authorization = authorizationOf(spec)
  let current = await load(path, authorization, options.note)
  let writing: Promise<void> = Promise.resolve()
  let isOwed = false

  async function write(): Promise<void> {
    const stored: StoredFile = { version: VERSION, authorization, ...current }
    let text = JSON.stringify(stored)
    if (Buffer.byteLength(text) > MAX_FILE_BYTES) text = JSON.stringify({ ...stored, catalog: undefined })
    await writeFileAtomic(path, text, { mode: 0o600, dirMode: 0o700 })
  }

  return {
    read: () => current,
    update(change) {
      current = { ...current, ...change } as Remembered
      // One write on its way and one behind it: the later one has all that came meanwhile.
      if (isOwed) return
      isOwed = true
      writing = writing
        .then(() => {
          isOwed = false
          return write()
        })
        .catch((error: unknown) => options.note(`cannot remember: ${messageOf(error)}`))
    },
    flush: () => writing,
  }
}

/** The part of the memory that the connection uses: how the era was found out last. */
export function eraMemoryOf(memory: Memory): {
  now(): number
  verdict(): Remembered['era']
  remember(era: Era): void
  forget(): void
} {
  return {
    now: Date.now,
    verdict: () => memory.read().era,
    remember(era) {
      // Modern servers are asked each time anyway: only an old verdict saves a probe, and only its date counts.
      if (era === 'legacy' || memory.read().era?.era !== era) memory.update({ era: { era, at: Date.now() } })
    },
    forget: () => memory.update({ era: undefined }),
  }
}

/** SHA-256 over what makes the server the one it is: a changed command or url is another server. */
export function identityOf(spec: ServerSpec): string {
  const { target } = spec
  const parts =
    target.kind === 'stdio'
      ? ['stdio', target.command, target.args, target.cwd ?? '']
      : ['http', target.flavour, target.url]
  return sha256(JSON.stringify([spec.serverName, spec.protocol, parts]))
}

function authorizationOf(spec: ServerSpec): string {
  const { target } = spec
  const secrets = target.kind === 'stdio' ? target.env : target.headers
  return sha256(JSON.stringify([identityOf(spec), Object.entries(secrets).toSorted()]))
}

async function load(path: string, authorization: string, note: (text: string) => void): Promise<Remembered> {
  let text: string
  try {
    const { size } = await stat(path)
    if (size > MAX_FILE_BYTES) throw new Error(`larger than ${MAX_FILE_BYTES} bytes`)
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      note(`cannot read what was remembered: ${messageOf(error)}`)
    return {}
  }
  const stored = parse(text)
  if (stored === undefined) {
    note(`a damaged file was set aside as ${path}.damaged`)
    await rename(path, `${path}.damaged`).catch((error: unknown) => note(messageOf(error)))
    return {}
  }
  const { era, catalog } = stored
  const valid = stored.authorization === authorization
  return {
    ...(era === undefined ? {} : { era }),
    ...(catalog === undefined || !valid ? {} : { catalog }),
  }
}

function parse(text: string): StoredFile | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Not JSON: a write that was cut short by a full disk.
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { version, era, catalog } = value as Partial<StoredFile>
  if (version !== VERSION) return undefined
  if (era === null || catalog === null) return undefined
  if (era !== undefined && (typeof era.at !== 'number' || (era.era !== 'legacy' && era.era !== 'modern')))
    return undefined
  if (catalog !== undefined && (typeof catalog.at !== 'number' || !Array.isArray(catalog.items)))
    return undefined
  return value as StoredFile
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
