/** Owns the tests of where credentials are kept: the file, the lock between processes, the host's service. */
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LocalCredentialProvider } from '@deepseek-ai/dsh-credentials-local'
import { Context } from '@deepseek-ai/cordis'
import { createAllowance } from '../../src/auth/attempts.ts'
import {
  NO_CREDENTIALS,
  credentialsFor,
  parseCredentials,
  tokensFor,
  tokensOf,
} from '../../src/auth/credentials.ts'
import type { Credentials } from '../../src/auth/credentials.ts'
import { createHostSafe, credentialRefOf } from '../../src/auth/host-safe.ts'
import { LockTimeout, clear, numbersOf, takeLock } from '../../src/auth/lock.ts'
import { openVault } from '../../src/auth/vault.ts'
import type { Safe } from '../../src/auth/vault.ts'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { FakeClock } from './fake-clock.ts'

let folder: string
const notes: string[] = []
const note = (text: string): void => void notes.push(text)
const CLIENT = { client_id: 'c' }
const GIVEN: Credentials = {
  server: 'https://s.example/mcp',
  issuer: 'https://a.example',
  discovery: { authorizationServerUrl: 'https://a.example' },
  clients: { 'https://a.example': CLIENT },
  tokens: { 'https://a.example': { access: 'access-1', refresh: 'refresh-1', client: CLIENT } },
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'auth-vault-'))
  notes.length = 0
})
afterEach(async () => {
  await chmod(folder, 0o700)
  await rm(folder, { recursive: true, force: true })
})

const open = (safe?: Safe): ReturnType<typeof openVault> =>
  openVault({ folder: join(folder, 'in'), name: 'one', clock: SYSTEM_CLOCK, note, safe })

