/**
 * Owns a work-around: the host refuses a restriction that names a tool which is not registered, and a tool of search is
 * not. A sub-agent whose filter names one could not be made. `restrict` of the registry is wrapped while there are
 * companions: the tools it names are registered for the time of that call.
 */
import { symbols } from '@deepseek-ai/cordis'
import { scopeOf } from '@deepseek-ai/dsh-scope'
import type { ToolRestriction, ToolRuntime } from '@deepseek-ai/dsh-tools'
import { CALL_NAME } from './call-tool.ts'
import type { Directory, Found } from './directory.ts'
import type { Loans } from './loans.ts'
import { SEARCH_NAME } from './search-tool.ts'

type Restrict = ToolRuntime['restrict']

/** @returns undoes it */
export function admitInRestrictions(tools: ToolRuntime, directory: Directory, loans: Loans): () => void {
  const service = ((tools as unknown as Record<symbol, unknown>)[symbols.original] ?? tools) as ToolRuntime
  const before = Object.getOwnPropertyDescriptor(service, 'restrict')
  const { restrict } = service
  let isOn = true

  const wrapped: Restrict = function restrictWithSearchable(this: ToolRuntime, filter) {
    const named = [...(filter.allow ?? []), ...(filter.deny ?? [])]
    const found = isOn ? named.flatMap((name) => directory.find(name) ?? []) : []
    const searchable = found.filter(({ tool }) => tool.exposure === 'search')
    const giveBack = searchable.map((one) => takeOrLeave(one, loans))
    try {
      const ways = [SEARCH_NAME, CALL_NAME].filter((way) => this.get(way, scopeOf(this.ctx)) !== undefined)
      return Reflect.apply(restrict, this, [withWays(filter, namesOf(searchable), ways)])
    } finally {
      for (const end of giveBack) end()
    }
  }
  Object.defineProperty(service, 'restrict', { value: wrapped, configurable: true, writable: true })

  return () => {
    isOn = false
    // Somebody who wrapped it after us keeps a function that passes on.
    if (service.restrict !== wrapped) return
    if (before === undefined) Reflect.deleteProperty(service, 'restrict')
    else Object.defineProperty(service, 'restrict', before)
  }
}

/** A name that something else has taken is known to the registry. */
function takeOrLeave(found: Found, loans: Loans): () => void {
  try {
    return loans.take(found)
  } catch {
    return () => undefined
  }
}

function namesOf(found: readonly Found[]): ReadonlySet<string> {
  return new Set(found.map(({ tool }) => tool.publicName))
}

/** An agent that may use a tool of search may use the way to it. That way leads to no other tool. */
function withWays(
  filter: ToolRestriction,
  searchable: ReadonlySet<string>,
  ways: readonly string[],
): ToolRestriction {
  const { allow } = filter
  if (allow === undefined || !allow.some((name) => searchable.has(name))) return filter
  return { ...filter, allow: [...new Set([...allow, ...ways])] }
}
