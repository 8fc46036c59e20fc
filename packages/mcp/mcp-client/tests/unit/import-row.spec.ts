/** Names, rows and their YAML. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hostYaml } from '../cli/host-yaml.ts'
import { createGlobs } from '../../src/globs.ts'
import { expand } from '../../src/expansion.ts'
import { ImportFault } from '../../src/cli/import/foreign-server.ts'
import type { ForeignServer } from '../../src/cli/import/foreign-server.ts'
import { serverNames } from '../../src/cli/import/names.ts'
import { exactGlob, makeRow } from '../../src/cli/import/row.ts'
import { rowsText } from '../../src/cli/import/row-text.ts'

const server = (more: Partial<ForeignServer> = {}): ForeignServer => ({
  name: 'a',
  serverName: 'a',
  target: { kind: 'stdio', command: ['npx'], args: [], env: [] },
  isDisabled: false,
  notes: [],
  ...more,
})

describe('server names', () => {
  it('are legal, unique and the same each time', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.oneof(fc.string(), fc.constantFrom('a b', 'a-b', 'a/b', 'a-b-2'))),
        (names) => {
          const result = serverNames(names)
          expect(new Set(result).size).toBe(names.length)
          for (const name of result) expect(name).toMatch(/^[A-Za-z0-9_-]{1,32}$/)
          expect(serverNames(names)).toEqual(result)
        },
      ),
    )
  })

  it.each([
    [
      ['a b', 'a-b'],
      ['a-b-2', 'a-b'],
    ],
    [
      ['@x/y', 'Émile', '', '!!'],
      ['x-y', 'Emile', 'server', 'server-2'],
    ],
    [
      ['x'.repeat(40), `${'x'.repeat(32)}`],
      [`${'x'.repeat(30)}-2`, 'x'.repeat(32)],
    ],
    [
      ['same', 'same'],
      ['same', 'same-2'],
    ],
  ])('%j', (names, expected) => {
    expect(serverNames(names)).toEqual(expected)
  })
})

describe('a row', () => {
  it('keeps a literal ${ literal beside variables', () => {
    const { row } = makeRow(
      server({
        target: { kind: 'stdio', command: ['x'], args: [['a ${B} $${C}'], [{ variable: 'V' }]], env: [] },
      }),
    )
    const [text = ''] = row.config['args'] as string[]
    expect(expand(text, {})).toMatchObject({ kind: 'text', text: 'a ${B} $${C}' })
  })

  it('leaves a limit at its default that no timer can hold', () => {
    const { row, notes } = makeRow(server({ callTimeoutMs: 3e9, startupTimeoutMs: 5 }))
    expect(row.config).toMatchObject({ startup: { timeoutMs: 5 } })
    expect(row.config['toolCallTimeoutMs']).toBeUndefined()
    expect(notes).toHaveLength(1)
  })

  it.each([
    [{ target: { kind: 'stdio', command: [' '], args: [], env: [] } }, /command must be the program/],
    [
      { target: { kind: 'http', flavour: 'auto', url: ['unix:///x'], headers: [] } },
      /url must be an absolute URL/,
    ],
    [
      { target: { kind: 'stdio', command: ['x'], args: [], env: [['A=B', ['c']]] } },
      /has a name that no variable/,
    ],
  ] as const)('is not made where it would be refused', (more, reason) => {
    expect(() => makeRow(server(more as Partial<ForeignServer>))).toThrow(ImportFault)
    expect(() => makeRow(server(more as Partial<ForeignServer>))).toThrow(reason)
  })

  it('is judged with a URL where the variable stands first', () => {
    const target = { kind: 'http', flavour: 'sse', url: [{ variable: 'BASE' }, '/mcp'], headers: [] } as const
    expect(makeRow(server({ target })).row.config).toEqual({
      serverName: 'a',
      transport: 'sse',
      url: '${BASE}/mcp',
      expandVars: true,
    })
  })
})

describe('a tool name as a glob', () => {
  it('matches that name and no other', () => {
    const name = fc.string({
      minLength: 1,
      maxLength: 12,
      unit: fc.constantFrom(...'ab*?[]{}()!+@|\\^$.-_,'),
    })
    fc.assert(
      fc.property(name, name, (one, other) => {
        const matches = createGlobs([exactGlob(one)])
        expect(matches(one)).toBe(true)
        if (other !== one) expect(matches(other)).toBe(false)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('the YAML of rows', () => {
  it('is read by the host as what it is', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        'yes',
        'NULL',
        '~',
        '0x1F',
        '1_000',
        '.inf',
        '1e3',
        '2020-01-01',
        '- x',
        'a: b',
        '# c',
        '${A}',
      ),
      fc.constantFrom(
        '!!js process.exit()',
        '*a',
        '&a',
        '<<',
        '=',
        'a\nb\n',
        ' x ',
        '\t',
        'https://h:1/x',
        'http://h/x:',
      ),
      fc.constantFrom(
        '\u001b[31m',
        '\u0085',
        '\ufeff',
        '/a/b',
        '@a',
        '`x`',
        '%x',
        '|',
        '>',
        '{a}',
        '[a]',
        'a,b',
      ),
    )
    const row = fc.record({
      id: fc.constant('mcp-a'),
      name: fc.constant('@deepseek-ai/dsh-mcp-client' as const),
      config: fc.record({
        serverName: fc.stringMatching(/^[A-Za-z0-9_-]{1,32}$/),
        command: text,
        args: fc.array(text),
        env: fc.dictionary(
          text.filter((key) => key !== '__proto__'),
          text,
        ),
        toolCallTimeoutMs: fc.integer({ min: 1 }),
      }),
    })
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 3 }), (rows) => {
        expect(hostYaml(rowsText(rows))).toEqual(JSON.parse(JSON.stringify(rows)))
      }),
      { numRuns: 500 },
    )
  })
})
