/** Owns the tests of what is remembered of a server between runs, in a real folder. */
import { mkdir, mkdtemp, readFile, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { identityOf, openMemory } from '../../src/memory.ts'
import type { Memory } from '../../src/memory.ts'
import type { ServerSpec, StdioTarget } from '../../src/types.ts'
import { makeSpec } from '../composition/registry-host.ts'

const ERA = { era: 'legacy', at: 1_700_000_000_000 } as const
const CATALOG = { items: [{ name: 'a' }], at: 1_700_000_000_001 }

let home: string
let folder: string
let notes: string[]

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'mcp-memory-'))
  folder = join(home, 'mcp-client')
  notes = []
})
afterEach(() => rm(home, { recursive: true, force: true }))

const open = (spec: ServerSpec = makeSpec()): Promise<Memory> =>
  openMemory(spec, { folder, note: (text) => notes.push(text) })

function stdio(over: Partial<StdioTarget> = {}): ServerSpec {
  return makeSpec({
    target: {
      kind: 'stdio',
      command: 'serve',
      args: ['-x'],
      env: { TOKEN: 'one-secret' },
      inheritEnv: [],
      ...over,
    },
  })
}
function http(url: string, headers: Readonly<Record<string, string>> = {}): ServerSpec {
  return makeSpec({ target: { kind: 'http', flavour: 'auto', url, headers } })
}

async function remember(spec: ServerSpec, change: Parameters<Memory['update']>[0]): Promise<void> {
  const memory = await open(spec)
  memory.update(change)
  await memory.flush()
}
async function onlyFile(): Promise<string> {
  const files = await readdir(folder)
  expect(files).toHaveLength(1)
  return join(folder, files[0] as string)
}

describe('openMemory', () => {
  it('knows nothing at first, and makes no file for that', async () => {
    const memory = await open()
    expect(memory.read()).toEqual({})
    await memory.flush()
    await expect(stat(folder)).rejects.toThrow(/ENOENT/)
    expect(notes).toEqual([])
  })

  it('remembers the size of the definitions, also for another login', async () => {
    await remember(stdio(), { bytes: { total: 900, fixed: 100 } })
    expect((await open(stdio({ env: { TOKEN: 'another' } }))).read()).toEqual({
      bytes: { total: 900, fixed: 100 },
    })
  })

  it('remembers over a restart, part by part', async () => {
    await remember(makeSpec(), { era: ERA })
    const memory = await open()
    expect(memory.read()).toEqual({ era: ERA })
    memory.update({ catalog: CATALOG })
    expect(memory.read()).toEqual({ era: ERA, catalog: CATALOG })
    await memory.flush()
    expect((await open()).read()).toEqual({ era: ERA, catalog: CATALOG })
    await remember(makeSpec(), { era: undefined })
    expect((await open()).read()).toEqual({ catalog: CATALOG })
    expect(notes).toEqual([])
  })

  it('writes the last state of many changes', async () => {
    const memory = await open()
    for (let at = 0; at < 20; at++) memory.update({ era: { era: at % 2 === 0 ? 'legacy' : 'modern', at } })
    await memory.flush()
    expect((await open()).read()).toEqual({ era: { era: 'modern', at: 19 } })
  })

  it('keeps file and folder to the user, and secrets out of both', async () => {
    await remember(stdio(), { era: ERA, catalog: CATALOG })
    const file = await onlyFile()
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect(file).toMatch(/\/demo-[0-9a-f]{16}\.json$/)
    expect(await readFile(file, 'utf8')).not.toContain('one-secret')
  })
})

describe('a changed row', () => {
  it.each<[string, ServerSpec, ServerSpec]>([
    ['command', stdio(), stdio({ command: 'other' })],
    ['arguments', stdio(), stdio({ args: ['-y'] })],
    ['folder', stdio(), stdio({ cwd: '/' })],
    ['url', http('http://a/'), http('http://b/')],
    ['transport', stdio(), http('http://a/')],
    ['protocol', stdio(), { ...stdio(), protocol: 'legacy' }],
    ['name', stdio(), { ...stdio(), serverName: 'other' }],
  ])('of another %s is another server', async (_what, before, after) => {
    await remember(before, { era: ERA, catalog: CATALOG })
    expect((await open(after)).read()).toEqual({})
    expect((await open(before)).read()).toEqual({ era: ERA, catalog: CATALOG })
    expect(identityOf(before)).not.toBe(identityOf(after))
  })

  it.each<[string, ServerSpec, ServerSpec]>([
    ['environment', stdio(), stdio({ env: { TOKEN: 'another' } })],
    ['headers', http('http://a/', { authorization: 'x' }), http('http://a/', { authorization: 'y' })],
  ])(
    'of another %s is another login: tools and prompts are forgotten, the era is not',
    async (_what, before, after) => {
      const prompts = [{ name: 'a' }]
      await remember(before, { era: ERA, catalog: CATALOG, prompts })
      expect((await open(before)).read()).toEqual({ era: ERA, catalog: CATALOG, prompts })
      expect((await open(after)).read()).toEqual({ era: ERA })
      await remember(after, { catalog: { items: [], at: 1 } })
      expect((await open(before)).read()).toEqual({ era: ERA })
    },
  )

  it('with its variables in another order is the same', async () => {
    await remember(stdio({ env: { A: '1', B: '2' } }), { catalog: CATALOG })
    expect((await open(stdio({ env: { B: '2', A: '1' } }))).read()).toEqual({ catalog: CATALOG })
  })
})

