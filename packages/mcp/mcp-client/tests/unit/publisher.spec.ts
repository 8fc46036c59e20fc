/** Owns the tests of what one server has registered: over a registry made by hand, and over the host's real one. */
import { Context } from '@deepseek-ai/cordis'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { ToolRuntime } from '@deepseek-ai/dsh-tools'
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import { McpError } from '../../src/errors.ts'
import { createPublisher } from '../../src/registry/tools.ts'
import type { Defined } from '../../src/registry/tools.ts'
import type { CatalogEntry, DefinitionBytes } from '../../src/types.ts'
import { makeEntry } from '../composition/registry-host.ts'

const entry = (name: string, digest = '1'): CatalogEntry =>
  makeEntry({ rawName: name, publicName: `mcp__demo__${name}`, digest })

function definitionOf({
  publicName,
  description,
}: Pick<CatalogEntry, 'publicName' | 'description'>): ToolDefinition {
  return {
    name: publicName,
    description,
    parameters: { type: 'object' },
    output: { schema: {}, render: () => [] },
    execute: () => Promise.resolve(null),
  } as unknown as ToolDefinition
}

/** A registry that writes down what is done to it. */
function setup(taken: readonly string[] = []) {
  const held = new Set(taken)
  const log: string[] = []
  const defined: string[] = []
  const publisher = createPublisher({
    serverName: 'demo',
    register: ({ name }) => {
      if (held.has(name)) throw new Error(`tool "${name}" is already registered`)
      held.add(name)
      log.push(`+${name.slice(11)}`)
      return () => {
        held.delete(name)
        log.push(`-${name.slice(11)}`)
      }
    },
    isAlwaysDirect: (rawName) => rawName.startsWith('fixed'),
    define: (item): Defined => {
      defined.push(item.rawName)
      return item.digest.startsWith('bad')
        ? { ok: false, quarantined: { name: item.rawName, reason: item.digest } }
        : { ok: true, definition: definitionOf(item), rewrites: [] }
    },
  })
  return { publisher, held, log, defined }
}

