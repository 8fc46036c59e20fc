/**
 * Owns what is said of the tools of one server that are not as they were pinned: the words for the operator and the
 * model, each once and never a flood, and the differences, which are worked out behind.
 */
import { setImmediate } from 'node:timers/promises'
import { INSTRUCTIONS } from '../naming.ts'
import type { PinChange, ServerSpec } from '../types.ts'
import { loadDiffer, placesOf } from './pin-diff.ts'
import { shellWord, shownName } from './pin-review.ts'
import { MAX_PINS } from './pins.ts'
import type { HeldEntry, Version } from './pins.ts'

/** Tools of one list that are told one by one. */
export const MAX_TOLD = 10
/** Changes of one tool that are told in one run: some servers write the time of day into a description. */
const MAX_CHANGES_TOLD = 5
/** Tools whose differences are worked out at once: each may take some time. */
export const MAX_DIFFS = 100

/** A tool that is not as it was pinned. */
export interface Change {
  readonly rawName: string
  readonly publicName: string
  readonly state: PinChange['state']
  readonly why: HeldEntry['why']
  readonly from: Version | undefined
  readonly to: Version
  /** Redacted and visible. */
  readonly places: readonly string[]
  /** Empty until it is worked out. */
  diff: string
}

export interface ChangeTeller {
  changeOf(facts: Omit<Change, 'places' | 'diff'>): Change
  /** One warning for each definition that was not told yet. */
  tell(changes: readonly Change[]): void
  /** Why a tool is held back, for a person; a clause. */
  reasonOf(change: Change): string
  /** How it is approved; a clause. */
  adviceOf(change: Change): string
  /** A raw name in quotes: visible, redacted, capped. */
  quoted(rawName: string): string
  shown(rawName: string): string
}

/** Why a tool is held back, in none of the server's words: the model reads it, too. */
export function causeOf(why: Change['why']): string {
  switch (why) {
    case 'changed':
      return 'its definition changed since it was pinned'
    case 'lost':
      return 'the file of pins was damaged, so nothing shows which definition was trusted'
    case 'full':
      return 'this server has listed too many names to pin another one'
  }
}

export function createChangeTeller(
  { serverName, redact }: Pick<ServerSpec, 'serverName' | 'redact'>,
  warn: (text: string) => void,
): ChangeTeller {
  /** Digests that were told of each raw name. */
  const told = new Map<string, Set<string>>()
  const shown = (rawName: string): string => redact(shownName(rawName))
  const quoted = (rawName: string): string => JSON.stringify(shown(rawName))

  function isNews({ rawName, to }: Change): boolean {
    const digests = told.get(rawName) ?? new Set()
    if (digests.has(to.digest) || digests.size >= MAX_CHANGES_TOLD) return false
    // A server that makes up names must not fill the memory: it is told anew then.
    if (told.size >= MAX_PINS) told.clear()
    told.set(rawName, digests.add(to.digest))
    return true
  }

  function reasonOf({ why, places }: Change): string {
    return why === 'changed' ? `${causeOf(why)} (${places.join(', ')})` : causeOf(why)
  }

  const adviceOf = ({ rawName }: Change): string =>
    `only a person may approve it, with: dsh-mcp pins approve ${serverName} ${shellWord(shown(rawName))}`

  async function addDiffs(changes: readonly Change[]): Promise<void> {
    const diff = await loadDiffer()
    for (const [index, change] of changes.entries()) {
      const { from, to } = change
      if (index >= MAX_DIFFS) change.diff = '(too many tools changed at once to compare them all)'
      else {
        await setImmediate()
        change.diff = diff(from?.definition, to.definition, redact)
      }
    }
  }

  return {
    changeOf(facts) {
      const { why, from, to } = facts
      const places = why === 'changed' ? placesOf(from?.definition, to.definition) : []
      return { ...facts, places: places.map(redact), diff: '' }
    },
    tell(changes) {
      const fresh = changes.filter(isNews)
      for (const change of fresh.slice(0, MAX_TOLD)) {
        const what =
          change.rawName === INSTRUCTIONS ? 'what the server says' : `tool ${quoted(change.rawName)}`
        if (change.state === 'changed')
          warn(`${what} changed since it was last seen: ${change.places.join(', ')}`)
        else warn(`${what} is held back: ${reasonOf(change)}; ${adviceOf(change)}`)
      }
      const rest = fresh.length - MAX_TOLD
      if (rest > 0) warn(`${rest} more tools changed; the status has them all`)
      const open = changes.filter((change) => change.diff === '')
      if (open.length > 0) void addDiffs(open)
    },
    reasonOf,
    adviceOf,
    quoted,
    shown,
  }
}
