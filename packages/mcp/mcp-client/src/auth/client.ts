/** Owns which client we are at an issuer: of the row, by our metadata document, kept, or registered now; in that order. */
import type { OAuthClientMetadata } from '@modelcontextprotocol/client'
import { McpError } from '../errors.ts'
import type { Client, Credentials, Discovery } from './credentials.ts'
import { issuerOf } from './discovery.ts'
import type { GrantOptions } from './discovery.ts'

export const CLIENT_NAME = 'DeepSeek Harness'

/** Never with the secret of the row: that one is not kept. */
export async function clientFor(
  options: GrantOptions,
  discovery: Discovery,
  asked: {
    readonly kept: Client | undefined
    /** Where logins come back to; without it no client can be registered. */
    readonly redirectUrl: string | undefined
    readonly scope: string | undefined
  },
): Promise<Client> {
  const { auth, sdk, fetch } = options
  if (auth.clientId !== undefined) return { client_id: auth.clientId }
  const { metadata, authorizationServerUrl } = discovery
  if (auth.clientMetadataUrl !== undefined && metadata?.client_id_metadata_document_supported === true)
    return { client_id: auth.clientMetadataUrl }
  const { kept, redirectUrl } = asked
  const isUsable = kept?.redirectUrl !== undefined && kept.redirectUrl === redirectUrl
  if (isUsable && !isExpired(kept, options.now())) return kept
  if (redirectUrl === undefined || (metadata !== undefined && metadata.registration_endpoint === undefined))
    throw new McpError(
      'authorization failed: its authorization server takes registered clients only: register one there and write ' +
        'auth.clientId (and auth.clientSecret) into the row',
      { code: 'MCP_CLIENT_REGISTRATION_REQUIRED', server: options.serverName, stage: 'auth' },
    )
  const registered = await sdk.registerClient(authorizationServerUrl, {
    clientMetadata: registration(redirectUrl),
    fetchFn: fetch,
    ...(metadata === undefined ? {} : { metadata }),
    ...(asked.scope === undefined ? {} : { scope: asked.scope }),
  })
  if (registered.client_secret !== undefined) options.learn(registered.client_secret)
  return { ...registered, redirectUrl }
}

/**
 * The secret of the row belongs to one issuer: that of `auth.issuer`, else the first it was used at. A server that is
 * taken over could name its own, and be sent the secret. Gives what is to be remembered.
 */
export function ownerOf(
  { auth, failed }: GrantOptions,
  discovery: Discovery,
  before: Credentials,
): Pick<Credentials, 'owner'> {
  const { clientId } = auth
  if (clientId === undefined) return {}
  const issuer = issuerOf(discovery)
  const { owner } = before
  const isMoved = owner !== undefined && owner.clientId === clientId && owner.issuer !== issuer
  if (isMoved && auth.issuer === undefined && auth.clientSecret !== undefined)
    throw failed(
      'it names another authorization server than the one that auth.clientSecret was used at so far: if that is ' +
        'right, write auth.issuer into the row',
    )
  return { owner: { clientId, issuer } }
}

/** Our words to a registration endpoint: a program on a person's machine. */
function registration(redirectUrl: string): OAuthClientMetadata {
  return {
    client_name: CLIENT_NAME,
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  }
}

function isExpired(client: Client, now: number): boolean {
  const at = (client as { readonly client_secret_expires_at?: number }).client_secret_expires_at
  return at !== undefined && at !== 0 && at * 1000 <= now
}
