/** Owns how a kept login is told: what is kept where, for what, and until when. Never a token. Pure. */
import type { KeptLogin } from '../bridge-login.ts'
import { cleanLine } from '../text.ts'

const MAX_CHARS = 400

/** A line each. */
export function keptLines({ issuer, scopes, expiresAt, isRenewable }: KeptLogin, place: string): string[] {
  const until = expiresAt === undefined ? 'until the server ends it' : `until ${timeText(expiresAt)}`
  return [
    `tokens of ${cleanLine(issuer, MAX_CHARS)}, kept in ${place}`,
    `scopes: ${scopes.length === 0 ? 'the server named none' : cleanLine(scopes.join(' '), MAX_CHARS)}`,
    isRenewable ? `good ${until}, then renewed without you` : `good ${until}; then log in again`,
    'Running hosts pick it up by themselves, within seconds.',
  ]
}

/** One word for a table: what the row's login is worth at `now`, in epoch milliseconds. */
export function keptWord({ expiresAt, isRenewable }: KeptLogin, now: number): 'logged in' | 'login over' {
  return isRenewable || expiresAt === undefined || expiresAt > now ? 'logged in' : 'login over'
}

function timeText(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
