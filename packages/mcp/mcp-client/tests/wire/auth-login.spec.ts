/** Owns the tests of logins: by a link, made elsewhere, refused; what is sent along, and what never leaves. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readdir } from 'node:fs/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { follow, openAuthScene, visit } from './auth-scene.ts'
import type { AuthScene } from './auth-scene.ts'

let scene: AuthScene
const warn = vi.spyOn(console, 'warn')

afterEach(async () => {
  await scene.close()
  expect(warn).not.toHaveBeenCalled()
})

const requestsTo = (path: string): URLSearchParams[] =>
  scene.auth.requests
    .filter((request) => request.path.startsWith(path))
    .map(({ path: asked, body }) => new URLSearchParams(path === '/authorize' ? asked.split('?')[1] : body))

const errorOf = async (host: { lines: readonly string[] }): Promise<string> => {
  await expect.poll(() => host.lines.some((line) => line.startsWith('warn: authorization'))).toBe(true)
  return host.lines.find((line) => line.startsWith('warn: authorization')) ?? ''
}

describe('a link', () => {
  it('logs in without a restart, with resource, PKCE and state', async () => {
    scene = await openAuthScene()
    const host = await scene.open()
    expect(host.failure).toMatchObject({ code: 'MCP_AUTH_REQUIRED' })
    await expect.poll(() => host.bridge.status().login).toBeDefined()
    const link = String(host.bridge.status().login)
    expect(await visit(link)).toBe(200)
    await expect.poll(() => host.state(), { timeout: 5_000 }).toBe('ready')
    expect((await host.call()).isError).toBe(false)
    const [asked] = requestsTo('/authorize')
    expect(asked?.get('resource')).toBe(scene.server.url)
    expect(asked?.get('code_challenge_method')).toBe('S256')
    expect(requestsTo('/token')[0]?.get('resource')).toBe(scene.server.url)
    // Used once: a second visit of the page changes nothing.
    expect(await visit(link)).toBe(400)
    expect(host.state()).toBe('ready')
  })

  it('keeps its files to their owner', async () => {
    scene = await openAuthScene()
    await scene.open({}, { person: follow })
    const [name = ''] = (await readdir(scene.folder)).filter((file) => file.endsWith('.json'))
    expect((await stat(join(scene.folder, name))).mode & 0o777).toBe(0o600)
    expect((await stat(scene.folder)).mode & 0o777).toBe(0o700)
  })

  it('is not there where the authorization server has no PKCE', async () => {
    scene = await openAuthScene({ withoutPkce: true })
    const host = await scene.open()
    expect(await errorOf(host)).toMatch(/does not announce PKCE/)
    expect(host.bridge.status().login).toBeUndefined()
  })

  it('ends by a login that another host made', async () => {
    scene = await openAuthScene()
    const waiting = await scene.open()
    await scene.open({}, { person: follow })
    await expect.poll(() => waiting.state(), { timeout: 8_000 }).toBe('ready')
  })
})

describe('refuses', () => {
  const cases: [string, Parameters<typeof openAuthScene>, RegExp][] = [
    ['another issuer in the metadata', [{ describesAs: 'https://evil.example' }], /names another issuer/],
    ['a login page that is a file', [{ authorizationEndpoint: 'file:///etc/passwd' }], /authorization/],
    ['a login page that is a script', [{ authorizationEndpoint: 'javascript:alert(1)' }], /authorization/],
    ['a login page that is not https', [{ authorizationEndpoint: 'http://login.example/' }], /not https/],
    ['another resource', [{}, { resource: 'https://other.example/mcp' }], /another resource/],
    ['metadata of another origin', [{}, { metadataUrl: 'https://other.example/x' }], /another origin/],
    ['no way to register', [{ registers: false }], /takes registered clients only/],
  ]
  it.each(cases)('%s', async (_name, given, words) => {
    scene = await openAuthScene(...given)
    const host = await scene.open()
    expect(await errorOf(host)).toMatch(words)
    expect(host.bridge.status().login).toBeUndefined()
    expect(scene.auth.count('authorization_code')).toBe(0)
  })

  it('a private address that a public server names', async () => {
    scene = await openAuthScene()
    const { createMetadataFetch } = await import('../../src/auth/metadata-fetch.ts')
    for (const url of [
      'https://server.example/mcp',
      'https://localhost.example/mcp',
      'https://127.evil.example/mcp',
    ]) {
      const { fetch, close } = createMetadataFetch('x', new URL(url))
      await expect(fetch(scene.auth.issuer)).rejects.toMatchObject({ code: 'MCP_AUTH_FAILED' })
      await expect(fetch('https://10.0.0.1/')).rejects.toMatchObject({ code: 'MCP_AUTH_FAILED' })
      await close()
    }
  })

  const answers: [string, Parameters<typeof openAuthScene>[0], RegExp][] = [
    ['a foreign issuer', { answersAs: 'https://evil.example' }, /[Ii]ssuer/],
    ['no issuer where it was announced', { answersAs: null }, /[Ii]ssuer/],
    ['a person who says no', { denies: true }, /not granted \(access_denied\)/],
    ['a code that is not taken', { refuse: 'invalid_grant' }, /invalid_grant|authorization failed/],
    ['a token endpoint that is away', { breaks: 502 }, /not possible now/],
  ]
  it.each(answers)('%s', async (_name, switches, words) => {
    scene = await openAuthScene(switches)
    const host = await scene.open()
    await expect.poll(() => host.bridge.status().login).toBeDefined()
    expect(await visit(host.bridge.status().login)).toBe(400)
    expect(await errorOf(host)).toMatch(words)
    expect(host.state()).toBe('needs-auth')
    expect(await scene.kept()).not.toMatch(/"access"/)
  })

  it('what an answer of a foreign issuer says', async () => {
    scene = await openAuthScene({ denies: true, answersAs: 'https://evil.example' })
    const host = await scene.open()
    await expect.poll(() => host.bridge.status().login).toBeDefined()
    await visit(host.bridge.status().login)
    await errorOf(host)
    expect(host.lines.join('\n')).not.toMatch(/access_denied/)
  })

  it('an answer with another state, and goes on waiting', async () => {
    scene = await openAuthScene()
    const host = await scene.open()
    await expect.poll(() => host.bridge.status().login).toBeDefined()
    const link = String(host.bridge.status().login)
    const back = new URL(new URL(link).searchParams.get('redirect_uri') ?? '')
    back.search = '?code=stolen&state=guessed'
    expect(await visit(back.href)).toBe(400)
    expect(await errorOf(host)).toMatch(/belongs to another login/)
    expect(scene.auth.count('authorization_code')).toBe(0)
    expect(await visit(link)).toBe(200)
  })
})

describe('a client', () => {
  it('of the row comes first', async () => {
    scene = await openAuthScene({ takesDocuments: true })
    scene.auth.addClient({ id: 'mine', secret: 'row-secret-1' })
    await scene.open(
      { auth: { clientId: 'mine', clientMetadataUrl: 'https://we.example/client.json' } },
      { person: follow },
    )
    expect(requestsTo('/authorize')[0]?.get('client_id')).toBe('mine')
    expect(await scene.kept()).not.toMatch(/row-secret-1/)
  })

  it('is our metadata document where one is taken', async () => {
    scene = await openAuthScene({ takesDocuments: true })
    await scene.open({ auth: { clientMetadataUrl: 'https://we.example/client.json' } }, { person: follow })
    expect(requestsTo('/authorize')[0]?.get('client_id')).toBe('https://we.example/client.json')
    expect(requestsTo('/register')).toHaveLength(0)
  })

  it('works for itself by its secret, with no person near', async () => {
    scene = await openAuthScene()
    scene.auth.addClient({ id: 'robot', secret: 'robot-secret-1' })
    const row = { auth: { mode: 'client-credentials', clientId: 'robot', clientSecret: 'robot-secret-1' } }
    const host = await scene.open(row)
    expect(host.failure).toBeUndefined()
    scene.auth.expire()
    expect((await host.call()).isError).toBe(false)
    expect(scene.auth.count('client_credentials')).toBe(2)
    expect(await scene.kept()).not.toMatch(/robot-secret-1/)
  })

  it('keeps its secret from another issuer than the first', async () => {
    scene = await openAuthScene()
    scene.auth.addClient({ id: 'robot', secret: 'robot-secret-1' })
    const auth = { mode: 'client-credentials', clientId: 'robot', clientSecret: 'robot-secret-1' }
    const host = await scene.open({ auth })
    const other = await openAuthScene()
    other.auth.addClient({ id: 'robot', secret: 'robot-secret-1' })
    scene.auth.expire()
    scene.server.intercept = other.auth.guard({ resource: scene.server.url })
    const result = await host.call()
    expect(result).toMatchObject({ isError: true, error: { info: { code: 'MCP_AUTH_FAILED' } } })
    expect(other.auth.count('client_credentials')).toBe(0)
    expect((await scene.open({ auth: { ...auth, issuer: other.auth.issuer } })).failure).toBeUndefined()
    await other.close()
  })

  it('is refused with a wrong secret', async () => {
    scene = await openAuthScene()
    scene.auth.addClient({ id: 'robot', secret: 'robot-secret-1' })
    const auth = { mode: 'client-credentials', clientId: 'robot', clientSecret: 'wrong-secret' }
    expect((await scene.open({ auth })).failure).toMatchObject({ code: 'MCP_AUTH_FAILED' })
  })

  it('is not sent to an issuer that the row does not name', async () => {
    scene = await openAuthScene()
    const auth = {
      mode: 'client-credentials',
      clientId: 'robot',
      clientSecret: 's3cret-1',
      issuer: 'https://as.example',
    }
    const { failure } = await scene.open({ auth })
    expect(String(failure)).toMatch(/auth.issuer/)
    expect(scene.auth.count('client_credentials')).toBe(0)
  })
})

describe('a logout', () => {
  it('revokes both tokens and forgets', async () => {
    scene = await openAuthScene()
    const host = await scene.open({}, { person: follow })
    expect(await host.bridge.logout()).toEqual([
      'revoked the refresh token',
      'revoked the access token',
      'forgot the tokens',
    ])
    expect(scene.auth.revoked).toEqual([
      expect.stringMatching(/^refresh-/),
      expect.stringMatching(/^access-/),
    ])
    expect(await scene.kept()).toBe('')
    expect(await host.bridge.logout()).toEqual(['there were no tokens'])
  })
})

it('asks for more scope where the server wants it', async () => {
  let scope: string | undefined
  scene = await openAuthScene({}, { scope: () => scope })
  const host = await scene.open({}, { person: follow })
  scope = 'files:read'
  expect((await host.call()).isError).toBe(false)
  expect(requestsTo('/authorize').map((asked) => asked.get('scope'))).toEqual([null, 'files:read'])
})

it('says what is missing where nobody is there, and offers one link for it', async () => {
  let scope: string | undefined
  scene = await openAuthScene({}, { scope: () => scope })
  await (await scene.open({}, { person: follow })).close()
  const host = await scene.open()
  scope = 'files:read'
  expect(await host.call()).toMatchObject({ isError: true, error: { info: { code: 'MCP_FORBIDDEN' } } })
  await expect.poll(() => host.bridge.status().login).toBeDefined()
  const link = host.bridge.status().login
  await host.call()
  expect(host.bridge.status().login).toBe(link)
  expect(await visit(link)).toBe(200)
  expect((await host.call()).isError).toBe(false)
})

it('begins no login for a missing scope where none is to be begun', async () => {
  let scope: string | undefined
  scene = await openAuthScene({}, { scope: () => scope })
  await (await scene.open({}, { person: follow })).close()
  const host = await scene.open({}, { begins: false })
  scope = 'files:read'
  const asked = scene.auth.requests.length
  const { error } = (await host.call()) as { error?: { message: string } }
  expect(error?.message).toMatch(/Log in again \(dsh-mcp login locked\)/)
  await host.close()
  expect(scene.auth.requests).toHaveLength(asked)
  expect(host.bridge.status().login).toBeUndefined()
})

it('stops where the server wants another scope each time', async () => {
  let scope: string | undefined
  let turn = 0
  scene = await openAuthScene(
    {},
    { scope: () => (scope === undefined ? undefined : `${scope}-${(turn += 1)}`) },
  )
  const host = await scene.open({}, { person: follow })
  scope = 'more'
  expect((await host.call()).isError).toBe(true)
  expect(scene.auth.count('authorization_code')).toBeLessThanOrEqual(3)
})

it('logs in at a server of 2025-03-26, which has no metadata of its own', async () => {
  scene = await openAuthScene({}, { bare: true })
  const host = await scene.open()
  expect(await errorOf(host)).toMatch(/HTTP 404|authorization/)
})

it('cuts tokens out of what a server echoes', async () => {
  scene = await openAuthScene({ withoutRefresh: true }, { echoes: true })
  await (await scene.open({}, { person: follow })).close()
  const host = await scene.open()
  scene.auth.expire()
  const result = await host.call()
  expect(result.isError).toBe(true)
  expect(JSON.stringify(result) + host.lines.join('\n') + JSON.stringify(host.bridge.status())).not.toMatch(
    /access-[0-9a-f]{8}/,
  )
})

it('tries nothing where the row brings a header, or says off', async () => {
  scene = await openAuthScene()
  const own = await scene.open({ headers: { Authorization: 'Bearer wrong-token' } })
  const off = await scene.open({ auth: { mode: 'off' } })
  expect([own.failure?.code, off.failure?.code]).toEqual(['MCP_AUTH_REQUIRED', 'MCP_AUTH_REQUIRED'])
  expect(scene.auth.requests).toHaveLength(0)
  expect([own.bridge.status().login, off.bridge.status().login]).toEqual([undefined, undefined])
})

it('sends nothing kept to a server that the row was pointed at later', async () => {
  scene = await openAuthScene()
  await (await scene.open({}, { person: follow })).close()
  const other = await openAuthScene()
  await scene.open({ url: other.server.url })
  expect(other.sent().every((header) => header === undefined)).toBe(true)
  await other.close()
})

it('waits for a login where the connection itself wants more scope', async () => {
  let scope: string | undefined
  scene = await openAuthScene({}, { scope: () => scope })
  await (await scene.open({}, { person: follow })).close()
  scope = 'files:read'
  const host = await scene.open()
  await expect.poll(() => host.state()).toBe('needs-auth')
  await expect.poll(() => host.bridge.status().login).toBeDefined()
  expect(await visit(host.bridge.status().login)).toBe(200)
  await expect.poll(() => host.state()).toBe('ready')
})
