/**
 * Owns a real OAuth 2.1 authorization server on 127.0.0.1: metadata, registration, a login page, tokens with rotation,
 * revocation. Every refusal is a switch; each can be put in place at any time.
 */
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { guardBy, json } from './authorization-guard.ts'
import type { GuardOptions } from './authorization-guard.ts'
import { openListener } from './listener.ts'
import type { HttpRequest, Intercept } from './listener.ts'

/** What this server does wrong or otherwise. Changes count from the next request on. */
export interface AuthorizationSwitches {
  /** Life of an access token in seconds; absent: not said. */
  expiresIn?: number
  /** Give a new refresh token each time and refuse the old one. Default: true. */
  rotates: boolean
  /** No refresh tokens at all. */
  withoutRefresh: boolean
  /** Offers registration. */
  registers: boolean
  /** Takes client metadata documents. */
  takesDocuments: boolean
  /** Announces `iss` in its answers. */
  announcesIssuer: boolean
  /** The `iss` of its answers, in place of its own; null for none. */
  answersAs: string | null | undefined
  /** The issuer of its metadata, in place of its own. */
  describesAs: string | undefined
  /** Refuse at the token endpoint with this error. */
  refuse: string | undefined
  /** Answer the token endpoint with this status and no sense. */
  breaks: number | undefined
  /** The person says no. */
  denies: boolean
  /** Show a page with a button in place of sending the browser back at once. */
  showsPage: boolean
  /** Does not announce PKCE. */
  withoutPkce: boolean
  /** In place of the address of its login page. */
  authorizationEndpoint: string | undefined
  /** Registered clients get a secret, good until then (epoch seconds; 0: for good). */
  secretUntil: number | undefined
  scopesSupported: readonly string[] | undefined
  /** What the revocation endpoint does; `none`: it is not announced. */
  revocation: 'works' | 'fails' | 'none'
  /** Tokens are bound to the key of a proof. */
  binds: boolean
  /** Path of the issuer. */
  issuerPath: string
  /** Holds back answers of the token endpoint until it settles. */
  hold: Promise<void> | undefined
}

export interface AuthorizationServer {
  readonly issuer: string
  readonly switches: AuthorizationSwitches
  readonly requests: readonly HttpRequest[]
  /** Requests to the token endpoint by grant type. */
  count(grant: string): number
  /** Access tokens that are good now, with their scopes. */
  readonly tokens: Map<string, string>
  /** No access token is good any more. */
  expire(): void
  /** No refresh token is good any more. */
  revokeRefresh(): void
  /** Tokens that the client gave up. */
  readonly revoked: readonly string[]
  /** A client that is registered by hand. */
  addClient(client: { readonly id: string; readonly secret?: string; readonly publicKey?: string }): void
  /** Guards an MCP server: give it as `intercept`. Serves the metadata of the resource, too. */
  guard(options?: GuardOptions): Intercept
  close(): Promise<void>
}

interface Grant {
  readonly clientId: string
  readonly scope: string
  readonly challenge: string
  readonly redirectUri: string
}

interface Client {
  readonly secret?: string | undefined
  readonly publicKey?: string | undefined
  readonly redirectUris: readonly string[]
}

