/**
 * Owns the check of a call's arguments before anything is sent: valid ones pass as they are, strings in place of
 * values are repaired, and the rest comes back as paths and expectations that a model can act on. Pure.
 */
import type { JsonObject } from '../types.ts'
import { repair } from './coerce.ts'
import type { Fault, Trail } from './measures.ts'
import { quoted, safeText } from './prose.ts'
import { surelyFits } from './quick.ts'
import { isRecord } from './record.ts'
import { referencesOf } from './references.ts'
import { faultsOf, startWalk } from './walker.ts'

const NOTHING: readonly string[] = []

/** One argument that does not fit. */
export interface ArgumentFault {
  /** Such as `arguments.items[2].count`. */
  readonly path: string
  /** Such as `integer or null`. */
  readonly expected: string
}

export type Checked =
  | {
      readonly ok: true
      /** The same object where nothing was repaired. */
      readonly args: JsonObject
      /** Paths of the strings that were replaced by their values. */
      readonly coerced: readonly string[]
    }
  | { readonly ok: false; readonly faults: readonly ArgumentFault[]; readonly message: string }

/**
 * Check a call's arguments against the server's own schema. Arguments that the schema allows are never refused and
 * never changed; what cannot be checked safely is left to the server.
 */
export function checkArguments(schema: JsonObject, args: JsonObject): Checked {
  if (!isRecord(args)) return refusal([{ trail: undefined, expected: ['object'], value: args }])
  if (isRecord(schema) && surelyFits(schema, args)) return { ok: true, args, coerced: NOTHING }
  const references = referencesOf(schema)
  const source = { schema, base: references.root, chain: undefined }
  const spot = { value: args, trail: undefined, depth: 0 }
  if (faultsOf(startWalk(references), source, spot).length === 0) return { ok: true, args, coerced: NOTHING }
  const repaired = repair(startWalk(references), [source], spot)
  const faults = faultsOf(startWalk(references), source, { ...spot, value: repaired.value })
  if (faults.length > 0) return refusal(faults)
  return { ok: true, args: repaired.value as JsonObject, coerced: repaired.places.map(pathOf) }
}

const MAX_EXPECTED_BYTES = 240
const MAX_VALUE_CHARS = 60
const MAX_ALTERNATIVES = 12

function refusal(faults: readonly Fault[]): Checked {
  const lines = faults.map(
    (fault) => `${pathOf(fault.trail)}: expected ${wordsOf(fault)}, got ${gotOf(fault)}`,
  )
  return {
    ok: false,
    faults: faults.map((fault) => ({ path: pathOf(fault.trail), expected: wordsOf(fault) })),
    message: `The arguments do not fit the tool's schema; nothing was sent.\n${lines.join('\n')}`,
  }
}

function wordsOf({ expected }: Fault): string {
  const shown = expected.slice(0, MAX_ALTERNATIVES)
  const more = expected.length > MAX_ALTERNATIVES ? ` or ${expected.length - MAX_ALTERNATIVES} more` : ''
  return safeText(`${shown.join(' or ')}${more}`, MAX_EXPECTED_BYTES)
}

function gotOf(fault: Fault): string {
  if (!Object.hasOwn(fault, 'value')) return 'nothing'
  const { value } = fault
  if (value === null) return 'null'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object') return 'an object'
  if (typeof value !== 'string') return `${typeof value} ${String(value)}`
  // Cut before it is quoted: the text may be megabytes.
  const shown = value.length > MAX_VALUE_CHARS ? `${value.slice(0, MAX_VALUE_CHARS).toWellFormed()}…` : value
  return `string ${quoted(shown, MAX_EXPECTED_BYTES)}`
}

const PLAIN_NAME = /^[A-Za-z_$][\w$-]*$/
const MAX_NAME_BYTES = 80

function pathOf(trail: Trail | undefined): string {
  const parts: string[] = []
  for (let at = trail; at !== undefined; at = at.up) {
    if (typeof at.key === 'number') parts.unshift(`[${at.key}]`)
    else if (PLAIN_NAME.test(at.key)) parts.unshift(`.${safeText(at.key, MAX_NAME_BYTES)}`)
    else parts.unshift(`[${quoted(at.key.slice(0, MAX_NAME_BYTES), MAX_NAME_BYTES)}]`)
  }
  return `arguments${parts.join('')}`
}
