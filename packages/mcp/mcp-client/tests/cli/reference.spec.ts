/** The page of the command is made from the program, and names every kind of diagnosis. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CLI_PAGE, END, START, cliReference, withReference } from '../../../../../scripts/cli-reference.ts'
import { CATALOG_ROWS } from '../../src/cli/doctor/catalog-rows.ts'
import { CONFIG_ROWS } from '../../src/cli/doctor/config-rows.ts'
import { HTTP_ROWS } from '../../src/cli/doctor/http-rows.ts'
import { FALLBACK_ROWS, STDIO_ROWS } from '../../src/cli/doctor/stdio-rows.ts'

const DOCTOR_PAGE = new URL('../../../../../docs/doctor.md', import.meta.url)

describe('the page of the command', () => {
  it('is fresh; if not: node scripts/cli-reference.ts', () => {
    const page = readFileSync(CLI_PAGE, 'utf8')
    expect(withReference(page)).toBe(page)
  })

  it('has every command, and what each option means', () => {
    const reference = cliReference()
    for (const name of [
      'list',
      'test',
      'doctor',
      'call',
      'login',
      'logout',
      'pins',
      'import',
      'completion',
    ]) {
      expect(reference).toContain(`### ${name}\n`)
    }
    expect(reference).not.toMatch(/undefined|\| \|/)
  })

  it('replaces only what lies between the markers, again and again', () => {
    const once = withReference(`before\n${START}\nstale words\n${END}\nafter\n`)
    expect(once).not.toContain('stale words')
    expect(withReference(once)).toBe(once)
    expect(() => withReference('no markers')).toThrow('docs/cli.md needs')
  })
})

describe('the page of doctor', () => {
  it('has a section for every kind', () => {
    const page = readFileSync(DOCTOR_PAGE, 'utf8')
    const kinds = [CONFIG_ROWS, STDIO_ROWS, HTTP_ROWS, CATALOG_ROWS, FALLBACK_ROWS].flatMap(Object.keys)
    expect(kinds.filter((kind) => !page.includes(`\`${kind}\``))).toEqual([])
  })
})
