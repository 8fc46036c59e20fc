/** Owns the tests of the model-facing names: a contract of v1, so the literals here must never change. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { publicToolName } from '../../src/naming.ts'

const LEGAL = /^[A-Za-z0-9_-]{1,64}$/
const serverNames = fc.stringMatching(/^[A-Za-z0-9_-]{1,32}$/)
const rawNames = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.stringMatching(/^[A-Za-z0-9_.-]{0,150}$/),
  fc.constantFrom('', '__proto__', 'constructor', 'toString', 'a.b', 'a_b', 'a b', 'mcp__other__x'),
)

describe('publicToolName', () => {
  it.each([
    ['github', 'create_issue', 'mcp__github__create_issue'],
    ['web', 'search', 'mcp__web__search'],
    ['files', 'read-file', 'mcp__files__read-file'],
    ['s', '__proto__', 'mcp__s____proto__'],
    ['s', 'mcp__other__x', 'mcp__s__mcp__other__x'],
    ['s', 'a_b', 'mcp__s__a_b'],
    ['s', 'x'.repeat(56), `mcp__s__${'x'.repeat(56)}`],
    ['s', '', 'mcp__s__'],
    ['abcdefghijklmnopqrstuvwxyz012345', 'tool', 'mcp__abcdefghijklmnopqrstuvwxyz012345__tool'],
  ])('%s / %j stays as it is: %s', (server, raw, expected) => {
    expect(publicToolName(server, raw)).toBe(expected)
  })

  it.each([
    ['github', 'issues.create', 'mcp__github__issues_create_@H'],
    ['s', 'a.b', 'mcp__s__a_b_@H'],
    ['s', 'a b', 'mcp__s__a_b_@H'],
    ['s', '..', 'mcp__s_____@H'],
    ['s', '../../etc/passwd', 'mcp__s________etc_passwd_@H'],
    ['s', 'größe', 'mcp__s__gr__e_@H'],
    ['s', '名前', 'mcp__s_____@H'],
    ['s', '🙂', 'mcp__s_____@H'],
    ['s', 'line\nbreak', 'mcp__s__line_break_@H'],
    ['s', '\u001b[31mred\u001b[0m', 'mcp__s____31mred__0m_@H'],
    ['s', 'x'.repeat(57), `mcp__s__${'x'.repeat(43)}_@H`],
    ['s', 'x'.repeat(300), `mcp__s__${'x'.repeat(43)}_@H`],
    [
      'abcdefghijklmnopqrstuvwxyz012345',
      'y'.repeat(26),
      'mcp__abcdefghijklmnopqrstuvwxyz012345__yyyyyyyyyyyy_@H',
    ],
  ])('%s / %j is cleaned, cut and told apart: %s', (server, raw, shape) => {
    const hash = createHash('sha256').update(`${server}\0${raw}`).digest('hex').slice(0, 12)
    expect(publicToolName(server, raw)).toBe(shape.replace('@H', hash))
  })

  it('is pinned to the letter, hash included', () => {
    expect(publicToolName('github', 'issues.create')).toBe('mcp__github__issues_create_87958dcd29be')
    expect(publicToolName('s', 'größe')).toBe('mcp__s__gr__e_82d47a0c7a0e')
    expect(publicToolName('s', 'x'.repeat(57))).toBe(
      'mcp__s__xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_065b956fb9c7',
    )
  })

  it('hashes from 65 characters on, and not before', () => {
    expect(publicToolName('s', 'x'.repeat(56))).toHaveLength(64)
    expect(publicToolName('s', 'x'.repeat(56))).not.toMatch(/_[0-9a-f]{12}$/)
    expect(publicToolName('s', 'x'.repeat(57))).toHaveLength(64)
    expect(publicToolName('s', 'x'.repeat(57))).toMatch(/_[0-9a-f]{12}$/)
  })

  it('is always legal for the model and inside the namespace of its server', () => {
    fc.assert(
      fc.property(serverNames, rawNames, (server, raw) => {
        const name = publicToolName(server, raw)
        expect(name).toMatch(LEGAL)
        expect(name.startsWith(`mcp__${server}__`)).toBe(true)
        expect(publicToolName(server, raw)).toBe(name)
      }),
    )
  })

  it('never gives two tools of a server one name', () => {
    fc.assert(
      fc.property(serverNames, rawNames, rawNames, (server, a, b) => {
        fc.pre(a.toWellFormed() !== b.toWellFormed())
        expect(publicToolName(server, a)).not.toBe(publicToolName(server, b))
      }),
    )
  })

  it('never gives tools of two servers one name, unless their legal names read the same', () => {
    fc.assert(
      fc.property(serverNames, serverNames, rawNames, rawNames, (s1, s2, a, b) => {
        fc.pre(s1 !== s2 && `${s1}__${a}` !== `${s2}__${b}`)
        expect(publicToolName(s1, a)).not.toBe(publicToolName(s2, b))
      }),
    )
  })

  // The algorithm is the contract's, to the letter; the registry refuses the second of such a pair, loudly.
  it.each<[string, [string, string], [string, string]]>([
    ['a server name with two underscores', ['a', 'b__c'], ['a__b', 'c']],
    ['a tool that takes the hash of another', ['s', 'a.b'], ['s', publicToolName('s', 'a.b').slice(8)]],
    ['names that differ in lone surrogates', ['s', '\ud800'], ['s', '\ud801']],
  ])('knows its limit: %s', (_what, a, b) => {
    expect(publicToolName(...a)).toBe(publicToolName(...b))
  })
})
