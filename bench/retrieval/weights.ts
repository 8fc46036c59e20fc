/**
 * Owns what MCP definitions weigh in a request: every tool directly, against the two tools of search. Larger sets are
 * the real catalogues again under other server names.
 */
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { publicToolName } from '../../packages/mcp/mcp-client/src/naming.ts'
import { toOffer } from '../../packages/mcp/mcp-client/src/schema/offer.ts'
import { createCallTool } from '../../packages/mcp/mcp-client/src/search/call-tool.ts'
import { createSearchTool } from '../../packages/mcp/mcp-client/src/search/search-tool.ts'
import type { ServerTools } from './catalogues.ts'

export const ENCODING = 'o200k_base'
export const SIZES = [10, 100, 1_000, 10_000] as const

export interface Weight {
  readonly bytes: number
  readonly tokens: number
}

export interface WeightRow {
  readonly tools: number
  readonly direct: Weight
  readonly search: Weight
}

/** What a request has of a tool. */
interface Definition {
  readonly name: string
  readonly description: string
  readonly parameters: unknown
}

export function weighAll(servers: readonly ServerTools[]): WeightRow[] {
  const search = weigh(searchDefinitions())
  const all = directDefinitions(servers, Math.max(...SIZES))
  return SIZES.map((tools) => ({ tools, direct: weigh(all.slice(0, tools)), search }))
}

/** Tool by tool of all servers in turns, so that a small set is not one server's; then again under other names. */
function directDefinitions(servers: readonly ServerTools[], count: number): Definition[] {
  const longest = Math.max(...servers.map(({ entries }) => entries.length))
  const base = Array.from({ length: longest }, (_, at) =>
    servers.flatMap(({ serverName, entries }) => {
      const entry = entries[at]
      const offer = entry === undefined ? undefined : toOffer(entry)
      if (entry === undefined || offer?.ok !== true) return []
      const { description, parameters } = offer
      return [{ serverName, rawName: entry.rawName, description, parameters }]
    }),
  ).flat()
  return Array.from({ length: count }, (_, at) => {
    const { serverName, rawName, description, parameters } = base[at % base.length] as (typeof base)[number]
    const round = Math.floor(at / base.length)
    const name = publicToolName(round === 0 ? serverName : `${serverName}${round + 1}`, rawName)
    return { name, description, parameters }
  })
}

/** The definitions are constant: nothing of what they would call is there. */
function searchDefinitions(): Definition[] {
  const nothing = {} as Parameters<typeof createCallTool>[0] & Parameters<typeof createSearchTool>[0]
  return [createSearchTool(nothing, () => Promise.resolve()), createCallTool(nothing)].map(
    ({ name, description, parameters }) => ({
      name,
      description: description ?? '',
      parameters,
    }),
  )
}

function weigh(definitions: readonly Definition[]): Weight {
  let bytes = 0
  let tokens = 0
  for (const definition of definitions) {
    const text = JSON.stringify(definition)
    bytes += Buffer.byteLength(text)
    tokens += encode(text).length
  }
  return { bytes, tokens }
}
