/**
 * Owns the reading of the public servers' tools at run time, through this client's own session and reader: each server
 * is started as a child with dummy credentials, lists its tools and is closed. Nothing of what they say is committed.
 */
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { SYSTEM_CLOCK } from '../../packages/mcp/mcp-client/src/clock.ts'
import { resolveConfig } from '../../packages/mcp/mcp-client/src/config.ts'
import { openSession } from '../../packages/mcp/mcp-client/src/connection/session.ts'
import { createReader } from '../../packages/mcp/mcp-client/src/discovery/reader.ts'
import type { Catalog, CatalogEntry, Session } from '../../packages/mcp/mcp-client/src/types.ts'
import { OAUTH_FILE, OAUTH_KEYS, SERVERS } from './servers.ts'
import type { PublicServer } from './servers.ts'

export interface ServerTools {
  readonly serverName: string
  readonly package: string
  readonly version: string
  readonly entries: readonly CatalogEntry[]
}

const HERE = import.meta.dirname
/** What the servers take for their home: inside the one folder that is never tracked. */
const SCRATCH = `${HERE}/node_modules/.scratch`
const AT_ONCE = 2

/** The tools of every server, in the order of the table. Rejects with all failures together. */
export async function readCatalogues(): Promise<readonly ServerTools[]> {
  await mkdir(SCRATCH, { recursive: true })
  await writeFile(`${SCRATCH}/${OAUTH_FILE}`, JSON.stringify(OAUTH_KEYS))
  const results: (ServerTools | Error)[] = []
  const pending = [...SERVERS.entries()]
  const work = async (): Promise<void> => {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const [at, server] = next
      results[at] = await readTools(server).catch((error: unknown) => toError(server, error))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const failures = results.filter((result) => result instanceof Error)
  if (failures.length > 0)
    throw new AggregateError(failures, failures.map(({ message }) => message).join('\n'))
  return results as ServerTools[]
}

async function readTools(server: PublicServer): Promise<ServerTools> {
  const folder = `${HERE}/node_modules/${server.package}`
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as { version: string }
  const { spec } = resolveConfig({
    serverName: server.name,
    transport: 'stdio',
    command: process.execPath,
    args: [`${folder}/${server.entry}`, ...(server.args?.(SCRATCH) ?? [])],
    env: { HOME: SCRATCH, ...server.env?.(SCRATCH) },
    cwd: SCRATCH,
    startup: { timeoutMs: 60_000 },
    tools: { duplicates: 'keep-first' },
  })
  const limit = AbortSignal.timeout(90_000)
  let catalog: Catalog | undefined
  let session: Session | undefined
  const reader = createReader({
    spec,
    clock: SYSTEM_CLOCK,
    current: () => session,
    adopt: (found) => (catalog = found),
    say: () => {},
  })
  session = await openSession(spec, {
    generation: 1,
    signal: limit,
    clock: SYSTEM_CLOCK,
    clientVersion: '0',
    era: { verdict: () => undefined, remember: () => {}, forget: () => {}, now: () => Date.now() },
    events: { onDown: () => {}, onToolsChanged: () => {}, onNote: () => {} },
  })
  try {
    const failure = await reader.first(session, limit)
    if (failure !== undefined) throw failure
  } finally {
    await reader.close()
    await session.close()
  }
  const entries = catalog?.entries ?? []
  if (entries.length === 0) throw new Error('no tools')
  return { serverName: server.name, package: server.package, version: manifest.version, entries }
}

function toError(server: PublicServer, error: unknown): Error {
  return new Error(`${server.name}: ${error instanceof Error ? error.message : String(error)}`, {
    cause: error,
  })
}
