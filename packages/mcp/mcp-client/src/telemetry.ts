/**
 * Owns the telemetry of MCP calls by the OpenTelemetry API, where the host has one: a span and a duration for each
 * call, the duration of each session, and the number of outages. Names are those of the semantic conventions for MCP.
 * No arguments, no results, no messages and no session ids. Without the API nothing of it runs.
 */
import type { Attributes, Context as TraceContext, MeterProvider, Span } from '@opentelemetry/api'
import type { Context } from '@deepseek-ai/cordis'
import { isMcpError } from './errors.ts'
import { hubOf } from './hub.ts'
import type { Hub, HubChange } from './hub.ts'
import type { CallObserver, CallStart, JsonObject, ServerHandle } from './types.ts'
import { VERSION } from './version.ts'

export type Api = typeof import('@opentelemetry/api')

const SCOPE = '@deepseek-ai/dsh-mcp-client'
const TRACE_KEYS = ['traceparent', 'tracestate'] as const
/** Seconds; the boundaries that the conventions give for durations. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** Where version 1 of the API keeps what a program registers with it: while it is not there, nothing is recorded. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1')

/** The companion that observes calls once a program has registered something with the API. */
export const TELEMETRY = {
  name: 'mcp-client-telemetry',
  apply: (ctx: Context): Promise<void> => awaitRegistry(ctx, () => import('@opentelemetry/api')),
} as const

/** Importing the API costs a start of the host, so it is done for a program that uses it. */
async function awaitRegistry(ctx: Context, load: () => Promise<Api>): Promise<void> {
  if (REGISTRY in globalThis) return mountTelemetry(ctx, load)
  const hub = hubOf(ctx.root)
  const look = (): void => {
    if (!(REGISTRY in globalThis)) return
    stop()
    void mountTelemetry(ctx, load)
  }
  const ends = [hub.watch(look), hub.watchCalls(look)]
  const stop = (): void => ends.forEach((end) => end())
  ctx.effect(() => stop, 'mcp-client.telemetry.registry')
}

/** @param load imports the API; a rejection means that there is none */
export async function mountTelemetry(ctx: Context, load: () => Promise<Api>): Promise<void> {
  const api = await load().catch(() => undefined)
  if (api === undefined || ctx.fiber.uid === null) return
  const hub = hubOf(ctx.root)
  const meters = createMeters(api)
  ctx.effect(() => hub.observe(createObserver(api, meters)), 'mcp-client.telemetry.calls')
  ctx.effect(() => hub.watch(createStateWatch(hub, meters)), 'mcp-client.telemetry.states')
}

/** Instruments of the provider that is registered now. The API has no stand-in that a later provider would take over. */
type Meters = () => {
  operation(seconds: number, attributes: Attributes): void
  session(seconds: number, attributes: Attributes): void
  outage(attributes: Attributes): void
}

function createMeters(api: Api): Meters {
  let known: { provider: MeterProvider; instruments: ReturnType<Meters> } | undefined
  return () => {
    const provider = api.metrics.getMeterProvider()
    if (known?.provider !== provider) known = { provider, instruments: instrumentsOf(provider) }
    return known.instruments
  }
}

function instrumentsOf(provider: MeterProvider): ReturnType<Meters> {
  const meter = provider.getMeter(SCOPE, VERSION)
  const advice = { explicitBucketBoundaries: BUCKETS }
  const operation = meter.createHistogram('mcp.client.operation.duration', {
    description: 'Duration of MCP requests as the client sees it',
    unit: 's',
    advice,
  })
  const session = meter.createHistogram('mcp.client.session.duration', {
    description: 'Duration of MCP sessions as the client sees it',
    unit: 's',
    advice,
  })
  const outages = meter.createCounter('dsh.mcp.client.outages', {
    description: 'Connections to MCP servers that were lost or could not be made',
    unit: '{outage}',
  })
  return {
    operation: (seconds, attributes) => operation.record(seconds, attributes),
    session: (seconds, attributes) => session.record(seconds, attributes),
    outage: (attributes) => outages.add(1, attributes),
  }
}

