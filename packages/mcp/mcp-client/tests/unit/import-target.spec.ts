/** The file that rows go to: as text, and on disk. */
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hostYaml } from '../cli/host-yaml.ts'
import type { Row } from '../../src/cli/import/row.ts'
import { readText } from '../../src/cli/import/source.ts'
import { readTarget, withRows } from '../../src/cli/import/target.ts'
import { writeTarget } from '../../src/cli/import/writer.ts'

const ROWS: readonly Row[] = [
  {
    id: 'mcp-a',
    name: '@deepseek-ai/dsh-mcp-client',
    config: { serverName: 'a', command: 'x', args: ['-y'] },
  },
  { id: 'mcp-b', name: '@deepseek-ai/dsh-mcp-client', config: { serverName: 'b', url: 'http://h/x' } },
]
const added = (text: string | undefined, path = 'cordis.yml'): string =>
  withRows(readTarget(path, text), ROWS)

describe('adding rows', () => {
  it.each([
    ['nothing', undefined],
    ['an empty file', ''],
    ['comments alone', '# mine\n'],
    ['a list', '- id: x\n  name: y\n'],
    ['no line break at the end', '- id: x\n  name: y'],
    ['a comment at the end', '- id: x # one\n  name: y\n  # two\n# three\n'],
    ['a list that is indented', '  - id: x\n    name: y\n'],
    ['a text at the end', '- id: x\n  config:\n    text: |\n      a\n\n      b\n'],
    ['a text that keeps its empty lines', '- id: x\n  config: |+\n    a\n\n\n'],
    ['anchors', '- &a\n  id: x\n  config: { b: 1 }\n- <<: x\n  id: y\n  config: *a\n'],
    [
      'expressions',
      "- id: x\n  disabled: !!js process.platform === 'win32'\n  config: !!js '`Bearer ${process.env.X}`'\n",
    ],
    ['a byte order mark', '\ufeff- id: x\n  name: y\n'],
    ['a document start', '---\n- id: x\n  name: y\n'],
  ])('to %s keeps every byte before them', (_name, text) => {
    const result = added(text)
    expect(result.startsWith(text ?? '')).toBe(true)
    const before = text === undefined ? [] : ((hostYaml(text) ?? []) as unknown[])
    expect(hostYaml(result)).toEqual([...before, ...ROWS])
  })

  it('to a file with CRLF keeps its line breaks', () => {
    const result = added('- id: x\r\n  name: y\r\n')
    expect(result.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  })

  it('to a list in one line writes it anew, with its expressions', () => {
    const text = "# top\n[{ id: x, disabled: !!js '`a: ${b}`' }] # end\n"
    const result = added(text)
    expect(hostYaml(result)).toEqual([...(hostYaml(text) as unknown[]), ...ROWS])
    expect(result).toMatchInlineSnapshot(`
      "# top
      - {id: x, disabled: !!js '\`a: \${b}\`'}
      - id: mcp-a
        name: '@deepseek-ai/dsh-mcp-client'
        config:
          serverName: a
          command: x
          args: ['-y']

      - id: mcp-b
        name: '@deepseek-ai/dsh-mcp-client'
        config:
          serverName: b
          url: http://h/x
      # end
      "
    `)
  })

  it.each([
    ['nothing', undefined],
    ['an empty list', '[]\n'],
    ['patches without an insert', '- id: hmr\n  disabled: true\n'],
    [
      'an insert that is not the last',
      '- insert:\n    - id: x\n      name: y\n- id: hmr\n  disabled: true\n',
    ],
    ['an insert into a group', '- id: group\n  insert:\n    - id: x\n      name: y\n'],
    ['an insert in one line', '- insert: [{ id: x, name: y }]\n'],
  ])('to a layer of patches with %s makes an insert', (_name, text) => {
    const result = added(text, 'cordis.patch.yml')
    const before = text === undefined ? [] : ((hostYaml(text) ?? []) as unknown[])
    expect(hostYaml(result)).toEqual([...before, { insert: ROWS }])
  })

  it('to a layer that ends with an insert goes on with it', () => {
    const text = '- id: hmr\n  disabled: true\n- insert:\n  - id: x\n    name: y\n    # mine\n'
    const result = added(text, 'overlay.yml')
    expect(result.startsWith(text)).toBe(true)
    expect(hostYaml(result)).toEqual([
      { id: 'hmr', disabled: true },
      { insert: [{ id: 'x', name: 'y' }, ...ROWS] },
    ])
  })

  it('to a layer that ends with a marker writes it anew', () => {
    const result = added('- insert:\n  - id: x\n    name: y\n...\n', 'overlay.yml')
    expect(hostYaml(result)).toEqual([{ insert: [{ id: 'x', name: 'y' }] }, { insert: ROWS }])
  })

  it('is refused where it would change what the file says', () => {
    expect(() => added('---\n...\n')).toThrow('cannot be added')
  })
})

describe('reading the file', () => {
  it('finds names and ids at any depth', () => {
    const text = [
      '- id: group',
      '  group: true',
      '  config:',
      '    - id: mcp-in\n      config: { serverName: in }',
      '- insert:',
      '    - id: mcp-below\n      disabled: true\n      config: { serverName: below, env: { K: v } }',
      '- id: 7\n  config: { serverName: !!js x }',
    ].join('\n')
    const { ids, serverNames, kind, strings } = readTarget('x.yaml', text)
    expect([...ids]).toEqual(['group', 'mcp-in', 'mcp-below'])
    expect([...serverNames]).toEqual(['in', 'below'])
    expect(kind).toBe('patches')
    expect(strings).toContainEqual(['K', 'v'])
  })

  it.each([
    ['a.json', '[]', 'Rows go to a .yml or .yaml file alone.'],
    ['a.yml', 'a: 1', 'It is no list of entries: each begins with "- id:".'],
    ['a.yml', '- a: "secret\n', 'It is no valid YAML at line 2, column 1 (missing char).'],
    ['a.yml', '- a\n---\n- b\n', 'It is no valid YAML at line 2, column 1 (multiple docs).'],
    ['a.yml', '- *nobody\n', 'Its aliases cannot be followed.'],
  ])('refuses %s %j', (path, text, message) => {
    expect(() => readTarget(path, text)).toThrow(message)
  })
})

describe('writing the file', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dsh-target-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('makes a new file, with its folder', async () => {
    const path = join(folder, 'new', 'cordis.yml')
    expect(await writeTarget(path, 'a', undefined)).toBeUndefined()
    expect(await readFile(path, 'utf8')).toBe('a')
    expect(await readdir(join(folder, 'new'))).toEqual(['cordis.yml'])
  })

  it('does not write over what was changed in the meantime', async () => {
    const path = join(folder, 'cordis.yml')
    await writeFile(path, 'mine')
    await expect(writeTarget(path, 'a', 'other')).rejects.toThrow('changed in the meantime')
    await expect(writeTarget(path, 'a', undefined)).rejects.toThrow('changed in the meantime')
    expect(await readFile(path, 'utf8')).toBe('mine')
  })

  it('leaves the file as it was when it cannot be written', async () => {
    const path = join(folder, 'cordis.yml')
    await writeFile(path, 'mine')
    for (let number = 0; number < 1000; number += 1) {
      await writeFile(`${path}.bak${number === 0 ? '' : `.${number}`}`, '')
    }
    await expect(writeTarget(path, 'a', 'mine')).rejects.toThrow('1000 backups')
    expect(await readFile(path, 'utf8')).toBe('mine')
    const blocked = join(folder, 'file.yml', 'cordis.yml')
    await writeFile(join(folder, 'file.yml'), '')
    await expect(writeTarget(blocked, 'a', undefined)).rejects.toThrow(/It cannot be written \(E\w+\)\./)
  })

  it('tells a backup that cannot be made', async () => {
    const path = join(folder, `${'x'.repeat(250)}.yml`)
    await writeFile(path, 'mine')
    await expect(writeTarget(path, 'a', 'mine')).rejects.toThrow('It cannot be written (ENAMETOOLONG).')
    expect(await readFile(path, 'utf8')).toBe('mine')
  })

  it.skipIf(process.getuid?.() === 0)('tells a folder without permission', async () => {
    const path = join(folder, 'cordis.yml')
    await writeFile(path, 'mine')
    await chmod(folder, 0o500)
    await expect(writeTarget(path, 'a', 'mine')).rejects.toThrow('It cannot be written (EACCES).')
    await chmod(folder, 0o700)
  })

  it('tells a folder in the place of the file', async () => {
    const path = join(folder, 'cordis.yml')
    await mkdir(path)
    await expect(readText(path)).rejects.toThrow('no plain file')
  })
})