describe('createPublisher', () => {
  it('knows what was rewritten of the tools that are registered, by name, the first twenty of each', () => {
    const rewrites = Array.from({ length: 25 }, (_, at) => ({
      path: `/p${at}`,
      keyword: 'type',
      reason: 'type-list',
    }))
    const publisher = createPublisher({
      serverName: 'demo',
      register: () => () => undefined,
      define: (item) => ({
        ok: true,
        definition: definitionOf(item),
        rewrites: item.rawName === 'plain' ? [] : rewrites,
      }),
    })
    publisher.publish([entry('z\u202e'), entry('plain'), entry('b')])
    expect(publisher.report().rewritten).toEqual([
      { name: 'b', count: 25, rewrites: rewrites.slice(0, 20) },
      { name: 'z', count: 25, rewrites: rewrites.slice(0, 20) },
    ])
    publisher.publish([entry('b')])
    expect(publisher.report().rewritten.map(({ name }) => name)).toEqual(['b'])
    publisher.withdraw()
    expect(publisher.report().rewritten).toEqual([])
  })

  it('registers a list, and nothing again for the same list', () => {
    const t = setup()
    const list = [entry('a'), entry('b')]
    expect(t.publisher.publish(list)).toEqual({ registered: 2, quarantined: [], operations: 2 })
    expect(t.publisher.publish([...list].toReversed())).toEqual({
      registered: 2,
      quarantined: [],
      operations: 0,
    })
    expect(t.log).toEqual(['+a', '+b'])
    expect(t.publisher.report().registered).toBe(2)
  })

  it('deletes before it adds, and leaves the unchanged alone', () => {
    const t = setup()
    t.publisher.publish([entry('gone'), entry('same'), entry('changed')])
    t.log.length = 0
    const result = t.publisher.publish([entry('changed', '2'), entry('new'), entry('same')])
    expect(t.log).toEqual(['-gone', '-changed', '+changed', '+new'])
    expect(result).toEqual({ registered: 3, quarantined: [], operations: 4 })
  })

  it('goes to nothing and back', () => {
    const t = setup()
    t.publisher.publish([entry('a'), entry('b')])
    expect(t.publisher.publish([])).toMatchObject({ registered: 0, operations: 2 })
    expect(t.publisher.publish([entry('a'), entry('b')])).toMatchObject({ registered: 2, operations: 2 })
  })

  it('leaves nothing registered where a name is taken, and says so', () => {
    const t = setup(['mcp__demo__b'])
    const act = (): unknown => t.publisher.publish([entry('a'), entry('b'), entry('c')])
    expect(act).toThrow(McpError)
    expect(act).toThrow(
      'tool registration failed, no tools registered: tool "mcp__demo__b" is already registered',
    )
    try {
      act()
    } catch (error) {
      expect(error).toMatchObject({ code: 'MCP_NAME_CONFLICT', server: 'demo', stage: 'registry' })
      expect((error as McpError).cause).toBeInstanceOf(Error)
    }
    expect([...t.held]).toEqual(['mcp__demo__b'])
    expect(t.publisher.report().registered).toBe(0)
  })

  it('rolls back a later list too, the unchanged tools included, and works again after that', () => {
    const t = setup()
    t.publisher.publish([entry('a')])
    t.held.add('mcp__demo__b')
    expect(() => t.publisher.publish([entry('a'), entry('b')])).toThrow(/no tools registered/)
    expect([...t.held]).toEqual(['mcp__demo__b'])
    t.held.delete('mcp__demo__b')
    expect(t.publisher.publish([entry('a'), entry('b')])).toMatchObject({ registered: 2, operations: 2 })
  })

  it('remembers an entry that cannot be expressed and tries it only when it changed', () => {
    const t = setup()
    const refused = { name: 'b', reason: 'bad-1' }
    expect(t.publisher.publish([entry('a'), entry('b', 'bad-1')])).toEqual({
      registered: 1,
      quarantined: [refused],
      operations: 1,
    })
    expect(t.publisher.publish([entry('a'), entry('b', 'bad-1')])).toMatchObject({
      quarantined: [refused],
      operations: 0,
    })
    expect(t.defined).toEqual(['a', 'b'])
    expect(t.publisher.publish([entry('a'), entry('b', 'bad-2')]).quarantined).toEqual([
      { name: 'b', reason: 'bad-2' },
    ])
    expect(t.publisher.publish([entry('a'), entry('b')])).toEqual({
      registered: 2,
      quarantined: [],
      operations: 1,
    })
    expect(t.publisher.publish([entry('a'), entry('b', 'bad-3')])).toMatchObject({
      registered: 1,
      quarantined: [{ name: 'b', reason: 'bad-3' }],
      operations: 1,
    })
    expect(t.publisher.publish([entry('a')])).toEqual({ registered: 1, quarantined: [], operations: 0 })
  })

  it('withdraws everything, refusals too, and may be asked twice', () => {
    const t = setup()
    t.publisher.publish([entry('a'), entry('b', 'bad-1')])
    t.publisher.withdraw()
    t.publisher.withdraw()
    expect(t.held.size).toBe(0)
    expect(t.log).toEqual(['+a', '-a'])
    t.publisher.publish([entry('b', 'bad-1')])
    expect(t.defined).toEqual(['a', 'b', 'b'])
  })
})

