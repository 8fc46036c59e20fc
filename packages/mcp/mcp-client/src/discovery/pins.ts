/**
 * Owns the judgement of a list against what is pinned of its server, and what each judgement and each approval writes.
 * A pin is the digest of a definition as it was first seen or approved, with the definition itself while there is room,
 * so that a change can be shown. Pure.
 */
import { hash } from 'node:crypto'
import { INSTRUCTIONS } from '../naming.ts'
import type { CatalogEntry, JsonObject } from '../types.ts'
import { canonicalJson, takeDigested } from './parse.ts'

/** A longer definition is pinned by its digest alone, in characters of JSON. */
const MAX_DEFINITION_CHARS = 16 * 1024
/** Definitions kept of one server. */
const MAX_TOTAL_CHARS = 1024 * 1024
/** Names known of one server: one that makes up new names at each list must not fill the disk. */
export const MAX_PINS = 20_000
/** Servers (commands, URLs) remembered under one server name. */
const MAX_SETS = 4

/** One definition of a tool. */
export interface Version {
  readonly digest: string
  /** When it was seen, in milliseconds since the epoch. */
  readonly at: number
  /** Canonical JSON; absent where it is too long. */
  readonly definition?: string
}

/** What is known of one raw name. */
export interface Pin {
  readonly name: string
  /** What is trusted; absent where nothing is yet. */
  readonly pinned?: Version
  /** What waits for approval. */
  readonly pending?: Version
  /** What was trusted before. */
  readonly previous?: Version
}

/** The pins of one server identity. */
export interface PinSet {
  readonly identity: string
  /** When it was last written, in milliseconds since the epoch. */
  readonly at: number
  /** Names that it does not hold are new tools, and not tools whose pins were lost. */
  readonly isWhole: boolean
  readonly pins: ReadonlyMap<string, Pin>
}

/** All that is kept under one server name. */
export interface PinBook {
  /** When an earlier book was found damaged, while the row said `hold`. */
  readonly lostAt?: number
  readonly sets: readonly PinSet[]
}

export const EMPTY_BOOK: PinBook = Object.freeze({ sets: [] })

export type PinEdit =
  /** First sight; an older pin stays. */
  | { readonly kind: 'pin'; readonly name: string; readonly version: Version }
  /** The same definition under a new digest: what a digest covers has changed, not the tool. */
  | { readonly kind: 'renew'; readonly name: string; readonly version: Version }
  /** Trust another definition from now on. */
  | { readonly kind: 'repin'; readonly name: string; readonly version: Version }
  /** A person trusts it: a change that was approved is none any more. */
  | { readonly kind: 'approve'; readonly name: string; readonly version: Version }
  /** A definition waits for approval; without one nothing waits any more. */
  | { readonly kind: 'pending'; readonly name: string; readonly version?: Version }
  | { readonly kind: 'forget'; readonly name: string }
  /** An earlier book was lost. */
  | { readonly kind: 'lost' }
  /** What the set does not hold is new. */
  | { readonly kind: 'whole' }

export interface HeldEntry {
  readonly entry: CatalogEntry
  readonly why: 'changed' | 'lost' | 'full'
  readonly version: Version
  readonly from?: Version
}

export interface Judgement {
  readonly admitted: readonly CatalogEntry[]
  readonly held: readonly HeldEntry[]
  /** Admitted although changed. */
  readonly changed: readonly { readonly entry: CatalogEntry; readonly from: Version; readonly to: Version }[]
  /** Raw names that a known server lists for the first time. */
  readonly added: readonly string[]
  readonly edits: readonly PinEdit[]
}

export interface JudgeOptions {
  readonly mode: 'warn' | 'hold'
  /** What is pinned of this server; undefined at first sight. */
  readonly set: PinSet | undefined
  readonly isLost: boolean
  readonly now: number
}

/** Judge one list. */
export function judge(entries: readonly CatalogEntry[], options: JudgeOptions): Judgement {
  const { mode, set, isLost, now } = options
  const makeVersion = versionMaker(set, now)
  const isHolding = mode === 'hold' && isLost && set?.isWhole !== true
  let count = set?.pins.size ?? 0
  const admitted: CatalogEntry[] = []
  const held: HeldEntry[] = []
  const changed: Judgement['changed'][number][] = []
  const added: string[] = []
  const edits: PinEdit[] = []

  for (const entry of entries) {
    const { rawName: name, digest } = entry
    const pin = set?.pins.get(name)
    const from = pin?.pinned
    if (from?.digest === digest) {
      admitted.push(entry)
      if (pin?.pending !== undefined) edits.push({ kind: 'pending', name })
      continue
    }
    const to = pin?.pending?.digest === digest ? pin.pending : makeVersion(entry)
    if (from === undefined) {
      const isFull = pin === undefined && count >= MAX_PINS
      const why = isHolding ? 'lost' : isFull ? 'full' : undefined
      if (pin === undefined && !isFull) count += 1
      if (why !== undefined && mode === 'hold') {
        held.push({ entry, why, version: to })
        if (!isFull) edits.push({ kind: 'pending', name, version: to })
        continue
      }
      admitted.push(entry)
      if (set !== undefined && pin === undefined) added.push(name)
      if (!isFull) edits.push({ kind: 'pin', name, version: to })
    } else if (from.definition !== undefined && from.definition === to.definition) {
      admitted.push(entry)
      edits.push({ kind: 'renew', name, version: to })
    } else if (mode === 'hold') {
      held.push({ entry, why: 'changed', version: to, from })
      edits.push({ kind: 'pending', name, version: to })
    } else {
      admitted.push(entry)
      changed.push({ entry, from, to })
      edits.push({ kind: 'repin', name, version: to })
    }
  }
  if (set?.isWhole !== true && !isHolding) edits.push({ kind: 'whole' })
  return { admitted, held, changed, added, edits: edits.filter((edit) => isNews(edit, set)) }
}

