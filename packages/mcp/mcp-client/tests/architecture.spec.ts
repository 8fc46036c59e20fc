/**
 * Owns the gate of the house: the rules hold for the sources as they are, and each rule is seen red on a
 * small source that breaks it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as rules from './architecture/rules.ts'
import { filesBelow, sourceOf, sourcesBelow } from './architecture/source.ts'
import type { Source } from './architecture/source.ts'

const PACKAGE = join(import.meta.dirname, '..')
const ROOT = join(PACKAGE, '..', '..', '..')
const THINK_TWICE = 250
const STOP = 350

const src = sourcesBelow(join(PACKAGE, 'src'))
const tests = sourcesBelow(join(PACKAGE, 'tests'))
const others = ['packages/testkit/src', 'scripts', 'examples'].flatMap((folder) =>
  sourcesBelow(join(ROOT, folder)),
)

/** Sources made up for one rule: path -> text. */
function made(files: Readonly<Record<string, string>>): Source[] {
  return Object.entries(files).map(([path, text]) => sourceOf(path, text))
}

describe('the sources keep the house', () => {
  it('import one way', () => expect(rules.wrongDirections(src)).toEqual([]))
  it('have no circle', () => expect(rules.fileCircles(src)).toEqual([]))
  it('load the SDK lazily, at one place', () => expect(rules.sdkLeaks(src)).toEqual([]))
  it('print nothing', () => expect(rules.prints(src)).toEqual([]))
  it('say first what a file owns', () => expect(rules.withoutHeader([...src, ...others])).toEqual([]))
  it('have no default export', () => expect(rules.defaultExports(src)).toEqual([]))
  it('are named by nouns in kebab case', () => {
    expect(rules.badNames([...src, ...tests, ...others].map(({ path }) => path))).toEqual([])
  })
  it(`stop at ${STOP} lines`, () => {
    const long = rules.longerThan([...src, ...others], THINK_TWICE)
    if (long.length > 0) process.stdout.write(`think twice past ${THINK_TWICE} lines: ${long.join(', ')}\n`)
    expect(rules.longerThan([...src, ...others], STOP)).toEqual([])
  })
  it('hold no test back', () => expect(rules.heldTests(tests)).toEqual([]))
  it('name no machine path and no registry host, in any file', () => {
    const skipped = new Set(['node_modules', 'lib', 'coverage', '.git', '.drift', '.product'])
    const found = filesBelow(ROOT, skipped)
      .filter((path) => !/\.(tgz|log)$/.test(path))
      .flatMap((path) => rules.foreignText(path, readFileSync(join(ROOT, path), 'utf8'), [ROOT]))
    expect(found).toEqual([])
  })
  it('have a table of steps without a circle', () => {
    expect(rules.tableCircles(rules.MAY_IMPORT)).toEqual([])
  })
})