describe('tools of search', () => {
  const search = (): 'search' => 'search'

  it('are offered, counted and measured, and not registered', () => {
    const t = setup()
    expect(t.publisher.publish([entry('a'), entry('fixed-b')], search)).toEqual({
      registered: 1,
      quarantined: [],
      operations: 1,
    })
    expect(t.log).toEqual(['+fixed-b'])
    const { offered, ...counts } = t.publisher.report()
    expect(counts).toMatchObject({ registered: 1, searchable: 1 })
    expect(counts.definitionBytes).toBe(counts.requestBytes + Number(offered[0]?.bytes))
    expect(offered.map(({ rawName, exposure }) => `${rawName} ${exposure}`)).toEqual([
      'a search',
      'fixed-b direct',
    ])
    expect(t.publisher.report()).toBe(t.publisher.report())
    expect(t.publisher.offered()).toBe(t.publisher.offered())
    expect(t.publisher.find('mcp__demo__a')).toMatchObject({ serverName: 'demo', exposure: 'search' })
    expect(t.publisher.find('mcp__demo__z')).toBeUndefined()
  })

  it('are measured as the host sends them', () => {
    const asked: DefinitionBytes[] = []
    const t = setup()
    t.publisher.publish([{ ...entry('a'), title: 'A' }, entry('fixed-b')], (bytes) => {
      asked.push(bytes)
      return 'search'
    })
    const size = (name: string): number =>
      Buffer.byteLength(
        JSON.stringify({
          name: `mcp__demo__${name}`,
          description: 'Get a thing',
          parameters: { type: 'object' },
        }),
      )
    expect(t.publisher.offered().map(({ title }) => title)).toEqual(['A', undefined])
    expect(asked).toEqual([{ total: size('a') + size('fixed-b'), fixed: size('fixed-b') }])
  })

  it('change sides: first out, then in, and the fixed ones not at all', () => {
    const t = setup()
    t.publisher.publish([entry('a'), entry('fixed-b')])
    t.log.length = 0
    t.publisher.expose('search')
    t.publisher.expose('search')
    expect(t.log).toEqual(['-a'])
    const offered = t.publisher.offered()
    t.publisher.expose('direct')
    expect(t.log).toEqual(['-a', '+a'])
    expect(t.publisher.offered()).not.toBe(offered)
  })

  it('are registered while they are lent, once for all holders', () => {
    const t = setup()
    t.publisher.publish([entry('a')], search)
    const first = t.publisher.lend('mcp__demo__a')
    const second = t.publisher.lend('mcp__demo__a')
    expect(t.log).toEqual(['+a'])
    first()
    first()
    expect([...t.held]).toEqual(['mcp__demo__a'])
    second()
    expect(t.log).toEqual(['+a', '-a'])
    t.publisher.lend('mcp__demo__a')()
    expect(t.log).toEqual(['+a', '-a', '+a', '-a'])
  })

  it('are not lent where they are direct, or are not there', () => {
    const t = setup()
    t.publisher.publish([entry('a')])
    t.log.length = 0
    t.publisher.lend('mcp__demo__a')()
    t.publisher.lend('mcp__demo__z')()
    expect(t.log).toEqual([])
  })

  it.each([
    ['changed', (t: ReturnType<typeof setup>) => t.publisher.publish([entry('a', '2')], search)],
    ['withdrawn', (t: ReturnType<typeof setup>) => t.publisher.withdraw()],
  ])('leave nothing behind when they are %s while they are lent', (_how, act) => {
    const t = setup()
    t.publisher.publish([entry('a')], search)
    const giveBack = t.publisher.lend('mcp__demo__a')
    act(t)
    expect([...t.held]).toEqual([])
    const again = t.publisher.lend('mcp__demo__a')
    const now = [...t.held]
    // The old loan does not end the new one.
    giveBack()
    expect([...t.held]).toEqual(now)
    again()
    expect([...t.held]).toEqual([])
  })

  it('that become direct while they are lent stay registered when they are given back', () => {
    const t = setup()
    t.publisher.publish([entry('a')], search)
    const giveBack = t.publisher.lend('mcp__demo__a')
    t.publisher.expose('direct')
    giveBack()
    expect([...t.held]).toEqual(['mcp__demo__a'])
    t.publisher.withdraw()
    expect([...t.held]).toEqual([])
  })

  it('whose name is taken cannot be lent, and can be later', () => {
    const t = setup(['mcp__demo__a'])
    t.publisher.publish([entry('a')], search)
    expect(() => t.publisher.lend('mcp__demo__a')).toThrow('already registered')
    expect(() => t.publisher.expose('direct')).toThrow(McpError)
    expect(t.publisher.offered()).toEqual([])
    t.held.clear()
    t.publisher.publish([entry('a')], search)
    t.publisher.lend('mcp__demo__a')()
    expect(t.log).toEqual(['+a', '-a'])
  })
})

