/**
 * Owns the keeping of credentials in the host's own service for them, so that they lie where the operator keeps the
 * others: one reference a server, its value one JSON text.
 */
import { createHash } from 'node:crypto'
import { parseCredentials } from './credentials.ts'
import type { Safe } from './vault.ts'

/** What is used of `ctx.credentials`. */
export interface CredentialService {
  resolve(ref: string): Promise<{ readonly value: string } | undefined>
  set(ref: string, value: string): Promise<void>
  unset(ref: string): Promise<void>
}

export interface HostSafeOptions {
  readonly service: CredentialService
  /** Of the server's credentials; any text. */
  readonly name: string
  readonly note: (text: string) => void
}

export function createHostSafe({ service, name, note }: HostSafeOptions): Safe {
  const ref = credentialRefOf(name)
  return {
    async load(isFresh) {
      // The host's provider answers from memory and reads its file anew before a write: this one changes nothing. Else
      // a refresh token that another host has spent a moment ago would be spent again.
      if (isFresh) await service.unset(`${ref}_NONE`)
      const found = await service.resolve(ref)
      if (found === undefined) return undefined
      const credentials = parseCredentials(jsonOf(found.value))
      if (credentials === undefined) note(`the kept login ${ref} is damaged and counts as none: log in again`)
      return credentials
    },
    save: (credentials) =>
      credentials === undefined ? service.unset(ref) : service.set(ref, JSON.stringify(credentials)),
  }
}

/** A reference by the rule of the service: letters, digits and `_`. The hash keeps `a-b` and `a_b` apart. */
export function credentialRefOf(name: string): string {
  const word = name.replaceAll(/[^A-Za-z0-9]+/g, '_').slice(0, 60)
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `MCP_LOGIN_${word}_${hash}`.toUpperCase()
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // somebody else's text
  }
}
