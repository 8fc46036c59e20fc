/**
 * Owns the program that the official conformance suite takes for the client under test: `driver.ts URL`. It goes the
 * way of a configured row through our own code: config, session, discovery, one call of each tool, close. It adds no
 * protocol of its own, so that what the suite sees is what a server sees of the plugin.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pending } from '../packages/mcp/mcp-client/src/auth/credentials.ts'
import { SYSTEM_CLOCK } from '../packages/mcp/mcp-client/src/clock.ts'
import { createAuthorizer } from '../packages/mcp/mcp-client/src/auth/authorizer.ts'
import { createMetadataFetch } from '../packages/mcp/mcp-client/src/auth/metadata-fetch.ts'
import { openVault } from '../packages/mcp/mcp-client/src/auth/vault.ts'
import { loadSdk } from '../packages/mcp/mcp-client/src/sdk.ts'
import { resolveConfig } from '../packages/mcp/mcp-client/src/config.ts'
import { openSession } from '../packages/mcp/mcp-client/src/connection/open-session.ts'
import { createReader } from '../packages/mcp/mcp-client/src/discovery/reader.ts'
import { isMcpError } from '../packages/mcp/mcp-client/src/errors.ts'
import type { Catalog, CatalogEntry, JsonObject, Session } from '../packages/mcp/mcp-client/src/types.ts'
import { VERSION } from '../packages/mcp/mcp-client/src/version.ts'
import { CALLER, createPerson } from './person.ts'
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
  const { spec } = resolveConfig({
    serverName: 'conformance',
    url,
    transport: 'streamable-http',
    auth: authOf(),
  })
  const { target } = spec
  if (target.kind !== 'http' || target.auth === undefined) throw new Error('not a row with a url')
  const folder = mkdtempSync(join(tmpdir(), 'conformance-vault-'))
  const metadata = createMetadataFetch(
    'conformance',
    new URL(url),
    target.auth.issuer ?? target.auth.idp?.tokenEndpoint,
  )
  const authorizer = createAuthorizer({
    loadSdk,
    serverName: 'conformance',
    serverUrl: new URL(url),
    auth: target.auth,
    headersCommand: [],
    fetch: metadata.fetch,
    now: Date.now,
    clock: SYSTEM_CLOCK,
    vault: openVault({ folder, name: 'conformance', clock: SYSTEM_CLOCK, note: (text) => say(text) }),
    redirectUrl: () => Promise.resolve('http://127.0.0.1:3000/callback'),
    person: follow,
    learn: () => undefined,
    redact: (text) => text,
    note: (level, text) => say(`${level}: ${text}`),
  })
  const say = (text: string): void => void process.stderr.write(`${text}\n`)
  const session = await openSession(spec, {
    generation: 1,
    signal,
    clock: SYSTEM_CLOCK,
    clientVersion: VERSION,
    probeTimeoutMs: PROBE_TIMEOUT_MS,
    authorizer,
    inbound: createPerson(spec, say),
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
      const result = await current.callTool({ rawName, inputSchema }, args, { signal: limit, caller: CALLER })
      say(`called ${rawName}: ${JSON.stringify(result)}`)
    } catch (error) {
      // An error that the server answered with is an answer.
      if (!isMcpError(error) || error.code !== 'MCP_REQUEST_REJECTED') process.exitCode = 1
      say(`called ${rawName}: ${String(error)}`)
    }
  }
}

/** The person of these scenarios: opens the login page, which sends the browser straight back. */
async function follow({ url }: Pending): Promise<URLSearchParams> {
  const reply = await fetch(url, { redirect: 'manual' })
  const location = reply.headers.get('location')
  if (location === null) throw new Error(`the login page answered HTTP ${reply.status}`)
  return new URL(location).searchParams
}

/** What the scenario says of the client that we are. */
function authOf(): object {
  const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Readonly<
    Record<string, string | undefined>
  >
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = context
  const { valid_jwt: jwt, idp_id_token: idToken, idp_token_endpoint: tokenEndpoint } = context
  const isOwn = process.env['MCP_CONFORMANCE_SCENARIO']?.includes('client-credentials') === true
  const print = (text: string): string[] => [
    process.execPath,
    '-e',
    `process.stdout.write(${JSON.stringify(text)})`,
  ]
  const assertion = jwt ?? idToken
  return {
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    ...(isOwn ? { mode: 'client-credentials' } : {}),
    ...(assertion === undefined ? {} : { mode: 'jwt-bearer', assertionCommand: print(assertion) }),
    ...(tokenEndpoint === undefined ? {} : { idp: { tokenEndpoint, clientId: context['idp_client_id'] } }),
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(context['signing_algorithm'] === undefined ? {} : { algorithm: context['signing_algorithm'] }),
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

function isRefusal(error: unknown): boolean {
  const isAuth = process.env['MCP_CONFORMANCE_SCENARIO']?.startsWith('auth/') === true
  return isAuth && isMcpError(error) && (error.code === 'MCP_AUTH_FAILED' || error.code === 'MCP_FORBIDDEN')
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
    // Where authorization goes wrong on purpose, a refusal is the end that the scenario's checks are about.
    if (isRefusal(error)) process.stdout.write(`${FINISHED}\n`)
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  }
}

// Not awaited: run.ts makes one file of all modules, and the ones that are loaded late come after this line there.
void main()
