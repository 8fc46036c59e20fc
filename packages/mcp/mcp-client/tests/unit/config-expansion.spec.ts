/** `${NAME}` in configuration values. */
import { describe, expect, it } from 'vitest'
import { expand, holdsReference } from '../../src/expansion.ts'

const env = { A: 'alpha', EMPTY: '', NESTED: '${A}', GONE: undefined }

describe('expand', () => {
  it.each([
    ['plain', 'plain'],
    ['${A}', 'alpha'],
    ['x${A}y${A}', 'xalphayalpha'],
    ['${EMPTY}', ''],
    ['${EMPTY:-d}', 'd'],
    ['${NOPE:-d e}', 'd e'],
    ['${NOPE:-}', ''],
    ['${A:-d}', 'alpha'],
    ['${GONE:-d}', 'd'],
    ['${NESTED}', '${A}'],
    ['$${A}', '${A}'],
    ['$${A} ${A} $A $', '${A} alpha $A $'],
  ])('%s becomes %s', (text, result) => {
    expect(expand(text, env)).toMatchObject({ kind: 'text', text: result })
  })

  it('tells which variables were read', () => {
    expect(expand('${A} ${NOPE:-x}', env)).toMatchObject({ used: [['A', 'alpha']] })
  })

  it.each(['NOPE', 'GONE', 'constructor', '__proto__'])('names the missing variable %s', (name) => {
    expect(expand(`a \${${name}}`, env)).toEqual({ kind: 'missing', name })
  })

  it.each(['${', '${}', '${a b}', '${1A}', '${A:d}', '${A-d}', '${A:-${B}}', '${A'])('refuses %s', (text) => {
    expect(expand(text, env)).toEqual({ kind: 'malformed' })
  })
})

describe('holdsReference', () => {
  it.each([
    ['${A}', true],
    ['x ${A:-b} y', true],
    ['$A ${} ${a b}', false],
  ])('%s: %s', (text, holds) => {
    expect(holdsReference(text)).toBe(holds)
  })
})
