/** Owns how a configured target is named to people and to telemetry: without secrets, one line. Pure. */
import { safeLine } from './text.ts'
import type { CallStart, ServerSpec, ServerStatus, Target } from './types.ts'

const MAX_TARGET_CHARS = 300

/** The command line, or the url without query and fragment. */
export function targetOf({ target, redact }: Pick<ServerSpec, 'target' | 'redact'>): string {
  return safeLine(plain(target, redact), redact, MAX_TARGET_CHARS)
}

function plain(target: Target, redact: ServerSpec['redact']): string {
  // Redacted before quoting, which may break up a secret.
  if (target.kind === 'stdio')
    return [target.command, ...target.args].map((word) => quoted(redact(word))).join(' ')
  const { origin, pathname } = new URL(target.url)
  return `${origin}${pathname}`
}

/** As a shell would need it, so that a line can be tried by hand. */
function quoted(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The transport that is tried first. */
export function transportOf(target: Target): ServerStatus['transport'] {
  if (target.kind === 'stdio') return 'stdio'
  return target.flavour === 'sse' ? 'sse' : 'streamable-http'
}

/** Where an HTTP server is. */
export function hostOf(target: Target): Pick<CallStart, 'host'> {
  if (target.kind === 'stdio') return {}
  const { hostname, port, protocol } = new URL(target.url)
  return {
    host: { address: hostname, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) },
  }
}