describe('the stacks of registrations', () => {
  it('are not captured, and everybody else has theirs again', () => {
    const { stackTraceLimit } = Error
    const limits: number[] = []
    const publisher = createPublisher({
      serverName: 'demo',
      register: ({ name }) => {
        limits.push(Error.stackTraceLimit)
        if (name.endsWith('taken')) throw new Error('taken')
        return () => undefined
      },
      define: (item) => ({ ok: true, definition: definitionOf(item), rewrites: [] }),
    })
    publisher.publish([entry('a')])
    expect(Error.stackTraceLimit).toBe(stackTraceLimit)
    expect(() => publisher.publish([entry('taken')])).toThrow('taken')
    expect([...limits, Error.stackTraceLimit]).toEqual([0, 0, stackTraceLimit])
  })
})

describe('one odd tool', () => {
  it.each([
    [
      'a definition that the registry refuses',
      Object.assign(new Error('violations'), { name: 'JsonSchemaError' }),
    ],
    ['a definition of the wrong shape', new TypeError('must declare output')],
  ])('costs one tool: %s', (_name, error) => {
    const publisher = createPublisher({
      serverName: 'demo',
      register: ({ name }) => {
        if (name.endsWith('odd')) throw error
        return () => undefined
      },
      define: (item) => ({ ok: true, definition: definitionOf(item), rewrites: [] }),
    })
    expect(publisher.publish([entry('a'), entry('odd'), entry('z')])).toEqual({
      registered: 2,
      quarantined: [{ name: 'odd', reason: `the host cannot hold its definition: ${error.message}` }],
      operations: 2,
    })
  })

  it('costs one tool, too, where it cannot be defined at all', () => {
    const publisher = createPublisher({
      serverName: 'demo',
      register: () => () => undefined,
      define: (item) => {
        if (item.rawName === 'odd') throw new RangeError('too deep')
        return { ok: true, definition: definitionOf(item), rewrites: [] }
      },
    })
    expect(publisher.publish([entry('a'), entry('odd')])).toMatchObject({
      registered: 1,
      quarantined: [{ name: 'odd', reason: 'the host cannot hold its definition: too deep' }],
    })
  })
})

describe('over the registry of the host', () => {
  it('a foreign tool that squats on a name costs this server its tools and the foreign one nothing', async () => {
    const ctx = new Context()
    await ctx.plugin(SystemPrompt)
    await ctx.plugin(ToolRuntime)
    const { tools } = ctx
    const freeForeign = tools.register(
      definitionOf({ publicName: 'mcp__demo__b', description: 'a squatter' }),
    )
    const publisher = createPublisher({
      serverName: 'demo',
      register: (definition) => tools.register(definition),
      define: (item) => ({ ok: true, definition: definitionOf(item), rewrites: [] }),
    })
    const names = (): string[] => tools.schemas().map(({ name }) => name)

    publisher.publish([entry('a')])
    expect(names().toSorted()).toEqual(['mcp__demo__a', 'mcp__demo__b'])
    expect(() => publisher.publish([entry('a'), entry('b')])).toThrow(
      expect.objectContaining({ code: 'MCP_NAME_CONFLICT' }) as Error,
    )
    expect(names()).toEqual(['mcp__demo__b'])
    expect(tools.schemas()[0]?.description).toBe('a squatter')

    freeForeign()
    publisher.publish([entry('a'), entry('b')])
    expect(names().toSorted()).toEqual(['mcp__demo__a', 'mcp__demo__b'])
    publisher.withdraw()
    expect(names()).toEqual([])
    await ctx.fiber.dispose()
  })
})
