/** Owns what is kept of authorizations: the shape of it, and the strict reading of what lies in a store. Pure. */
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthProtectedResourceMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/client'
import { isJsonObject } from '../json.ts'
import type { AuthSpec } from '../types.ts'

/** The client that we are at one issuer. */
export type Client = OAuthClientInformationMixed & { readonly redirectUrl?: string }

export interface Tokens {
  readonly access: string
  readonly refresh?: string
  /** Epoch milliseconds; absent where the server did not say. */
  readonly expiresAt?: number
  /** How long they were good when they came, in milliseconds. */
  readonly lifeMs?: number
  /** They are bound to the proof key. */
  readonly isBound?: boolean
  /** What was granted, or asked for where the answer did not say. */
  readonly scope?: string
  /** Whom they were given to: only that client can renew them. The row's own client is kept without its secret. */
  readonly client: Client
}

/** Where the authorization server is, and what it and the server said of themselves. */
export interface Discovery {
  readonly authorizationServerUrl: string
  readonly metadata?: AuthorizationServerMetadata
  readonly resourceMetadata?: OAuthProtectedResourceMetadata
  /** The server takes tokens only with a proof of possession. */
  readonly wantsProof?: boolean
}

/** A login that waits for a person: what its answer is checked against. */
export interface Pending {
  readonly url: string
  readonly state: string
  readonly verifier: string
  readonly redirectUrl: string
  readonly discovery: Discovery
  readonly client: Client
  readonly scope?: string
  /** Epoch milliseconds. */
  readonly at: number
}

/** The key that tokens are bound to, where the server wants that. */
export interface ProofKey {
  readonly privateJwk: object
  readonly publicJwk: object
  readonly thumbprint: string
}

/** Everything kept for one server. Credentials of another issuer, or of another server, are never used for this one. */
export interface Credentials {
  /** URL of the server that they are for. */
  readonly server?: string
  readonly issuer?: string
  readonly discovery?: Discovery
  readonly clients: Readonly<Record<string, Client>>
  readonly tokens: Readonly<Record<string, Tokens>>
  readonly proofKey?: ProofKey
  /** The issuer that the row's client was used at: its secret goes to no other. */
  readonly owner?: { readonly clientId: string; readonly issuer: string }
}

export const NO_CREDENTIALS: Credentials = Object.freeze({ clients: {}, tokens: {} })

/** Tokens as we keep them, from an answer of a token endpoint. */
export function tokensOf(
  answer: OAuthTokens,
  asked: { readonly scope: string | undefined; readonly client: Client },
  now: number,
): Tokens {
  const { access_token: access, refresh_token: refresh, expires_in: seconds, scope = asked.scope } = answer
  const isBound = answer.token_type.toLowerCase() === 'dpop'
  const isDated = seconds !== undefined && Number.isFinite(seconds) && seconds > 0
  return {
    access,
    client: asked.client,
    ...(refresh === undefined ? {} : { refresh }),
    ...(isDated ? { expiresAt: now + seconds * 1000, lifeMs: seconds * 1000 } : {}),
    ...(scope === undefined ? {} : { scope }),
    ...(isBound ? { isBound } : {}),
  }
}

/** The tokens of the issuer and the client that the row is about. */
export function tokensFor(
  { issuer, tokens }: Credentials,
  auth: Pick<AuthSpec, 'issuer' | 'clientId'>,
): Tokens | undefined {
  if (issuer === undefined || (auth.issuer !== undefined && auth.issuer !== issuer)) return undefined
  const kept = tokens[issuer]
  return auth.clientId === undefined || kept?.client.client_id === auth.clientId ? kept : undefined
}

/** What is kept for this server: a row that was pointed at another one begins anew. */
export function credentialsFor(kept: Credentials, server: string): Credentials {
  return kept.server === server ? kept : { ...NO_CREDENTIALS, server }
}

export function withTokens(
  before: Credentials,
  issuer: string,
  got: { readonly discovery: Discovery; readonly tokens: Tokens },
): Credentials {
  const { discovery, tokens } = got
  return { ...before, issuer, discovery, tokens: { ...before.tokens, [issuer]: tokens } }
}

/** Without the tokens of an issuer and, where it knows our client no more, without that. */
export function withoutTokens(before: Credentials, issuer: string, isClientLost: boolean): Credentials {
  const { [issuer]: _tokens, ...tokens } = before.tokens
  const { [issuer]: _client, ...clients } = before.clients
  return { ...before, tokens, clients: isClientLost ? clients : before.clients }
}

/** Read what lies in the store; `undefined` where it is damaged. */
export function parseCredentials(value: unknown): Credentials | undefined {
  if (!isJsonObject(value)) return undefined
  const { clients, tokens, server, issuer, discovery, proofKey, owner } = value
  if (!isJsonObject(clients) || !isJsonObject(tokens)) return undefined
  const isGood =
    Object.values(clients).every(isClient) &&
    Object.values(tokens).every(isTokens) &&
    isMaybe(server, 'string') &&
    isMaybe(issuer, 'string') &&
    (discovery === undefined || isDiscovery(discovery)) &&
    (proofKey === undefined || isProofKey(proofKey)) &&
    (owner === undefined ||
      (isJsonObject(owner) && typeof owner['clientId'] === 'string' && typeof owner['issuer'] === 'string'))
  return isGood ? (value as unknown as Credentials) : undefined
}

function isClient(value: unknown): boolean {
  return isJsonObject(value) && typeof value['client_id'] === 'string'
}

function isTokens(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    typeof value['access'] === 'string' &&
    isClient(value['client']) &&
    isMaybe(value['refresh'], 'string') &&
    isMaybe(value['scope'], 'string') &&
    isMaybe(value['expiresAt'], 'number') &&
    isMaybe(value['lifeMs'], 'number')
  )
}

function isDiscovery(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['authorizationServerUrl'] !== 'string') return false
  const { metadata, resourceMetadata } = value
  return (
    (metadata === undefined || (isJsonObject(metadata) && typeof metadata['issuer'] === 'string')) &&
    (resourceMetadata === undefined ||
      (isJsonObject(resourceMetadata) && typeof resourceMetadata['resource'] === 'string'))
  )
}

function isProofKey(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    isJsonObject(value['privateJwk']) &&
    isJsonObject(value['publicJwk']) &&
    typeof value['thumbprint'] === 'string'
  )
}

function isMaybe(value: unknown, type: 'string' | 'number'): boolean {
  return value === undefined || typeof value === type
}
