/**
 * Owns what is remembered of one server between runs: the era verdict, the size of its definitions, and the last known
 * catalog of a lazy row. One file a server identity; how files are kept is in store.ts.
 */
import { createHash } from 'node:crypto'
import { openStore } from './store.ts'
import type { DefinitionBytes, Era, ServerSpec } from './types.ts'

/** A larger file is not read and a larger catalog not kept, in bytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024
/** A start does not wait longer for the disk. */
const DISK_TIMEOUT_MS = 2_000
const VERSION = 1

export interface Remembered {
  /** When the era was found out, in milliseconds since the epoch. */
  readonly era?: { readonly era: Era; readonly at: number }
  /** Tools as a server lists them: parsed again when read, so nothing in the file is trusted. */
  readonly catalog?: {
    readonly items: readonly unknown[]
    readonly at: number
    /** Present where the server has resources. */
    readonly resources?: { readonly canWatch: boolean } | undefined
    /** What it says of itself, as it says it. */
    readonly instructions?: string | undefined
  }
  /** Prompts as a server lists them, capped; parsed again when read. */
  readonly prompts?: readonly unknown[]
  /** What its definitions took last: its share of the budget is kept until it is there again. */
  readonly bytes?: DefinitionBytes
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

interface StoredMemory {
  readonly era?: Remembered['era'] | undefined
  readonly catalog?: Remembered['catalog'] | undefined
  readonly prompts?: Remembered['prompts'] | undefined
  readonly bytes?: Remembered['bytes'] | undefined
  /** Digest over the credentials of the row: another login may see other tools. */
  readonly authorization: string
}

/** Open the memory of one server. Never rejects, and a disk that hangs does not hold it up. */
export async function openMemory(spec: ServerSpec, options: MemoryOptions): Promise<Memory> {
  const authorization = authorizationOf(spec)
  const store = await openStore<StoredMemory>({
    folder: options.folder,
    name: `${spec.serverName}-${identityOf(spec).slice(0, 16)}`,
    version: VERSION,
    parse,
    maxBytes: MAX_FILE_BYTES,
    smaller: (stored) => ({ ...stored, catalog: undefined, prompts: undefined }),
    note: options.note,
    timeoutMs: DISK_TIMEOUT_MS,
  })
  let current = rememberedOf(store.read(), authorization)

  return {
    read: () => current,
    update(change) {
      current = { ...current, ...change } as Remembered
      store.write({ authorization, ...current })
    },
    flush: () => store.flush(),
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

/** Tools and prompts only where the row still has the same credentials. */
function rememberedOf(stored: StoredMemory | undefined, authorization: string): Remembered {
  const { era, catalog, prompts, bytes } = stored ?? {}
  const isSameLogin = stored?.authorization === authorization
  return {
    ...(era === undefined ? {} : { era }),
    ...(catalog === undefined || !isSameLogin ? {} : { catalog }),
    ...(prompts === undefined || !isSameLogin ? {} : { prompts }),
    ...(bytes === undefined ? {} : { bytes }),
  }
}

function parse(stored: Readonly<Record<string, unknown>>): StoredMemory | undefined {
  const { era, catalog, prompts, bytes } = stored as Partial<StoredMemory>
  if (era === null || catalog === null || bytes === null) return undefined
  if (era !== undefined && (typeof era.at !== 'number' || (era.era !== 'legacy' && era.era !== 'modern')))
    return undefined
  if (catalog !== undefined && (typeof catalog.at !== 'number' || !Array.isArray(catalog.items)))
    return undefined
  if (prompts !== undefined && !Array.isArray(prompts)) return undefined
  const { resources, instructions } = catalog ?? {}
  if (instructions !== undefined && typeof instructions !== 'string') return undefined
  if (resources !== undefined && typeof resources?.canWatch !== 'boolean') return undefined
  if (bytes !== undefined && !(Number.isSafeInteger(bytes.total) && Number.isSafeInteger(bytes.fixed)))
    return undefined
  return stored as unknown as StoredMemory
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
