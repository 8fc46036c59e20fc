/** Owns how the target of a row is shown: one line, without its secrets. Pure. */
import { safeLine } from '../text.ts'
import type { ServerSpec } from '../types.ts'

const MAX_TARGET_CHARS = 200

/** The word for the transport in tables. */
export function transportOf({ target }: ServerSpec): string {
  if (target.kind === 'stdio') return 'stdio'
  return target.flavour === 'auto' ? 'http' : target.flavour
}

/** Command with arguments, or URL; redacted, clean and cut. */
export function targetOf({ target, redact }: ServerSpec, maxChars = MAX_TARGET_CHARS): string {
  const text =
    target.kind === 'stdio'
      ? [target.command, ...target.args.map((arg) => quoted(arg))].join(' ')
      : target.url
  return safeLine(text, redact, maxChars)
}

function quoted(arg: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(arg) ? arg : JSON.stringify(arg)
}