describe('a file that is not right', () => {
  it.each([
    ['empty', ''],
    ['cut short', '{"version":1,"auth'],
    ['a list', '[]'],
    ['null', 'null'],
    ['text', '"x"'],
    ['of another version', '{"version":2}'],
    ['without a version', '{}'],
    ['with an era of null', '{"version":1,"era":null}'],
    ['with an era of text', '{"version":1,"era":"legacy"}'],
    ['with an era nobody knows', '{"version":1,"era":{"era":"future","at":1}}'],
    ['with an era without a time', '{"version":1,"era":{"era":"legacy"}}'],
    ['with odd resources', '{"version":1,"catalog":{"items":[],"at":1,"resources":"x"}}'],
    ['with odd instructions', '{"version":1,"catalog":{"items":[],"at":1,"instructions":7}}'],
    ['with odd prompts', '{"version":1,"prompts":{}}'],
    ['with bytes of null', '{"version":1,"bytes":null}'],
    ['with bytes without a total', '{"version":1,"bytes":{"fixed":1}}'],
    ['with bytes of text', '{"version":1,"bytes":{"total":1,"fixed":"1"}}'],
    ['with a catalog of null', '{"version":1,"catalog":null}'],
    ['with a catalog without items', '{"version":1,"catalog":{"at":1}}'],
    ['with a catalog without a time', '{"version":1,"catalog":{"items":[]}}'],
  ])('is set aside: %s', async (_what, text) => {
    await remember(makeSpec(), { era: ERA })
    const file = await onlyFile()
    await writeFile(file, text)
    const memory = await open()
    expect(memory.read()).toEqual({})
    expect(notes).toEqual([`a damaged file was set aside as ${file}.damaged`])
    expect(await readFile(`${file}.damaged`, 'utf8')).toBe(text)
    memory.update({ era: ERA })
    await memory.flush()
    expect((await open()).read()).toEqual({ era: ERA })
  })

  it('and cannot be set aside costs one note, too', async () => {
    await remember(makeSpec(), { era: ERA })
    const file = await onlyFile()
    await writeFile(file, 'damaged')
    await mkdir(join(`${file}.damaged`, 'full'), { recursive: true })
    expect((await open()).read()).toEqual({})
    expect(notes).toEqual([expect.stringMatching(/^a damaged file cannot be set aside: /)])
  })

  it('and is too large is not read', async () => {
    await remember(makeSpec(), { era: ERA })
    const file = await onlyFile()
    await truncate(file, 16 * 1024 * 1024 + 1)
    expect((await open()).read()).toEqual({})
    const bytes = 16 * 1024 * 1024
    expect(notes).toEqual([`a file that is larger than ${bytes} bytes was set aside as ${file}.damaged`])
  })

  it('and is a folder is set aside', async () => {
    await remember(makeSpec(), { era: ERA })
    const file = await onlyFile()
    await rm(file)
    await mkdir(file)
    expect((await open()).read()).toEqual({})
    expect(notes).toEqual([`a file that is no plain file was set aside as ${file}.damaged`])
  })
})

describe('a catalog', () => {
  it('that is too large is not kept, counted in bytes', async () => {
    const items = [{ name: 'a', description: 'ä'.repeat(9 * 1024 * 1024) }]
    await remember(makeSpec(), { era: ERA, catalog: { items, at: 1 } })
    expect((await stat(await onlyFile())).size).toBeLessThan(1_000)
    expect((await open()).read()).toEqual({ era: ERA })
  })

  it('that cannot be written is noted once for many changes of a moment', async () => {
    await writeFile(folder, 'in the way')
    const memory = await open()
    notes.length = 0
    for (let at = 0; at < 50; at += 1) memory.update({ era: { ...ERA, at } })
    await memory.flush()
    expect(notes).toEqual([expect.stringMatching(/^cannot remember: /)])
  })

  it('that cannot be written is noted, and the next change is written', async () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown
    const memory = await open()
    memory.update({ catalog: { items: [deep], at: 1 } })
    await memory.flush()
    expect(notes[0]).toMatch(/^cannot remember: /)
    memory.update({ catalog: CATALOG })
    await memory.flush()
    expect((await open()).read()).toEqual({ catalog: CATALOG })
  })
})

describe('a folder that cannot be written', () => {
  it('is noted and stops nothing', async () => {
    await writeFile(folder, 'a file where the folder should be')
    const memory = await open()
    memory.update({ era: ERA })
    await memory.flush()
    expect(memory.read()).toEqual({ era: ERA })
    expect(notes.some((note) => note.startsWith('cannot remember: '))).toBe(true)
  })
})
