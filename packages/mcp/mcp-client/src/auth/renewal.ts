/** Owns the getting of new tokens without a person: by the refresh token, or as the client itself. */
import type { Wanted } from './challenge.ts'
import { clientFor, ownerOf } from './client.ts'
import { withTokens, withoutTokens } from './credentials.ts'
import type { Credentials, Tokens } from './credentials.ts'
import { discover, issuerOf, scopeFor } from './discovery.ts'
import type { GrantOptions } from './discovery.ts'
import { isVerdict } from './failures.ts'
import { ownTokens, refresh } from './grant.ts'
import { isClientLost } from './login.ts'
import type { Bound } from './proof.ts'

export interface RenewalOptions {
  readonly grant: GrantOptions
  readonly bound: Bound
  readonly wanted: Wanted
  /** The tokens that are to be replaced. */
  readonly there: Tokens | undefined
  /** The login has ended, and why. */
  readonly onEnd: (why: string) => void
}

/** What is to be kept from now on; `undefined` where only a person helps and nothing changes. */
export async function renewed(
  before: Credentials,
  options: RenewalOptions,
): Promise<Credentials | undefined> {
  const { grant } = options
  if (grant.auth.mode !== 'auto') return asClient(before, options)
  const { there } = options
  const { discovery } = before
  if (there?.refresh === undefined || discovery === undefined) return undefined
  const issuer = issuerOf(discovery)
  const own = await options.bound(grant, discovery, before)
  try {
    const tokens = await refresh(own.grant, discovery, { ...there, refresh: there.refresh })
    return withTokens(own.kept, issuer, { discovery, tokens })
  } catch (error) {
    if (!isVerdict(error)) throw error
    // The refresh token is spent or revoked.
    options.onEnd(error.message)
    return withoutTokens(before, issuer, isClientLost(error.code))
  }
}

async function asClient(before: Credentials, { grant, bound, wanted }: RenewalOptions): Promise<Credentials> {
  const discovery = await discover(grant, wanted)
  const owner = ownerOf(grant, discovery, before)
  const scope = scopeFor(grant, discovery, wanted.scope)
  const client = await clientFor(grant, discovery, { kept: undefined, redirectUrl: undefined, scope })
  const own = await bound(grant, discovery, before)
  const tokens = await ownTokens(own.grant, discovery, { client, scope })
  const kept = { ...own.kept, ...owner }
  return withTokens(kept, issuerOf(discovery), { discovery, tokens })
}
