/**
 * Owns the file of pins of one server name: read at the start, changed by edits that are merged into what lies there at
 * that moment, read again when another process changed it. One file a server name, one set in it for each command or URL.
 */
import { createHash } from 'node:crypto'
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { withFileLock } from '@deepseek-ai/dsh-atomic-write'
import { messageOf } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import { openStore } from '../store.ts'
import type { Store } from '../store.ts'
import type { Target } from '../types.ts'
import { breakDeadLock } from './pin-lock.ts'
import { EMPTY_BOOK, applyEdits } from './pins.ts'
import type { Pin, PinBook, PinEdit, PinSet, Version } from './pins.ts'

const FILE_VERSION = 1
/** A larger file is neither read nor written, in bytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024
const DISK_TIMEOUT_MS = 2_000

export interface PinFile {
  /** What was there at the start; `lost` where something was that cannot be used. */
  readonly found: 'nothing' | 'value' | 'lost'
  /** The pins of this server; undefined before its first list. */
  set(): PinSet | undefined
  /** An earlier file was lost while the row said `hold`, and nobody has approved everything since. */
  isLost(): boolean
  /** Whether another command or URL is known under this server name. */
  hasOthers(): boolean
  /** Holds at once in this process and is merged into the file behind. */
  edit(edits: readonly PinEdit[]): void
  /** Take over what another process wrote. Resolves to whether anything was read. Never rejects. */
  refresh(): Promise<boolean>
  /** Settles when everything is on disk or was noted as not written; bounded. */
  flush(): Promise<void>
}

export interface PinFileOptions {
  readonly folder: string
  readonly serverName: string
  readonly target: Target
  /** One line when a file was set aside or cannot be written. */
  readonly note: (text: string) => void
  /** Look only: nothing is moved or written, and edits hold in this process alone. Default: false. */
  readonly isReadOnly?: boolean
}

/** SHA-256 over what makes the server the one it is: its command, arguments and folder, or its URL. */
export function pinIdentityOf(serverName: string, target: Target): string {
  const parts =
    target.kind === 'stdio' ? [target.command, target.args, target.cwd ?? ''] : [new URL(target.url).href]
  return createHash('sha256')
    .update(JSON.stringify([serverName, target.kind, parts]))
    .digest('hex')
}

/** Open the pins of one server. Never rejects, and a disk that hangs does not hold it up. */
export async function openPinFile(options: PinFileOptions): Promise<PinFile> {
  const { folder, serverName, note } = options
  const name = `pins-${serverName}`
  const path = join(folder, `${name}.json`)
  const identity = pinIdentityOf(serverName, options.target)
  let seen = await signatureOf(path)
  const first = await open()
  let book = bookOf(first.read()) ?? EMPTY_BOOK
  let owed: PinEdit[] = []
  let writing: Promise<void> = Promise.resolve()

  function open(): Promise<Store<StoredBook>> {
    return openStore<StoredBook>({
      folder,
      name,
      version: FILE_VERSION,
      parse: parseBook,
      maxBytes: MAX_FILE_BYTES,
      smaller: withoutDefinitions,
      note,
      timeoutMs: DISK_TIMEOUT_MS,
      isReadOnly: options.isReadOnly === true,
      remembersLoss: true,
    })
  }

  const setOf = (): PinSet | undefined => book.sets.find((set) => set.identity === identity)

  /** Merge what is owed into the file as it is now. */
  async function merge(): Promise<void> {
    const store = await open()
    // A file that went away is no approval of anything: what is known stays.
    const edits = owed
    owed = []
    book = applyEdits(bookOf(store.read()) ?? book, edits, { identity, now: Date.now() })
    store.write(storedOf(book))
    await store.flush()
    seen = await signatureOf(path)
  }

  async function save(): Promise<void> {
    if (owed.length === 0) return
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await breakDeadLock(path)
      await withFileLock(path, merge)
    } catch (error) {
      // A lock that its owner left behind: the merge alone loses an edit only to a writer of the very same moment.
      note(`pins are written without a lock: ${messageOf(error)}`)
      await merge()
    }
  }

  return {
    found: first.found,
    set: setOf,
    isLost: () => book.lostAt !== undefined,
    hasOthers: () => book.sets.some((set) => set.identity !== identity),
    edit(edits) {
      if (edits.length === 0) return
      book = applyEdits(book, edits, { identity, now: Date.now() })
      if (options.isReadOnly === true) return
      owed.push(...edits)
      writing = writing.then(save)
    },
    async refresh() {
      await writing
      const now = await signatureOf(path)
      if (now === seen || now === undefined) return false
      seen = now
      const read = bookOf((await open()).read())
      if (read === undefined) return false
      book = applyEdits(read, owed, { identity, now: Date.now() })
      return true
    },
    async flush() {
      const late = Promise.withResolvers<void>()
      const cancel = SYSTEM_CLOCK.after(DISK_TIMEOUT_MS, late.resolve)
      await Promise.race([writing, late.promise])
      cancel()
    },
  }
}

