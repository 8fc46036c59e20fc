/** Owns the tests of the difference between two catalogs. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffCatalog } from '../../src/registry/diff.ts'
import type { CatalogEntry } from '../../src/types.ts'
import { makeEntry } from '../composition/registry-host.ts'

const entry = ([publicName, digest]: readonly [string, string]): CatalogEntry =>
  makeEntry({ publicName, digest })
const names = fc.constantFrom<string[]>('a', 'b', 'c', 'd', 'e', '__proto__')
const digests = fc.constantFrom<string[]>('1', '2', '3')
const published = fc.uniqueArray(fc.tuple(names, digests), { selector: ([name]) => name })

describe('diffCatalog', () => {
  it('names what is gone, what is new, and what changed twice', () => {
    const before = new Map([
      ['gone', '1'],
      ['same', '1'],
      ['changed', '1'],
    ])
    const after = (
      [
        ['new', '1'],
        ['changed', '2'],
        ['same', '1'],
      ] as const
    ).map(entry)
    expect(diffCatalog(before, after)).toEqual({ remove: ['gone', 'changed'], add: [after[0], after[1]] })
  })

  it('has nothing to do for an equal list in another order', () => {
    fc.assert(
      fc.property(
        published.chain((list) =>
          fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
        ),
        ([list, shuffled]) => {
          expect(diffCatalog(new Map(list), shuffled.map(entry))).toEqual({ remove: [], add: [] })
        },
      ),
    )
  })

  it('leads to exactly the wanted list, and touches nothing twice', () => {
    fc.assert(
      fc.property(published, published, (before, after) => {
        const { remove, add } = diffCatalog(new Map(before), after.map(entry))
        const registry = new Map(before)
        for (const name of remove) expect(registry.delete(name)).toBe(true)
        for (const { publicName, digest } of add) {
          expect(registry.has(publicName)).toBe(false)
          registry.set(publicName, digest)
        }
        expect(registry).toEqual(new Map(after))
      }),
    )
  })
})
