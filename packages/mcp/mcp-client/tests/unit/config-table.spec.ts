/** The configuration table of the README is made from the schema. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { END, README, START, configTable, withTable } from '../../../../../scripts/config-table.ts'

describe('the configuration table', () => {
  it('is fresh in the README; if not: node scripts/config-table.ts', () => {
    const readme = readFileSync(README, 'utf8')
    expect(withTable(readme)).toBe(readme)
  })

  it('has a row with a meaning for every key', () => {
    const rows = configTable()
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    const keys = rows.map((row) => row.split('`')[1])
    expect(keys).toEqual(
      expect.arrayContaining(['command', 'url', 'serverName', 'reconnect.maxAttempts', 'limits.pages']),
    )
    expect(rows.filter((row) => /undefined|\| \|/.test(row))).toEqual([])
    expect(rows.find((row) => row.includes('`env`'))).toContain('secret')
  })

  it('replaces only what lies between the markers, again and again', () => {
    const once = withTable(`before\n${START}\nold\n${END}\nafter\n`)
    expect(once).not.toContain('\nold\n')
    expect(once).toMatch(/^before\n[^]*after\n$/)
    expect(withTable(once)).toBe(once)
    expect(() => withTable('no markers')).toThrow('README.md needs')
    expect(() => withTable(`${END}${START}`)).toThrow('README.md needs')
  })
})
