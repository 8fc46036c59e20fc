/**
 * Owns what a person does with the pins of one server: see what changed, approve it, forget it. Works on an open pin
 * file alone, so the command line does it without a running host, which sees the approval when it looks at the file.
 */
import { INSTRUCTIONS } from '../naming.ts'
import type { PinChange } from '../types.ts'
import { visibleText } from '../visible.ts'
import { placesOf } from './pin-diff.ts'
import type { Differ } from './pin-diff.ts'
import type { PinFile } from './pin-file.ts'
import { instructionsEntry } from './pins.ts'
import type { Pin, PinEdit } from './pins.ts'

const MAX_NAME_CHARS = 128
const SILENCE = instructionsEntry('').digest

/** One tool in the file. */
export interface PinRow {
  /** Visible, capped. */
  readonly name: string
  /** `held`: another definition waits for approval; `changed`: another one was pinned before. */
  readonly state: 'pinned' | PinChange['state']
  readonly digest: string
  /** When this digest was first seen, in milliseconds since the epoch. */
  readonly since: number
}

/** Every name in the file, in order. */
export function listPins(file: Pick<PinFile, 'set'>): PinRow[] {
  return pinsOf(file).flatMap((pin) => {
    const version = pin.pending ?? pin.pinned
    if (version === undefined || isSilence(pin)) return []
    const { digest, at: since } = version
    return [{ name: shownName(pin.name), state: stateOf(pin), digest, since }]
  })
}

/** A server that says nothing of itself is no line for a person. */
function isSilence({ name, pinned, pending, previous }: Pin): boolean {
  return (
    name === INSTRUCTIONS && pending === undefined && previous === undefined && pinned?.digest === SILENCE
  )
}

/**
 * What waits for approval, and the last change of each tool that was taken over.
 * @param redact cuts secrets out of what is shown
 */
export function changesOf(
  file: Pick<PinFile, 'set'>,
  { diff, redact }: { readonly diff: Differ; readonly redact: (text: string) => string },
): PinChange[] {
  return pinsOf(file).flatMap((pin) => {
    const state = stateOf(pin)
    const from = state === 'held' ? pin.pinned : pin.previous
    const to = state === 'held' ? pin.pending : pin.pinned
    if (state === 'pinned' || to === undefined) return []
    return [
      {
        name: redact(shownName(pin.name)),
        state,
        places: placesOf(from?.definition, to.definition).map(redact),
        diff: diff(from?.definition, to.definition, redact),
        since: to.at,
      },
    ]
  })
}

/**
 * Trust what waits: exactly the definitions that this file object has read.
 * @param tool raw name, or its shown form; `*` is every tool, and what a lost file leaves unknown
 * @returns the raw names that were approved
 */
export function approvePins(file: Pick<PinFile, 'set' | 'edit' | 'isLost'>, tool: string): string[] {
  const waiting = pinsOf(file).filter(({ name, pending }) => pending !== undefined && isNamed(name, tool))
  const edits = waiting.map(({ name, pending }): PinEdit => ({
    kind: 'approve',
    name,
    version: pending as NonNullable<Pin['pending']>,
  }))
  if (tool === '*' && file.isLost()) edits.push({ kind: 'whole' })
  file.edit(edits)
  return waiting.map(({ name }) => name)
}

/**
 * Forget pins: what is listed next under these names is new.
 * @param tool raw name, or its shown form; `*` is every tool
 * @returns the raw names that were forgotten
 */
export function forgetPins(file: Pick<PinFile, 'set' | 'edit'>, tool: string): string[] {
  const pins = pinsOf(file).filter(({ name }) => isNamed(name, tool))
  file.edit(pins.map(({ name }) => ({ kind: 'forget', name })))
  return pins.flatMap((pin) => (isSilence(pin) ? [] : [pin.name]))
}

/** Whether a person's word for a tool means this raw name. */
export function isNamed(rawName: string, tool: string): boolean {
  return tool === '*' || tool === rawName || tool === shownName(rawName)
}

/** A raw name as a person reads and types it. */
export function shownName(rawName: string): string {
  const text = visibleText(rawName).replaceAll(/\s/g, ' ')
  return text.length <= MAX_NAME_CHARS ? text : `${text.slice(0, MAX_NAME_CHARS - 1).toWellFormed()}…`
}

/** A shown name as a shell takes it for one word: it is the server's, and people paste what they are advised. */
export function shellWord(shown: string): string {
  return /^\w[\w.-]*$/.test(shown) ? shown : `'${shown.replaceAll("'", String.raw`'\''`)}'`
}

function pinsOf(file: Pick<PinFile, 'set'>): Pin[] {
  return [...(file.set()?.pins.values() ?? [])].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function stateOf({ pending, previous }: Pin): PinRow['state'] {
  if (pending !== undefined) return 'held'
  return previous === undefined ? 'pinned' : 'changed'
}