function createObserver(api: Api, meters: Meters): CallObserver {
  const tracer = api.trace.getTracer(SCOPE, VERSION)
  return {
    async around(call, run) {
      const attributes = attributesOf(call)
      const start = performance.now()
      const span = tracer.startSpan(`tools/call ${call.tool}`, {
        kind: api.SpanKind.CLIENT,
        attributes,
      })
      const end = (ending: Attributes): void => {
        span.end()
        meters().operation((performance.now() - start) / 1000, { ...attributes, ...ending })
      }
      try {
        const value = await api.context.with(api.trace.setSpan(api.context.active(), span), run)
        end({})
        return value
      } catch (error) {
        const ending = endingOf(error)
        fail(api, span, ending)
        end(ending)
        throw error
      }
    },
    meta: () => metaOf(api, api.context.active()),
  }
}

function fail(api: Api, span: Span, ending: Attributes): void {
  span.setAttributes(ending)
  // No description: what a server says of a failure may hold what it was asked for.
  span.setStatus({ code: api.SpanStatusCode.ERROR })
}

/** The trace, and not the baggage: that is the application's, and a server is somebody else. */
function metaOf(api: Api, active: TraceContext): JsonObject | undefined {
  const carrier: Record<string, string> = {}
  api.propagation.inject(active, carrier)
  const kept = TRACE_KEYS.flatMap((key) => (carrier[key] === undefined ? [] : [[key, carrier[key]] as const]))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

function attributesOf({ serverName, tool, transport, host, revision }: CallStart): Attributes {
  return {
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
    'dsh.mcp.server.name': serverName,
    ...wireOf(transport, host),
    ...revisionOf(revision),
  }
}

function revisionOf(revision: string | undefined): Attributes {
  return revision === undefined ? {} : { 'mcp.protocol.version': revision }
}

function wireOf(transport: CallStart['transport'], host?: CallStart['host']): Attributes {
  return {
    'network.transport': transport === 'stdio' ? 'pipe' : 'tcp',
    ...(transport === 'stdio' ? {} : { 'network.protocol.name': 'http' }),
    ...(host === undefined ? {} : { 'server.address': host.address, 'server.port': host.port }),
  }
}

/** What kind of failure it was: the code of the protocol where there is one, otherwise ours. */
function endingOf(error: unknown): Attributes {
  if (!isMcpError(error)) return { 'error.type': '_OTHER' }
  if (error.code === 'MCP_TOOL_FAILED') return { 'error.type': 'tool_error' }
  const { rpcCode } = error.data
  if (typeof rpcCode !== 'number') return { 'error.type': error.code }
  return { 'error.type': String(rpcCode), 'rpc.response.status_code': String(rpcCode) }
}

/** Follows each server from state to state; one that is ready already has been since then. */
function createStateWatch(hub: Hub, meters: Meters): (server: ServerHandle, change: HubChange) => void {
  /** When the session of a server began, in milliseconds since the epoch, and what is told of it. */
  const sessions = new Map<ServerHandle, { readonly since: number; readonly attributes: Attributes }>()
  const begin = (server: ServerHandle): void => {
    const { serverName, state, since, transport, facts } = server.status()
    if (state !== 'ready') return
    const attributes = {
      'dsh.mcp.server.name': serverName,
      ...wireOf(transport),
      ...revisionOf(facts?.revision),
    }
    sessions.set(server, { since, attributes })
  }
  for (const server of hub.servers()) begin(server)
  return (server, change) => {
    if (change !== 'state' && change !== 'left') return
    const { serverName, state, lastError } = server.status()
    const failure = lastError === undefined ? {} : { 'error.type': lastError.code }
    const session = sessions.get(server)
    if (session !== undefined) {
      sessions.delete(server)
      meters().session((Date.now() - session.since) / 1000, { ...session.attributes, ...failure })
    }
    if (change === 'left') return
    begin(server)
    if (state === 'closing' && lastError !== undefined)
      meters().outage({ 'dsh.mcp.server.name': serverName, ...failure })
  }
}
