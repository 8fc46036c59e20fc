/**
 * Owns the two places that a login may be in: the host's own store of credentials and the file of this package. A host
 * with a store and a `dsh-mcp login` that knows nothing of it find each other's logins.
 */
import { createHostSafe } from './auth/host-safe.ts'
import type { CredentialService } from './auth/host-safe.ts'
import { fileSafe } from './auth/vault.ts'
import type { Safe } from './auth/vault.ts'
import { loginNameOf } from './bridge-login.ts'
import type { Clock } from './clock.ts'
import type { ServerSpec } from './types.ts'

export type { CredentialService } from './auth/host-safe.ts'
export type { Safe } from './auth/vault.ts'

export interface SharedSafeOptions {
  /** Folder of this package's files. */
  readonly folder: string
  readonly clock: Clock
  /** The host's own store as it is now; a host may mount or drop it at any time. */
  readonly service: () => CredentialService | undefined
  /** Whether a new login goes there. One that is in the store already stays in it. */
  readonly prefersService: boolean
  readonly note: (text: string) => void
}

/** What the store has counts; what is saved goes to one of the two, and leaves the other. */
export function sharedSafe(spec: ServerSpec, options: SharedSafeOptions): Safe {
  const { folder, clock, note } = options
  const name = loginNameOf(spec)
  const file = fileSafe({ folder, name, clock, note })
  const store = (): Safe | undefined => {
    const service = options.service()
    return service === undefined ? undefined : createHostSafe({ service, name, note })
  }
  return {
    load: async (isFresh) => (await store()?.load(isFresh)) ?? file.load(isFresh),
    async save(credentials) {
      const own = store()
      const isThere = (await own?.load(false)) !== undefined
      if (own === undefined || (!isThere && !options.prefersService)) return file.save(credentials)
      await own.save(credentials)
      // What a person did at the command line is the host's from now on.
      if ((await file.load(true)) !== undefined) await file.save(undefined)
    },
  }
}