describe('each rule is seen red', () => {
  it.each([
    ['a later step', 'discovery/pages.ts', "import { x } from '../registry/diff.ts'"],
    ['a later step, by type', 'connection/session.ts', "import type { X } from '../execution/call.ts'"],
    ['a later step, by re-export', 'config.ts', "export { x } from './bridge.ts'"],
    ['a later step, at run time', 'naming.ts', "const x = await import('./index.ts')"],
    ['a step that nobody knows', 'connection/session.ts', "import { x } from '../magic/wand.ts'"],
    ['from a file that the table does not know', 'magic.ts', ''],
    ['the way out of the package', 'schema/normalize.ts', "import { x } from '../../tests/x.ts'"],
  ])('imports %s', (_, path, text) => {
    expect(rules.wrongDirections(made({ [path]: text }))).toHaveLength(1)
  })

  it('accepts what the table names', () => {
    const fine = made({
      'execution/call.ts':
        "import { x } from '../projection/result.ts'\nimport type { Y } from '../types.ts'",
      'connection/http-sse.ts': "import { x } from './http.ts'",
      'config-schema.ts': "import { x } from './config.ts'",
    })
    expect(rules.wrongDirections(fine)).toEqual([])
  })

  it('a circle of files, and of steps', () => {
    const circle = made({ 'a.ts': "import type { B } from './b.ts'", 'b.ts': "import { a } from './a.ts'" })
    expect(rules.fileCircles(circle)).toEqual(['a.ts -> b.ts -> a.ts'])
    expect(rules.tableCircles({ one: ['one', 'two'], two: ['one'] })).toEqual(['one -> two -> one'])
  })

  it.each([
    ['loaded in a session', 'connection/session.ts', "import { Client } from '@modelcontextprotocol/client'"],
    ['loaded lazily elsewhere', 'auth/flow.ts', "await import('@modelcontextprotocol/client')"],
    ['loaded eagerly by its own seam', 'sdk.ts', "import * as sdk from './sdk-parts.ts'"],
    ['loaded whole by its own seam', 'sdk.ts', "import('@modelcontextprotocol/client')"],
    ['loaded in parts elsewhere', 'connection/session.ts', "import('../sdk-parts.ts')"],
    [
      'known by type to discovery',
      'discovery/parse.ts',
      "import type { T } from '@modelcontextprotocol/client'",
    ],
    ['reached through the seam', 'registry/tools.ts', "import { loadSdk } from '../sdk.ts'"],
    ['known inline', 'config.ts', "type T = import('@modelcontextprotocol/core').Tool"],
  ])('the SDK %s', (_, path, text) => {
    expect(rules.sdkLeaks(made({ [path]: text }))).toHaveLength(1)
  })

  it('accepts the SDK where it belongs', () => {
    const fine = made({
      'sdk.ts': "import type * as S from './sdk-parts.ts'\nimport('./sdk-parts.ts')",
      'sdk-parts.ts': "export { Client } from '@modelcontextprotocol/client'",
      'errors.ts': "import { loadedSdk } from './sdk.ts'",
      'connection/carrier.ts': "import type { Transport } from '@modelcontextprotocol/client'",
    })
    expect(rules.sdkLeaks(fine)).toEqual([])
  })

  it('a long file', () => {
    expect(
      rules.longerThan(made({ 'a.ts': '\n'.repeat(350) + '1', 'b.ts': '1\n'.repeat(350) }), 350),
    ).toEqual(['a.ts: 351 lines'])
  })

  it.each(['console.log(1)', 'const { log } = console', 'process.stdout.write("x")', 'process.stderr.end()'])(
    'prints by %s',
    (text) => {
      expect(rules.prints(made({ 'bridge.ts': text }))).toHaveLength(1)
      expect(rules.prints(made({ 'cli/doctor.ts': text }))).toEqual([])
    },
  )

  it.each(['', 'export const x = 1', '// owns x\n', '/* owns x */', '/** */\nexport {}'])(
    'no header: %j',
    (text) => expect(rules.withoutHeader(made({ 'a.ts': text }))).toEqual(['a.ts']),
  )

  it.each(['export default 1', 'const a = 1\nexport { a as default }', 'export default function f() {}'])(
    'a default export: %j',
    (text) => expect(rules.defaultExports(made({ 'a.ts': text }))).toEqual(['a.ts']),
  )

  it.each(['skip', 'only', 'todo'])('a test held back by .%s', (word) => {
    const text = `it.${word}('x')\ndescribe.concurrent.${word}('y')\ntest.${word}.each([])('z')`
    expect(rules.heldTests(made({ 'a.spec.ts': text }))).toHaveLength(3)
  })

  it('a bad name', () => {
    expect(rules.badNames(['a/serverManager.ts', 'utils.ts', 'call-helper.ts', 'ok-name.spec.ts'])).toEqual([
      'a/serverManager.ts',
      'utils.ts',
      'call-helper.ts',
    ])
  })

  it('a machine path or a registry host', () => {
    const host = ['registry', 'npmjs', 'org'].join('.')
    expect(rules.foreignText('a', `x ${host} y`, [])).toHaveLength(1)
    expect(rules.foreignText('a', ['', 'work', 'main', 'x'].join('/'), [])).toHaveLength(1)
    expect(rules.foreignText('a', ['', 'root', 'x'].join('/'), [])).toHaveLength(1)
    expect(rules.foreignText('a', 'in /srv/tree/a', ['/srv/tree'])).toEqual(['a: /srv/tree'])
    expect(rules.foreignText('a', 'ctx.registry.get.name, https://example.com', ['/srv/tree'])).toEqual([])
  })
})
