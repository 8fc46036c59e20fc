/**
 * Owns the login that waits for a person: begun once, its link good until it is used or old, its answer taken once.
 */
import type { Wanted } from './challenge.ts'
import { clientFor, ownerOf } from './client.ts'
import { withTokens, withoutTokens } from './credentials.ts'
import type { Credentials, Pending } from './credentials.ts'
import { discover, issuerOf, scopeFor } from './discovery.ts'
import type { GrantOptions } from './discovery.ts'
import { isVerdict } from './failures.ts'
import { begin, finish } from './grant.ts'
import type { Bound } from './proof.ts'
import type { Vault } from './vault.ts'

export interface LoginOptions extends Pick<GrantOptions, 'auth' | 'now' | 'learn' | 'failed'> {
  readonly vault: Vault
  readonly grant: () => Promise<GrantOptions>
  /** With the key for bound tokens, where they are wanted. */
  readonly bound: Bound
  readonly redirectUrl: () => Promise<string>
  /** What the server has last said that it wants. */
  readonly wanted: () => Wanted
  /** There are new credentials. */
  readonly adopt: (kept: Credentials) => Promise<void>
}

export interface Login {
  pending(): Pending | undefined
  prepare(): Promise<Pending>
  complete(params: URLSearchParams): Promise<void>
  forget(): void
}

/** A link that was not used is made anew after this time, in milliseconds. */
const PENDING_MS = 10 * 60_000

export function createLogin(options: LoginOptions): Login {
  const { auth, vault, wanted, failed } = options
  let pending: Pending | undefined
  let preparing: Promise<Pending> | undefined
  let completing: { readonly code: string | null; readonly done: Promise<void> } | undefined

  function isOfUse({ at, scope }: Pending, { computeScopeUnion }: GrantOptions['sdk']): boolean {
    const age = options.now() - at
    // A clock that was set back makes it no younger.
    if (age < 0 || age >= PENDING_MS) return false
    const asked = scope?.split(' ') ?? []
    return (computeScopeUnion(wanted().scope) ?? '')
      .split(' ')
      .every((one) => one === '' || asked.includes(one))
  }

  function prepare(): Promise<Pending> {
    preparing ??= prepareNow().finally(() => (preparing = undefined))
    return preparing
  }

  async function prepareNow(): Promise<Pending> {
    const grant = await options.grant()
    // Somebody may be on its page just now.
    if (pending !== undefined && isOfUse(pending, grant.sdk)) return pending
    const redirectUrl = await options.redirectUrl()
    const discovery = await discover(grant, wanted())
    const issuer = issuerOf(discovery)
    const before = await vault.read()
    ownerOf(grant, discovery, before)
    const held = grant.sdk.computeScopeUnion(before.tokens[issuer]?.scope, wanted().scope)
    const scope = scopeFor(grant, discovery, held)
    const kept = before.clients[issuer]
    const client = await clientFor(grant, discovery, { kept, redirectUrl, scope })
    if (client.redirectUrl !== undefined && client !== kept)
      await vault.update(async (now) => ({ ...now, clients: { ...now.clients, [issuer]: client } }))
    pending = await begin(grant, discovery, { client, redirectUrl, scope })
    options.learn(pending.verifier)
    return pending
  }

  async function completeNow(waiting: Pending, params: URLSearchParams): Promise<void> {
    const grant = await options.grant()
    const { discovery, client } = waiting
    const issuer = issuerOf(discovery)
    let failure: Error | undefined
    const kept = await vault.update(async (before) => {
      const own = await options.bound(grant, discovery, before)
      const owner = ownerOf(grant, discovery, before)
      try {
        const tokens = await finish(own.grant, waiting, params)
        return withTokens({ ...own.kept, ...owner }, issuer, {
          discovery,
          tokens,
        })
      } catch (error) {
        if (!isVerdict(error)) throw error
        failure = error
        // The code is spent. A client that is known there no more is registered anew by the next login.
        const isLost = isClientLost(error.code) && before.clients[issuer]?.client_id === client.client_id
        return isLost ? { ...before, ...withoutClient(before, issuer) } : undefined
      }
    })
    if (failure !== undefined) {
      if (pending === waiting) pending = undefined
      throw failure
    }
    if (pending === waiting) pending = undefined
    await options.adopt(kept)
  }

  return {
    pending: () => pending,
    prepare,
    complete(params) {
      const code = params.get('code')
      // A browser that loads the page twice.
      if (code !== null && completing?.code === code) return completing.done
      if (pending === undefined) return Promise.reject(failed('no login is waiting for this answer'))
      const done = completeNow(pending, params)
      const entry = { code, done }
      completing = entry
      const end = (): void => {
        if (completing === entry) completing = undefined
      }
      done.then(end, end)
      return done
    },
    forget() {
      pending = undefined
    },
  }

  function withoutClient(before: Credentials, issuer: string): Pick<Credentials, 'clients'> {
    const { clients } = withoutTokens(before, issuer, auth.clientId === undefined)
    return { clients }
  }
}

/** Codes of a token endpoint that knows our client no more. */
export function isClientLost(code: string): boolean {
  return code === 'invalid_client' || code === 'unauthorized_client'
}
