/** Owns the tests of the parts of search that no real host shows in full: pairs of tools and the wrapped restriction. */
import type { ToolDefinition, ToolRestriction, ToolRuntime } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import type { Directory } from '../../src/search/directory.ts'
import { createLoans } from '../../src/search/loans.ts'
import { pageText } from '../../src/search/page.ts'
import { createPairs } from '../../src/search/pairs.ts'
import { admitInRestrictions } from '../../src/search/restriction.ts'
import type { OfferedTool, ServerHandle } from '../../src/types.ts'

const TWO = [{ name: 'mcp_call' }, { name: 'mcp_search' }] as unknown as readonly ToolDefinition[]

/** Rows in scopes, and what they have registered. */
function setupPairs() {
  const log: string[] = []
  const servers: ServerHandle[] = []
  const needed = new Set<string>()
  const refusing = new Set<string>()
  const failures: string[] = []
  const add = (serverName: string, scope?: object): ServerHandle => {
    const server = {
      serverName,
      scope,
      register({ name }: ToolDefinition) {
        if (refusing.has(name)) throw new Error(`${name} is taken`)
        log.push(`+${serverName} ${name}`)
        return () => void log.push(`-${serverName} ${name}`)
      },
    } as unknown as ServerHandle
    servers.push(server)
    needed.add(serverName)
    return server
  }
  const pairs = createPairs({
    definitions: TWO,
    servers: () => servers,
    isNeeded: ({ serverName }) => needed.has(serverName),
    failed: ({ serverName }, error) => void failures.push(`${serverName}: ${String(error)}`),
  })
  return { pairs, log, servers, needed, refusing, failures, add }
}

describe('the two tools', () => {
  it('are registered once for each scope, and not again', () => {
    const t = setupPairs()
    t.add('a')
    t.add('b')
    t.add('c', t)
    t.pairs.update()
    t.pairs.update()
    expect(t.log).toEqual(['+a mcp_call', '+a mcp_search', '+c mcp_call', '+c mcp_search'])
    t.pairs.end()
    expect(t.log.slice(4)).toEqual(['-a mcp_call', '-a mcp_search', '-c mcp_call', '-c mcp_search'])
  })

  it('stay with a row that needs them no more while another one does', () => {
    const t = setupPairs()
    t.add('a')
    t.add('b')
    t.pairs.update()
    t.log.length = 0
    t.needed.delete('a')
    t.pairs.update()
    expect(t.log).toEqual([])
    t.servers.shift()
    t.pairs.update()
    expect(t.log).toEqual(['-a mcp_call', '-a mcp_search', '+b mcp_call', '+b mcp_search'])
    t.needed.delete('b')
    t.pairs.update()
    expect(t.log.slice(4)).toEqual(['-b mcp_call', '-b mcp_search'])
  })

  it('are both there or none, and tried again', () => {
    const t = setupPairs()
    t.refusing.add('mcp_search')
    t.add('a')
    t.pairs.update()
    expect(t.log).toEqual(['+a mcp_call', '-a mcp_call'])
    expect(t.failures).toEqual(['a: Error: mcp_search is taken'])
    t.refusing.clear()
    t.pairs.update()
    expect(t.log.slice(2)).toEqual(['+a mcp_call', '+a mcp_search'])
  })
})

/** A registry that knows some names, and one tool of search. */
function setupRestriction(known: readonly string[]) {
  const names = new Set(known)
  const restricted: ToolRestriction[] = []
  const seen: string[][] = []
  const tool = { publicName: 'mcp__s__t', exposure: 'search' } as OfferedTool
  const server = {
    lend(name: string) {
      if (names.has(name)) throw new Error(`${name} is taken`)
      names.add(name)
      return () => void names.delete(name)
    },
  } as unknown as ServerHandle
  const directory = {
    find: (name: string) => (name === tool.publicName ? { server, tool } : undefined),
  } as Directory
  const tools = {
    ctx: {},
    get: (name: string) => (names.has(name) ? {} : undefined),
    restrict(filter: ToolRestriction) {
      seen.push([...names])
      restricted.push(filter)
      return () => undefined
    },
  } as unknown as ToolRuntime
  return { tools, directory, loans: createLoans(directory), names, restricted, seen }
}

describe('a restriction', () => {
  it('finds the tools of search it names for the time of the call', () => {
    const t = setupRestriction(['read'])
    const undo = admitInRestrictions(t.tools, t.directory, t.loans)
    t.tools.restrict({ deny: ['mcp__s__t', 'read'] })
    expect(t.seen).toEqual([['read', 'mcp__s__t']])
    expect([...t.names]).toEqual(['read'])
    t.tools.restrict({ allow: ['read'] })
    expect(t.seen[1]).toEqual(['read'])
    undo()
  })

  it('that allows one allows the way to it, as far as it is there', () => {
    const t = setupRestriction(['mcp_call', 'mcp_search'])
    admitInRestrictions(t.tools, t.directory, t.loans)
    t.tools.restrict({ allow: ['mcp__s__t', 'mcp_call'] })
    t.names.delete('mcp_search')
    t.tools.restrict({ allow: ['mcp__s__t'], deny: ['mcp_call'] })
    expect(t.restricted).toEqual([
      { allow: ['mcp__s__t', 'mcp_call', 'mcp_search'] },
      { allow: ['mcp__s__t', 'mcp_call'], deny: ['mcp_call'] },
    ])
  })

  it('takes a name as it is that something else has', () => {
    const t = setupRestriction(['mcp__s__t'])
    admitInRestrictions(t.tools, t.directory, t.loans)
    t.tools.restrict({ deny: ['mcp__s__t'] })
    expect([...t.names]).toEqual(['mcp__s__t'])
  })

  it('is as it was afterwards, also where somebody wrapped it meanwhile or before', () => {
    const t = setupRestriction([])
    const { restrict } = t.tools
    const undo = admitInRestrictions(t.tools, t.directory, t.loans)
    undo()
    expect(t.tools.restrict).toBe(restrict)
    const again = admitInRestrictions(t.tools, t.directory, t.loans)
    const inner = t.tools.restrict
    t.tools.restrict = function outer(filter) {
      return Reflect.apply(inner, this, [filter])
    }
    again()
    expect(t.tools.restrict).not.toBe(restrict)
    t.tools.restrict({ deny: ['mcp__s__t'] })
    expect(t.seen).toEqual([[]])
  })
})

describe('a page', () => {
  it('names a tool that says nothing of itself', () => {
    expect(pageText({ tools: [{ name: 'mcp__s__t', server: 's', description: '' }], total: 1 })).toContain(
      '\n- mcp__s__t\n',
    )
  })
})

describe('a loan', () => {
  it('is given back once, and only the last holder ends it', () => {
    const t = setupRestriction([])
    const found = t.directory.find('mcp__s__t')
    if (found === undefined) throw new Error('not there')
    let lent = 0
    const server = { ...found.server, lend: () => ((lent += 1), () => void (lent -= 1)) }
    const loans = createLoans(t.directory)
    const first = loans.take({ ...found, server })
    const second = loans.take({ ...found, server })
    first()
    first()
    expect([lent, [...loans.names()]]).toEqual([1, ['mcp__s__t']])
    second()
    expect([lent, [...loans.names()]]).toEqual([0, []])
    expect(loans.isChanging()).toBe(false)
  })
})
