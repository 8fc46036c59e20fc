/** Owns the tests of the further ways to tokens: proofs, keys, assertions, secrets of registered clients, old servers. */
import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAuthorization } from '../../src/auth/authorization.ts'
import type { Authorization } from '../../src/auth/authorization.ts'
import type { Credentials } from '../../src/auth/credentials.ts'
import { resolveConfig } from '../../src/config.ts'
import type { Clock } from '../../src/clock.ts'
import { FakeClock } from '../unit/fake-clock.ts'
import { follow, openAuthScene, visit } from './auth-scene.ts'
import type { AuthScene } from './auth-scene.ts'

let scene: AuthScene
const opened: Authorization[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
  await scene.close()
})

const bodies = (path: string): URLSearchParams[] =>
  scene.auth.requests.filter((one) => one.path === path).map(({ body }) => new URLSearchParams(body))

const print = (text: string): string[] => [process.execPath, '-e', `console.log(${JSON.stringify(text)})`]

interface Direct {
  readonly authorization: Authorization
  readonly notes: string[]
  readonly authorized: () => number
}

/** The authorization of a row without a bridge, on a clock of the test. */
function direct(config: object = {}, more: { clock?: Clock; kept?: Credentials } = {}): Direct {
  const { spec } = resolveConfig({ serverName: 'locked', url: scene.server.url, ...config })
  const { target } = spec
  if (target.kind !== 'http' || target.auth === undefined) throw new Error('not a row with a url')
  const notes: string[] = []
  let authorized = 0
  const authorization = createAuthorization({
    spec,
    target: { ...target, auth: target.auth },
    folder: scene.folder,
    name: 'direct',
    clock: more.clock ?? new FakeClock(),
    note: (level, text) => void notes.push(`${level}: ${text}`),
    onAuthorized: () => (authorized += 1),
    ...(more.kept === undefined ? {} : { safe: safeOf(more.kept) }),
  })
  opened.push(authorization)
  return { authorization, notes, authorized: () => authorized }
}

function safeOf(kept: Credentials): {
  load(): Promise<Credentials | undefined>
  save(next: Credentials | undefined): Promise<void>
} {
  let now: Credentials | undefined = kept
  return {
    load: () => Promise.resolve(now),
    save(next) {
      now = next
      return Promise.resolve()
    },
  }
}

const refusal = (
  sent: Record<string, string>,
  header = 'Bearer',
  status: 401 | 403 = 401,
): Parameters<Authorization['authorizer']['recover']>[0] => ({
  status,
  url: new URL(scene.server.url),
  headers: { 'www-authenticate': header },
  sent,
})
const SIGNAL = new AbortController().signal
const ASK = (): Parameters<Authorization['authorizer']['headers']>[0] => ({
  method: 'POST',
  url: new URL(scene.server.url),
})

describe('a proof of possession', () => {
  it('is sent with the nonce that the server wants, also by the next host', async () => {
    scene = await openAuthScene({ binds: true }, { nonce: 'nonce-1' })
    const host = await scene.open({}, { person: follow })
    expect(host.failure).toBeUndefined()
    expect((await host.call()).isError).toBe(false)
    await host.close()
    const next = await scene.open()
    expect(next.failure).toBeUndefined()
    scene.auth.expire()
    expect((await next.call()).isError).toBe(false)
    expect(scene.sent().at(-1)).toMatch(/^DPoP access-/)
    expect(scene.auth.requests.at(-1)?.headers['dpop']).toBeDefined()
  })

  it('is made by a waiting host for tokens of another one', async () => {
    scene = await openAuthScene({ binds: true }, { nonce: 'nonce-1' })
    const waiting = await scene.open()
    await scene.open({}, { person: follow })
    await expect.poll(() => waiting.state(), { timeout: 8_000 }).toBe('ready')
    expect(scene.sent().filter((sent) => sent?.startsWith('Bearer'))).toEqual([])
  })
})

