/** Owns the reading of a refusal: what the server said that it wants. Pure. */
import type { Challenge } from '../connection/http-client.ts'
import type { Sdk } from '../sdk.ts'

/** What a refusal of the server said it wants. */
export interface Wanted {
  readonly resourceMetadataUrl?: URL | undefined
  readonly scope?: string | undefined
  /** It asked with the scheme DPoP. */
  readonly proof?: boolean
}

export function readChallenge(
  sdk: Sdk,
  challenge: Challenge,
): Wanted & { readonly error?: string | undefined } {
  const response = responseOf(challenge)
  const proof = /(?:^|,)\s*dpop\s/i.test(response.headers.get('www-authenticate') ?? '')
  return { ...sdk.extractWWWAuthenticateParams(response), proof }
}

/** The refusal as the SDK reads one. */
export function responseOf({ status, headers }: Pick<Challenge, 'status' | 'headers'>): Response {
  const named = ['www-authenticate', 'dpop-nonce'].flatMap((name) => {
    const value = headers[name]
    const text = Array.isArray(value) ? value.join(', ') : value
    return text === undefined ? [] : [[name, text] as [string, string]]
  })
  return new Response(null, { status, headers: named })
}
