/** Owns the tests of the exposure of all servers over time: anew until the first request, kept after it. */
import { describe, expect, it } from 'vitest'
import { allotmentOf, createAllotment } from '../../src/search/allotment.ts'
import type { DefinitionBytes, Exposure } from '../../src/types.ts'

const bytes = (total: number, fixed = 0): DefinitionBytes => ({ total, fixed })

/** An allotment with a budget of 100 bytes, and what its servers were told. */
function setup() {
  const allotment = createAllotment()
  const told: string[] = []
  const said: string[] = []
  const enrol = (
    serverName: string,
    remembered?: DefinitionBytes,
    exposure: Exposure | 'auto' = 'auto',
  ): (() => void) =>
    allotment.enrol({
      serverName,
      tools: { exposure, budgetBytes: 100 },
      remembered,
      expose: (next) => void told.push(`${serverName} ${next}`),
      say: (text) => void said.push(`${serverName}: ${text}`),
    })
  return { allotment, told, said, enrol }
}

describe('before the first request', () => {
  it('the choice is the same in whichever order servers come', () => {
    for (const order of ['ab', 'ba']) {
      const t = setup()
      t.enrol('a')
      t.enrol('b')
      for (const name of order) t.allotment.measure(name, bytes(name === 'a' ? 80 : 70))
      expect([t.allotment.exposureOf('a'), t.allotment.exposureOf('b')]).toEqual(['search', 'direct'])
    }
  })

  it('the one that asks gets its answer, the others are told', () => {
    const t = setup()
    t.enrol('a')
    t.enrol('b')
    expect(t.allotment.measure('a', bytes(80))).toBe('direct')
    expect(t.allotment.measure('b', bytes(70))).toBe('direct')
    expect(t.told).toEqual(['a search'])
    expect(t.allotment.measure('b', bytes(10))).toBe('direct')
    expect(t.told).toEqual(['a search', 'a direct'])
  })

  it('a server that goes gives its share back', () => {
    const t = setup()
    const leave = t.enrol('a')
    t.enrol('b')
    t.allotment.measure('a', bytes(60))
    t.allotment.measure('b', bytes(70))
    expect(t.told).toEqual([])
    expect(t.allotment.exposureOf('b')).toBe('search')
    leave()
    leave()
    expect(t.told).toEqual(['b direct'])
  })

  it('a remembered size holds the share of a server that is not there yet', () => {
    const t = setup()
    t.enrol('late', bytes(90))
    t.enrol('b')
    expect(t.allotment.measure('b', bytes(40))).toBe('direct')
    expect(t.allotment.exposureOf('late')).toBe('search')
  })

  it('a row that says it has it at once, and nothing is said of it', () => {
    const t = setup()
    t.enrol('a', undefined, 'search')
    expect(t.allotment.exposureOf('a')).toBe('search')
    expect(t.allotment.measure('a', bytes(1))).toBe('search')
    expect(t.said).toEqual([])
  })
})

describe('search that nobody asked for', () => {
  it('is said once for each server, with the sizes and the way out', () => {
    const t = setup()
    t.enrol('a')
    t.allotment.measure('a', bytes(180))
    t.allotment.measure('a', bytes(190))
    expect(t.said).toEqual([
      'a: its tools are reached by mcp_search and mcp_call: their definitions take 180 bytes, those of all servers 180, ' +
        'and tools.budgetBytes is 100; tools.exposure: direct keeps them in the request',
    ])
  })
})

describe('after the first request', () => {
  it('a server that comes changes nobody but itself', () => {
    const t = setup()
    t.enrol('a')
    t.allotment.measure('a', bytes(80))
    t.allotment.settle()
    t.allotment.settle()
    t.enrol('b')
    expect(t.allotment.measure('b', bytes(30))).toBe('search')
    t.enrol('c')
    expect(t.allotment.measure('c', bytes(10))).toBe('direct')
    expect(t.told).toEqual([])
  })

  it('one that goes and comes back is as it was', () => {
    const t = setup()
    const leave = t.enrol('a')
    t.enrol('b')
    t.allotment.measure('a', bytes(80))
    t.allotment.measure('b', bytes(70))
    t.allotment.settle()
    t.told.length = 0
    leave()
    expect(t.told).toEqual([])
    t.enrol('a')
    expect(t.allotment.exposureOf('a')).toBe('search')
    expect(t.allotment.measure('a', bytes(5))).toBe('search')
    expect(t.allotment.exposureOf('b')).toBe('direct')
  })

  it('one that grows over the budget gives way itself, and stays there', () => {
    const t = setup()
    t.enrol('a')
    t.enrol('b')
    t.allotment.measure('a', bytes(50))
    t.allotment.measure('b', bytes(20))
    t.allotment.settle()
    expect(t.allotment.measure('b', bytes(40))).toBe('direct')
    expect(t.allotment.measure('b', bytes(60))).toBe('search')
    expect(t.allotment.measure('b', bytes(20))).toBe('search')
    expect(t.told).toEqual([])
  })

  it('one that grows where the budget was gone already stays as it is', () => {
    const t = setup()
    t.enrol('a')
    t.allotment.measure('a', bytes(50))
    t.allotment.settle()
    t.enrol('big', undefined, 'direct')
    t.allotment.measure('big', bytes(500))
    expect(t.allotment.measure('a', bytes(60))).toBe('direct')
  })

  it('a row that comes back with other words is obeyed', () => {
    const t = setup()
    const leave = t.enrol('a')
    t.allotment.measure('a', bytes(180))
    t.allotment.settle()
    leave()
    t.enrol('a', undefined, 'direct')
    expect(t.allotment.measure('a', bytes(180))).toBe('direct')
  })
})

describe('an allotment', () => {
  it('is one of each app, and answers for a row that is gone', () => {
    const root = {}
    expect(allotmentOf(root)).toBe(allotmentOf(root))
    expect(allotmentOf({})).not.toBe(allotmentOf(root))
    expect(setup().allotment.measure('nobody', bytes(1000))).toBe('direct')
    expect(setup().allotment.exposureOf('nobody')).toBe('direct')
  })

  it('keeps a new server under an old name apart from the one that leaves late', () => {
    const t = setup()
    const leave = t.enrol('a')
    t.enrol('a', undefined, 'search')
    leave()
    expect(t.allotment.exposureOf('a')).toBe('search')
  })
})