describe('an unattended client', () => {
  it('signs by its key, and gives its token up by it', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    scene = await openAuthScene()
    scene.auth.addClient({
      id: 'robot',
      publicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    const host = await scene.open({
      auth: { mode: 'client-credentials', clientId: 'robot', privateKey: pem },
    })
    expect(host.failure).toBeUndefined()
    expect(await host.bridge.logout()).toEqual(['revoked the access token', 'forgot the tokens'])
    expect(bodies('/revoke')[0]?.get('client_assertion')).toBeTruthy()
  })

  it('brings an assertion', async () => {
    scene = await openAuthScene()
    const auth = {
      mode: 'jwt-bearer',
      clientId: 'robot',
      assertionCommand: print('proof-of-robot'),
      scopes: ['a', 'b'],
    }
    expect((await scene.open({ auth })).failure).toBeUndefined()
    expect(bodies('/token')[0]?.get('scope')).toBe('a b')
    expect(await scene.kept()).not.toMatch(/proof-of-robot/)
  })

  it.each([undefined, 'idp-secret-1'])('exchanges an ID token for one (secret: %s)', async (clientSecret) => {
    scene = await openAuthScene()
    const idp = {
      tokenEndpoint: `${scene.auth.issuer}/token`,
      clientId: 'us',
      ...(clientSecret === undefined ? {} : { clientSecret }),
    }
    const scopes = clientSecret === undefined ? [] : ['a']
    const auth = { mode: 'jwt-bearer', clientId: 'robot', assertionCommand: print('proof-id'), idp, scopes }
    expect((await scene.open({ auth })).failure).toBeUndefined()
    expect(bodies('/token')[0]?.get('audience')).toBe(scene.auth.issuer)
    expect(bodies('/token')[1]?.get('assertion')).toMatch(/^proof-granted-/)
  })

  it('gets more scope by itself', async () => {
    let scope: string | undefined
    scene = await openAuthScene({}, { scope: () => scope })
    scene.auth.addClient({ id: 'robot', secret: 'robot-secret-1' })
    const auth = { mode: 'client-credentials', clientId: 'robot', clientSecret: 'robot-secret-1' }
    const host = await scene.open({ auth })
    scope = 'files:read'
    expect((await host.call()).isError).toBe(false)
    expect(await host.bridge.logout()).toContain('revoked the access token')
    expect(scene.auth.requests.at(-1)?.headers.authorization).toMatch(/^Basic /)
  })
})

describe('a registered client', () => {
  it('keeps its secret, and is registered anew when that has ended', async () => {
    scene = await openAuthScene({ secretUntil: 1, withoutRefresh: true })
    const host = await scene.open({}, { person: follow })
    scene.auth.expire()
    expect((await host.call()).isError).toBe(false)
    expect(bodies('/register')).toHaveLength(2)
    scene.auth.switches.secretUntil = 0
    scene.auth.expire()
    expect((await host.call()).isError).toBe(false)
    scene.auth.expire()
    expect(bodies('/register')).toHaveLength(3)
    expect(host.lines.join('\n')).not.toMatch(/secret-of/)
    // It was registered for no method with a secret.
    expect(await host.bridge.logout()).toContain('revoked the access token')
    expect(bodies('/revoke')[0]?.get('client_secret')).toBeNull()
  })

  it('that is known no more is registered anew by the next login', async () => {
    scene = await openAuthScene({ refuse: 'invalid_client' })
    const first = direct()
    first.authorization.wait()
    await expect.poll(() => first.authorization.link()).toBeDefined()
    expect(await visit(first.authorization.link())).toBe(400)
    expect(first.authorization.link()).toBeUndefined()
    scene.auth.switches.refuse = undefined
    first.authorization.rest()
    first.authorization.wait()
    await expect.poll(() => first.authorization.link()).toBeDefined()
    expect(bodies('/register')).toHaveLength(2)
    expect(await visit(first.authorization.link())).toBe(200)
    expect(first.authorized()).toBe(1)
    expect(await first.authorization.hasTokens()).toBe(true)
  })

  it('of the row is not forgotten by that', async () => {
    scene = await openAuthScene({ refuse: 'invalid_client', takesDocuments: true })
    const { authorization } = direct({ auth: { clientId: 'mine', callbackPort: 0 } })
    authorization.wait()
    await expect.poll(() => authorization.link()).toBeDefined()
    expect(await visit(authorization.link())).toBe(400)
    expect(await authorization.hasTokens()).toBe(false)
  })
})

describe('a logout', () => {
  it.each([
    ['fails', 'could not revoke the access token (HTTP 503): it ends by itself'],
    ['none', 'the authorization server offers no revocation: the tokens stay good there until they end'],
  ] as const)('forgets where revocation %s', async (revocation, words) => {
    scene = await openAuthScene({ revocation })
    const host = await scene.open({}, { person: follow })
    expect(await host.bridge.logout()).toEqual(expect.arrayContaining([words, 'forgot the tokens']))
    expect(await scene.kept()).toBe('')
  })

  it('forgets where the authorization server is away', async () => {
    scene = await openAuthScene()
    const host = await scene.open({}, { person: follow })
    await scene.auth.close()
    expect(await host.bridge.logout()).toContain(
      'could not revoke the refresh token (not reached): it ends by itself',
    )
    expect(await scene.kept()).toBe('')
  })
})

it('gives tokens up with the secret of the row as the authorization server takes it', async () => {
  scene = await openAuthScene()
  const auth = { mode: 'client-credentials', clientId: 'robot', clientSecret: 'robot-secret-1' }
  scene.auth.addClient({ id: 'robot', secret: 'robot-secret-1' })
  await scene.open({ auth })
  const kept = JSON.parse(await scene.kept()) as { discovery: { metadata: Record<string, unknown> } }
  kept.discovery.metadata['token_endpoint_auth_methods_supported'] = ['client_secret_post']
  const { authorization } = direct({ auth }, { kept: kept as unknown as Credentials })
  expect(await authorization.logout()).toContain('revoked the access token')
  expect(bodies('/revoke')[0]?.get('client_secret')).toBe('robot-secret-1')
})

describe('a server of 2025-03-26', () => {
  it('has its authorization server at its own origin, with a path there', async () => {
    const own =
      (issuer: string) =>
      (origin: string): object => ({
        issuer: `${origin}/${issuer}`,
        authorization_endpoint: `${scene.auth.issuer}/authorize`,
        token_endpoint: `${scene.auth.issuer}/token`,
        registration_endpoint: `${scene.auth.issuer}/register`,
        revocation_endpoint: `${scene.auth.issuer}/revoke`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      })
    scene = await openAuthScene({ answersAs: null }, { bare: true, ownMetadata: own('oauth') })
    const host = await scene.open({}, { person: follow })
    expect(host.failure).toBeUndefined()
    expect(bodies('/token')[0]?.get('resource')).toBe(scene.server.url)
    expect(await host.bridge.logout()).toContain('revoked the refresh token')
  })

  it('may have no metadata at all', async () => {
    scene = await openAuthScene({}, { bare: true })
    const guard = scene.auth.guard({ bare: true })
    // Its own paths, as that revision has them.
    scene.server.intercept = async (request, response, seen) => {
      const path = new URL(seen.path, scene.auth.issuer)
      if (!['/register', '/authorize', '/token'].includes(path.pathname))
        return guard(request, response, seen)
      const reply = await fetch(path, {
        method: seen.method,
        redirect: 'manual',
        headers: { 'content-type': seen.headers['content-type'] ?? 'text/plain' },
        ...(seen.method === 'GET' ? {} : { body: seen.body }),
      })
      response.writeHead(reply.status, {
        location: reply.headers.get('location') ?? '',
        'content-type': 'application/json',
      })
      response.end(await reply.text())
      return true
    }
    const host = await scene.open({}, { person: follow })
    expect(host.failure).toBeUndefined()
    scene.auth.expire()
    expect((await host.call()).isError).toBe(false)
    expect(scene.auth.count('refresh_token')).toBe(1)
    expect(await host.bridge.logout()).toContain('forgot the tokens')
    const auth = { mode: 'jwt-bearer', clientId: 'robot', assertionCommand: print('proof-of-robot') }
    expect((await scene.open({ auth })).failure).toBeUndefined()
  })
})

describe('the scope', () => {
  it('is what the server names, with a refresh token where that is offered', async () => {
    scene = await openAuthScene({ scopesSupported: ['offline_access'] }, { scopesSupported: ['read'] })
    await scene.open({}, { person: follow })
    const asked = scene.auth.requests.find(({ path }) => path.startsWith('/authorize'))?.path
    expect(new URLSearchParams(asked?.split('?')[1]).get('scope')).toBe('read offline_access')
  })

  it('is the row’s first', async () => {
    scene = await openAuthScene({ scopesSupported: ['offline_access'] }, { scopesSupported: ['read'] })
    await scene.open({ auth: { scopes: ['write'] } }, { person: follow })
    const asked = scene.auth.requests.find(({ path }) => path.startsWith('/authorize'))?.path
    expect(new URLSearchParams(asked?.split('?')[1]).get('scope')).toBe('write offline_access')
  })
})

describe('an authorization', () => {
  it('says why nothing can begin, tries again after a minute, and never after its end', async () => {
    scene = await openAuthScene({ withoutPkce: true })
    const clock = new FakeClock()
    const { authorization, notes } = direct({}, { clock })
    authorization.wait()
    authorization.wait()
    await expect.poll(() => notes.length).toBe(1)
    scene.auth.switches.withoutPkce = false
    const { requests } = scene.auth
    const before = requests.length
    // No further than to the next attempt: it has limits by the same clock, and its requests take real time.
    while (requests.length === before) {
      await clock.advance(2_000)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(clock.now()).toBeGreaterThanOrEqual(60_000)
    await expect.poll(() => authorization.link()).toBeDefined()
    authorization.rest()
    await authorization.close()
    authorization.wait()
    expect(notes.filter((text) => text.startsWith('warn'))).toHaveLength(1)
  })

  it('says when its port is taken, and takes it later', async () => {
    scene = await openAuthScene()
    const { authorization, notes } = direct({ auth: { callbackPort: scene.server.port } })
    authorization.wait()
    await expect.poll(() => notes.join()).toMatch(/EADDRINUSE/)
    await authorization.close()
  })

  it('goes on looking where the store cannot be read', async () => {
    scene = await openAuthScene()
    const clock = new FakeClock()
    const broken = { load: () => Promise.reject(new Error('no store')), save: () => Promise.resolve() }
    const { spec } = resolveConfig({
      serverName: 'locked',
      url: scene.server.url,
      headersCommand: print('a: b'),
    })
    const notes: string[] = []
    const { target } = spec
    if (target.kind !== 'http' || target.auth === undefined) throw new Error('not a row with a url')
    const authorization = createAuthorization({
      spec,
      target: { ...target, auth: target.auth },
      folder: scene.folder,
      name: 'direct',
      clock,
      safe: broken,
      note: (level, text) => void notes.push(`${level}: ${text}`),
      onAuthorized: () => undefined,
    })
    opened.push(authorization)
    authorization.wait()
    await clock.advance(4_000)
    expect(notes).toEqual(['debug: authorization failed: no store', 'debug: authorization failed: no store'])
    expect(await authorization.authorizer.headers(ASK(), SIGNAL)).toEqual({ a: 'b' })
    expect(await authorization.authorizer.recover(refusal({ a: 'b' }), SIGNAL)).toBe(false)
    expect(await authorization.authorizer.recover(refusal({ a: 'b' }, 'Bearer', 403), SIGNAL)).toBe(false)
    authorization.rest()
    await clock.advance(4_000)
    expect(notes).toHaveLength(2)
  })

  it('lets a renewal end before its connections go', async () => {
    scene = await openAuthScene()
    await scene.open({}, { person: follow })
    const kept = JSON.parse(await scene.kept()) as Credentials
    const { authorization } = direct({}, { kept })
    const { authorizer } = authorization
    const sent = await authorizer.headers(ASK(), SIGNAL)
    const held = Promise.withResolvers<void>()
    scene.auth.switches.hold = held.promise
    const recovering = authorizer.recover(refusal({ ...sent }), SIGNAL)
    await expect.poll(() => bodies('/token').filter((body) => body.has('refresh_token')).length).toBe(1)
    let isClosed = false
    const closing = authorization.close().then(() => (isClosed = true))
    await new Promise((resolve) => void setImmediate(resolve))
    expect(isClosed).toBe(false)
    held.resolve()
    expect(await recovering).toBe(true)
    await closing
  })

  it('replaces a fresh token that is refused three times a minute, and no more', async () => {
    scene = await openAuthScene()
    await scene.open({}, { person: follow })
    const kept = JSON.parse(await scene.kept()) as Credentials
    const { authorizer } = direct({}, { kept }).authorization
    const outcomes: boolean[] = []
    for (let n = 0; n < 5; n += 1) {
      const sent = await authorizer.headers(ASK(), SIGNAL)
      outcomes.push(await authorizer.recover(refusal({ ...sent }), SIGNAL))
    }
    expect(outcomes).toEqual([true, true, true, false, false])
    expect(scene.auth.count('refresh_token')).toBe(3)
  })

  it('renews nothing after its end', async () => {
    scene = await openAuthScene()
    const { authorization } = direct()
    await authorization.close()
    await expect(authorization.authorizer.recover(refusal({}), SIGNAL)).rejects.toThrow(/being closed/)
  })

  it('does nothing about a 403 that is not about scope, or about what was granted', async () => {
    scene = await openAuthScene()
    const { authorizer } = direct().authorization
    expect(await authorizer.recover(refusal({}, 'Bearer', 403), SIGNAL)).toBe(false)
    expect(await authorizer.recover(refusal({}, 'Bearer error="insufficient_scope"', 403), SIGNAL)).toBe(
      false,
    )
  })

  it('sends again after the refusal of an old token, without a renewal', async () => {
    scene = await openAuthScene()
    await scene.open({}, { person: follow })
    const kept = JSON.parse(await scene.kept()) as Credentials
    const { authorizer } = direct({}, { kept }).authorization
    expect(await authorizer.recover(refusal({ authorization: 'Bearer old' }), SIGNAL)).toBe(true)
    expect(await authorizer.recover({ ...refusal({}), headers: {} }, SIGNAL)).toBe(true)
    const headers = { 'www-authenticate': ['Bearer', 'Basic'] as unknown as string }
    expect(await authorizer.recover({ ...refusal({}), headers }, SIGNAL)).toBe(true)
    expect(scene.auth.count('refresh_token')).toBe(0)
  })

  it('finds the login that another process made, at its first look', async () => {
    scene = await openAuthScene()
    await scene.open({}, { person: follow })
    const kept = JSON.parse(await scene.kept()) as Credentials
    const clock = new FakeClock()
    const { authorization, authorized } = direct({}, { kept, clock })
    authorization.wait()
    await clock.advance(2_000)
    await clock.advance(2_000)
    expect(authorized()).toBe(1)
    authorization.rest()
    const link = authorization.link()
    authorization.wait()
    expect(authorization.link()).toBe(link)
  })

  it('gives the same link while it is good', async () => {
    scene = await openAuthScene()
    const { authorization, notes } = direct()
    for (let n = 1; n <= 2; n += 1) {
      authorization.wait()
      await expect.poll(() => notes.length).toBe(n)
      authorization.rest()
    }
    expect(notes[0]).toBe(notes[1])
  })

  it('sets a damaged file aside and says so', async () => {
    scene = await openAuthScene()
    await writeFile(join(scene.folder, 'direct.json'), '{')
    const { authorization, notes } = direct()
    expect(await authorization.hasTokens()).toBe(false)
    expect(notes.join()).toMatch(/warn: kept login: a damaged file was set aside/)
  })

  it('says that metadata cannot be reached, and takes that for no answer', async () => {
    scene = await openAuthScene()
    const guard = scene.auth.guard({ bare: true })
    scene.server.intercept = (request, response, seen) => {
      if (!seen.path.includes('protected-resource')) return guard(request, response, seen)
      request.socket.destroy()
      return true
    }
    const { authorization, notes } = direct()
    authorization.wait()
    await expect.poll(() => notes.join()).toMatch(/not possible now: .* cannot be reached/)
    expect(scene.auth.requests).toHaveLength(0)
  })

  it('does not show what is no error code, and wants a state', async () => {
    scene = await openAuthScene({ answersAs: null, announcesIssuer: false })
    const { authorization, notes } = direct()
    authorization.wait()
    await expect.poll(() => authorization.link()).toBeDefined()
    const asked = new URL(String(authorization.link())).searchParams
    const back = new URL(asked.get('redirect_uri') ?? '')
    const state = asked.get('state') ?? ''
    for (const params of [{}, { state }, { state, error: 'two\nlines' }]) {
      back.search = String(new URLSearchParams(params))
      expect(await visit(back.href)).toBe(400)
    }
    expect(notes.slice(1)).toEqual([
      expect.stringMatching(/belongs to another login/),
      expect.stringMatching(/not granted \(no code\)/),
      expect.stringMatching(/not granted \(no code\)/),
    ])
  })

  it('fails a request where its client is refused before the end of its token', async () => {
    scene = await openAuthScene({ expiresIn: 100 })
    scene.auth.addClient({ id: 'robot', secret: 'robot-secret-1' })
    const auth = { mode: 'client-credentials', clientId: 'robot', clientSecret: 'robot-secret-1' }
    await scene.open({ auth })
    const kept = JSON.parse(await scene.kept()) as Credentials
    const { authorizer } = direct({ auth }, { kept }).authorization
    scene.auth.switches.refuse = 'invalid_client'
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 95_000)
    await expect(authorizer.headers(ASK(), SIGNAL)).rejects.toMatchObject({ code: 'MCP_AUTH_FAILED' })
    vi.mocked(Date.now).mockRestore()
  })

  it('replaces a fresh token that is refused so often, and no oftener', async () => {
    scene = await openAuthScene()
    await scene.open({}, { person: follow })
    const kept = JSON.parse(await scene.kept()) as Credentials
    const clock = new FakeClock()
    const { authorizer } = direct({}, { kept, clock }).authorization
    const refuse = async (): Promise<boolean> =>
      authorizer.recover(refusal({ ...(await authorizer.headers(ASK(), SIGNAL)) }), SIGNAL)
    const results: boolean[] = []
    for (let n = 0; n < 5; n += 1) results.push(await refuse())
    expect(results).toEqual([true, true, true, false, false])
    expect(scene.auth.count('refresh_token')).toBe(3)
    await clock.advance(60_000)
    expect(await refuse()).toBe(true)
  })

  it('takes an answer once, however often the page is loaded', async () => {
    scene = await openAuthScene()
    const { authorization, authorized } = direct()
    authorization.wait()
    await expect.poll(() => authorization.link()).toBeDefined()
    const params = await follow({ url: String(authorization.link()) })
    const back = new URL(new URL(String(authorization.link())).searchParams.get('redirect_uri') ?? '')
    back.search = String(params)
    expect(await Promise.all([visit(back.href), visit(back.href)])).toEqual([200, 200])
    expect(scene.auth.count('authorization_code')).toBe(1)
    expect(authorized()).toBeGreaterThan(0)
  })

  it('makes an old link anew', async () => {
    scene = await openAuthScene()
    const { authorization } = direct()
    authorization.wait()
    await expect.poll(() => authorization.link()).toBeDefined()
    const old = authorization.link()
    authorization.rest()
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 11 * 60_000)
    authorization.wait()
    await expect.poll(() => authorization.link()).not.toBe(old)
    vi.mocked(Date.now).mockRestore()
    expect(bodies('/register')).toHaveLength(1)
  })
})
