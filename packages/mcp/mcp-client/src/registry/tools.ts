/**
 * Owns what one server offers to the model and what of it is registered in the host's tool registry: exactly the direct
 * tools of the last published catalog, or nothing. Swaps by difference, all or nothing. The other tools are kept with
 * their definitions and registered only while somebody needs them.
 */
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import { McpError, messageOf } from '../errors.ts'
import { cleanLine } from '../text.ts'
import type {
  CatalogEntry,
  DefinitionBytes,
  Exposure,
  FlaggedTool,
  OfferedTool,
  Quarantined,
  RewrittenTool,
} from '../types.ts'
import { diffCatalog } from './diff.ts'
import { byName, bytesOf, offeredOf, reportOf, sizeOf } from './held.ts'
import type { Held, Report } from './held.ts'
import { createSlot, withoutStacks } from './slot.ts'
import type { Register } from './slot.ts'

export type { Register } from './slot.ts'

/** One entry as the host can hold it, or why it cannot. */
export type Defined =
  | {
      readonly ok: true
      readonly definition: ToolDefinition
      /** What of its schemas is not as the server wrote it; for status. */
      readonly rewrites: RewrittenTool['rewrites']
      /** What was hidden in it; for status. */
      readonly flagged?: FlaggedTool | undefined
    }
  | { readonly ok: false; readonly quarantined: Quarantined }

export interface PublisherOptions {
  readonly serverName: string
  readonly register: Register
  readonly define: (entry: CatalogEntry) => Defined
  /** Whether a tool stays in the request in any exposure, by raw name. Default: none does. */
  readonly isAlwaysDirect?: (rawName: string) => boolean
  /** A raw name as people may read it. Default: clean and capped. */
  readonly shown?: (rawName: string) => string
}

export interface Published {
  /** Tools in the registry. */
  readonly registered: number
  /** Entries that cannot be expressed to the model; each left out alone. */
  readonly quarantined: readonly Quarantined[]
  /** Registry operations this swap took: 0 where nothing changed. */
  readonly operations: number
}

export interface Publisher {
  /**
   * Offer exactly these entries. `decide` is asked once their bytes are known. Unchanged tools are not touched.
   * @throws McpError MCP_NAME_CONFLICT after everything of this server was unregistered
   */
  publish(entries: readonly CatalogEntry[], decide?: (bytes: DefinitionBytes) => Exposure): Published
  /**
   * Offer the same tools the other way.
   * @throws McpError MCP_NAME_CONFLICT after everything of this server was unregistered
   */
  expose(exposure: Exposure): void
  /** Offer nothing. */
  withdraw(): void
  /** By public name; the same array while nothing changed. */
  offered(): readonly OfferedTool[]
  /** For status; the same object while nothing changed. */
  report(): Report
  find(publicName: string): OfferedTool | undefined
  /**
   * Register a tool of search until the returned function is called.
   * @throws Error what the registry says, such as a name that is taken
   */
  lend(publicName: string): () => void
}

/** Rewrites that are kept of one tool. */
const MAX_REASON_CHARS = 300
const MAX_REWRITES = 20
const MAX_NAME_CHARS = 80

