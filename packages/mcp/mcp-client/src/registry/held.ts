/** Owns what one offered tool is to the registry, and what is said of all of them: sizes, lists for status. Pure. */
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import type {
  CatalogEntry,
  DefinitionBytes,
  FlaggedTool,
  OfferedTool,
  RewrittenTool,
  ServerStatus,
} from '../types.ts'
import type { Slot } from './slot.ts'

/** What status says of the tools; lists by public name, texts clean and without secrets. */
export type Report = Pick<
  ServerStatus['tools'],
  'registered' | 'searchable' | 'definitionBytes' | 'requestBytes' | 'offered' | 'rewritten' | 'flagged'
>

/** One tool that is offered, and its place in the registry. */
export interface Held {
  readonly entry: CatalogEntry
  readonly definition: ToolDefinition
  readonly slot: Slot
  readonly bytes: number
  readonly isFixed: boolean
  readonly rewritten: RewrittenTool
  readonly flagged: FlaggedTool | undefined
}

export function reportOf(
  tools: readonly Held[],
  offered: readonly OfferedTool[],
  shown: (rawName: string) => string,
): Report {
  const direct = offered.filter(({ exposure }) => exposure === 'direct')
  const held = tools.toSorted((a, b) => byName(a.entry, b.entry))
  return {
    registered: direct.length,
    searchable: offered.length - direct.length,
    definitionBytes: sumOf(offered),
    requestBytes: sumOf(direct),
    offered: offered.map(({ publicName, rawName, exposure, bytes }) => ({
      publicName,
      rawName: shown(rawName),
      exposure,
      bytes,
    })),
    rewritten: held.map(({ rewritten }) => rewritten).filter(({ count }) => count > 0),
    flagged: held.flatMap(({ flagged }) => flagged ?? []),
  }
}

export function byName(a: { readonly publicName: string }, b: { readonly publicName: string }): number {
  return a.publicName < b.publicName ? -1 : 1
}

/** Bytes of one definition as the host sends it. */
export function sizeOf({ name, description, parameters }: ToolDefinition): number {
  return Buffer.byteLength(JSON.stringify({ name, description, parameters }))
}

export function bytesOf(tools: Iterable<Held>): DefinitionBytes {
  let total = 0
  let fixed = 0
  for (const { bytes, isFixed } of tools) {
    total += bytes
    if (isFixed) fixed += bytes
  }
  return { total, fixed }
}

function sumOf(tools: readonly OfferedTool[]): number {
  return tools.reduce((sum, { bytes }) => sum + bytes, 0)
}

export function offeredOf(serverName: string, { entry, definition, slot, bytes }: Held): OfferedTool {
  const title = entry.title ?? entry.annotations.title
  return {
    publicName: entry.publicName,
    rawName: entry.rawName,
    serverName,
    ...(title === undefined ? {} : { title }),
    exposure: slot.isDirect() ? 'direct' : 'search',
    bytes,
    definition,
  }
}
