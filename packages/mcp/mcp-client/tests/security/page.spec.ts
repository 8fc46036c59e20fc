/** Owns the check of docs/security.md: each row of its tables of attacks names tests, and those are there. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { faults } from '@dsh-mcp/testkit'
import { describe, expect, it } from 'vitest'

const PAGE = readFileSync(new URL('../../../../../docs/security.md', import.meta.url), 'utf8')
const TESTS = new URL('../', import.meta.url)
/** `file` "words of a title", or `fault` "id of a row". */
const PROOF = /`([\w/.-]+)` "([^"]+)"/g

interface Row {
  readonly attack: string
  readonly proofs: readonly (readonly [file: string, title: string])[]
}

/** The rows of every table whose last column says what proves them. */
function attackRows(page: string): Row[] {
  const rows: Row[] = []
  let isAttacks = false
  for (const line of page.split('\n')) {
    if (!line.startsWith('|')) isAttacks = false
    else if (line.startsWith('| attack |')) isAttacks = true
    else if (isAttacks && !/^\|[-| ]+\|$/.test(line)) {
      const cells = line.split('|').map((cell) => cell.trim())
      const proofs = [...(cells[3] ?? '').matchAll(PROOF)].map(
        ([, file = '', title = '']) => [file, title] as const,
      )
      rows.push({ attack: cells[1] ?? '', proofs })
    }
  }
  return rows
}

/** What is wrong with a proof; `undefined` where the test is there. */
function faultOf(file: string, title: string): string | undefined {
  if (file === 'fault') {
    const isThere = Object.values(faults)
      .flat()
      .some(({ id }) => id === title)
    return isThere ? undefined : `no row of the fault table is called ${title}`
  }
  const path = fileURLToPath(new URL(file, TESTS))
  if (!existsSync(path)) return `there is no ${file}`
  // A title may be broken over lines by the formatter, and stands in either kind of quotes.
  const titles = [
    ...readFileSync(path, 'utf8').matchAll(/\b(?:it|describe)(?:\.each[\s\S]*?)?\(\s*(['"`])([^\n]*?)\1,/g),
  ]
  return titles.some(([, , name = '']) => name.includes(title)) ? undefined : `${file} has no test "${title}"`
}

/** Paths, from the tests, of the sources and the specs of the table of defences that were taken out. */
function redRows(page: string): string[] {
  const [, table = ''] = page.split('| defence | taken out | red |')
  const rows = (table.split('\n\n')[0] ?? '').split('\n').filter((line) => line.startsWith('| `'))
  const named = (cell = ''): string[] => [...cell.matchAll(/`([\w/.-]+\.ts)`/g)].map(([, file = '']) => file)
  return rows.flatMap((line) => {
    const [, sources, , specs] = line.split('|')
    return [...named(sources).map((file) => `../src/${file}`), ...named(specs)]
  })
}

describe('docs/security.md', () => {
  const rows = attackRows(PAGE)

  it('has the attacks', () => {
    expect(rows.length).toBeGreaterThan(35)
  })

  it.each(rows.map(({ attack, proofs }) => [attack, proofs] as const))(
    'names tests that are there: %s',
    (_attack, proofs) => {
      expect(proofs.length).toBeGreaterThan(0)
      expect(proofs.flatMap(([file, title]) => faultOf(file, title) ?? [])).toEqual([])
    },
  )

  it('names files that are there, where it tells how the tests were seen red', () => {
    const named = redRows(PAGE)
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter((path) => !existsSync(fileURLToPath(new URL(path, TESTS))))).toEqual([])
    expect(
      redRows('| defence | taken out | red |\n|---|---|---|\n| `a.ts` | x | `unit/b.spec.ts` |'),
    ).toEqual(['../src/a.ts', 'unit/b.spec.ts'])
  })

  it('would be found out', () => {
    expect(faultOf('fault', 'no-such-row')).toContain('no-such-row')
    expect(faultOf('security/no-such.spec.ts', 'x')).toContain('there is no')
    expect(faultOf('security/page.spec.ts', 'no such title')).toContain('has no test')
    expect(attackRows('| attack | we | proved by |\n|---|---|---|\n| a | b | nothing |')).toEqual([
      { attack: 'a', proofs: [] },
    ])
  })
})
