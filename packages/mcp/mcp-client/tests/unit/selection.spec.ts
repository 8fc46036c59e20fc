/** Owns the tests of tools.allow and tools.deny: what is kept out, by which rule, and that it spoils nothing. */
import { describe, expect, it } from 'vitest'
import { createCatalog } from '../../src/discovery/catalog.ts'
import { createSelection } from '../../src/discovery/selection.ts'
import { createLooseGlob } from '../../src/loose-glob.ts'
import { publicToolName } from '../../src/naming.ts'
import { visibleSafe, visibleText } from '../../src/visible.ts'

const select = (allow: string[], deny: string[] = []) => createSelection({ allow, deny })
const REJECT = { serverName: 'kit', tools: { duplicates: 'reject' } } as const
const list = (...names: string[]) => ({ items: names.map((name) => ({ name })), warnings: [] })

describe('a selection', () => {
  it('takes what allow names and deny does not; deny wins', () => {
    const { ruleAgainst } = select(['get_*', 'put_*'], ['*_secret', 'put_all'])
    expect(['get_a', 'put_a', 'get_secret', 'put_all', 'list'].map(ruleAgainst)).toEqual([
      undefined,
      undefined,
      'tools.deny "*_secret"',
      'tools.deny "put_all"',
      'tools.allow, which does not name it',
    ])
  })

  it('denies whatever the case and what is hidden in the name, and allows only what is written', () => {
    const { ruleAgainst } = select(['read*'], ['*delete*', 'Drop_[A-Z]'])
    expect(ruleAgainst('READ')).toMatch('tools.allow')
    expect(ruleAgainst('read_DeLeTe')).toMatch('tools.deny')
    expect(ruleAgainst('read_del\u200bete')).toMatch('tools.deny')
    expect(ruleAgainst('DROP_x')).toMatch('tools.deny')
    expect(select(['READ']).ruleAgainst('read')).toMatch('tools.allow')
  })

  it('keeps a pattern that means nothing in lower case as it is written', () => {
    const matches = createLooseGlob('[Z-a]x')
    expect([matches('Zx'), matches('bx')]).toEqual([true, false])
  })

  it('says which patterns match nothing, once there is a list', () => {
    const { unused } = createSelection({
      allow: ['*', 'raed'],
      deny: ['delete'],
      alwaysDirect: ['read', 'wirte'],
      approval: [
        { match: 'write', decision: 'ask' },
        { match: 'wirte', decision: 'ask' },
      ],
    })
    expect(unused([])).toEqual([])
    expect(unused(['read', 'write'])).toEqual([
      'tools.allow: "raed" matches none of the server\'s tools',
      'tools.deny: "delete" matches none of the server\'s tools',
      'tools.alwaysDirect: "wirte" matches none of the server\'s tools',
      'tools.approval[1]: "wirte" matches none of the server\'s tools',
    ])
  })
})

describe('the catalog of a selection', () => {
  it('sets apart what is denied, and warns of patterns without a tool', () => {
    const catalog = createCatalog(REJECT, list('b', 'rm', 'a', 'del'), select(['*'], ['rm', 'del', 'x']))
    expect(catalog.entries.map(({ rawName }) => rawName)).toEqual(['a', 'b'])
    expect(catalog.denied).toEqual([
      { rawName: 'del', publicName: 'mcp__kit__del', rule: 'tools.deny "del"' },
      { rawName: 'rm', publicName: 'mcp__kit__rm', rule: 'tools.deny "rm"' },
    ])
    expect(catalog.warnings).toEqual([`tools.deny: "x" matches none of the server's tools`])
  })

  it('is not spoiled by a denied tool that is listed twice', () => {
    const catalog = createCatalog(REJECT, list('rm', 'a', 'rm'), select(['*'], ['rm']))
    expect(catalog.entries).toHaveLength(1)
    expect(catalog.denied).toHaveLength(1)
    expect(() => createCatalog(REJECT, list('rm', 'a', 'rm'), select(['*'], ['a']))).toThrow(/more than once/)
  })

  it('does not lose a tool to a denied one that took its public name', () => {
    // The long name is cut and hashed; the other tool is called like the result.
    const long = 'z'.repeat(90)
    const alias = publicToolName('kit', long).slice('mcp__kit__'.length)
    const taken = createCatalog(REJECT, list(long, alias)).entries.map(({ rawName }) => rawName)
    expect(taken).toHaveLength(1)
    const [owner = ''] = taken
    const other = owner === long ? alias : long
    const { entries, quarantined } = createCatalog(REJECT, list(long, alias), select(['*'], [owner]))
    expect(entries.map(({ rawName }) => rawName)).toEqual([other])
    expect(quarantined).toEqual([])
  })
})

describe('a text for somebody who judges it', () => {
  it('shows what is hidden as its code, and leaves a clean text alone', () => {
    expect(visibleText('plain é 漢 👍🏽\n\tx')).toBe('plain é 漢 👍🏽\n\tx')
    expect(visibleText('a\u200bb\u001b[31m\u{e0041}\u202e\rx\u007f\n')).toBe(
      String.raw`a\u200bb\u001b[31m\u{e0041}\u202e\u000dx\u007f` + '\n',
    )
    expect(visibleText('\u200b\ud800')).toBe('\\u200b\ufffd')
  })

  it('holds no secret, even where something hidden stands in it', () => {
    const redact = (text: string): string => text.replaceAll('s3cret', '***')
    expect(visibleSafe('x\u200b s3cret', redact)).toBe('x\\u200b ***')
    expect(visibleSafe('x s3\u200bcret', redact)).toBe('x *** (with hidden characters)')
    expect(visibleSafe('x\u200b', redact)).toBe('x\\u200b')
  })
})
