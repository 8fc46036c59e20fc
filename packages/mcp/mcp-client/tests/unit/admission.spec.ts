/** Owns the tests of the bounds of admission, over a file of pins in memory. */
import { describe, expect, it } from 'vitest'
import { createAdmission, MAX_CHANGED } from '../../src/discovery/admission.ts'
import { MAX_DIFFS } from '../../src/discovery/pin-change.ts'
import type { PinFile } from '../../src/discovery/pin-file.ts'
import { EMPTY_BOOK, MAX_PINS, applyEdits } from '../../src/discovery/pins.ts'
import type { PinBook } from '../../src/discovery/pins.ts'
import { createSelection } from '../../src/discovery/selection.ts'
import type { Catalog, CatalogEntry } from '../../src/types.ts'
import { makeEntry } from '../composition/registry-host.ts'

function open(pin: 'warn' | 'hold') {
  let book: PinBook = EMPTY_BOOK
  const said: string[] = []
  const timers = new Set<() => void>()
  const pins: PinFile = {
    found: 'nothing',
    set: () => book.sets[0],
    isLost: () => false,
    hasOthers: () => false,
    edit: (edits) => void (book = applyEdits(book, edits, { identity: 'id', now: 1 })),
    refresh: () => Promise.resolve(false),
    flush: () => Promise.resolve(),
  }
  const admission = createAdmission({
    spec: { serverName: 'kit', pin, redact: (text) => text },
    selection: createSelection({ allow: ['*'], deny: [] }),
    pins,
    clock: {
      now: () => 0,
      after(_ms, run) {
        timers.add(run)
        return () => timers.delete(run)
      },
    },
    say: ({ text }) => said.push(text),
    readmit: () => undefined,
  })
  return { admission, said, timers }
}

const listOf = (...entries: CatalogEntry[]): Catalog => ({
  entries,
  denied: [],
  quarantined: [],
  warnings: [],
})
const many = (count: number, digest: string, prefix = 't'): CatalogEntry[] =>
  Array.from({ length: count }, (_, at) =>
    makeEntry({ rawName: `${prefix}${at}`, publicName: `${prefix}${at}`, digest, description: digest }),
  )

describe('admission', () => {
  it('keeps a number of changes for the status, and works out fewer differences', async () => {
    const { admission, said } = open('warn')
    admission.admit(listOf(...many(300, 'a')))
    admission.admit(listOf(...many(300, 'b')))
    expect(admission.status().changed).toHaveLength(MAX_CHANGED)
    expect(said).toHaveLength(11)
    await expect.poll(() => admission.pins().filter(({ diff }) => diff === '')).toEqual([])
    expect(admission.pins().filter(({ diff }) => diff.startsWith('---'))).toHaveLength(MAX_DIFFS)
    admission.admit(listOf(...many(300, 'c')))
    expect(admission.status().changed).toHaveLength(MAX_CHANGED)
    await expect.poll(() => admission.pins()[0]?.diff).toContain('+c')
  })

  it('tells a tool that is held once, and keeps its difference over the next lists', async () => {
    const { admission, said } = open('hold')
    admission.admit(listOf(...many(1, 'a')))
    admission.admit(listOf(...many(1, 'b')))
    await expect.poll(() => admission.pins()[0]?.diff).toContain('+b')
    admission.admit(listOf(...many(1, 'b'), ...many(1, 'x', 'other')))
    expect(admission.pins()[0]?.diff).toContain('+b')
    expect(said.filter((line) => line.includes('held back'))).toHaveLength(1)
  })

  it('judges what the server says of itself as it judges a tool, and lets it in as none', async () => {
    const { admission, said } = open('hold')
    const say = (words?: string): boolean => {
      expect(admission.admit(listOf(...many(1, 'a')), words).entries).toHaveLength(1)
      return admission.withholdsInstructions()
    }
    expect([say('one'), say('one'), say(''), say(undefined), say('two')]).toEqual([
      false,
      false,
      false,
      false,
      true,
    ])
    expect(said).toEqual([
      'what the server says is held back: its definition changed since it was pinned (description); ' +
        "only a person may approve it, with: dsh-mcp pins approve kit '(instructions)'",
    ])
    expect(admission.pins()).toMatchObject([{ name: '(instructions)', state: 'held' }])
    expect(await admission.approve('(instructions)')).toEqual(['(instructions)'])
    expect([say('two'), say('one')]).toEqual([false, true])
    admission.clear()
    expect(admission.withholdsInstructions()).toBe(false)
  })

  it('takes words after a silence for a change', () => {
    const { admission } = open('hold')
    admission.admit(listOf(...many(1, 'a')), '')
    admission.admit(listOf(...many(1, 'a')), '')
    expect(admission.withholdsInstructions()).toBe(false)
    admission.admit(listOf(...many(1, 'a')), 'words')
    expect(admission.withholdsInstructions()).toBe(true)
  })

  it('tells of other words with warn, and takes them', () => {
    const { admission, said } = open('warn')
    admission.admit(listOf(), 'one')
    admission.admit(listOf(), 'two')
    expect(admission.withholdsInstructions()).toBe(false)
    expect(said).toEqual(['what the server says changed since it was last seen: description'])
  })

  it('holds names beyond the number that is pinned, and does not remember what it told for ever', () => {
    const { admission, said, timers } = open('hold')
    admission.admit(listOf(...many(MAX_PINS, 'a')))
    expect(said).toEqual([])
    const admitted = admission.admit(listOf(...many(MAX_PINS + 1, 'a', 'made-up')))
    expect(admitted.entries).toEqual([])
    expect(admission.status().held[0]?.reason).toContain('too many names')
    expect(admission.refusalByName('made-up1')).toContain('too many names')
    expect(admission.refusalByName('nothing')).toBeUndefined()
    expect(timers.size).toBe(1)
    admission.clear()
    expect([timers.size, admission.status().held.length]).toEqual([0, 0])
    expect(admission.refusalByName('made-up1')).toBeUndefined()
  })
})
