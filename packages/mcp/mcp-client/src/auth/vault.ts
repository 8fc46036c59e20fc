/**
 * Owns where the credentials of one server are kept: the host's credentials service where there is one, else a private
 * file. Every change is read, changed and written under a lock that other processes see, so that two hosts never spend
 * one refresh token twice. Where nothing can be written, they last as long as this process.
 */
import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import { messageOf } from '../errors.ts'
import { openStore } from '../store.ts'
import type { Store } from '../store.ts'
import { NO_CREDENTIALS, parseCredentials } from './credentials.ts'
import type { Credentials } from './credentials.ts'
import { LockTimeout, takeLock } from './lock.ts'

/** Where the credentials of one server are kept. */
export interface Safe {
  /** `isFresh`: what another process has written just now counts, too. */
  load(isFresh: boolean): Promise<Credentials | undefined>
  /** `undefined` removes them. Rejects where they are not kept. */
  save(credentials: Credentials | undefined): Promise<void>
}

export interface Vault {
  /** What is kept now, by whatever process it was written. */
  read(): Promise<Credentials>
  /** Hold the lock around a change; `change` gets what is kept then and gives what is to be kept, or nothing. */
  update(change: (kept: Credentials) => Promise<Credentials | undefined>): Promise<Credentials>
}

export interface VaultOptions {
  /** Of the lock, and of the file. */
  readonly folder: string
  /** File name without its ending. */
  readonly name: string
  readonly clock: Clock
  readonly note: (text: string) => void
  /** In place of the file. */
  readonly safe?: Safe | undefined
}

const VERSION = 1
const MAX_BYTES = 1024 * 1024
const DISK_MS = 5_000

export function openVault(options: VaultOptions): Vault {
  const { folder, name, clock } = options
  const lock = join(folder, `${createHash('sha256').update(name).digest('hex').slice(0, 32)}.lock`)
  /** What could not be written. */
  let unsaved: Credentials | undefined
  let said = ''
  const say = (text: string): void => {
    // A server that waits looks every two seconds.
    if (text !== said) options.note(text)
    said = text
  }
  const safe = options.safe ?? fileSafe({ ...options, note: say })

  async function read(isFresh: boolean): Promise<Credentials> {
    if (unsaved !== undefined) return unsaved
    return (await safe.load(isFresh)) ?? NO_CREDENTIALS
  }

  async function hold(): Promise<() => Promise<void>> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      return await takeLock(lock, clock)
    } catch (error) {
      if (error instanceof LockTimeout) throw error
      say(`cannot lock the credentials: ${messageOf(error)}`)
      return () => Promise.resolve()
    }
  }

  return {
    read: () => read(false),
    async update(change) {
      const release = await hold()
      try {
        const kept = await read(true)
        const next = await change(kept)
        if (next === undefined) return kept
        try {
          await safe.save(isEmpty(next) ? undefined : next)
          unsaved = undefined
        } catch (error) {
          // A spent refresh token is no more: what came for it must not be lost with it.
          unsaved = next
          say(`the login lasts only as long as this process: ${messageOf(error)}`)
        }
        return next
      } finally {
        await release()
      }
    },
  }
}

function isEmpty({ clients, tokens, proofKey }: Credentials): boolean {
  return proofKey === undefined && Object.keys(clients).length + Object.keys(tokens).length === 0
}

/** The file of this package. */
export function fileSafe({ folder, name, clock, note }: VaultOptions): Safe {
  const open = (say: (text: string) => void): Promise<Store<Credentials>> =>
    openStore({
      folder,
      name,
      version: VERSION,
      parse: ({ version: _version, ...stored }) => parseCredentials(stored),
      maxBytes: MAX_BYTES,
      note: say,
      timeoutMs: DISK_MS,
      clock,
    })
  return {
    async load() {
      return (await open((text) => note(`kept login: ${text}`))).read()
    },
    async save(credentials) {
      let failure: string | undefined
      const store = await open((text) => (failure = text))
      failure = undefined
      store.write(credentials)
      await store.flush()
      if (failure !== undefined) throw new Error(failure)
    },
  }
}
