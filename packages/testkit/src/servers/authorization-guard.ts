/** Owns the guard of a server that takes tokens of the authorization server, and the metadata that it serves. */
import type { ServerResponse } from 'node:http'
import type { HttpRequest, Intercept } from './listener.ts'

export interface GuardOptions {
  /** Scope that each request needs; may change. */
  readonly scope?: () => string | undefined
  /** The resource of the metadata, in place of the server's own address. */
  readonly resource?: string
  /** No resource metadata, as servers of 2025-03-26. */
  readonly bare?: boolean
  /** The metadata of an authorization server at its own origin, as servers of 2025-03-26. */
  readonly ownMetadata?: (origin: string) => object
  /** Where the header says that the metadata lies. */
  readonly metadataUrl?: string
  /** Scopes that the metadata names. */
  readonly scopesSupported?: readonly string[]
  /** Wants a proof of possession with this nonce. */
  readonly nonce?: string
  /** A refusal that shows the token it got. */
  readonly echoes?: boolean
}

/** Refuses what brings no good token, in the words of RFC 6750 and RFC 9728. */
export function guardBy(
  options: GuardOptions,
  { issuer, tokens }: { readonly issuer: string; readonly tokens: ReadonlyMap<string, string> },
): Intercept {
  return (req, res, request) => {
    const origin = `http://${req.headers.host ?? ''}`
    if (request.path.startsWith('/.well-known/')) {
      if (options.ownMetadata !== undefined && request.path === '/.well-known/oauth-authorization-server') {
        json(res, 200, options.ownMetadata(origin))
        return true
      }
      if (options.bare === true || !request.path.startsWith('/.well-known/oauth-protected-resource')) {
        json(res, 404, {})
        return true
      }
      json(res, 200, {
        resource: options.resource ?? `${origin}/mcp`,
        authorization_servers: [issuer],
        ...(options.scopesSupported === undefined ? {} : { scopes_supported: options.scopesSupported }),
      })
      return true
    }
    const [, token = ''] = /^(?:Bearer|DPoP) (.+)$/.exec(request.headers.authorization ?? '') ?? []
    const granted = tokens.get(token)
    const where = options.metadataUrl ?? `${origin}/.well-known/oauth-protected-resource/mcp`
    const metadata = options.bare === true ? [] : [`resource_metadata="${where}"`]
    const wanted = options.scope?.()
    const scope = wanted === undefined ? [] : [`scope="${wanted}"`]
    if (options.nonce !== undefined && granted !== undefined && !hasNonce(request, options.nonce)) {
      const { nonce } = options
      res.writeHead(401, { 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': nonce }).end()
      return true
    }
    if (granted === undefined) {
      const words =
        options.echoes === true ? `no good token: ${request.headers.authorization ?? ''}` : 'no token'
      challenge(res, 401, { parts: [...metadata, ...scope], words, proof: options.nonce !== undefined })
      return true
    }
    if (wanted === undefined || wanted.split(' ').every((one) => granted.split(' ').includes(one)))
      return false
    challenge(res, 403, { parts: ['error="insufficient_scope"', ...metadata, ...scope], words: 'more scope' })
    return true
  }
}

function hasNonce({ headers }: HttpRequest, nonce: string): boolean {
  const [, payload = ''] = String(headers['dpop']).split('.')
  return Buffer.from(payload, 'base64url').toString().includes(`"nonce":"${nonce}"`)
}

function challenge(
  res: ServerResponse,
  status: number,
  say: { readonly parts: readonly string[]; readonly words: string; readonly proof?: boolean },
): void {
  res.writeHead(status, {
    'content-type': 'text/plain',
    'www-authenticate': `${say.proof === true ? 'DPoP' : 'Bearer'} ${say.parts.join(', ')}`,
  })
  res.end(say.words)
}

export function json(res: ServerResponse, status: number, value: object): void {
  res.writeHead(status, { 'content-type': 'application/json' })
  res.end(JSON.stringify(value))
}