export function createPublisher({
  serverName,
  register,
  define,
  isAlwaysDirect = () => false,
  shown = (rawName) => cleanLine(rawName, MAX_NAME_CHARS),
}: PublisherOptions): Publisher {
  const tools = new Map<string, Held>()
  /** Entries that could not be defined, by public name: not tried again while unchanged. */
  const refused = new Map<string, { readonly digest: string; readonly quarantined: Quarantined }>()
  let offer: readonly OfferedTool[] | undefined
  let report: Report | undefined

  function forget(): void {
    offer = undefined
    report = undefined
  }

  function withdraw(): void {
    for (const { slot } of tools.values()) slot.leave()
    tools.clear()
    refused.clear()
    forget()
  }

  function publish(
    entries: readonly CatalogEntry[],
    decide: (bytes: DefinitionBytes) => Exposure = () => 'direct',
  ): Published {
    const known = new Map([
      ...Array.from(tools, ([name, { entry }]) => [name, entry.digest] as const),
      ...Array.from(refused, ([name, { digest }]) => [name, digest] as const),
    ])
    const { remove, add } = diffCatalog(known, entries)
    let operations = 0
    for (const name of remove) {
      refused.delete(name)
      const held = tools.get(name)
      if (held === undefined) continue
      if (held.slot.isDirect()) operations += 1
      held.slot.leave()
      tools.delete(name)
    }
    for (const entry of add) hold(entry)
    if (remove.length + add.length > 0) forget()
    operations += apply(decide(bytesOf(tools.values())))
    return {
      registered: count(),
      quarantined: [...refused.values()].map(({ quarantined }) => quarantined),
      operations,
    }
  }

  function hold(entry: CatalogEntry): void {
    const defined = defineSafely(entry)
    if (!defined.ok) {
      refused.set(entry.publicName, { digest: entry.digest, quarantined: defined.quarantined })
      return
    }
    const { definition, rewrites, flagged } = defined
    tools.set(entry.publicName, {
      entry,
      definition,
      slot: createSlot(definition, register),
      bytes: sizeOf(definition),
      isFixed: isAlwaysDirect(entry.rawName),
      rewritten: {
        name: cleanLine(entry.rawName, MAX_NAME_CHARS),
        count: rewrites.length,
        rewrites: rewrites.slice(0, MAX_REWRITES),
      },
      flagged,
    })
  }

  /** One odd tool costs one tool, whatever it trips over. */
  function defineSafely(entry: CatalogEntry): Defined {
    try {
      return define(entry)
    } catch (error) {
      return { ok: false, quarantined: leftOut(entry, error) }
    }
  }

  /** Make the registry hold what the exposure says: first out, then in. Returns the operations it took. */
  function apply(exposure: Exposure): number {
    const isWanted = ({ isFixed }: Held): boolean => exposure === 'direct' || isFixed
    const leaving = [...tools.values()].filter((held) => held.slot.isDirect() && !isWanted(held))
    const entering = [...tools.values()].filter((held) => !held.slot.isDirect() && isWanted(held))
    if (leaving.length + entering.length === 0) return 0
    forget()
    for (const { slot } of leaving) slot.leave()
    try {
      return leaving.length + withoutStacks(() => entering.filter(enter).length)
    } catch (error) {
      withdraw()
      throw new McpError(`tool registration failed, no tools registered: ${messageOf(error)}`, {
        code: 'MCP_NAME_CONFLICT',
        server: serverName,
        stage: 'registry',
        cause: error,
      })
    }
  }

  function enter({ entry, slot }: Held): boolean {
    try {
      slot.enter()
      return true
    } catch (error) {
      if (!isDefinitionFault(error)) throw error
      tools.delete(entry.publicName)
      refused.set(entry.publicName, { digest: entry.digest, quarantined: leftOut(entry, error) })
      return false
    }
  }

  const offered = (): readonly OfferedTool[] =>
    (offer ??= [...tools.values()].map((held) => offeredOf(serverName, held)).toSorted(byName))
  const count = (): number => [...tools.values()].filter(({ slot }) => slot.isDirect()).length

  return {
    publish,
    expose: (exposure) => void apply(exposure),
    withdraw,
    offered,
    report: () => (report ??= reportOf([...tools.values()], offered(), shown)),
    find(publicName) {
      const held = tools.get(publicName)
      return held === undefined ? undefined : offeredOf(serverName, held)
    },
    lend: (publicName) => tools.get(publicName)?.slot.lend() ?? (() => undefined),
  }
}

/** The registry refuses the definition itself, not its name. */
function isDefinitionFault(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && error.name === 'JsonSchemaError')
}

function leftOut(entry: CatalogEntry, error: unknown): Quarantined {
  const reason = `the host cannot hold its definition: ${cleanLine(messageOf(error), MAX_REASON_CHARS)}`
  return { name: cleanLine(entry.rawName, MAX_NAME_CHARS), reason }
}
