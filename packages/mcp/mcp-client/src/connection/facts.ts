/**
 * Owns what is kept of what a server says about itself when a session opens: clean, without secrets, bounded. It goes
 * into the status and, one day, into prompts; nothing of it decides more than which methods are worth asking. Pure.
 */
import { isJsonObject } from '../json.ts'
import { cleanText, safeLine } from '../text.ts'
import type { Era, SessionFacts } from '../types.ts'

const MAX_WORD_CHARS = 200
/** Instructions are for a prompt; who puts them into one caps them again. */
const MAX_INSTRUCTIONS_CHARS = 64 * 1024
/** Read past the cap, so that a secret at the edge is still whole when it is cut out. */
const MARGIN_CHARS = 4 * 1024
const MAX_CAPABILITIES = 200
const MAX_DEPTH = 6

export interface Claims {
  readonly era: Era
  readonly revision: string
  readonly serverInfo?: unknown
  readonly instructions?: unknown
  readonly capabilities?: unknown
}

/** What a server claims, as it may be shown. Icons, addresses and whatever else it says of itself are not taken. */
export function toFacts(claims: Claims, redact: (text: string) => string): SessionFacts {
  const line = (value: unknown): string =>
    typeof value === 'string' ? safeLine(value, redact, MAX_WORD_CHARS) : ''
  const { serverInfo, instructions } = claims
  const title = isJsonObject(serverInfo) ? line(serverInfo['title']) : ''
  return Object.freeze({
    era: claims.era,
    revision: line(claims.revision),
    capabilities: capabilitiesOf(claims.capabilities, line),
    ...(isJsonObject(serverInfo)
      ? {
          serverInfo: {
            name: line(serverInfo['name']),
            version: line(serverInfo['version']),
            ...(title === '' ? {} : { title }),
          },
        }
      : {}),
    ...(typeof instructions === 'string' && instructions !== ''
      ? { instructions: instructionsOf(instructions, redact) }
      : {}),
  })
}

/** Cleaned before the redaction: a hidden character inside a secret must not save it. */
function instructionsOf(text: string, redact: (text: string) => string): string {
  const clean = redact(cleanText(redact(text.slice(0, MAX_INSTRUCTIONS_CHARS + MARGIN_CHARS))))
  return clean.replaceAll('\r\n', '\n').slice(0, MAX_INSTRUCTIONS_CHARS).toWellFormed()
}

/** The first levels and members; names that are no clean words are none that anybody could ask for. */
function capabilitiesOf(claim: unknown, line: (value: unknown) => string): Readonly<Record<string, unknown>> {
  let left = MAX_CAPABILITIES
  const copy = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return line(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > MAX_DEPTH) return true
    if (Array.isArray(value)) return value.slice(0, MAX_CAPABILITIES).map((item) => copy(item, depth + 1))
    const members: [string, unknown][] = []
    for (const [key, member] of Object.entries(value)) {
      if (key === '__proto__' || line(key) !== key) continue
      if (left === 0) break
      left -= 1
      members.push([key, copy(member, depth + 1)])
    }
    return Object.freeze(Object.fromEntries(members))
  }
  return isJsonObject(claim) ? (copy(claim, 1) as Readonly<Record<string, unknown>>) : Object.freeze({})
}
