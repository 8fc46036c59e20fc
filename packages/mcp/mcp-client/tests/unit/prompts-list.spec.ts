/** Owns the tests of the list of prompts over time: limits, late answers, what the seat refuses, what is told. */
import type { CommandDefinition } from '@deepseek-ai/dsh-commands'
import { describe, expect, it } from 'vitest'
import { createPrompts, LIST_LIMIT_MS } from '../../src/prompts/prompts.ts'
import type { JsonObject, RequestOptions, Session } from '../../src/types.ts'
import { FakeClock, settled } from './fake-clock.ts'

type Answer = (params: object, options: RequestOptions) => unknown

function sessionOf(answer: Answer, capabilities: object = { prompts: {} }): Session {
  return {
    facts: { era: 'legacy', revision: '2025-11-25', capabilities },
    request: async (_method: string, params: object, options: RequestOptions) => answer(params, options),
  } as never
}

const silent: Answer = (_params, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))

function setup(over: { redact?: (text: string) => string; prompts?: boolean } = {}) {
  const kept: (readonly JsonObject[])[] = []
  const clock = new FakeClock()
  const said: string[] = []
  const seated: CommandDefinition[] = []
  const puts: string[] = []
  const refusals = new Map<string, (error: unknown) => void>()
  const taken = new Set<string>()
  let current: Session | undefined
  const prompts = createPrompts({
    spec: {
      serverName: 'kit',
      prompts: over.prompts ?? true,
      redact: over.redact ?? ((text) => text),
      limits: { pages: 3, messageBytes: 100_000, resultTextBytes: 1_000 } as never,
      toolCallTimeoutMs: 1_000,
      toolCallMaxMs: 1_000,
    },
    clock,
    seat: {
      put(definition, refused) {
        puts.push(definition.name)
        if (taken.has(definition.name)) refused?.(new Error('the name is taken'))
        else seated.push(definition)
        if (refused !== undefined) refusals.set(definition.name, refused)
        return () => {
          if (seated.includes(definition)) seated.splice(seated.indexOf(definition), 1)
        }
      },
    },
    host: {} as never,
    session: () => current,
    prepare: () => Promise.resolve(current),
    reason: () => 'it sleeps',
    failed: () => {},
    say: ({ level, text }) => said.push(`${level}: ${text}`),
    taken: (items) => void kept.push(items),
  })
  return {
    kept,
    clock,
    said,
    puts,
    taken,
    refusals,
    prompts,
    names: () => seated.map(({ name }) => name).toSorted(),
    definition: (name: string) => seated.find((one) => one.name === name),
    open(session: Session) {
      current = session
      prompts.opened(session)
      return settled()
    },
    lose: () => void (current = undefined),
  }
}

describe('the list of prompts', () => {
  it('is given up after its limit, told once, and read again when it changes', async () => {
    const t = setup()
    let answer = silent
    await t.open(sessionOf((params, options) => answer(params, options)))
    expect(t.clock.pending()).toEqual([LIST_LIMIT_MS])
    await t.clock.advance(LIST_LIMIT_MS)
    expect(t.said).toEqual(['warn: the list of prompts could not be read: no answer within 10000 ms'])
    t.prompts.changed()
    await t.clock.advance(LIST_LIMIT_MS)
    expect(t.said).toHaveLength(1)
    answer = () => ({ prompts: [{ name: 'a' }] })
    t.prompts.changed()
    await settled()
    expect(t.names()).toEqual(['mcp__kit__a'])
    expect(t.clock.pending()).toEqual([])
  })

  it('of an ended session is nothing, whether it comes or fails', async () => {
    const t = setup()
    const late = Promise.withResolvers<object>()
    await t.open(sessionOf(() => late.promise))
    await t.open(sessionOf(() => ({ prompts: [{ name: 'b' }] })))
    late.resolve({ prompts: [{ name: 'a' }] })
    await settled()
    expect(t.names()).toEqual(['mcp__kit__b'])
    const failing = Promise.withResolvers<object>()
    await t.open(sessionOf(() => failing.promise))
    t.lose()
    failing.reject(new Error('the connection ended'))
    await settled()
    expect([t.names(), t.said]).toEqual([['mcp__kit__b'], []])
  })

  it('is not taken after a withdrawal, and the close waits for what is in flight', async () => {
    const t = setup()
    const late = Promise.withResolvers<object>()
    await t.open(sessionOf(() => late.promise))
    t.prompts.withdraw()
    late.resolve({ prompts: [{ name: 'a' }] })
    await settled()
    expect(t.names()).toEqual([])
    const slow = Promise.withResolvers<object>()
    await t.open(sessionOf(() => slow.promise))
    t.prompts.withdraw()
    let isClosed = false
    const closing = t.prompts.close().then(() => (isClosed = true))
    await settled()
    expect(isClosed).toBe(false)
    slow.resolve({ prompts: [{ name: 'a' }] })
    await closing
    await t.open(sessionOf(silent))
    await t.prompts.close()
    t.prompts.changed()
    await settled()
    expect([t.names(), t.said, t.clock.pending()]).toEqual([[], [], []])
  })

  it('goes where the next session has none', async () => {
    const t = setup()
    await t.open(sessionOf(() => ({ prompts: [{ name: 'a' }] })))
    await t.open(sessionOf(() => ({ prompts: [{ name: 'b' }] }), {}))
    expect([t.names(), t.prompts.commands()]).toEqual([[], []])
  })

  it('is cut at a thousand, and what is odd costs itself', async () => {
    const t = setup()
    const many = Array.from({ length: 1_001 }, (_, at) => ({ name: `p${at}` }))
    await t.open(sessionOf(() => ({ prompts: many })))
    expect(t.names()).toHaveLength(1_000)
    expect(t.said).toEqual(['warn: the list was cut at 1000 prompts'])
    await t.open(sessionOf(() => ({ prompts: ['odd', { name: 'p1', title: 'First' }, { name: 'p1' }] })))
    expect(t.said.slice(1)).toEqual(['warn: 2 of 3 prompts are left out: no name of their own'])
    expect(t.names()).toEqual(['mcp__kit__p1'])
    expect(t.definition('mcp__kit__p1')?.description).toMatch(/^First /)
  })

  it('is told of without the secrets in it', async () => {
    const t = setup({ redact: (text) => text.replaceAll('s3cret', '[redacted]') })
    await t.open(
      sessionOf(() => {
        throw new Error('token s3cret \u001b[31mis bad')
      }),
    )
    expect(t.said).toEqual(['warn: the list of prompts could not be read: token [redacted] is bad'])
    await t.open(sessionOf(() => ({ prompts: [{ name: 's3cret', title: 'The s3cret' }] })))
    expect(t.prompts.commands()).toEqual([{ command: 'mcp__kit__s3cret', name: '[redacted]' }])
    expect(t.definition('mcp__kit__s3cret')?.description).toBe(
      'The [redacted] (prompt of the MCP server kit)',
    )
  })
})

