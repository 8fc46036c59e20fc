/** Owns the tests of tokens that end: one renewal for all, over calls and over hosts, and what a failure of it leaves. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { follow, openAuthScene } from './auth-scene.ts'
import type { AuthScene } from './auth-scene.ts'

let scene: AuthScene
const warn = vi.spyOn(console, 'warn')

beforeEach(() => void warn.mockClear())
afterEach(async () => {
  await scene.close()
  expect(warn).not.toHaveBeenCalled()
})

describe('an expired token', () => {
  it('is renewed once for five parallel calls, which all succeed', async () => {
    scene = await openAuthScene()
    const host = await scene.open({}, { person: follow })
    expect(host.failure).toBeUndefined()
    scene.auth.expire()
    const results = await Promise.all(Array.from({ length: 5 }, () => host.call()))
    expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false, false])
    expect(scene.auth.count('refresh_token')).toBe(1)
    expect(scene.auth.count('authorization_code')).toBe(1)
  })

  it('is renewed once for two hosts over one store', async () => {
    scene = await openAuthScene()
    const first = await scene.open({}, { person: follow })
    const second = await scene.open()
    expect(second.failure).toBeUndefined()
    scene.auth.expire()
    const results = await Promise.all([first.call(), second.call(), first.call(), second.call()])
    expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false])
    expect(scene.auth.count('refresh_token')).toBe(1)
    scene.auth.expire()
    expect((await second.call()).isError).toBe(false)
    expect((await first.call()).isError).toBe(false)
    expect(scene.auth.count('refresh_token')).toBe(2)
  })

  it('is renewed before its end', async () => {
    scene = await openAuthScene({ expiresIn: 100 })
    const host = await scene.open({}, { person: follow })
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 95_000)
    expect((await host.call()).isError).toBe(false)
    vi.mocked(Date.now).mockRestore()
    expect(scene.auth.count('refresh_token')).toBe(1)
    // Set back again: no token is immortal by that, the next refusal tells.
    scene.auth.expire()
    expect((await host.call()).isError).toBe(false)
    expect(scene.auth.count('refresh_token')).toBe(2)
  })

  it('is used as it is where it cannot be renewed early', async () => {
    scene = await openAuthScene({ expiresIn: 100 })
    const host = await scene.open({}, { person: follow })
    scene.auth.switches.breaks = 503
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 95_000)
    expect((await host.call()).isError).toBe(false)
    vi.mocked(Date.now).mockRestore()
    expect(scene.auth.count('refresh_token')).toBe(1)
  })

  it('of a server without refresh tokens asks for a login', async () => {
    scene = await openAuthScene({ withoutRefresh: true, expiresIn: 100 })
    const host = await scene.open({}, { person: follow })
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 95_000)
    expect((await host.call()).isError).toBe(false)
    vi.mocked(Date.now).mockRestore()
    scene.auth.expire()
    expect((await host.call()).isError).toBe(false)
    expect(scene.auth.count('authorization_code')).toBe(2)
  })
})

describe('a failed renewal', () => {
  it('keeps the tokens where the token endpoint is away', async () => {
    scene = await openAuthScene()
    const host = await scene.open({}, { person: follow })
    const before = await scene.kept()
    scene.auth.expire()
    scene.auth.switches.breaks = 503
    const result = await host.call()
    expect(result).toMatchObject({ isError: true, error: { info: { code: 'MCP_HTTP_UNAVAILABLE' } } })
    expect(await scene.kept()).toBe(before)
    scene.auth.switches.breaks = undefined
    await expect.poll(async () => (await host.call()).isError, { timeout: 5_000 }).toBe(false)
    expect(scene.auth.count('authorization_code')).toBe(1)
  })

  it('ends the login where the refresh token is spent', async () => {
    scene = await openAuthScene()
    await (await scene.open({}, { person: follow })).close()
    const host = await scene.open()
    scene.auth.expire()
    scene.auth.revokeRefresh()
    const result = await host.call()
    expect(result).toMatchObject({ isError: true, error: { info: { code: 'MCP_AUTH_REQUIRED' } } })
    await expect.poll(() => host.state(), { timeout: 5_000 }).toBe('needs-auth')
    expect(host.lines.join('\n')).toMatch(/the login has ended/)
    expect(await scene.kept()).not.toMatch(/access-|refresh-/)
  })

  it('does not go round where the server refuses every token', async () => {
    scene = await openAuthScene()
    const host = await scene.open({}, { person: follow })
    scene.server.intercept = (_request, response) => {
      response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end()
      return true
    }
    for (let n = 0; n < 4; n += 1) await host.call()
    expect(scene.auth.count('refresh_token')).toBeLessThanOrEqual(4)
  })
})

it('lets a renewal end before the host closes: its refresh token is spent', async () => {
  scene = await openAuthScene()
  const host = await scene.open({}, { person: follow })
  const held = Promise.withResolvers<void>()
  scene.auth.switches.hold = held.promise
  scene.auth.expire()
  const call = host.call()
  await expect
    .poll(() => scene.auth.requests.filter(({ body }) => body.includes('refresh_token')).length)
    .toBe(1)
  const closing = host.close()
  held.resolve()
  await Promise.all([call, closing])
  const next = await scene.open()
  expect(next.failure).toBeUndefined()
  expect(scene.auth.count('refresh_token')).toBe(1)
})
