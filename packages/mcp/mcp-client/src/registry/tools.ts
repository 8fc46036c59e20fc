/**
 * Owns what one server has registered in the host's tool registry: exactly the last published catalog, or nothing.
 * Swaps by difference, all or nothing.
 */
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import { McpError, messageOf } from '../errors.ts'
import { cleanLine } from '../text.ts'
import type { CatalogEntry, Quarantined, RewrittenTool } from '../types.ts'
import { diffCatalog } from './diff.ts'

/** Registers one definition; the returned function unregisters it. Throws when the name is taken. */
export type Register = (definition: ToolDefinition) => () => void

/** One entry as the host can hold it, or why it cannot. */
export type Defined =
  | {
      readonly ok: true
      readonly definition: ToolDefinition
      /** What of its schemas is not as the server wrote it; for status. */
      readonly rewrites: RewrittenTool['rewrites']
    }
  | { readonly ok: false; readonly quarantined: Quarantined }

export interface Published {
  readonly registered: number
  /** Entries that cannot be expressed to the model; each left out alone. */
  readonly quarantined: readonly Quarantined[]
  /** Registry operations this swap took: 0 where nothing changed. */
  readonly operations: number
}

export interface Publisher {
  /**
   * Make the registry equal to the entries. Unchanged tools are not touched.
   * @throws McpError MCP_NAME_CONFLICT after everything of this server was unregistered
   */
  publish(entries: readonly CatalogEntry[]): Published
  /** Unregister everything. */
  withdraw(): void
  /** Tools registered now. */
  count(): number
  /** The registered tools with rewritten schemas, by public name. */
  rewritten(): RewrittenTool[]
}

/** Rewrites that are kept of one tool. */
const MAX_REASON_CHARS = 300
const MAX_REWRITES = 20
const MAX_NAME_CHARS = 80

interface Registration {
  readonly digest: string
  readonly dispose: () => void
  readonly rewritten: RewrittenTool
}

export function createPublisher(
  serverName: string,
  register: Register,
  define: (entry: CatalogEntry) => Defined,
): Publisher {
  const registrations = new Map<string, Registration>()
  /** Entries that could not be defined, by public name: not tried again while unchanged. */
  const refused = new Map<string, { readonly digest: string; readonly quarantined: Quarantined }>()

  function withdraw(): void {
    for (const { dispose } of registrations.values()) dispose()
    registrations.clear()
    refused.clear()
  }

  function publish(entries: readonly CatalogEntry[]): Published {
    const known = new Map([...registrations, ...refused].map(([name, { digest }]) => [name, digest]))
    const { remove, add } = diffCatalog(known, entries)
    let operations = 0
    for (const name of remove) {
      refused.delete(name)
      const registration = registrations.get(name)
      if (registration === undefined) continue
      registration.dispose()
      registrations.delete(name)
      operations += 1
    }
    try {
      operations += withoutStacks(() => add.filter(registerOne).length)
    } catch (error) {
      withdraw()
      throw new McpError(`tool registration failed, no tools registered: ${messageOf(error)}`, {
        code: 'MCP_NAME_CONFLICT',
        server: serverName,
        stage: 'registry',
        cause: error,
      })
    }
    return {
      registered: registrations.size,
      quarantined: [...refused.values()].map(({ quarantined }) => quarantined),
      operations,
    }
  }

  function registerOne(entry: CatalogEntry): boolean {
    const { publicName, digest } = entry
    const defined = defineSafely(entry)
    if (!defined.ok) {
      refused.set(publicName, { digest, quarantined: defined.quarantined })
      return false
    }
    const { definition, rewrites } = defined
    const rewritten = {
      name: cleanLine(entry.rawName, MAX_NAME_CHARS),
      count: rewrites.length,
      rewrites: rewrites.slice(0, MAX_REWRITES),
    }
    try {
      registrations.set(publicName, { digest, dispose: register(definition), rewritten })
    } catch (error) {
      if (!isDefinitionFault(error)) throw error
      refused.set(publicName, { digest, quarantined: leftOut(entry, error) })
      return false
    }
    return true
  }

  /** One odd tool costs one tool, whatever it trips over. */
  function defineSafely(entry: CatalogEntry): Defined {
    try {
      return define(entry)
    } catch (error) {
      return { ok: false, quarantined: leftOut(entry, error) }
    }
  }

  return {
    publish,
    withdraw,
    count: () => registrations.size,
    rewritten: () =>
      [...registrations]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([, { rewritten }]) => rewritten)
        .filter(({ count }) => count > 0),
  }
}

/**
 * The host captures three stacks for each registration, which nobody reads: without them 10 000 tools take a third of
 * the time on the event loop.
 */
function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return work()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
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
