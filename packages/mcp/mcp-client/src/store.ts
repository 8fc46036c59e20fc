/**
 * Owns the small private JSON files of this package: one object a file, 0600 in a folder of 0700, replaced atomically,
 * bounded in size and in time. What lies there and is no plain file of ours is set aside; nothing here stops a start.
 */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import type { Stats } from 'node:fs'
import { chmod, lstat, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomic } from '@deepseek-ai/dsh-atomic-write'
import { SYSTEM_CLOCK } from './clock.ts'
import type { Clock } from './clock.ts'
import { messageOf } from './errors.ts'
import { isJsonObject } from './json.ts'

/** Not through a symbolic link, and without waiting for the writer of a pipe. Windows has neither flag: no bit of it. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** Bits of those who may write to a file besides its owner. */
const OTHERS_MAY_WRITE = 0o022
const SAFE_NAME = /^[A-Za-z0-9_-]{1,96}$/

export interface StoreOptions<T> {
  /** Made, private, when the first file is written. */
  readonly folder: string
  /** File name without its ending: letters, digits, `_` and `-`; any other text is replaced by its hash. */
  readonly name: string
  /** A file of another version is set aside. */
  readonly version: number
  /** Reads the stored object; `undefined` says that it is damaged. Must not trust a single member. */
  readonly parse: (stored: Readonly<Record<string, unknown>>) => T | undefined
  /** A larger file is neither read nor written. */
  readonly maxBytes: number
  /** What of a value that is too large is worth keeping; without it nothing of it is written. */
  readonly smaller?: (value: T) => T
  /** One line for the operator: a file was set aside, cannot be read, or cannot be written. */
  readonly note: (text: string) => void
  /** Look only: what is damaged stays where it lies, and nothing is written. Default: false. */
  readonly isReadOnly?: boolean
  /** A file that an earlier run set aside, with none in its place, is a loss. Default: false. */
  readonly remembersLoss?: boolean
  /** Limit of the first read, and of a flush: a network file system may hang for good. */
  readonly timeoutMs: number
  readonly clock?: Clock
}

export interface Store<T> {
  /**
   * What was there at the start: `lost` where something was that cannot be used. It was set aside, or it could not be
   * read at all, and then nothing is written over it in this run.
   */
  readonly found: 'nothing' | 'value' | 'lost'
  /** The value of this run: what was read, or written since. */
  read(): T | undefined
  /** Replace the value and write it behind; `undefined` removes the file. Many writes of a moment are one. */
  write(value: T | undefined): void
  /** Settles when everything is on disk or was noted as not written, within the limit. */
  flush(): Promise<void>
}

type Found<T> =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'value'; readonly value: T }
  /** It was set aside; `why` says what was wrong, `failure` that it could not be moved. */
  | { readonly kind: 'aside'; readonly why: string; readonly failure?: string }
  | { readonly kind: 'unreadable'; readonly why: string }
  /** An earlier run set it aside, and nothing was written since. */
  | { readonly kind: 'gone' }

/** Open one file. Never rejects, and takes no longer than the limit. */
export async function openStore<T extends object>(options: StoreOptions<T>): Promise<Store<T>> {
  const { note, timeoutMs, clock = SYSTEM_CLOCK } = options
  const path = join(options.folder, `${fileName(options.name)}.json`)
  const found = await within(load(path, options), timeoutMs, clock).catch((error: unknown): Found<T> => ({
    kind: 'unreadable',
    why: messageOf(error),
  }))
  tell(found, path, note)
  let current = found.kind === 'value' ? found.value : undefined
  let writing: Promise<void> = Promise.resolve()
  let isOwed = false

  async function save(): Promise<void> {
    if (found.kind === 'unreadable') throw new Error('what is there could not be read, and stays')
    if (current === undefined) {
      await rm(path, { force: true })
      return rm(asideOf(path), { force: true })
    }
    await writeFileAtomic(path, textOf(current, options), { mode: 0o600, dirMode: 0o700 })
    // The folder may be older than this package.
    await chmod(options.folder, 0o700)
  }

  return {
    found: found.kind === 'nothing' || found.kind === 'value' ? found.kind : 'lost',
    read: () => current,
    write(value) {
      current = value
      if (options.isReadOnly === true) return
      // One write on its way and one behind it: the later one has all that came meanwhile.
      if (isOwed) return
      isOwed = true
      writing = writing
        .then(() => {
          isOwed = false
          return save()
        })
        .catch((error: unknown) => note(`cannot remember: ${messageOf(error)}`))
    },
    flush: () =>
      within(writing, timeoutMs, clock).catch((error: unknown) =>
        note(`cannot remember: ${messageOf(error)}`),
      ),
  }
}