describe('the prompts of a sleeping server', () => {
  const items = [
    {
      name: 'a',
      title: 'T',
      description: 'D',
      arguments: [{ name: 'x', description: 'about', required: true }],
    },
    { name: 'b' },
  ]

  it('are commands, and the same ones when it wakes', async () => {
    const t = setup()
    await t.open(sessionOf(() => ({ prompts: items })))
    const [remembered = []] = t.kept
    const sleeping = setup()
    sleeping.prompts.remembered([...remembered, 'odd'])
    expect(sleeping.names()).toEqual(t.names())
    expect(sleeping.definition('mcp__kit__a')).toMatchObject({
      description: t.definition('mcp__kit__a')?.description,
      input: { hint: '<x>' },
    })
    await sleeping.open(sessionOf(() => ({ prompts: items })))
    expect(sleeping.puts).toEqual(['mcp__kit__a', 'mcp__kit__b'])
  })

  it('are kept from each list that was read, and forgotten where it has none any more', async () => {
    const t = setup()
    await t.open(sessionOf(() => ({ prompts: items })))
    await t.open(sessionOf(() => Promise.reject(new Error('no list'))))
    expect(t.kept).toHaveLength(1)
    await t.open(sessionOf(() => ({ prompts: [] }), {}))
    expect(t.kept).toEqual([t.kept[0], []])
  })

  it('are none where the row wants none', () => {
    const t = setup({ prompts: false })
    t.prompts.remembered(items)
    expect(t.names()).toEqual([])
  })
})

describe('a command', () => {
  it('that did not change is not touched; one that did is another', async () => {
    const t = setup()
    let prompts: object[] = [{ name: 'a' }, { name: 'b', description: 'one' }]
    const session = sessionOf(() => ({ prompts }))
    await t.open(session)
    prompts = [{ name: 'b', description: 'two' }, { name: 'a' }]
    await t.open(session)
    expect(t.puts).toEqual(['mcp__kit__a', 'mcp__kit__b', 'mcp__kit__b'])
    expect(t.names()).toEqual(['mcp__kit__a', 'mcp__kit__b'])
    expect(t.definition('mcp__kit__b')?.description).toBe('two (prompt of the MCP server kit)')
    expect(t.definition('mcp__kit__a')).not.toHaveProperty('input')
  })

  it('that is refused costs itself, is told once, and is tried again', async () => {
    const t = setup()
    t.taken.add('mcp__kit__a')
    const session = sessionOf(() => ({ prompts: [{ name: 'a' }, { name: 'b' }] }))
    await t.open(session)
    await t.open(session)
    expect(t.said).toEqual(['warn: the prompt "a" is no command: the name is taken'])
    expect(t.prompts.commands()).toEqual([{ command: 'mcp__kit__b', name: 'b' }])
    t.taken.clear()
    await t.open(session)
    expect(t.names()).toEqual(['mcp__kit__a', 'mcp__kit__b'])
  })

  it('that is refused later, by a service that comes late, goes too', async () => {
    const t = setup()
    await t.open(sessionOf(() => ({ prompts: [{ name: 'a' }] })))
    t.refusals.get('mcp__kit__a')?.(new Error('the name is taken'))
    expect(t.said).toEqual(['warn: the prompt "a" is no command: the name is taken'])
    expect([t.names(), t.prompts.commands()]).toEqual([[], []])
  })
})
