/** Owns the tests of the private files, in real folders: what is written, and what lies there that must not be read. */
import { execFileSync } from 'node:child_process'
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStore } from '../../src/store.ts'
import type { Store, StoreOptions } from '../../src/store.ts'

interface Value {
  readonly word?: unknown
}

let home: string
let folder: string
let notes: string[]

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'mcp-store-'))
  folder = join(home, 'mcp-client')
  notes = []
})
afterEach(() => rm(home, { recursive: true, force: true }))

function open(over: Partial<StoreOptions<Value>> = {}): Promise<Store<Value>> {
  return openStore<Value>({
    folder,
    name: 'demo',
    version: 1,
    parse: (stored) => (typeof stored['word'] === 'string' ? stored : undefined),
    maxBytes: 1_000,
    note: (text) => notes.push(text),
    timeoutMs: 5_000,
    ...over,
  })
}

async function written(value: Value, over: Partial<StoreOptions<Value>> = {}): Promise<void> {
  const store = await open(over)
  store.write(value)
  await store.flush()
}

describe('a private file', () => {
  it('is read in the next run, and is gone when nothing is written', async () => {
    expect((await open()).found).toBe('nothing')
    await written({ word: 'kept' })
    const store = await open()
    expect([store.found, store.read()]).toEqual(['value', { version: 1, word: 'kept' }])
    store.write(undefined)
    await store.flush()
    expect(store.read()).toBeUndefined()
    expect(await readdir(folder)).toEqual([])
    expect((await open()).found).toBe('nothing')
    expect(notes).toEqual([])
  })

  it('is for its owner alone, also in a folder that was open to all', async () => {
    await mkdir(folder, { mode: 0o777 })
    await chmod(folder, 0o777)
    await written({ word: 'kept' })
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect((await stat(join(folder, 'demo.json'))).mode & 0o777).toBe(0o600)
  })

  it.each(['../../outside', '/absolute', 'nul\0', 'C:\\x', '', '..', 'x'.repeat(300), 'a/b'])(
    'has a safe name, whatever it is called: %j',
    async (name) => {
      await written({ word: 'kept' }, { name })
      expect(await readdir(folder)).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.json$/)])
      expect(await readdir(home)).toEqual(['mcp-client'])
      expect((await open({ name })).found).toBe('value')
    },
  )

  it('holds no more than its limit: less of the value, or nothing of it', async () => {
    await written({ word: 'x'.repeat(2_000) }, { smaller: () => ({ word: 'less' }) })
    expect((await open()).read()).toMatchObject({ word: 'less' })
    await written({ word: 'x'.repeat(2_000) }, { smaller: (value) => value })
    await written({ word: 'x'.repeat(2_000) })
    expect(notes).toEqual(Array.from({ length: 2 }, () => 'cannot remember: larger than 1000 bytes'))
    expect((await open()).read()).toMatchObject({ word: 'less' })
  })
})

