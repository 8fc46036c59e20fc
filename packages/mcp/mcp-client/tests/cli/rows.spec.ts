/** Where rows come from, and what becomes of each. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '@dsh-mcp/testkit'
import { applyPatches } from '../../src/cli/rows/patches.ts'
import { loadRows, selectRows } from '../../src/cli/rows/source.ts'
import type { Row, SourceOptions } from '../../src/cli/rows/source.ts'
import { targetOf, transportOf } from '../../src/cli/target.ts'
import { fakeIo } from './fake-io.ts'
import type { FakeOptions } from './fake-io.ts'

const PLUGIN = "'@deepseek-ai/dsh-mcp-client'"
let folder: string
beforeEach(() => {
  folder = temporaryFolder('cli')
})

function write(name: string, text: string): string {
  const path = join(folder, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  return path
}

function load(options: SourceOptions = {}, io: FakeOptions = {}): ReturnType<typeof loadRows> {
  return loadRows(options, fakeIo({ cwd: folder, ...io }))
}

function row(name: string, config: string, more = ''): string {
  return `- id: mcp-${name}\n  name: ${PLUGIN}\n${more}  config:\n    serverName: ${name}\n    ${config.replaceAll('\n', '\n    ')}\n`
}

function shown({ name, disabled, resolved }: Row): string {
  return `${name}${disabled ? ' (disabled)' : ''}: ${resolved.ok ? `${transportOf(resolved.spec)} ${targetOf(resolved.spec)}` : resolved.fault}`
}

describe('a cordis.yml', () => {
  it('has the rows of this plugin, those in groups and includes too', () => {
    write(
      'cordis.yml',
      `
- id: timer
  name: '@deepseek-ai/cordis-plugin-timer'
${row('one', 'command: node\nargs: [a.js, "two words"]')}
- id: group
  name: cordis:group
  group: true
  disabled: true
  config:
    - id: inner
      name: ${PLUGIN}
      config: { serverName: inner, url: 'http://localhost:1/mcp' }
- id: more
  name: cordis:include
  config:
    path: more.yml
    patches:
      - { id: mcp-two, disabled: true }
      - { id: nobody, disabled: true }
- { id: path, name: ./node_modules/@deepseek-ai/dsh-mcp-client, config: { serverName: path, command: x } }
- { id: lost, name: cordis:include, config: { path: lost.yml } }
- { id: odd, name: cordis:include }
- just text
`,
    )
    write('more.yml', row('two', 'transport: sse\nurl: http://localhost:2/sse'))
    const source = load()
    expect(source.label).toBe('cordis.yml')
    expect(source.rows.map(shown)).toEqual([
      'one: stdio node a.js "two words"',
      'inner (disabled): http http://localhost:1/mcp',
      'two (disabled): sse http://localhost:2/sse',
      'path: stdio x',
    ])
    expect(source.notes).toHaveLength(2)
    expect(source.notes[0]).toBe('a patch is for "nobody", which is not there')
    expect(source.notes[1]).toContain('there is no such file')
    expect(source.readMs).toBeGreaterThan(0)
  })

  it('includes by absolute path and by URL, and no file without end', () => {
    const path = write('self.yml', '')
    write(
      'self.yml',
      `${row('again', 'command: x')}- { id: i, name: cordis:include, config: { path: '${path}' } }\n`,
    )
    write('cordis.yml', `- { id: i, name: cordis:include, config: { path: 'file://${path}' } }\n`)
    const { rows } = load()
    expect(rows.length).toBeGreaterThan(1)
    expect(rows.length).toBeLessThan(12)
    expect(rows.slice(1).every(({ resolved }) => !resolved.ok)).toBe(true)
  })

  it('evaluates !!js as the host does: process, dshHomePath and baseUrl are there', () => {
    write(
      'cordis.yml',
      `
${row(
  'js',
  `command: !!js process.execPath
args: [!!js "dshHomePath('x')", !!js baseUrl]
env:
  UNSET: !!js process.env.NO_SUCH_VARIABLE_HERE
  WORD: !!js '\`Bearer \${process.env.NO_SUCH_VARIABLE_HERE}\`'
  FINE: !!js '"undefined"'`,
)}
${row('off', 'command: x', "  disabled: !!js '1 + 1 === 2'\n")}
${row('service', 'command: x', '  disabled: !!js tools.isBusy\n')}
`,
    )
    const { rows } = load()
    const [first] = rows
    expect(first?.resolved.ok && first.resolved.spec.target).toMatchObject({
      command: process.execPath,
      args: [expect.stringMatching(/x$/), expect.stringMatching(/^file:.*\/$/)],
    })
    expect(first?.findings).toEqual({ unset: ['env.UNSET'], undefinedWords: ['env.WORD'] })
    expect(rows.map(({ disabled }) => disabled)).toEqual([false, true, false])
  })

  it('costs one row for one bad row, and names the place', () => {
    write(
      'cordis.yml',
      `
${row('one', 'command: a')}
${row('two', 'comand: a')}
${row('three', 'command: !!js nobody.knows.this')}
${row('one', 'command: b').replace('mcp-one', 'mcp-again')}
- { name: ${PLUGIN} }
- { id: list, name: ${PLUGIN}, config: [1] }
`,
    )
    expect(load().rows.map(shown)).toEqual([
      'one: stdio a',
      expect.stringContaining('two: comand is not a configuration key'),
      'three: command holds a !!js expression that fails: nobody is not defined',
      'one: serverName "one" is already in use by another row; pick a unique serverName',
      expect.stringContaining('row 5: config must be a mapping'),
      expect.stringContaining('list: config must be a mapping'),
    ])
  })

  it('fills in ${NAME} from the environment of the run', () => {
    write('cordis.yml', row('one', 'expandVars: true\ncommand: ${PROGRAM}'))
    expect(load({}, { env: { PROGRAM: 'sesame' } }).rows.map(shown)).toEqual(['one: stdio sesame'])
    expect(load().rows.map(shown)[0]).toContain('needs the environment variable PROGRAM')
  })

  it('is told what it is by a path outside the folder, or its own folder', () => {
    const path = write('deep/x.yml', row('one', 'command: a'))
    expect(load({ config: path }, { cwd: join(folder, 'other') }).label).toBe(path)
    expect(load({ config: 'deep/x.yml' }).label).toBe('deep/x.yml')
  })

  it.each([
    ['a: [1', ':1:6: '],
    ['a: 1\na: 2', 'Map keys must be unique'],
    ['just: a mapping', 'must be a list of rows'],
    ['- &a [*b]', 'b'],
  ])('is refused as a whole for %j', (text, message) => {
    write('cordis.yml', text)
    expect(() => load()).toThrow(message)
  })

  it('is refused when it is not there, or too large', () => {
    expect(() => load()).toThrow('there is no such file. Name the file with --config')
    expect(() => load({ config: '.' })).toThrow('cannot read')
    write('cordis.yml', `#${' '.repeat(5 * 1024 * 1024)}`)
    expect(() => load()).toThrow('larger than')
  })

  it('does not show a line that may hold a secret when it cannot be read', () => {
    write('cordis.yml', '- id: x\n  env: {TOKEN: sk-1234567890abcdef\n')
    expect(() => load()).toThrow(expect.not.stringContaining('sk-1234') as never)
    try {
      load()
    } catch (error) {
      expect((error as Error).message).not.toContain('sk-1234')
    }
  })
})

describe('a layer of patches', () => {
  it('is read over nothing', () => {
    write(
      'cordis.patch.yml',
      `
- insert:
    - { id: a, name: ${PLUGIN}, config: { serverName: a, command: x } }
- { id: a, disabled: true }
- { id: b, disabled: true }
`,
    )
    const source = load({ config: 'cordis.patch.yml' })
    expect(source.rows.map(shown)).toEqual(['a (disabled): stdio x'])
    expect(source.notes).toEqual(['a patch is for "b", which is not there'])
  })

  it('changes entries as the include of the host does', () => {
    const warnings: string[] = []
    const base = [
      { id: 'g', group: true, name: 'cordis:group', config: [{ id: 'in', name: 'p' }] },
      { id: 'empty', group: true },
      { id: 'x', name: 'q', config: 1 },
      { name: 'without id' },
    ]
    const patched = applyPatches(
      base,
      [
        { id: 'in', config: 2 },
        { id: 'g', insert: [{ id: 'new', name: 'r' }, 'text'] },
        { id: 'new', config: 3 },
        { id: 'empty', insert: [{ id: 'y', name: 's' }] },
        { id: 'x', name: 'q', config: 4 },
        { id: 'x', name: 'other', config: 5 },
        { id: 'x', insert: [] },
        { id: 'nobody', insert: [] },
        { config: 6 },
      ],
      (text) => warnings.push(text),
    )
    expect(patched).toEqual([
      {
        id: 'g',
        group: true,
        name: 'cordis:group',
        config: [
          { id: 'in', name: 'p', config: 2 },
          { id: 'new', name: 'r', config: 3 },
        ],
      },
      { id: 'empty', group: true, config: [{ id: 'y', name: 's' }] },
      { id: 'x', name: 'q', config: 4 },
      { name: 'without id' },
    ])
    expect(base[2]).toEqual({ id: 'x', name: 'q', config: 1 })
    expect(warnings).toEqual([
      'a patch for "x" is for a plugin of another name',
      'a patch inserts into "x", which is no group',
      'a patch inserts into "nobody", which is not there',
      'a patch is for "undefined", which is not there',
    ])
  })
})

describe('a profile', () => {
  const added = ['CLI_TEST_FROM_CWD', 'CLI_TEST_FROM_HOME']
  afterEach(() => {
    for (const name of added) delete process.env[name]
  })

  function profile(manifest: string, patch?: string): FakeOptions {
    write('home/profiles/web/package.json', manifest)
    if (patch !== undefined) write('home/profiles/web/cordis.patch.yml', patch)
    return { env: { DSH_HOME: join(folder, 'home') } }
  }

  it('is its bundles, and the own layer over them', () => {
    write('home/profiles/node_modules/@x/base/package.json', '{"dsh":{"bundle":{"patch":"./layer.yml"}}}')
    write(
      'home/profiles/node_modules/@x/base/layer.yml',
      `- insert:\n    - { id: a, name: ${PLUGIN}, config: { serverName: base, command: x } }\n`,
    )
    write('home/profiles/node_modules/plain/package.json', '{}')
    const io = profile(
      '{"dsh":{"profile":{"bundles":["@x/base","plain","lost",3]}}}',
      `- { id: a, config: { serverName: base, command: patched, args: [!!js process.env.CLI_TEST_FROM_CWD, !!js process.env.CLI_TEST_FROM_HOME] } }\n`,
    )
    write('.env', 'CLI_TEST_FROM_CWD=one\nPATH=/nowhere\nDSH_HOME=/nowhere\n')
    write('home/.env', 'CLI_TEST_FROM_CWD=other\nCLI_TEST_FROM_HOME=two\n')
    const source = load({ profile: 'web' }, io)
    expect(source.label).toBe('profile web')
    expect(source.rows.map(shown)).toEqual(['base: stdio patched one two'])
    expect(source.notes).toEqual([
      'bundle plain is left out: it declares no dsh.bundle',
      'bundle lost is left out: its package is not installed where the profile looks',
    ])
    expect(process.env['PATH']).not.toBe('/nowhere')
  })

  it('may be empty', () => {
    expect(load({ profile: 'web' }, profile('{}')).rows).toEqual([])
    expect(load({ profile: 'web' }, profile('{"dsh":{}}')).rows).toEqual([])
  })

  it.each([
    ['../web', 'no name of a profile'],
    ['', 'no name of a profile'],
    ['node_modules', 'no name of a profile'],
    ['other', 'there is no profile "other"'],
  ])('%j is refused', (name, message) => {
    const io = profile('{}')
    expect(() => load({ profile: name }, io)).toThrow(message)
  })

  it('is refused when a file of it cannot be read', () => {
    expect(() => load({ profile: 'web' }, profile('{'))).toThrow('package.json')
    expect(() => load({ profile: 'web' }, profile('{}', 'a: 1'))).toThrow('must be a list of patches')
    write('home/profiles/node_modules/gone/package.json', '{"dsh":{"bundle":{"patch":"./gone.yml"}}}')
    expect(() => load({ profile: 'web' }, profile('{"dsh":{"profile":{"bundles":["gone"]}}}'))).toThrow(
      'cannot read',
    )
  })
})

describe('one row from flags', () => {
  it('is a stdio server', () => {
    const { rows, label } = load(
      { command: 'node', args: ['x.js', '-v'], env: ['A=1=2', 'PASSED'], cwd: '/tmp', protocol: 'legacy' },
      { env: { PASSED: 'on' } },
    )
    expect(label).toBe('the command line')
    const [row] = rows
    expect(row?.resolved.ok && row.resolved.spec).toMatchObject({
      serverName: 'server',
      protocol: 'legacy',
      target: {
        kind: 'stdio',
        command: 'node',
        args: ['x.js', '-v'],
        env: { A: '1=2', PASSED: 'on' },
        cwd: '/tmp',
      },
    })
  })

  it('is an HTTP server', () => {
    const { rows } = load({
      url: 'http://localhost/mcp',
      header: ['Authorization: Bearer x:y'],
      transport: 'sse',
    })
    const [row] = rows
    expect(row?.resolved.ok && row.resolved.spec.target).toMatchObject({
      kind: 'http',
      flavour: 'sse',
      url: 'http://localhost/mcp',
      headers: { Authorization: 'Bearer x:y' },
    })
  })

  it.each<[SourceOptions, string]>([
    [{ command: 'a', url: 'http://x' }, 'one of --command and --url'],
    [{ config: 'a', profile: 'b' }, 'one of --config and --profile'],
    [{ command: 'a', header: ['A: b'] }, '--header goes with --url'],
    [{ url: 'http://x', env: ['A=b'] }, '--env and --cwd go with --command'],
    [{ url: 'http://x', cwd: '/' }, '--env and --cwd go with --command'],
    [{ url: 'http://x', header: ['sk-secret'] }, "--header needs 'Name: value'"],
    [{ command: 'x', env: ['=sk-secret'] }, '--env needs NAME=value'],
    [{ command: 'x', env: ['NO_SUCH_NAME'] }, '--env NO_SUCH_NAME: there is no such variable here'],
    [{ command: 'x', env: ['sk-secret'] }, '--env NAME: there is no such variable here'],
  ])('%j is refused', (options, message) => {
    expect(() => load(options)).toThrow(message)
  })
})

describe('a target', () => {
  it('is shown without its secrets', () => {
    const { rows } = load({
      command: 'x',
      args: ['--token', 'sk-1234567890abcdef', 'http://u:pw12345@h/'],
    })
    expect(rows.map(shown)).toEqual(['server: stdio x --token [redacted] http://u:[redacted]@h/'])
  })
})

describe('the choice of rows', () => {
  it('is by name or id; all but the disabled where none is named', () => {
    write('cordis.yml', row('one', 'command: a') + row('two', 'command: b', '  disabled: true\n'))
    const source = load()
    expect(selectRows(source, []).map(({ name }) => name)).toEqual(['one'])
    expect(selectRows(source, ['two', 'mcp-one']).map(({ name }) => name)).toEqual(['two', 'one'])
    expect(() => selectRows(source, ['three'])).toThrow('no server "three" in cordis.yml; it has one, two')
    write('cordis.yml', '[]')
    expect(() => selectRows(load(), ['three'])).toThrow('it has no row of')
  })
})

describe('what stops the host', () => {
  it('is told: two rows of one id, in groups too', () => {
    write('cordis.yml', row('one', 'command: node') + row('one', 'command: other'))
    expect(() => load()).toThrow(/two rows have the id "mcp-one"; the host does not start with that/)
    write(
      'cordis.yml',
      `${row('one', 'command: node')}- id: group\n  name: cordis:group\n  group: true\n  config:\n    - id: mcp-one\n      name: x\n`,
    )
    expect(() => load()).toThrow(/two rows have the id "mcp-one"/)
  })

  it('is told: a name that is nearly that of the plugin', () => {
    write(
      'cordis.yml',
      `${row('one', 'command: node').replace('dsh-mcp-client', 'dsh-mcp-clent')}- { id: nameless }\n`,
    )
    const source = load()
    expect(source.rows).toEqual([])
    expect(source.notes).toEqual([
      'row mcp-one: there is no plugin "@deepseek-ai/dsh-mcp-clent"; did you mean @deepseek-ai/dsh-mcp-client?',
    ])
  })

  it('is not a byte order mark, which the host skips', () => {
    write('cordis.yml', `\uFEFF${row('one', 'command: node')}`)
    expect(load().rows.map(shown)).toEqual(['one: stdio node'])
  })
})