/** What is already written need not be written again by each list. */
function isNews(edit: PinEdit, set: PinSet | undefined): boolean {
  if (edit.kind !== 'pending' || edit.version === undefined) return true
  return set?.pins.get(edit.name)?.pending?.digest !== edit.version.digest
}

/** The book after some edits of one set. */
export function applyEdits(
  book: PinBook,
  edits: readonly PinEdit[],
  { identity, now }: { readonly identity: string; readonly now: number },
): PinBook {
  const before = book.sets.find((set) => set.identity === identity)
  const pins = new Map(before?.pins)
  let { lostAt } = book
  let isWhole = before?.isWhole === true
  for (const edit of edits) {
    if (edit.kind === 'lost') lostAt ??= now
    else if (edit.kind === 'whole') isWhole = true
    else if (edit.kind === 'forget') pins.delete(edit.name)
    else pins.set(edit.name, edited(pins.get(edit.name) ?? { name: edit.name }, edit))
  }
  const others = book.sets.filter((set) => set !== before)
  const newest = others.toSorted((a, b) => b.at - a.at).slice(0, MAX_SETS - 1)
  const isLossAlone = before === undefined && edits.every(({ kind }) => kind === 'lost')
  return {
    ...(lostAt === undefined ? {} : { lostAt }),
    sets: isLossAlone ? newest : [{ identity, at: now, isWhole, pins }, ...newest],
  }
}

type VersionEdit = Exclude<PinEdit, { readonly kind: 'forget' | 'lost' | 'whole' }>

function edited(pin: Pin, edit: VersionEdit): Pin {
  const { name, pinned, previous } = pin
  const known = {
    name,
    ...(pinned === undefined ? {} : { pinned }),
    ...(previous === undefined ? {} : { previous }),
  }
  switch (edit.kind) {
    case 'pin':
      return pinned === undefined ? { ...known, pinned: edit.version } : pin
    case 'renew':
      return { ...known, pinned: edit.version }
    case 'approve':
      return { name, pinned: edit.version }
    case 'repin':
      return { name, pinned: edit.version, ...(pinned === undefined ? {} : { previous: pinned }) }
    case 'pending':
      return edit.version === undefined ? known : { ...known, pending: edit.version }
  }
}

/** Makes versions of entries, with their definitions while the set has room for them. */
function versionMaker(set: PinSet | undefined, at: number): (entry: CatalogEntry) => Version {
  let room: number | undefined
  return (entry) => {
    const { digest } = entry
    // Most lists are as pinned: the sum is taken where it is needed.
    room ??= roomOf(set)
    const definition = room > 0 ? definitionOf(entry) : ''
    if (definition.length > MAX_DEFINITION_CHARS) return { digest, at }
    room -= definition.length
    return room > 0 ? { digest, at, definition } : { digest, at }
  }
}

function roomOf(set: PinSet | undefined): number {
  let room = MAX_TOTAL_CHARS
  for (const { pinned, pending, previous } of set?.pins.values() ?? [])
    for (const version of [pinned, pending, previous]) room -= version?.definition?.length ?? 0
  return room
}

/** The instructions of a server as something that can be pinned; '' where it says nothing. */
export function instructionsEntry(text: string): CatalogEntry {
  return {
    rawName: INSTRUCTIONS,
    publicName: INSTRUCTIONS,
    description: text,
    inputSchema: {},
    annotations: {},
    taskRequired: false,
    digest: hash('sha256', text),
  }
}

/** All of an entry that a person would read or a model be given, as canonical JSON. */
export function definitionOf(entry: CatalogEntry): string {
  const { publicName, rawName, title, taskRequired } = entry
  const text = takeDigested(entry)
  if (text === undefined) return writtenOut(entry)
  // What the digest covers besides stands at the end, in the order of the keys; only a title comes behind it.
  const named = `,"publicName":${JSON.stringify(publicName)},"rawName":${JSON.stringify(rawName)}`
  const titled = title === undefined ? '}' : `,"title":${JSON.stringify(title)}}`
  const task = `,"taskRequired":${taskRequired}`
  const head = text.slice(0, -(named.length + task.length + titled.length))
  return `${head}${taskRequired ? task : ''}${titled}`
}

function writtenOut(entry: CatalogEntry): string {
  const { title, description, inputSchema, outputSchema, annotations, taskRequired } = entry
  return canonicalJson({
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: { ...annotations },
    ...(taskRequired ? { taskRequired } : {}),
  } as JsonObject)
}
