/** Owns the giving up of tokens at the authorization server (RFC 7009). */
import type { Client, Discovery, Tokens } from './credentials.ts'
import { completeClient } from './discovery.ts'
import type { GrantOptions } from './discovery.ts'
import { signingBy } from './grant.ts'

/**
 * Give tokens up at the issuer that they are of (RFC 7009), the refresh token first: that ends what came of it, too. One
 * line for each.
 */
export async function revoke(
  options: GrantOptions,
  discovery: Discovery,
  tokens: Tokens,
): Promise<readonly string[]> {
  const endpoint = (discovery.metadata as { readonly revocation_endpoint?: unknown } | undefined)
    ?.revocation_endpoint
  if (typeof endpoint !== 'string')
    return ['the authorization server offers no revocation: the tokens stay good there until they end']
  const lines: string[] = []
  const given = { 'refresh token': tokens.refresh, 'access token': tokens.access }
  for (const [what, token] of Object.entries(given)) {
    if (token === undefined) continue
    const hint = what.replace(' ', '_')
    const failure = await giveUp(options, { discovery, endpoint, client: tokens.client, token, hint })
    lines.push(
      failure === undefined
        ? `revoked the ${what}`
        : `could not revoke the ${what} (${failure}): it ends by itself`,
    )
  }
  return lines
}

async function giveUp(
  options: GrantOptions,
  asked: {
    readonly discovery: Discovery
    readonly endpoint: string
    readonly client: Client
    readonly token: string
    readonly hint: string
  },
): Promise<string | undefined> {
  const { sdk, fetch } = options
  const { discovery, endpoint, token, hint } = asked
  try {
    const url = sdk.assertSecureTokenEndpoint(endpoint)
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' })
    const body = new URLSearchParams({ token, token_type_hint: hint })
    const client = completeClient(options, asked.client)
    const signing = signingBy(options, client)
    const methods = discovery.metadata?.token_endpoint_auth_methods_supported ?? []
    const method = sdk.selectClientAuthMethod(client, methods)
    if (signing !== undefined) await signing(headers, body, url, discovery.metadata)
    else if (method === 'client_secret_basic') headers.set('authorization', `Basic ${basicOf(client)}`)
    else body.set('client_id', client.client_id)
    if (signing === undefined && method === 'client_secret_post') body.set('client_secret', secretOf(client))
    const { ok, status } = await fetch(url, { method: 'POST', headers, body })
    return ok ? undefined : `HTTP ${status}`
  } catch {
    // What it says may hold the token.
    return 'not reached'
  }
}

function basicOf(client: Client): string {
  const pair = [client.client_id, secretOf(client)].map(encodeURIComponent).join(':')
  return Buffer.from(pair).toString('base64')
}

/** The SDK chooses a method with a secret for a client that has one. */
function secretOf({ client_secret: secret }: Client): string {
  return String(secret)
}
