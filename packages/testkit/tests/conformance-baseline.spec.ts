/** Owns the tests of the judge of the conformance leg: what turns it red. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { judge, readBaseline, unusedEntries } from '../../../conformance/baseline.ts'
import { FINISHED, readResults } from '../../../conformance/results.ts'
import type { Check, Result } from '../../../conformance/results.ts'
import { sampleArguments } from '../../../conformance/sample.ts'
import { temporaryFolder } from '../src/index.ts'

const LIST = `# About the file.

client:
  # Not built.
  - whole

  # One of it.
  - part:one

unverified:
  # Nothing is asked.
  - empty
`

function result(scenario: string, statuses: Record<string, Check['status']>, isFinished = true): Result {
  const checks = Object.entries(statuses).map(([id, status]) => ({
    id,
    status,
    errorMessage: `${id} said so`,
  }))
  return { scenario, checks, isFinished, log: '' }
}

describe('the list', () => {
  it('is read with the reason of each group', () => {
    expect(readBaseline(LIST)).toEqual([
      { section: 'client', scenario: 'whole', checkId: undefined, reason: 'Not built.' },
      { section: 'client', scenario: 'part', checkId: 'one', reason: 'One of it.' },
      { section: 'unverified', scenario: 'empty', checkId: undefined, reason: 'Nothing is asked.' },
    ])
  })

  it.each([
    ['an entry without a reason', 'client:\n  - whole\n', 'line 2: whole has no reason'],
    ['a reason that is cut off', 'client:\n  # Why.\n\n  - whole\n', 'line 4: whole has no reason'],
    ['another section', 'server:\n', 'line 1: no section server'],
    ['an entry in no section', '# Why.\n  - whole\n', 'line 2: not understood'],
    ['a mapping', 'client:\n  # Why.\n  - whole: check\n', 'line 3: not understood'],
  ])('is refused for %s', (_what, text, problem) => {
    expect(() => readBaseline(text)).toThrow(problem)
  })

  it.each(['expected-failures.yml', 'expected-failures-0.1.yml'])('%s is in order', (name) => {
    const text = readFileSync(join(import.meta.dirname, '../../../conformance', name), 'utf8')
    const names = readBaseline(text).map(({ scenario, checkId }) => `${scenario}:${checkId ?? ''}`)
    expect(new Set(names).size).toBe(names.length)
  })

  it('has entries that no leg knows', () => {
    const unused = unusedEntries(readBaseline(LIST), new Set(['whole', 'part']))
    expect(unused.map(({ scenario }) => scenario)).toEqual(['empty'])
  })
})

describe('a result', () => {
  it.each<[string, Result, string]>([
    ['passes', result('other', { a: 'SUCCESS', b: 'SKIPPED', c: 'INFO' }), 'passed'],
    ['fails as listed', result('whole', { a: 'FAILURE', b: 'SUCCESS' }, false), 'listed'],
    ['fails in the listed check', result('part', { one: 'WARNING', two: 'SUCCESS' }), 'listed'],
    ['never reaches the listed check', result('part', { two: 'SUCCESS' }), 'listed'],
    ['checks nothing as listed', result('empty', {}), 'unverified'],
    ['passes without an end as listed', result('empty', { a: 'SUCCESS' }, false), 'unverified'],
  ])('%s', (_what, one, outcome) => {
    expect(judge(one, readBaseline(LIST))).toEqual({ outcome, problems: [] })
  })

  it.each<[string, Result, string]>([
    ['fails', result('other', { a: 'FAILURE' }), 'fails and is not listed: a: a said so'],
    ['warns', result('other', { a: 'WARNING', b: 'SUCCESS' }), 'fails and is not listed: a: a said so'],
    [
      'fails beside the listed check',
      result('part', { one: 'FAILURE', two: 'FAILURE' }),
      'fails and is not listed: two: two said so',
    ],
    [
      'fails where it was listed as unverified',
      result('empty', { a: 'FAILURE' }),
      'fails and is not listed: a: a said so',
    ],
    [
      'does not fail as listed',
      result('whole', { a: 'SUCCESS' }),
      'is listed and does not fail: remove the entry',
    ],
    [
      'passes the listed check',
      result('part', { one: 'SUCCESS' }),
      'is listed and passes: one: remove the entry',
    ],
    [
      'is verified',
      result('empty', { a: 'SUCCESS' }),
      'is listed as unverified and is verified: remove the entry',
    ],
    ['checks nothing', result('other', { a: 'SKIPPED' }), 'nothing was checked'],
    [
      'passes without an end',
      result('other', { a: 'SUCCESS' }, false),
      'the checks pass, but the driver did not get to its end',
    ],
  ])('is red when it %s', (_what, one, problem) => {
    expect(judge(one, readBaseline(LIST))).toEqual({ outcome: 'failed', problems: [problem] })
  })

  it('is read from what the suite wrote', () => {
    const folder = temporaryFolder('conformance')
    const write = (path: string, stdout: string): void => {
      mkdirSync(join(folder, path), { recursive: true })
      writeFileSync(join(folder, path, 'checks.json'), JSON.stringify([{ id: path, status: 'SUCCESS' }]))
      writeFileSync(join(folder, path, 'stdout.txt'), stdout)
      writeFileSync(join(folder, path, 'stderr.txt'), 'connected')
    }
    write('auth/a-2026-12-01T02-44-16-958Z', `${FINISHED}\n`)
    write('auth/a-b-2026-12-01T02-44-16-958Z', '')
    const summary = ['auth/a', 'auth/a-b', 'lost'].map((name) => `✓ ${name}: 1 passed, 0 failed`).join('\n')
    expect(readResults(`✓ no: 1 passed, 0 failed\n=== SUITE SUMMARY ===\n\n${summary}\n`, folder)).toEqual([
      {
        scenario: 'auth/a',
        checks: [{ id: 'auth/a-2026-12-01T02-44-16-958Z', status: 'SUCCESS' }],
        isFinished: true,
        log: 'connected',
      },
      {
        scenario: 'auth/a-b',
        checks: [{ id: 'auth/a-b-2026-12-01T02-44-16-958Z', status: 'SUCCESS' }],
        isFinished: false,
        log: 'connected',
      },
      {
        scenario: 'lost',
        checks: [{ id: 'lost', status: 'FAILURE', errorMessage: 'the scenario could not be run' }],
        isFinished: false,
        log: '',
      },
    ])
  })
})

describe('the arguments of a call', () => {
  it('are the required ones, each as its schema says', () => {
    const schema = {
      type: 'object',
      $defs: { id: { type: 'string' }, self: { $ref: '#/$defs/self' } },
      properties: {
        id: { $ref: '#/$defs/id' },
        self: { $ref: '#/$defs/self' },
        far: { $ref: 'https://example.com/schema' },
        count: { type: 'integer' },
        yes: { type: 'boolean' },
        none: { type: 'null' },
        list: { type: 'array' },
        inner: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
        open: { type: 'object' },
        one: { const: 1 },
        usual: { default: 'u' },
        choice: { enum: ['c', 'd'] },
        optional: { type: 'string' },
      },
      required: [
        'id',
        'self',
        'far',
        'count',
        'yes',
        'none',
        'list',
        'inner',
        'open',
        'one',
        'usual',
        'choice',
      ],
    }
    expect(sampleArguments(schema)).toEqual({
      id: 'text',
      self: 'text',
      far: 'text',
      count: 5,
      yes: true,
      none: null,
      list: [],
      inner: { x: 5 },
      open: {},
      one: 1,
      usual: 'u',
      choice: 'c',
    })
    expect(sampleArguments({})).toEqual({})
  })
})
