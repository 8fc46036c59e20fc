/** Globs of a row: what they match, what they refuse, and that a server's name cannot make them slow. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveConfig } from '../../src/config.ts'
import { createGlobs, globFault } from '../../src/globs.ts'

describe('a glob', () => {
  it.each([
    ['*', ['', 'a', 'a/b', '.hidden', '..', 'a\nb', '/'], []],
    ['get_*', ['get_', 'get_issue', 'get_a/b'], ['Get_issue', 'forget_issue', 'get']],
    ['*_get_*', ['a_get_b', '_get__get_'], ['get_b', 'a_get']],
    ['**/x', ['a/b/x', '/x'], ['x']],
    ['???', ['abc', '猫猫猫', '👩a-'], ['ab', 'abcd']],
    ['{get,list}_{a,b}*', ['get_a', 'list_bc'], ['put_a', 'get_c', 'get']],
    ['a{,b{c,d}}e', ['ae', 'abce', 'abde'], ['abe', 'a']],
    ['{one}', ['one'], ['{one}']],
    ['[a-c]x[!0-9]', ['axy', 'cx_'], ['dxy', 'ax1', 'ax']],
    ['[]{]*', [']', '{x'], ['x']],
    ['[^a]', ['b'], ['a', '']],
    ['[a-]', ['a', '-'], ['b']],
    ['a\\*\\{b', ['a*{b'], ['axb', 'a*b']],
    ['a,b)', ['a,b)'], ['a']],
    ['\\!x', ['!x'], ['x']],
    ['a\\👩', ['a👩'], ['a']],
  ])('%s', (pattern, taken, refused) => {
    const test = createGlobs([pattern])
    expect(taken.filter((name) => !test(name))).toEqual([])
    expect(refused.filter(test)).toEqual([])
  })

  it('matches where any of several does, and nothing without one', () => {
    expect(['a', 'b', 'c'].filter(createGlobs(['a', 'c']))).toEqual(['a', 'c'])
    expect(createGlobs([])('a')).toBe(false)
  })

  it('is found at fault with words that follow its path', () => {
    expect(['get_*', '{a,b}', '[a]'].map(globFault)).toEqual([undefined, undefined, undefined])
    expect(globFault('')).toBe('must not be empty; write * for every name')
    expect(globFault('!a')).toContain('use tools.deny')
    expect(globFault('a{b')).toBe('has a { without a }')
    expect(globFault('a}b')).toBe('has a } without a {')
    expect(globFault('a[b')).toBe('has a [ without a ]')
    expect(globFault('[z-a]')).toBe('has a range that runs backwards: z-a')
    expect(globFault('a\\')).toBe('must not end with a backslash')
    expect(globFault('@(a|b)')).toContain('write {a,b}')
    expect(globFault('x'.repeat(1025))).toBe('must have at most 1024 characters')
    expect(globFault('{a,b}'.repeat(9))).toBe('must not stand for more than 256 patterns')
  })

  it('takes time linear in a name that is made to be slow', () => {
    const startedAt = performance.now()
    expect(createGlobs(['*a*a*a*a*a*a*b'])('a'.repeat(1024))).toBe(false)
    expect(performance.now() - startedAt).toBeLessThan(500)
  })

  it('matches its own text with every special character escaped', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }), (name) => {
        const escaped = name.replace(/[\\*?[\]{},!()@+]/g, '\\$&')
        expect(createGlobs([escaped])(name)).toBe(true)
        expect(createGlobs([escaped])(`${name}x`)).toBe(false)
      }),
    )
  })
})

describe('a row with a glob that cannot be read', () => {
  it.each([
    [{ allow: ['a', '!b'] }, 'tools.allow[1] must not begin with !'],
    [{ deny: ['{a'] }, 'tools.deny[0] has a { without a }'],
    [{ alwaysDirect: [''] }, 'tools.alwaysDirect[0] must not be empty'],
    [
      { approval: [{ match: '[z-a]', decision: 'ask' }] },
      'tools.approval[0].match has a range that runs backwards',
    ],
  ])('is refused with its place: %j', (tools, words) => {
    expect(() => resolveConfig({ serverName: 'one', command: 'x', tools })).toThrow(words)
  })
})