describe('what is no plain file of ours', () => {
  const path = (): string => join(folder, 'demo.json')
  const cases: Readonly<Record<string, () => Promise<unknown>>> = {
    'a symbolic link': async () => {
      await writeFile(join(home, 'elsewhere.json'), '{"version":1,"word":"planted"}')
      await symlink(join(home, 'elsewhere.json'), path())
    },
    'no plain file': async () => execFileSync('mkfifo', [path()]),
    'writable by others': async () => {
      await writeFile(path(), '{"version":1,"word":"planted"}')
      await chmod(path(), 0o666)
    },
    'larger than 1000 bytes': () => writeFile(path(), `{"version":1,"word":"${'x'.repeat(1_000)}"}`),
  }

  it.each(Object.entries(cases))('is set aside with one line, unread: %s', async (why, plant) => {
    await mkdir(folder)
    await plant()
    const store = await open()
    expect([store.found, store.read()]).toEqual(['lost', undefined])
    expect(notes).toEqual([`a file that is ${why} was set aside as ${path()}.damaged`])
    store.write({ word: 'mine' })
    await store.flush()
    expect((await open()).read()).toMatchObject({ word: 'mine' })
    expect(notes).toHaveLength(1)
  })

  it.each(Object.entries(cases))('stays where somebody only looks: %s', async (why, plant) => {
    await mkdir(folder)
    await plant()
    const before = await readdir(folder)
    const store = await open({ isReadOnly: true })
    expect([store.found, store.read()]).toEqual(['lost', undefined])
    expect(notes).toEqual([`cannot read what was remembered: ${path()} is ${why}; a host sets it aside`])
    store.write({ word: 'mine' })
    await store.flush()
    expect(await readdir(folder)).toEqual(before)
  })

  it('is a loss until something is written in its place, where the reader cares', async () => {
    await mkdir(folder)
    await writeFile(path(), '{bad', { mode: 0o600 })
    expect((await open({ isReadOnly: true })).found).toBe('lost')
    expect((await open()).found).toBe('lost')
    expect((await open()).found).toBe('nothing')
    expect((await open({ remembersLoss: true })).found).toBe('lost')
    const store = await open({ remembersLoss: true })
    store.write({ word: 'mine' })
    await store.flush()
    expect((await open({ remembersLoss: true })).found).toBe('value')
    store.write(undefined)
    await store.flush()
    expect((await open({ remembersLoss: true })).found).toBe('nothing')
    expect(notes).toEqual([
      `cannot read what was remembered: ${path()} is damaged; a host sets it aside`,
      `a damaged file was set aside as ${path()}.damaged`,
      `a damaged file was set aside earlier as ${path()}.damaged`,
      `a damaged file was set aside earlier as ${path()}.damaged`,
    ])
  })

  it('is set aside where it belongs to another user', async (task) => {
    await written({ word: 'planted' })
    try {
      await chown(path(), 12_345, 12_345)
    } catch {
      task.skip()
    }
    expect((await open()).found).toBe('lost')
    expect(notes).toEqual([`a file that is owned by another user was set aside as ${path()}.damaged`])
  })

  it('is set aside where it is a socket', async () => {
    await mkdir(folder)
    const server = createServer().listen(path())
    try {
      expect((await open()).found).toBe('lost')
      expect(notes).toEqual([`a file that is no plain file was set aside as ${path()}.damaged`])
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  })

  it('is set aside where it is older than this version, or reading it goes wrong', async () => {
    await written({ word: 'old' })
    expect((await open({ version: 2 })).found).toBe('lost')
    await written({ word: 'odd' })
    const parse = (): never => {
      throw new Error('odd')
    }
    expect((await open({ parse })).found).toBe('lost')
    expect(notes).toHaveLength(2)
  })

  it('is not written over where it cannot be read', async () => {
    await writeFile(folder, 'a file where the folder should be')
    const store = await open()
    expect(store.found).toBe('lost')
    store.write({ word: 'mine' })
    await store.flush()
    expect(store.read()).toEqual({ word: 'mine' })
    expect(notes).toEqual([
      expect.stringMatching(/^cannot read what was remembered: ENOTDIR/),
      'cannot remember: what is there could not be read, and stays',
    ])
    expect(await readFile(folder, 'utf8')).toBe('a file where the folder should be')
  })
})

describe('a disk that does not answer', () => {
  const hasty = { now: () => 0, after: (_ms: number, callback: () => void) => (callback(), () => {}) }

  it('holds up neither a start nor an end', async () => {
    const store = await open({ clock: hasty, timeoutMs: 7 })
    expect(store.found).toBe('lost')
    store.write({ word: 'mine' })
    await store.flush()
    expect(notes).toContain('cannot read what was remembered: no answer from the disk within 7 ms')
    expect(notes).toContain('cannot remember: no answer from the disk within 7 ms')
  })
})
