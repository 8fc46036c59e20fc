/**
 * Owns the requests of one authorization: tokens for a code, a refresh token or the client itself.
 * Each is one function over the SDK's own steps; what is kept between them is the vault's. None waits for a person.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { AddClientAuthentication, DpopSession } from '@modelcontextprotocol/client'
import { CLIENT_NAME } from './client.ts'
import { tokensOf } from './credentials.ts'
import type { Client, Discovery, Pending, Tokens } from './credentials.ts'
import { isLoopback } from './loopback.ts'
import { completeClient, issuerOf, resourceOf } from './discovery.ts'
import type { GrantOptions } from './discovery.ts'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** RFC 6749: what the code of an error is made of. */
const ERROR_CODE = /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,64}$/

/** Begin a login: the link for a person, and what its answer is checked against. */
export async function begin(
  options: GrantOptions,
  discovery: Discovery,
  asked: { readonly client: Client; readonly redirectUrl: string; readonly scope: string | undefined },
): Promise<Pending> {
  const { sdk, now, failed } = options
  const { client, redirectUrl, scope } = asked
  const state = randomBytes(24).toString('base64url')
  const started = await sdk.startAuthorization(discovery.authorizationServerUrl, {
    clientInformation: client,
    redirectUrl,
    state,
    resource: resourceOf(options, discovery),
    ...(discovery.metadata === undefined ? {} : { metadata: discovery.metadata }),
    ...(scope === undefined ? {} : { scope }),
  })
  const { authorizationUrl: url, codeVerifier: verifier } = started
  // Given to a browser later on: nothing but a web page (CVE-2025-6514).
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    throw failed('its authorization page is not https')
  return {
    url: url.href,
    state,
    verifier,
    redirectUrl,
    discovery,
    client,
    at: now(),
    ...(scope === undefined ? {} : { scope }),
  }
}

/** Take the answer of the login page. What an answer of a foreign issuer or state says is not even shown. */
export async function finish(
  options: GrantOptions,
  pending: Pending,
  params: URLSearchParams,
): Promise<Tokens> {
  const { sdk, fetch, now, failed, learn } = options
  const { discovery, client, state, verifier, redirectUrl, scope } = pending
  if (!isSame(params.get('state') ?? '', state))
    throw failed('the answer of the login page belongs to another login')
  sdk.validateAuthorizationResponseIssuer({
    iss: params.get('iss') ?? undefined,
    expectedIssuer: discovery.metadata?.issuer,
    issParameterSupported: discovery.metadata?.['authorization_response_iss_parameter_supported'] === true,
  })
  const code = params.get('code')
  if (code === null) {
    const error = params.get('error') ?? ''
    throw failed(`the login was not granted (${ERROR_CODE.test(error) ? error : 'no code'})`)
  }
  learn(code)
  const tokens = await sdk.exchangeAuthorization(discovery.authorizationServerUrl, {
    clientInformation: completeClient(options, client),
    authorizationCode: code,
    codeVerifier: verifier,
    redirectUri: redirectUrl,
    fetchFn: fetch,
    ...proofOf(options),
    resource: resourceOf(options, discovery),
    ...(params.get('iss') === null ? {} : { iss: params.get('iss') as string }),
    ...(discovery.metadata === undefined ? {} : { metadata: discovery.metadata }),
  })
  return tokensOf(tokens, { scope, client }, now())
}

/** New tokens for a refresh token. */
export async function refresh(
  options: GrantOptions,
  discovery: Discovery,
  { client, scope, refresh: refreshToken }: Tokens & { readonly refresh: string },
): Promise<Tokens> {
  const { sdk, fetch, now } = options
  const answer = await sdk.refreshAuthorization(discovery.authorizationServerUrl, {
    clientInformation: completeClient(options, client),
    refreshToken,
    fetchFn: fetch,
    ...proofOf(options),
    resource: resourceOf(options, discovery),
    ...(discovery.metadata === undefined ? {} : { metadata: discovery.metadata }),
  })
  return tokensOf(answer, { scope, client }, now())
}

/** Tokens for the client itself, by its secret or its key: no person needed. */
export async function ownTokens(
  options: GrantOptions,
  discovery: Discovery,
  asked: { readonly client: Client; readonly scope: string | undefined },
): Promise<Tokens> {
  const { sdk, auth, fetch, now } = options
  const { client, scope } = asked
  const signing = signingBy(options, client)
  const provider = {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [], client_name: CLIENT_NAME },
    clientInformation: () => completeClient(options, client),
    /* v8 ignore start -- the type of the SDK wants them; this grant calls none */
    tokens: () => undefined,
    saveTokens: () => undefined,
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
    /* v8 ignore stop */
    prepareTokenRequest: async () =>
      new URLSearchParams({
        ...(auth.mode === 'jwt-bearer'
          ? { grant_type: JWT_BEARER, assertion: await assertionFor(options, discovery, scope) }
          : { grant_type: 'client_credentials' }),
        ...(scope === undefined ? {} : { scope }),
      }),
    dpop: () => options.dpop,
    ...(signing === undefined ? {} : { addClientAuthentication: signing }),
  }
  const answer = await sdk.fetchToken(provider, discovery.authorizationServerUrl, {
    fetchFn: fetch,
    resource: new URL(resourceOf(options, discovery)),
    ...(discovery.metadata === undefined ? {} : { metadata: discovery.metadata }),
  })
  return tokensOf(answer, { scope, client }, now())
}

/** What proves who we are: as the command prints it, or exchanged for a grant at the identity provider of a company. */
async function assertionFor(
  options: GrantOptions,
  discovery: Discovery,
  scope: string | undefined,
): Promise<string> {
  const { sdk, auth, fetch } = options
  const printed = (await options.assertion()).trim()
  const { idp } = auth
  if (idp === undefined) return printed
  const granted = await sdk.requestJwtAuthorizationGrant({
    tokenEndpoint: idp.tokenEndpoint,
    audience: issuerOf(discovery),
    resource: resourceOf(options, discovery),
    idToken: printed,
    clientId: idp.clientId,
    fetchFn: fetch,
    ...(idp.clientSecret === undefined ? {} : { clientSecret: idp.clientSecret }),
    ...(scope === undefined ? {} : { scope }),
  })
  options.learn(granted.jwtAuthGrant)
  return granted.jwtAuthGrant
}

/** How the client proves itself by the key of the row; `undefined` where the row has none. */
export function signingBy({ sdk, auth }: GrantOptions, client: Client): AddClientAuthentication | undefined {
  if (auth.privateKey === undefined || client.client_id !== auth.clientId) return undefined
  return sdk.createPrivateKeyJwtAuth({
    issuer: client.client_id,
    subject: client.client_id,
    privateKey: auth.privateKey,
    alg: auth.algorithm,
  })
}

function proofOf({ dpop }: GrantOptions): { dpop?: DpopSession } {
  return dpop === undefined ? {} : { dpop }
}

/** Takes as long wherever they differ. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
