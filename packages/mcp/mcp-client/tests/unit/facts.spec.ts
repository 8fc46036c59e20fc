/** Owns the tests of what is kept of a server's claims about itself. */
import { describe, expect, it } from 'vitest'
import { toFacts } from '../../src/connection/facts.ts'

const redact = (text: string): string => text.replaceAll('s3cret-value', '[redacted]')
const facts = (claims: object) => toFacts({ era: 'legacy', revision: '2025-11-25', ...claims }, redact)

describe('toFacts', () => {
  it('keeps the least where a server says nothing, or nonsense', () => {
    const least = { era: 'legacy', revision: '2025-11-25', capabilities: {} }
    expect(facts({})).toEqual(least)
    expect(facts({ serverInfo: 5, instructions: '', capabilities: [] })).toEqual(least)
    expect(facts({ serverInfo: { name: 5 } })).toEqual({ ...least, serverInfo: { name: '', version: '' } })
  })

  it('takes name, version and title, clean and short, and no address', () => {
    const serverInfo = {
      name: `a\u001b[31m s3cret-\u200bvalue`,
      version: 'x'.repeat(10_000),
      title: 'T',
      websiteUrl: 'https://evil.test',
      icons: [{ src: 'https://evil.test' }],
    }
    expect(facts({ serverInfo }).serverInfo).toEqual({
      name: 'a [redacted]',
      version: `${'x'.repeat(199)}…`,
      title: 'T',
    })
  })

  it('bounds and cleans instructions, also where a secret lies at the cut', () => {
    expect(facts({ instructions: 'Use\r\nme \u202es3cret-\u200bvalue' }).instructions).toBe(
      'Use\nme [redacted]',
    )
    const edge = `${'x'.repeat(64 * 1024 - 5)}s3cret-value`
    const { instructions = '' } = facts({ instructions: edge })
    expect(instructions).toHaveLength(64 * 1024)
    expect(instructions.endsWith('[reda')).toBe(true)
    expect(facts({ instructions: 'y'.repeat(3 * 1024 * 1024) }).instructions).toHaveLength(64 * 1024)
  })

  it('keeps what capabilities say, without prototype keys, hidden names and endless structure', () => {
    const capabilities = JSON.parse(
      '{"tools":{"listChanged":true},"__proto__":{"evil":true},"odd\\u200b":1,"constructor":{"x":null},"list":["a\\u001b[1m",{"b":2}]}',
    ) as object
    const kept = facts({ capabilities }).capabilities
    expect(kept).toEqual({ tools: { listChanged: true }, constructor: { x: null }, list: ['a', { b: 2 }] })
    expect(Object.getPrototypeOf(kept)).toBe(Object.prototype)
    expect((kept as { evil?: unknown }).evil).toBeUndefined()

    const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`) as object
    expect(JSON.stringify(facts({ capabilities: deep }).capabilities)).toBe(
      `${'{"a":'.repeat(6)}true${'}'.repeat(6)}`,
    )
    const wide = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`k${at}`, { more: at }]))
    expect(Object.keys(facts({ capabilities: wide }).capabilities)).toHaveLength(100)
  })
})
