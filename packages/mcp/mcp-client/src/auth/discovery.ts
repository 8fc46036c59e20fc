/**
 * Owns the search for the authorization server of a server, by what that server names or serves, and the checks of what
 * is found: the issuer, the resource, PKCE. Which scope is asked for there.
 */
import type { DpopSession, FetchLike } from '@modelcontextprotocol/client'
import type { Sdk } from '../sdk.ts'
import type { AuthSpec } from '../types.ts'
import type { Wanted } from './challenge.ts'
import type { Client, Discovery } from './credentials.ts'
import type { Failures } from './failures.ts'

/** What each step of an authorization needs. */
export interface GrantOptions extends Pick<Failures, 'failed'> {
  readonly sdk: Sdk
  readonly serverName: string
  /** The server that is authorized for. */
  readonly serverUrl: URL
  readonly auth: AuthSpec
  /** Follows no redirect to another origin, and asks no private address that the row did not name. */
  readonly fetch: FetchLike
  /** Epoch milliseconds. */
  readonly now: () => number
  /** A new secret, to be cut out of whatever leaves. */
  readonly learn: (secret: string) => void
  /** Binds the tokens to its key. */
  readonly dpop?: DpopSession | undefined
  /** Prints what proves who we are, for the mode jwt-bearer. */
  readonly assertion: () => Promise<string>
}

/** The issuer that credentials are kept under. */
export function issuerOf({ metadata, authorizationServerUrl }: Discovery): string {
  return metadata?.issuer ?? authorizationServerUrl
}

/** Find the authorization server: by the metadata that the server names or serves, else at the server's own origin. */
export async function discover(options: GrantOptions, wanted: Wanted): Promise<Discovery> {
  const { sdk, serverUrl, auth, failed } = options
  const { resourceMetadataUrl } = wanted
  // RFC 9728: the metadata lies beside what it describes. Another origin would speak for a server that it is not.
  if (resourceMetadataUrl !== undefined && resourceMetadataUrl.origin !== serverUrl.origin)
    throw failed('it names metadata of another origin, which is not asked')
  const { fetch, check } = watched(options.fetch)
  const found = await sdk.discoverOAuthServerInfo(serverUrl, {
    fetchFn: fetch,
    // Judged below, by the rule of the revision that the server is of.
    skipIssuerMetadataValidation: true,
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  })
  check()
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found
  if (metadata !== undefined && !isExpectedIssuer(metadata.issuer, found))
    throw failed('the metadata of its authorization server names another issuer')
  if (resourceMetadata !== undefined) {
    const allowed = sdk.checkResourceAllowed({
      requestedResource: sdk.resourceUrlFromServerUrl(serverUrl),
      configuredResource: resourceMetadata.resource,
    })
    if (!allowed) throw failed('its metadata describes another resource than the url of the row')
  }
  const methods = metadata?.code_challenge_methods_supported
  if (auth.mode === 'auto' && metadata !== undefined && methods?.includes('S256') !== true)
    throw failed('its authorization server does not announce PKCE with S256')
  const discovery = {
    authorizationServerUrl: String(authorizationServerUrl),
    ...(metadata === undefined ? {} : { metadata }),
    ...(resourceMetadata === undefined ? {} : { resourceMetadata }),
    ...(wanted.proof === true || resourceMetadata?.['dpop_bound_access_tokens_required'] === true
      ? { wantsProof: true }
      : {}),
  }
  if (auth.issuer !== undefined && auth.issuer !== issuerOf(discovery))
    throw failed('its authorization server is not the one that auth.issuer names')
  return discovery
}

/**
 * The SDK takes metadata that cannot be fetched for metadata that is not there, and goes on without the checks that
 * need it. An outage is no such answer.
 */
function watched(fetch: FetchLike): { readonly fetch: FetchLike; check(): void } {
  let failure: { readonly error: unknown } | undefined
  return {
    async fetch(url, init) {
      try {
        return await fetch(url, init)
      } catch (error) {
        failure ??= { error }
        throw error
      }
    },
    check() {
      if (failure !== undefined) throw failure.error
    },
  }
}

/**
 * RFC 8414: letter by letter, but for a slash at the end. A server of 2025-03-26 has no metadata of its own; its
 * authorization server lives at its origin, and may have a path there.
 */
function isExpectedIssuer(
  issuer: string,
  { authorizationServerUrl, resourceMetadata }: { authorizationServerUrl: string; resourceMetadata?: object },
): boolean {
  const same = (a: string, b: string): boolean => a.replace(/\/$/, '') === b.replace(/\/$/, '')
  if (same(issuer, authorizationServerUrl)) return true
  return (
    resourceMetadata === undefined && URL.parse(issuer)?.origin === new URL(authorizationServerUrl).origin
  )
}

/** The scope to ask for: what was refused, else the row's, else what the server says it knows; with a refresh token. */
export function scopeFor(
  { sdk, auth }: GrantOptions,
  discovery: Discovery,
  wanted?: string,
): string | undefined {
  const { metadata, resourceMetadata } = discovery
  const own = auth.scopes.length === 0 ? undefined : auth.scopes.join(' ')
  const scope =
    wanted === undefined
      ? (own ?? resourceMetadata?.scopes_supported?.join(' '))
      : sdk.computeScopeUnion(own, wanted)
  const offers = metadata?.scopes_supported?.includes('offline_access') === true
  if (!offers || scope === undefined || scope === '' || auth.mode !== 'auto') return scope
  return sdk.computeScopeUnion(scope, 'offline_access')
}

/** The resource as its metadata spells it, since some servers compare letter by letter; else the url of the row. */
export function resourceOf({ sdk, serverUrl }: GrantOptions, { resourceMetadata }: Discovery): string {
  return resourceMetadata?.resource ?? sdk.resourceUrlFromServerUrl(serverUrl).href
}

/** The client with its secret, where the row has it. */
export function completeClient({ auth }: GrantOptions, client: Client): Client {
  if (client.client_id !== auth.clientId || auth.clientSecret === undefined) return client
  return { client_id: auth.clientId, client_secret: auth.clientSecret }
}
