/** What the bridge does about a login, where there is nothing to ask and nobody to wait for. */
import { describe, expect, it } from 'vitest'
import { startAuthorizationServer, startHttpServer, temporaryFolder } from '@dsh-mcp/testkit'
import { createLogin, takesLogin } from '../../src/bridge-login.ts'
import type { LoginHost } from '../../src/bridge-login.ts'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { resolveConfig } from '../../src/config.ts'

const specOf = (row: object) => resolveConfig({ serverName: 'one', ...row }).spec

function open(row: object, host: LoginHost | undefined) {
  const said: string[] = []
  let waits = 0
  const login = createLogin({
    spec: specOf(row),
    host,
    clock: {
      now: () => 0,
      after: (ms, run) => {
        waits += 1
        return SYSTEM_CLOCK.after(ms, run)
      },
    },
    say: ({ text }) => void said.push(text),
    onAuthorized: () => undefined,
  })
  return { login, said, waits: () => waits }
}

describe('a login', () => {
  it('is nothing for a local process, and for a host that keeps none', async () => {
    for (const { login } of [
      open({ command: 'node' }, { folder: 'nowhere' }),
      open({ url: 'http://127.0.0.1:1/' }, undefined),
    ]) {
      login.entered('needs-auth')
      expect(login.authorizer).toBeUndefined()
      expect(login.link()).toBeUndefined()
      expect(await login.logout()).toEqual(['the server of this row is not asked for a login'])
      await login.close()
    }
  })

  it('is begun and looked out for by a host that waits, and by no other', async () => {
    const authorization = await startAuthorizationServer()
    const server = await startHttpServer()
    server.intercept = authorization.guard()
    const row = { url: server.url }
    const quiet = open(row, { folder: temporaryFolder('login'), begins: false })
    quiet.login.entered('needs-auth')
    expect(quiet.waits()).toBe(0)
    const link = Promise.withResolvers<string>()
    const waiting = open(row, {
      folder: temporaryFolder('login'),
      watcher: { linked: link.resolve, refused: link.reject },
    })
    waiting.login.entered('needs-auth')
    expect(waiting.waits()).toBe(1)
    expect(await link.promise).toBe(waiting.login.link())
    waiting.login.entered('connecting')
    for (const { login } of [quiet, waiting]) await login.close()
    expect(quiet.login.link()).toBeUndefined()
    expect(quiet.said).toEqual([])
    await server.close()
    await authorization.close()
  })

  it('is what a row takes that brings nothing of its own', () => {
    const url = 'https://mcp.test/mcp'
    expect(takesLogin(specOf({ url }))).toBe(true)
    expect(takesLogin(specOf({ url, headers: { 'X-Other': 'a' } }))).toBe(true)
    expect(takesLogin(specOf({ url, headers: { authorization: 'Bearer a' } }))).toBe(false)
    expect(takesLogin(specOf({ url, headersCommand: ['print'] }))).toBe(false)
    expect(takesLogin(specOf({ url, auth: { mode: 'off' } }))).toBe(false)
    expect(takesLogin(specOf({ command: 'node' }))).toBe(false)
  })
})
