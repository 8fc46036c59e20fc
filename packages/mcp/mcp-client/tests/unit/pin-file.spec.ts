/** Owns the tests of the file of pins: who writes what when, what is lost and what is not. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '@dsh-mcp/testkit'
import { openPinFile, pinIdentityOf } from '../../src/discovery/pin-file.ts'
import { breakDeadLock } from '../../src/discovery/pin-lock.ts'
import type { PinFile } from '../../src/discovery/pin-file.ts'
import type { PinEdit } from '../../src/discovery/pins.ts'
import type { Target } from '../../src/types.ts'

const stdio = (command: string, args: readonly string[] = [], cwd?: string): Target => ({
  kind: 'stdio',
  command,
  args,
  env: {},
  inheritEnv: [],
  ...(cwd === undefined ? {} : { cwd }),
})
const http = (url: string, headers = {}): Target => ({ kind: 'http', flavour: 'auto', url, headers })

function place() {
  const root = temporaryFolder('pins')
  const folder = join(root, 'mcp-client')
  const notes: string[] = []
  return {
    folder,
    notes,
    path: join(folder, 'pins-kit.json'),
    open: (target: Target = stdio('server')): Promise<PinFile> =>
      openPinFile({ folder, serverName: 'kit', target, note: (text) => void notes.push(text) }),
  }
}

const pin = (name: string, digest = 'd', more: object = {}): PinEdit => ({
  kind: 'pin',
  name,
  version: { digest, at: 1, ...more },
})
const names = (file: PinFile): string[] => [...(file.set()?.pins.keys() ?? [])].toSorted()

describe('the identity of a server', () => {
  it('is its command, arguments and folder, or its URL, and nothing else', () => {
    const targets = [
      stdio('a'),
      stdio('b'),
      stdio('a', ['x']),
      stdio('a', [], '/tmp'),
      http('https://a.example/'),
      http('https://a.example/x'),
    ]
    expect(new Set(targets.map((target) => pinIdentityOf('kit', target))).size).toBe(targets.length)
    expect(pinIdentityOf('other', stdio('a'))).not.toBe(pinIdentityOf('kit', stdio('a')))
    expect(pinIdentityOf('kit', http('https://a.example', { Authorization: 'x' }))).toBe(
      pinIdentityOf('kit', http('https://a.example/')),
    )
  })
})

describe('a file of pins', () => {
  it('is private, and read back whatever the names are', async () => {
    const t = place()
    const first = await t.open()
    expect(first.found).toBe('nothing')
    expect([first.set(), first.hasOthers(), first.isLost()]).toEqual([undefined, false, false])
    first.edit([])
    first.edit([
      pin('__proto__', 'p', { definition: '{"description":""}' }),
      pin('a/../b'),
      { kind: 'whole' },
    ])
    first.edit([{ kind: 'pending', name: 'a/../b', version: { digest: 'e', at: 2 } }])
    await first.flush()
    expect(statSync(t.path).mode & 0o777).toBe(0o600)
    expect(statSync(t.folder).mode & 0o777).toBe(0o700)
    expect(readdirSync(t.folder)).toEqual(['pins-kit.json'])
    const second = await t.open()
    expect(second.found).toBe('value')
    expect(second.set()).toEqual(first.set())
    expect(second.set()?.isWhole).toBe(true)
    expect(t.notes).toEqual([])
  })

  it('has a set for each command or URL', async () => {
    const t = place()
    const first = await t.open()
    first.edit([pin('a')])
    await first.flush()
    const second = await t.open(stdio('other'))
    expect([second.set(), second.hasOthers()]).toEqual([undefined, true])
    second.edit([pin('b')])
    await second.flush()
    expect(names(await t.open())).toEqual(['a'])
    expect(names(await t.open(stdio('other')))).toEqual(['b'])
  })

  it('loses nothing of two hosts that write at once', async () => {
    const t = place()
    const hosts = await Promise.all(Array.from({ length: 4 }, () => t.open()))
    for (let round = 0; round < 5; round += 1)
      for (const [at, host] of hosts.entries()) host.edit([pin(`h${at}-${round}`)])
    await Promise.all(hosts.map((host) => host.flush()))
    expect(names(await t.open())).toHaveLength(20)
    expect(t.notes).toEqual([])
  })

  it('takes over what another process wrote, and only then', async () => {
    const t = place()
    const host = await t.open()
    expect(await host.refresh()).toBe(false)
    host.edit([pin('a')])
    await host.flush()
    expect(await host.refresh()).toBe(false)
    const other = await t.open()
    other.edit([{ kind: 'repin', name: 'a', version: { digest: 'approved', at: 2 } }])
    await other.flush()
    expect(await host.refresh()).toBe(true)
    expect(host.set()?.pins.get('a')?.pinned?.digest).toBe('approved')
    expect(await host.refresh()).toBe(false)
  })

  it('that goes away or is damaged under a running host takes nothing from it', async () => {
    const t = place()
    const host = await t.open()
    host.edit([pin('a')])
    await host.flush()
    rmSync(t.path)
    expect(await host.refresh()).toBe(false)
    expect(names(host)).toEqual(['a'])
    writeFileSync(t.path, 'no JSON', { mode: 0o600 })
    expect(await host.refresh()).toBe(false)
    expect(names(host)).toEqual(['a'])
    host.edit([pin('b')])
    await host.flush()
    expect(names(await t.open())).toEqual(['a', 'b'])
  })

  it.each([
    ['no JSON', 'no JSON'],
    ['another version', '{"version":9,"sets":[]}'],
    ['no sets', '{"version":1}'],
    ['a loss without a date', '{"version":1,"sets":[],"lostAt":"x"}'],
    ['a set that is none', '{"version":1,"sets":[1]}'],
    ['a set without an identity', '{"version":1,"sets":[{"at":1,"isWhole":true,"pins":[]}]}'],
    ['a set without pins', '{"version":1,"sets":[{"identity":"i","at":1,"isWhole":true}]}'],
    ['a pin without a name', '{"version":1,"sets":[{"identity":"i","at":1,"isWhole":true,"pins":[{}]}]}'],
    [
      'a pin without a digest',
      '{"version":1,"sets":[{"identity":"i","at":1,"isWhole":true,"pins":[{"name":"a","pinned":{}}]}]}',
    ],
    [
      'a version that is none',
      '{"version":1,"sets":[{"identity":"i","at":1,"isWhole":true,"pins":[{"name":"a","pinned":1}]}]}',
    ],
    [
      'a definition that is none',
      '{"version":1,"sets":[{"identity":"i","at":1,"isWhole":true,"pins":[{"name":"a","pinned":{"digest":"d","at":1,"definition":"["}}]}]}',
    ],
    [
      'a definition of another kind',
      '{"version":1,"sets":[{"identity":"i","at":1,"isWhole":true,"pins":[{"name":"a","pinned":{"digest":"d","at":1,"definition":7}}]}]}',
    ],
  ])('with %s is set aside', async (_, text) => {
    const t = place()
    mkdirSync(t.folder, { recursive: true, mode: 0o700 })
    writeFileSync(t.path, text, { mode: 0o600 })
    const file = await t.open()
    expect([file.found, file.set()]).toEqual(['lost', undefined])
    expect(t.notes).toHaveLength(1)
    expect(readFileSync(`${t.path}.damaged`, 'utf8')).toBe(text)
    file.edit([{ kind: 'lost' }])
    await file.flush()
    expect((await t.open()).isLost()).toBe(true)
  })

  it('that was set aside in an earlier run is lost still, and looking changes nothing', async () => {
    const t = place()
    mkdirSync(t.folder, { recursive: true, mode: 0o700 })
    writeFileSync(t.path, '{bad', { mode: 0o600 })
    const look = () =>
      openPinFile({
        folder: t.folder,
        serverName: 'kit',
        target: stdio('server'),
        note: (text) => void t.notes.push(text),
        isReadOnly: true,
      })
    expect((await look()).found).toBe('lost')
    expect(readFileSync(t.path, 'utf8')).toBe('{bad')
    expect((await t.open()).found).toBe('lost')
    expect((await look()).found).toBe('lost')
    expect((await t.open()).found).toBe('lost')
  })

  it('that is too large keeps the digests of the server at hand', async () => {
    const t = place()
    const other = await t.open(stdio('other'))
    other.edit([pin('o')])
    await other.flush()
    const file = await t.open()
    const definition = JSON.stringify({ description: 'x'.repeat(3_000_000) })
    file.edit(Array.from({ length: 6 }, (_, at) => pin(`n${at}`, 'd', { definition })))
    file.edit([
      { kind: 'pending', name: 'n0', version: { digest: 'e', at: 2, definition } },
      { kind: 'pending', name: 'waits', version: { digest: 'e', at: 2, definition } },
    ])
    await file.flush()
    const again = await t.open()
    expect(names(again)).toHaveLength(7)
    expect(again.set()?.pins.get('n0')).toEqual({
      name: 'n0',
      pinned: { digest: 'd', at: 1 },
      pending: { digest: 'e', at: 2 },
    })
    expect(again.hasOthers()).toBe(false)
  })

  it('is written without a lock where the lock was left behind, and says so', async () => {
    const t = place()
    mkdirSync(t.folder, { recursive: true, mode: 0o700 })
    writeFileSync(`${t.path}.lock`, '1')
    const file = await t.open()
    file.edit([pin('a')])
    await expect.poll(async () => names(await t.open()), { timeout: 5_000 }).toEqual(['a'])
    await expect.poll(() => t.notes.join()).toMatch(/pins are written without a lock: .*pins-kit\.json\.lock/)
  })

  it.each([
    ['its owner is gone', '2147483646\n', 60, false],
    ['its owner was killed before it wrote its number', '', 60, false],
    ['its owner is gone for a moment only', '2147483646\n', 0, true],
    ['its owner runs', `${process.pid}\n`, 60, true],
    ['it is of another making', 'somebody', 60, true],
  ])('breaks a lock where %s', async (_where, owner, ageS, stays) => {
    const t = place()
    mkdirSync(t.folder, { recursive: true, mode: 0o700 })
    const lock = `${t.path}.lock`
    writeFileSync(lock, owner)
    utimesSync(lock, Date.now() / 1000 - ageS, Date.now() / 1000 - ageS)
    await breakDeadLock(t.path)
    expect(existsSync(lock)).toBe(stays)
    if (stays) return
    const file = await t.open()
    writeFileSync(lock, owner)
    utimesSync(lock, 1, 1)
    file.edit([pin('a')])
    await file.flush()
    expect([names(await t.open()), t.notes, existsSync(lock)]).toEqual([['a'], [], false])
  })

  it('that cannot be written is told, and holds in this process', async () => {
    const t = place()
    writeFileSync(t.folder, 'in the way')
    const file = await t.open()
    file.edit([pin('a')])
    await file.flush()
    expect(names(file)).toEqual(['a'])
    expect(t.notes.at(-1)).toMatch(/^cannot/)
  })

  it('of a disk that hangs does not hold up the end', async () => {
    const t = place()
    mkdirSync(t.folder, { recursive: true, mode: 0o700 })
    writeFileSync(`${t.path}.lock`, '1')
    const file = await t.open()
    file.edit([pin('a')])
    const begun = performance.now()
    await file.flush()
    expect(performance.now() - begun).toBeLessThan(4_000)
    chmodSync(t.folder, 0o700)
  })
})