describe('a vault', () => {
  it('gives back what was put in, and removes what is empty', async () => {
    const vault = open()
    expect(await vault.read()).toBe(NO_CREDENTIALS)
    expect(await vault.update(async () => GIVEN)).toBe(GIVEN)
    expect(await open().read()).toEqual(GIVEN)
    expect(await vault.update(async () => undefined)).toEqual(GIVEN)
    await vault.update(async () => NO_CREDENTIALS)
    expect(await readdir(join(folder, 'in'))).toEqual([])
    expect(notes).toEqual([])
  })

  it('sets a damaged file and a link aside, says so once, and goes on', async () => {
    await mkdir(join(folder, 'in'))
    const path = join(folder, 'in', 'one.json')
    await writeFile(path, '{"version":1,"tokens":7}')
    expect(await open().read()).toBe(NO_CREDENTIALS)
    await writeFile(join(folder, 'target'), JSON.stringify({ version: 1, ...GIVEN }))
    await symlink(join(folder, 'target'), path)
    expect(await open().read()).toBe(NO_CREDENTIALS)
    expect(notes).toEqual([
      expect.stringMatching(/damaged file was set aside/),
      expect.stringMatching(/symbolic link was set aside/),
    ])
    await open().update(async () => GIVEN)
    expect(await open().read()).toEqual(GIVEN)
  })

  it('keeps in memory what cannot be written, and says it once', async () => {
    await writeFile(join(folder, 'in'), 'a file where the folder should be')
    const vault = open()
    await vault.update(async () => GIVEN)
    await vault.update(async () => GIVEN)
    expect(await vault.read()).toBe(GIVEN)
    expect(notes.join('\n')).toMatch(/cannot lock the credentials[\s\S]*lasts only as long as this process/)
  })

  it('makes one change after another', async () => {
    const order: string[] = []
    const first = Promise.withResolvers<void>()
    const one = open().update(async () => {
      order.push('one')
      await first.promise
      order.push('end of one')
      return GIVEN
    })
    await vi.waitFor(() => expect(order).toEqual(['one']))
    const two = open().update(async (kept) => {
      order.push('two')
      expect(kept).toEqual(GIVEN)
      return undefined
    })
    first.resolve()
    await Promise.all([one, two])
    expect(order).toEqual(['one', 'end of one', 'two'])
  })

  it('lets go of the lock where a change fails', async () => {
    await expect(open().update(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await open().update(async () => GIVEN)).toBe(GIVEN)
  })
})

describe('a lock', () => {
  const path = (): string => join(folder, 'x.lock')
  const later = async (clock: FakeClock, ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 50) {
      await clock.advance(50)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }

  /** A waiter beside the lock of this owner, with its clock; `release` once it was given. */
  const waiting = async (owner: string) => {
    await writeFile(path(), owner)
    const waiter = { clock: new FakeClock(), release: undefined as (() => Promise<void>) | undefined }
    void takeLock(path(), waiter.clock).then((given) => (waiter.release = given))
    return waiter
  }

  it.each([
    ['that died', 'x'],
    ['in another container, or before a start of the machine,', 'x start-0/pid:[1]'],
  ])('of a process %s is taken after a silence', async (_, rest) => {
    const waiter = await waiting(`${hostname()} 999999999 ${rest}`)
    await later(waiter.clock, 14_000)
    expect(waiter.release).toBeUndefined()
    await later(waiter.clock, 2_000)
    await vi.waitFor(() => expect(waiter.release).toBeDefined())
    await waiter.release?.()
    expect(await readdir(folder)).toEqual([])
  })

  it('tells what the number of a process means here, where the system does', async () => {
    expect(await numbersOf(join(folder, 'no proc'))).toBe('')
    await mkdir(join(folder, 'proc', 'sys', 'kernel', 'random'), { recursive: true })
    await mkdir(join(folder, 'proc', 'self', 'ns'), { recursive: true })
    await writeFile(join(folder, 'proc', 'sys', 'kernel', 'random', 'boot_id'), 'start-1\n')
    await symlink('pid:[1]', join(folder, 'proc', 'self', 'ns', 'pid'))
    expect(await numbersOf(join(folder, 'proc'))).toBe('start-1/pid:[1]')
  })

  it('of a process that is surely gone is taken at once', async () => {
    const own = await numbersOf()
    const waiter = await waiting(`${hostname()} 999999999 x ${own}`)
    await later(waiter.clock, own === '' ? 16_000 : 100)
    await vi.waitFor(() => expect(waiter.release).toBeDefined())
    await waiter.release?.()
  })

  it('of a living holder is never taken, whatever the wall clock says', async () => {
    const clock = new FakeClock()
    const release = await takeLock(path(), clock)
    const failure = takeLock(path(), clock).catch((error: unknown) => error)
    vi.spyOn(Date, 'now').mockReturnValue(0)
    await later(clock, 50_000)
    expect(await failure).toBeInstanceOf(LockTimeout)
    vi.mocked(Date.now).mockRestore()
    await release()
    await (
      await takeLock(path(), clock)
    )()
  })

  it('of a holder elsewhere is kept as long as it is touched', async () => {
    await writeFile(path(), 'elsewhere 1 x')
    const clock = new FakeClock()
    let isTaken = false
    const taken = takeLock(path(), clock).then((release) => {
      isTaken = true
      return release
    })
    for (let n = 1; n <= 3; n += 1) {
      await later(clock, 10_000)
      await utimes(path(), n, n)
    }
    expect(isTaken).toBe(false)
    await rm(path())
    await later(clock, 100)
    await (
      await taken
    )()
  })

  it('of a suspended process is taken at last, and that one removes none but its own', async () => {
    const clock = new FakeClock()
    const suspended = await takeLock(path(), new FakeClock())
    let release: (() => Promise<void>) | undefined
    void takeLock(path(), clock).then((given) => (release = given))
    await later(clock, 39_000)
    expect(release).toBeUndefined()
    await later(clock, 2_000)
    await vi.waitFor(() => expect(release).toBeDefined())
    await suspended()
    expect(await readdir(folder)).toEqual(['x.lock'])
    await release?.()
  })

  it('is not made where no file can be, and its release does without the file', async () => {
    await expect(takeLock(join(folder, 'no', 'x.lock'), new FakeClock())).rejects.toThrow(/ENOENT/)
    const release = await takeLock(path(), new FakeClock())
    await rm(path())
    await release()
  })

  it('that is held too long is told, and nothing is changed', async () => {
    const clock = new FakeClock()
    const vault = openVault({ folder, name: 'one', clock, note })
    const held = Promise.withResolvers<undefined>()
    const first = vault.update(() => held.promise)
    await vi.waitFor(async () => expect(await readdir(folder)).toHaveLength(1))
    const second = vault.update(async () => GIVEN).catch((error: unknown) => error)
    await later(clock, 46_000)
    expect(await second).toBeInstanceOf(LockTimeout)
    held.resolve(undefined)
    expect(await first).toEqual(NO_CREDENTIALS)
  })

  it('that turns out to be a new one is put back', async () => {
    await writeFile(path(), 'new owner')
    await clear(path(), 'dead owner')
    expect(await readFile(path(), 'utf8')).toBe('new owner')
    await clear(join(folder, 'gone.lock'), 'dead owner')
    expect(await readdir(folder)).toEqual(['x.lock'])
  })

  it('of a process of another user counts as running', async () => {
    await writeFile(path(), `${hostname()} 1 x`)
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('not yours'), { code: 'EPERM' })
    })
    const clock = new FakeClock()
    let isTaken = false
    const taken = takeLock(path(), clock).then((release) => {
      isTaken = true
      return release
    })
    await later(clock, 20_000)
    expect(isTaken).toBe(false)
    kill.mockRestore()
    await rm(path())
    await later(clock, 100)
    await (
      await taken
    )()
  })
})

