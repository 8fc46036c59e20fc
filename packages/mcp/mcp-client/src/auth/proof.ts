/**
 * Owns the key that tokens of a server are bound to, where that server wants proof of possession (RFC 9449): made once,
 * kept beside the tokens, so that they are of use after a restart.
 */
import { webcrypto } from 'node:crypto'
import type { DpopSession } from '@modelcontextprotocol/client'
import type { Sdk } from '../sdk.ts'
import type { Credentials, Discovery, ProofKey } from './credentials.ts'
import type { GrantOptions } from './discovery.ts'

/** A grant with the key for bound tokens, where they are wanted, and what is to be kept then. */
export type Bound = (
  grant: GrantOptions,
  discovery: Discovery,
  before: Credentials,
) => Promise<{ readonly grant: GrantOptions; readonly kept: Credentials }>

export interface Proof {
  /** The session of the tokens at hand, if they are bound. */
  current(): DpopSession | undefined
  /** The tokens that were kept are bound to the key that was kept. */
  load(sdk: Sdk, key: Credentials['proofKey']): Promise<void>
  readonly bound: Bound
}

const ALGORITHM = 'ES256'
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' }

export function createProof(): Proof {
  let current: DpopSession | undefined

  function use(session: DpopSession): DpopSession {
    // The nonces of the session at hand are worth keeping.
    current = current?.thumbprint === session.thumbprint ? current : session
    return current
  }

  return {
    current: () => current,
    async load(sdk, key) {
      if (key !== undefined) use((await openProof(sdk, key)).session)
    },
    async bound(grant, discovery, before) {
      if (discovery.wantsProof !== true) return { grant, kept: before }
      const { session, key } = await openProof(grant.sdk, before.proofKey)
      return { grant: { ...grant, dpop: use(session) }, kept: { ...before, proofKey: key } }
    },
  }
}

/** The session of the kept key, or of a new one, with what is to be kept then. */
async function openProof(
  sdk: Sdk,
  kept: Credentials['proofKey'],
): Promise<{ readonly session: DpopSession; readonly key: ProofKey }> {
  if (kept !== undefined) {
    const { privateJwk, publicJwk, thumbprint } = kept
    const [privateKey, publicKey] = await Promise.all([
      webcrypto.subtle.importKey('jwk', privateJwk, CURVE, false, ['sign']),
      webcrypto.subtle.importKey('jwk', publicJwk, CURVE, true, ['verify']),
    ])
    const keyPair = { privateKey, publicKey, publicJwk, thumbprint, alg: ALGORITHM } as const
    return { session: await sdk.DpopSession.create({ keyPair }), key: kept }
  }
  const keyPair = await sdk.generateDpopKeyPair({ alg: ALGORITHM, extractable: true })
  const privateJwk = await webcrypto.subtle.exportKey('jwk', keyPair.privateKey)
  const { publicJwk, thumbprint } = keyPair
  return { session: await sdk.DpopSession.create({ keyPair }), key: { privateJwk, publicJwk, thumbprint } }
}