/** Tells one state of the file from another; undefined where there is none. */
async function signatureOf(path: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(path)
    return [mtimeMs, size, ino].join()
  } catch {
    return undefined
  }
}

/** A book as JSON has it: a raw name is any text, `__proto__` too, so pins are a list. */
interface StoredBook {
  readonly lostAt?: number
  readonly sets: readonly StoredSet[]
}

interface StoredSet extends Omit<PinSet, 'pins'> {
  readonly pins: readonly Pin[]
}

function storedOf(book: PinBook): StoredBook {
  return { ...book, sets: book.sets.map((set) => ({ ...set, pins: [...set.pins.values()] })) }
}

function bookOf(stored: StoredBook | undefined): PinBook | undefined {
  if (stored === undefined) return undefined
  const sets = stored.sets.map((set) => ({ ...set, pins: new Map(set.pins.map((pin) => [pin.name, pin])) }))
  return { ...(stored.lostAt === undefined ? {} : { lostAt: stored.lostAt }), sets }
}

/** The digests of the server at hand: what must not be lost where the whole does not fit. */
function withoutDefinitions({ sets, ...rest }: StoredBook): StoredBook {
  return { ...rest, sets: sets.slice(0, 1).map((set) => ({ ...set, pins: set.pins.map(barePin) })) }
}

function barePin({ name, pinned, pending }: Pin): Pin {
  return {
    name,
    ...(pinned === undefined ? {} : { pinned: bare(pinned) }),
    ...(pending === undefined ? {} : { pending: bare(pending) }),
  }
}

function bare({ digest, at }: Version): Version {
  return { digest, at }
}

/** All or nothing: a pin that cannot be read must not turn into a tool that is new. */
function parseBook(stored: Readonly<Record<string, unknown>>): StoredBook | undefined {
  const { lostAt, sets } = stored
  if (!Array.isArray(sets) || !sets.every(isSet)) return undefined
  if (lostAt !== undefined && typeof lostAt !== 'number') return undefined
  return { ...(lostAt === undefined ? {} : { lostAt }), sets }
}

function isSet(value: unknown): value is StoredSet {
  if (!isJsonObject(value)) return false
  const { identity, at, isWhole, pins } = value
  if (typeof identity !== 'string' || typeof at !== 'number' || typeof isWhole !== 'boolean') return false
  return Array.isArray(pins) && pins.every(isPin)
}

function isPin(value: unknown): value is Pin {
  if (!isJsonObject(value) || typeof value['name'] !== 'string') return false
  return [value['pinned'], value['pending'], value['previous']].every(
    (version) => version === undefined || isVersion(version),
  )
}

function isVersion(value: unknown): value is Version {
  if (!isJsonObject(value)) return false
  const { digest, at, definition } = value
  if (typeof digest !== 'string' || typeof at !== 'number') return false
  return definition === undefined || (typeof definition === 'string' && isDefinition(definition))
}

/** It is parsed again to show a change. */
function isDefinition(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text))
  } catch {
    return false // not JSON: somebody wrote into the file by hand
  }
}