export async function startAuthorizationServer(
  given: Partial<AuthorizationSwitches> = {},
): Promise<AuthorizationServer> {
  const switches: AuthorizationSwitches = {
    rotates: true,
    withoutRefresh: false,
    registers: true,
    takesDocuments: false,
    announcesIssuer: true,
    answersAs: undefined,
    describesAs: undefined,
    refuse: undefined,
    breaks: undefined,
    denies: false,
    showsPage: false,
    withoutPkce: false,
    authorizationEndpoint: undefined,
    secretUntil: undefined,
    scopesSupported: undefined,
    revocation: 'works',
    binds: false,
    issuerPath: '',
    hold: undefined,
    ...given,
  }
  const clients = new Map<string, Client>()
  const codes = new Map<string, Grant>()
  const refreshes = new Map<string, Grant>()
  const tokens = new Map<string, string>()
  const revoked: string[] = []
  const grants: string[] = []
  const listener = await openListener(serve)
  const issuer = listener.origin

  async function serve(_req: unknown, res: ServerResponse, request: HttpRequest): Promise<void> {
    const url = new URL(request.path, issuer)
    switch (url.pathname) {
      case '/.well-known/oauth-authorization-server':
        return json(res, 200, metadata())
      case '/register':
        return register(res, request)
      case '/authorize':
        return authorize(res, url)
      case '/granted':
        return back(res, url, !switches.denies)
      case '/token':
        await switches.hold
        return token(res, request)
      case '/revoke':
        revoked.push(new URLSearchParams(request.body).get('token') ?? '')
        return json(res, switches.revocation === 'works' ? 200 : 503, {})
      default:
        return json(res, 404, { error: 'not_found' })
    }
  }

  function metadata(): object {
    return {
      issuer: switches.describesAs ?? issuer + switches.issuerPath,
      authorization_endpoint: switches.authorizationEndpoint ?? `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      ...(switches.revocation === 'none' ? {} : { revocation_endpoint: `${issuer}/revoke` }),
      ...(switches.scopesSupported === undefined ? {} : { scopes_supported: switches.scopesSupported }),
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'private_key_jwt'],
      ...(switches.withoutPkce ? {} : { code_challenge_methods_supported: ['S256'] }),
      ...(switches.registers ? { registration_endpoint: `${issuer}/register` } : {}),
      ...(switches.takesDocuments ? { client_id_metadata_document_supported: true } : {}),
      ...(switches.announcesIssuer ? { authorization_response_iss_parameter_supported: true } : {}),
    }
  }

  function register(res: ServerResponse, { body }: HttpRequest): void {
    if (!switches.registers) return json(res, 403, { error: 'access_denied' })
    const wanted = JSON.parse(body) as { redirect_uris: string[] }
    const id = `client-${randomBytes(8).toString('hex')}`
    clients.set(id, { redirectUris: wanted.redirect_uris })
    const { secretUntil: until } = switches
    const secret =
      until === undefined ? {} : { client_secret: `secret-of-${id}`, client_secret_expires_at: until }
    json(res, 201, { ...wanted, client_id: id, ...secret })
  }

  function authorize(res: ServerResponse, url: URL): void {
    const clientId = url.searchParams.get('client_id') ?? ''
    const redirectUri = url.searchParams.get('redirect_uri') ?? ''
    const isKnown =
      switches.takesDocuments || clients.get(clientId)?.redirectUris.includes(redirectUri) === true
    if (!isKnown) return json(res, 400, { error: 'invalid_client' })
    if (!switches.showsPage) return back(res, url, !switches.denies)
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    res.end(
      `<!doctype html><title>Log in</title><a id="grant" href="/granted${url.search.replaceAll('&', '&amp;')}">Grant</a>`,
    )
  }

  function back(res: ServerResponse, url: URL, isGranted: boolean): void {
    const asked = url.searchParams
    const target = new URL(asked.get('redirect_uri') ?? '')
    target.searchParams.set('state', asked.get('state') ?? '')
    const iss = switches.answersAs === undefined ? issuer + switches.issuerPath : switches.answersAs
    if (iss !== null) target.searchParams.set('iss', iss)
    if (isGranted) {
      const code = randomBytes(12).toString('hex')
      codes.set(code, {
        clientId: asked.get('client_id') ?? '',
        scope: asked.get('scope') ?? '',
        challenge: asked.get('code_challenge') ?? '',
        redirectUri: target.origin + target.pathname,
      })
      target.searchParams.set('code', code)
    } else target.searchParams.set('error', 'access_denied')
    res.writeHead(302, { location: target.href })
    res.end()
  }

  function token(res: ServerResponse, request: HttpRequest): void {
    const params = new URLSearchParams(request.body)
    const type = params.get('grant_type') ?? ''
    grants.push(type)
    if (switches.breaks !== undefined) {
      res.writeHead(switches.breaks, { 'content-type': 'text/html' })
      return void res.end('<h1>Gateway</h1>')
    }
    if (switches.refuse !== undefined) return json(res, 400, { error: switches.refuse })
    if (type === 'authorization_code') {
      const grant = codes.get(params.get('code') ?? '')
      codes.delete(params.get('code') ?? '')
      const proof = createHash('sha256')
        .update(params.get('code_verifier') ?? '')
        .digest('base64url')
      if (grant === undefined || proof !== grant.challenge) return json(res, 400, { error: 'invalid_grant' })
      return give(res, grant)
    }
    if (type === 'refresh_token') {
      const spent = params.get('refresh_token') ?? ''
      const grant = refreshes.get(spent)
      if (grant === undefined) return json(res, 400, { error: 'invalid_grant' })
      if (switches.rotates) refreshes.delete(spent)
      return give(res, grant)
    }
    if (type === 'client_credentials') {
      const clientId = authenticated(request, params)
      if (clientId === undefined) return json(res, 401, { error: 'invalid_client' })
      return give(res, { clientId, scope: params.get('scope') ?? '', challenge: '', redirectUri: '' }, true)
    }
    // An ID token for an assertion, and an assertion for tokens: whatever proves somebody here says so.
    if (params.get('subject_token')?.startsWith('proof-') === true)
      return json(res, 200, {
        access_token: `proof-granted-${randomBytes(6).toString('hex')}`,
        issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
        token_type: 'N_A',
      })
    if (params.get('assertion')?.startsWith('proof-') === true)
      return give(
        res,
        { clientId: '', scope: params.get('scope') ?? '', challenge: '', redirectUri: '' },
        true,
      )
    json(res, 400, { error: 'unsupported_grant_type' })
  }

  function give(res: ServerResponse, grant: Grant, isOwn = false): void {
    const access = `access-${randomBytes(12).toString('hex')}`
    tokens.set(access, grant.scope)
    const hasRefresh = !isOwn && !switches.withoutRefresh
    const refresh = `refresh-${randomBytes(12).toString('hex')}`
    if (hasRefresh) refreshes.set(refresh, grant)
    json(res, 200, {
      access_token: access,
      token_type: switches.binds ? 'DPoP' : 'Bearer',
      ...(switches.expiresIn === undefined ? {} : { expires_in: switches.expiresIn }),
      ...(hasRefresh ? { refresh_token: refresh } : {}),
      ...(grant.scope === '' ? {} : { scope: grant.scope }),
    })
  }

  /** By secret or by key; the id of the client. */
  function authenticated({ headers }: HttpRequest, params: URLSearchParams): string | undefined {
    const assertion = params.get('client_assertion')
    if (assertion !== null) {
      const [head = '', payload = '', signature = ''] = assertion.split('.')
      const { iss } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iss: string }
      const publicKey = clients.get(iss)?.publicKey
      if (publicKey === undefined) return undefined
      const key = { key: createPublicKey(publicKey), dsaEncoding: 'ieee-p1363' as const }
      const isGood = verify(
        'sha256',
        Buffer.from(`${head}.${payload}`),
        key,
        Buffer.from(signature, 'base64url'),
      )
      return isGood ? iss : undefined
    }
    const [, basic = ''] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? []
    const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent)
    return secret !== '' && clients.get(id)?.secret === secret ? id : undefined
  }

  return {
    issuer,
    switches,
    requests: listener.requests,
    count: (grant) => grants.filter((type) => type === grant).length,
    tokens,
    expire: () => tokens.clear(),
    revokeRefresh: () => refreshes.clear(),
    revoked,
    addClient: ({ id, secret, publicKey }) => void clients.set(id, { secret, publicKey, redirectUris: [] }),
    guard: (options = {}) => guardBy(options, { issuer, tokens }),
    close: () => listener.close(),
  }
}
