/** Owns the view of all tools of one app that search has: which server has a name, and the index over all of them. */
import { setImmediate } from 'node:timers/promises'
import type { Hub } from '../hub.ts'
import type { JsonObject, OfferedTool, ServerHandle } from '../types.ts'
import type { SearchableTool, ToolIndex } from './ranking.ts'

/** One tool and the server that offers it. */
export interface Found {
  readonly server: ServerHandle
  readonly tool: OfferedTool
}

export interface Directory {
  find(publicName: string): Found | undefined
  /** By name. */
  servers(): readonly ServerHandle[]
  /** Over what is offered now; made when it is asked for and something changed. Not before `ready` has settled once. */
  index(): ToolIndex
  /** Settles when the index is made, which gives way to other work meanwhile. Loads the ranking at first. */
  ready(): Promise<void>
}

/** Tools that are taken into the index in one go: some 50 ms of work. */
const SLICE = 250

export function createDirectory(hub: Hub): Directory {
  /** What the whole index is over; empty while there is only a part of it. */
  let indexed: readonly (readonly OfferedTool[])[] = []
  let index: ToolIndex | undefined
  /** Its lexicon is a large part of this package, and most hosts never search. */
  let ranking: typeof import('./ranking.ts') | undefined
  /** The schema stands for the tool: it is one object while the tool is unchanged. */
  let schemas = new Map<string, JsonObject>()

  const offersNow = (): readonly (readonly OfferedTool[])[] => hub.servers().map((server) => server.offered())

  function isCurrent(offers: readonly (readonly OfferedTool[])[]): boolean {
    return offers.length === indexed.length && offers.every((offer, at) => offer === indexed[at])
  }

  function take(documents: readonly SearchableTool[]): ToolIndex {
    schemas = new Map(documents.map(({ publicName, inputSchema }) => [publicName, inputSchema]))
    /* v8 ignore next -- whoever searches has waited for it */
    if (ranking === undefined) throw new Error('the index was asked for before it was ready')
    return (index = ranking.createToolIndex(documents, index))
  }

  function whole(): ToolIndex {
    const offers = offersNow()
    if (index !== undefined && isCurrent(offers)) return index
    indexed = offers
    return take(documentsOf(offers))
  }

  return {
    find(publicName) {
      for (const server of hub.servers()) {
        const tool = server.find(publicName)
        if (tool !== undefined) return { server, tool }
      }
      return undefined
    },
    servers: () => hub.servers(),
    index: whole,
    async ready() {
      ranking ??= await import('./ranking.ts')
      for (;;) {
        const offers = offersNow()
        if (isCurrent(offers)) return
        const documents = documentsOf(offers)
        const fresh = documents.filter(
          (document) => schemas.get(document.publicName) !== document.inputSchema,
        )
        if (fresh.length <= SLICE) return void whole()
        const later = new Set(fresh.slice(SLICE))
        indexed = []
        take(documents.filter((document) => !later.has(document)))
        await setImmediate()
      }
    },
  }
}

/** Two servers whose names and tools join to one public name: the first by name has it, as in {@link Directory.find}. */
function documentsOf(offers: readonly (readonly OfferedTool[])[]): SearchableTool[] {
  const documents = new Map<string, SearchableTool>()
  for (const tool of offers.flat()) {
    if (!documents.has(tool.publicName)) documents.set(tool.publicName, documentOf(tool))
  }
  return [...documents.values()]
}

function documentOf({ publicName, rawName, serverName, title, definition }: OfferedTool): SearchableTool {
  return {
    publicName,
    rawName,
    serverName,
    ...(title === undefined ? {} : { title }),
    description: definition.description,
    inputSchema: definition.parameters as JsonObject,
  }
}
