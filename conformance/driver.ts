/**
 * Owns the program that the official conformance suite takes for the client under test: `driver.ts URL`. It goes the
 * way of a configured row through our own code: config, session, discovery, one call of each tool, close. It adds no
 * protocol of its own, so that what the suite sees is what a server sees of the plugin.
 */
import { SYSTEM_CLOCK } from '../packages/mcp/mcp-client/src/clock.ts'
import { resolveConfig } from '../packages/mcp/mcp-client/src/config.ts'
import { openSession } from '../packages/mcp/mcp-client/src/connection/session.ts'
import { createReader } from '../packages/mcp/mcp-client/src/discovery/reader.ts'
import { isMcpError } from '../packages/mcp/mcp-client/src/errors.ts'
import type { Catalog, CatalogEntry, JsonObject, Session } from '../packages/mcp/mcp-client/src/types.ts'
import { VERSION } from '../packages/mcp/mcp-client/src/version.ts'
import { FINISHED } from './results.ts'
import { sampleArguments } from './sample.ts'

/** run.ts gives a scenario 100 s; the driver ends before that, by itself. */
const LIMIT_MS = 80_000
const HARD_LIMIT_MS = 90_000
/** Dozens of drivers start at once on few cores: a probe that got no processor time is no silent server. */
const PROBE_TIMEOUT_MS = 60_000
/** Its tool takes a schema as an argument: the one that was listed for the other tool. */
const ECHO_TOOL = 'json_schema_echo'

/** One call to make. */
interface PlannedCall {
  readonly entry: CatalogEntry
  readonly args: JsonObject
}

/** What a scenario wants called, where it says so. */
interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[]
}

async function drive(url: string, signal: AbortSignal): Promise<void> {
  const { spec } = resolveConfig({ serverName: 'conformance', url, transport: 'streamable-http' })
  const say = (text: string): void => void process.stderr.write(`${text}\n`)
  const session = await openSession(spec, {
    generation: 1,
    signal,
    clock: SYSTEM_CLOCK,
    clientVersion: VERSION,
    probeTimeoutMs: PROBE_TIMEOUT_MS,
    era: { verdict: () => undefined, remember: () => undefined, forget: () => undefined, now: Date.now },
    events: {
      onDown: (reason) => say(`down: ${reason.message}`),
      onToolsChanged: () => say('the tool list may have changed'),
      onNote: (level, text) => say(`${level}: ${text}`),
    },
  })
  try {
    say(`connected: ${session.facts.era} ${session.facts.revision}`)
    const catalog = await readCatalog(session, signal)
    for (const { name, reason } of catalog.quarantined) say(`left out ${name}: ${reason}`)
    for (const call of plan(catalog)) await makeCall(session, call, signal)
  } finally {
    await session.close()
  }

  async function readCatalog(current: Session, limit: AbortSignal): Promise<Catalog> {
    let catalog: Catalog | undefined
    const reader = createReader({
      spec,
      clock: SYSTEM_CLOCK,
      current: () => current,
      adopt: (next) => (catalog = next),
      say: ({ text }) => say(text),
    })
    const problem = await reader.first(current, limit)
    await reader.close()
    if (catalog === undefined) throw problem ?? new Error('no catalog was read')
    return catalog
  }

  /** A call that fails must not keep the next one from being made. */
  async function makeCall(current: Session, { entry, args }: PlannedCall, limit: AbortSignal): Promise<void> {
    const { rawName, inputSchema } = entry
    try {
      const result = await current.callTool({ rawName, inputSchema }, args, { signal: limit })
      say(`called ${rawName}: ${JSON.stringify(result)}`)
    } catch (error) {
      // An error that the server answered with is an answer.
      if (!isMcpError(error) || error.code !== 'MCP_REQUEST_REJECTED') process.exitCode = 1
      say(`called ${rawName}: ${String(error)}`)
    }
  }
}

/** The calls that the scenario asks for, or one call of each tool. */
function plan(catalog: Catalog): PlannedCall[] {
  const { toolCalls } = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context
  if (toolCalls !== undefined) {
    return toolCalls.flatMap(({ name, arguments: args }) => {
      const entry = catalog.entries.find(({ rawName }) => rawName === name)
      return entry === undefined ? [] : [{ entry, args }]
    })
  }
  return catalog.entries.map((entry) => ({ entry, args: argumentsFor(entry, catalog) }))
}

function argumentsFor(entry: CatalogEntry, { entries }: Catalog): JsonObject {
  const sample = sampleArguments(entry.inputSchema)
  const other = entries.find(({ rawName }) => rawName !== entry.rawName)
  if (entry.rawName !== ECHO_TOOL || other === undefined) return sample
  return { ...sample, schema: other.inputSchema }
}

async function main(): Promise<void> {
  const [url] = process.argv.slice(2)
  const hardLimit = setTimeout(() => process.exit(2), HARD_LIMIT_MS)
  hardLimit.unref()
  try {
    if (url === undefined) throw new Error('usage: driver.ts URL')
    await drive(url, AbortSignal.timeout(LIMIT_MS))
    // Says that all calls were answered and the session was closed in order; run.ts looks for it.
    if (process.exitCode === undefined) process.stdout.write(`${FINISHED}\n`)
  } catch (error) {
    process.exitCode = 1
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  }
}

// Not awaited: run.ts makes one file of all modules, and the ones that are loaded late come after this line there.
void main()