function fileName(name: string): string {
  return SAFE_NAME.test(name) ? name : createHash('sha256').update(name).digest('hex')
}

/** @throws Error where even the smaller value is too large, or too deep for JSON */
function textOf<T extends object>(value: T, { version, maxBytes, smaller }: StoreOptions<T>): string {
  const text = JSON.stringify({ version, ...value })
  if (Buffer.byteLength(text) <= maxBytes) return text
  const less = smaller === undefined ? undefined : JSON.stringify({ version, ...smaller(value) })
  if (less !== undefined && Buffer.byteLength(less) <= maxBytes) return less
  throw new Error(`larger than ${maxBytes} bytes`)
}

function tell<T>(found: Found<T>, path: string, note: (text: string) => void): void {
  if (found.kind === 'unreadable') note(`cannot read what was remembered: ${found.why}`)
  if (found.kind === 'gone') note(`a damaged file was set aside earlier as ${asideOf(path)}`)
  if (found.kind !== 'aside') return
  const what = found.why === '' ? 'a damaged file' : `a file that is ${found.why}`
  if (found.failure === undefined) note(`${what} was set aside as ${asideOf(path)}`)
  else note(`${what} cannot be set aside: ${found.failure}`)
}

async function load<T>(path: string, options: StoreOptions<T>): Promise<Found<T>> {
  let text: string | undefined
  let why = ''
  try {
    const handle = await open(path, READ_FLAGS)
    try {
      why = faultOf(await handle.stat(), options.maxBytes)
      if (why === '') text = await handle.readFile('utf8')
    } finally {
      await handle.close()
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return (await wasLost(path, options)) ? { kind: 'gone' } : { kind: 'nothing' }
    // ENXIO: a socket.
    if (code !== 'ELOOP' && code !== 'ENXIO') return { kind: 'unreadable', why: messageOf(error) }
    why = code === 'ELOOP' ? 'a symbolic link' : 'no plain file'
  }
  const value = text === undefined ? undefined : valueOf(text, options)
  if (value !== undefined) return { kind: 'value', value }
  if (options.isReadOnly === true) {
    return { kind: 'unreadable', why: `${path} is ${why === '' ? 'damaged' : why}; a host sets it aside` }
  }
  try {
    await rename(path, asideOf(path))
    return { kind: 'aside', why }
  } catch (error) {
    return { kind: 'aside', why, failure: messageOf(error) }
  }
}

function asideOf(path: string): string {
  return `${path}.damaged`
}

async function wasLost<T>(path: string, { remembersLoss }: StoreOptions<T>): Promise<boolean> {
  if (remembersLoss !== true) return false
  return lstat(asideOf(path)).then(
    () => true,
    () => false,
  )
}

/** Why a file is not to be read; empty where it is. */
function faultOf(stats: Stats, maxBytes: number): string {
  if (!stats.isFile()) return 'no plain file'
  if (stats.size > maxBytes) return `larger than ${maxBytes} bytes`
  const user = process.getuid?.()
  /* v8 ignore next -- Windows: modes and owners say nothing there */
  if (user === undefined) return ''
  if (stats.uid !== user) return 'owned by another user'
  return (stats.mode & OTHERS_MAY_WRITE) === 0 ? '' : 'writable by others'
}

function valueOf<T>(text: string, { version, parse }: StoreOptions<T>): T | undefined {
  try {
    const stored: unknown = JSON.parse(text)
    return isJsonObject(stored) && stored['version'] === version ? parse(stored) : undefined
  } catch {
    // Not JSON (a write that was cut short by a full disk), or too odd for its reader.
    return undefined
  }
}

/** @throws Error after the limit; what was waited for may go on, and its end is of no interest then */
async function within<T>(work: Promise<T>, limitMs: number, clock: Clock): Promise<T> {
  const late = Promise.withResolvers<never>()
  const cancel = clock.after(limitMs, () =>
    late.reject(new Error(`no answer from the disk within ${limitMs} ms`)),
  )
  try {
    return await Promise.race([work, late.promise])
  } finally {
    cancel()
    work.catch(() => undefined)
  }
}