describe('the host service', () => {
  it('keeps one reference a server, and sees at once what another host wrote', async () => {
    const path = join(folder, '.credentials.yaml')
    const contexts = [new Context(), new Context()]
    const services = await Promise.all(
      contexts.map(async (ctx) => {
        await ctx.plugin(LocalCredentialProvider, { path, watch: false })
        return ctx.get('credentials') as LocalCredentialProvider
      }),
    )
    const [first, second] = services.map((service) =>
      open(createHostSafe({ service, name: 'my server', note })),
    )
    await first?.update(async () => GIVEN)
    // From memory, as the host answers; under the lock as it is.
    expect(await second?.read()).toBe(NO_CREDENTIALS)
    expect(await second?.update(async () => undefined)).toEqual(GIVEN)
    expect(await readFile(path, 'utf8')).toMatch(/^MCP_LOGIN_MY_SERVER_[0-9A-F]{8}:/)
    await first?.update(async () => NO_CREDENTIALS)
    expect(await readFile(path, 'utf8')).not.toMatch(/MCP_LOGIN/)
    await Promise.all(contexts.map((ctx) => ctx.fiber.dispose()))
  })

  it('counts a damaged value as none, and has a name for each server', async () => {
    const values = ['no json', '{"tokens":1}']
    const service = {
      resolve: () => Promise.resolve({ value: values.shift() ?? '' }),
      set: () => Promise.resolve(),
      unset: () => Promise.resolve(),
    }
    const safe = createHostSafe({ service, name: 'x', note })
    expect([await safe.load(false), await safe.load(false)]).toEqual([undefined, undefined])
    expect(notes).toHaveLength(2)
    expect(credentialRefOf('a-b')).not.toBe(credentialRefOf('a_b'))
    expect(credentialRefOf('ü'.repeat(200))).toMatch(/^[A-Z_][A-Z0-9_]*$/)
  })
})

describe('credentials', () => {
  it('are read strictly', () => {
    expect(parseCredentials(structuredClone(GIVEN))).toEqual(GIVEN)
    const full = {
      ...GIVEN,
      discovery: { ...GIVEN.discovery, metadata: { issuer: 'i' }, resourceMetadata: { resource: 'r' } },
      proofKey: { privateJwk: {}, publicJwk: {}, thumbprint: 't' },
      owner: { clientId: 'c', issuer: 'i' },
    }
    expect(parseCredentials(full)).toBe(full)
    for (const damage of [
      null,
      { clients: 1, tokens: {} },
      { clients: {}, tokens: 1 },
      { ...GIVEN, clients: { a: {} } },
      { ...GIVEN, tokens: { a: { access: 'a' } } },
      { ...GIVEN, tokens: { a: { access: 'a', client: CLIENT, expiresAt: 'x' } } },
      { ...GIVEN, server: 1 },
      { ...GIVEN, discovery: 1 },
      { ...full, discovery: { ...full.discovery, metadata: 1 } },
      { ...full, discovery: { ...full.discovery, resourceMetadata: 1 } },
      { ...full, proofKey: { thumbprint: 't' } },
      { ...full, owner: { clientId: 1 } },
    ])
      expect(parseCredentials(damage)).toBeUndefined()
  })

  it('count for their server, issuer and client only', () => {
    expect(credentialsFor(GIVEN, 'https://s.example/mcp')).toBe(GIVEN)
    expect(credentialsFor(GIVEN, 'https://t.example/mcp').tokens).toEqual({})
    expect(tokensFor(GIVEN, {})?.access).toBe('access-1')
    expect(tokensFor(GIVEN, { issuer: 'https://b.example' })).toBeUndefined()
    expect(tokensFor(GIVEN, { clientId: 'other' })).toBeUndefined()
    expect(tokensFor(NO_CREDENTIALS, {})).toBeUndefined()
  })

  it('have no end where the server says none, or nonsense', () => {
    const answer = { access_token: 'a', token_type: 'DPoP' }
    const asked = { scope: 's', client: CLIENT }
    expect(tokensOf(answer, asked, 5)).toEqual({ access: 'a', client: CLIENT, scope: 's', isBound: true })
    expect(tokensOf({ ...answer, expires_in: 0 }, asked, 5).expiresAt).toBeUndefined()
    expect(tokensOf({ ...answer, expires_in: 2 }, asked, 5)).toMatchObject({
      expiresAt: 2_005,
      lifeMs: 2_000,
    })
  })
})

it('allows so many attempts in a stretch of time', async () => {
  const clock = new FakeClock()
  const allow = createAllowance(clock, 2, 1_000)
  expect([allow(), allow(), allow()]).toEqual([true, true, false])
  await clock.advance(1_000)
  expect(allow()).toBe(true)
})
