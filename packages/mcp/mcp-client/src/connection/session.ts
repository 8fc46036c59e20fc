/**
 * Owns one live session: the SDK client over one transport, from the first try to the confirmed end. Translates every
 * foreign error on the way out, and hands over raw results.
 */
import type { Client, ClientOptions } from '@modelcontextprotocol/client'
import type { Clock } from '../clock.ts'
import { McpError, isMcpError } from '../errors.ts'
import { fromForeign } from '../foreign.ts'
import { loadSdk } from '../sdk.ts'
import type { Sdk } from '../sdk.ts'
import { cleanLine, safeLine } from '../text.ts'
import type {
  CallOptions,
  Era,
  Generation,
  JsonObject,
  ServerSpec,
  Session,
  SessionDiagnostics,
  SessionEvents,
  SessionFacts,
  WireTool,
} from '../types.ts'
import { CarrierTransport, rawResultOf } from './carrier.ts'
import type { Authorizer } from './http-client.ts'
import { PROBE_TIMEOUT_MS, firstTry, nextTry } from './era.ts'
import type { Try, Verdict } from './era.ts'
import { Requests } from './requests.ts'
import { toFacts } from './facts.ts'
import { openSubscription } from './subscription.ts'
import type { Subscription } from './subscription.ts'
import type { Trace } from './trace.ts'
import { createTransport } from './transport.ts'
import type { OpenTransport } from './transport.ts'

/** Longest delay Node's timers take; our own limits are in execution/call.ts. */
const NO_TIMEOUT = 2 ** 31 - 1
/** How much of the end of stderr an error quotes; status has all of it. */
const MAX_LAST_WORDS_CHARS = 600
const MAX_NOTE_CHARS = 500

export interface OpenOptions {
  readonly generation: Generation
  /** Aborting ends the attempt; the promise rejects after everything it held is released. */
  readonly signal: AbortSignal
  readonly events: SessionEvents
  readonly clock: Clock
  readonly clientVersion: string
  /** What is remembered of the server's era, and the place to remember it. */
  readonly era: EraMemory
  /** What HTTP requests carry for authorization, over all sessions of the server. */
  readonly authorizer?: Authorizer | undefined
  /** How long a probe waits, in milliseconds, where a silence may be that of a busy machine. */
  readonly probeTimeoutMs?: number
  /** Sees every try and message. */
  readonly trace?: Trace | undefined
}

/** The remembered verdict of one server. Times are milliseconds since the epoch. */
export interface EraMemory {
  verdict(): Verdict | undefined
  remember(era: Era): void
  forget(): void
  now(): number
}

/** Connect, trying what era.ts says in its order. Rejects with the McpError of the last try. */
export async function openSession(spec: ServerSpec, options: OpenOptions): Promise<Session> {
  let attempt: Try = firstTry(spec, options.era.verdict(), options.era.now())
  for (;;) {
    try {
      const session = await connect(spec, attempt, options)
      // A verdict that was only believed gets no new date by it: it must be probed again one day.
      if (spec.protocol === 'auto' && !attempt.remembered) options.era.remember(session.facts.era)
      return session
    } catch (error) {
      const failure = fromForeign(error, { server: spec.serverName, stage: 'connect', redact: spec.redact })
      if (attempt.remembered) options.era.forget()
      const next: Try | undefined = options.signal.aborted ? undefined : nextTry(spec, attempt, failure)
      if (next === undefined) throw failure
      options.events.onNote(
        'debug',
        `trying ${next.negotiation.kind} over ${next.transport}: ${failure.message}`,
      )
      attempt = next
    }
  }
}

async function connect(spec: ServerSpec, attempt: Try, options: OpenOptions): Promise<Session> {
  const { signal, events, trace } = options
  signal.throwIfAborted()
  trace?.({ kind: 'try', attempt })
  const { transport, diagnostics } = await createTransport(spec, attempt, {
    events,
    authorizer: options.authorizer,
  })
  const carrier = new CarrierTransport(transport, trace)
  const sdk = await loadedBeside(transport, signal)
  const client = new sdk.Client(
    { name: 'dsh-mcp-client', version: options.clientVersion },
    clientOptions(attempt, options.probeTimeoutMs),
  )
  carrier.requests = new Requests({
    send: (message) => carrier.pass(message),
    toError: (code, message, data) => sdk.ProtocolError.fromError(code, message, data),
    closed: () => new sdk.SdkError(sdk.SdkErrorCode.ConnectionClosed, 'Connection closed'),
    onLost: (error) => client.onerror?.(new Error(`Failed to send cancellation: ${String(error)}`)),
  })
  const session = new LiveSession(
    spec,
    { client, transport, requests: carrier.requests },
    diagnostics,
    options,
  )
  // Set before connect: the SDK chains it, also while it probes, when the client does not listen yet.
  carrier.onclose = () => session.transportEnded()
  /* v8 ignore next -- it ended while the SDK was loaded, which is done before any test begins */
  if (diagnostics().exit !== undefined) session.transportEnded()
  const abort = (): void => void session.close().catch(() => undefined)
  signal.addEventListener('abort', abort, { once: true })
  try {
    const prior = attempt.negotiation.kind === 'legacy' ? { prior: { kind: 'legacy' as const } } : {}
    await client.connect(carrier, { ...prior, timeout: NO_TIMEOUT, signal })
    signal.throwIfAborted()
    session.establish()
    return session
  } catch (error) {
    const ended = session.endedWith()
    await session.close()
    trace?.({ kind: 'ended', alone: ended !== undefined, diagnostics: diagnostics() })
    if (signal.aborted) throw signal.reason
    const failure = fromForeign(error, { server: spec.serverName, stage: 'connect', redact: spec.redact })
    // The SDK itself closes the transport of a failed try: that end says more than a bare "closed", and nothing else.
    throw ended !== undefined && failure.code === 'MCP_CONNECTION_CLOSED' ? ended : failure
  }
}

/** A server's process starts while the SDK is loaded: at the first start each takes about as long as the other. */
async function loadedBeside(transport: OpenTransport['transport'], signal: AbortSignal): Promise<Sdk> {
  transport.launch?.()
  try {
    // Not before: compiling it blocks for as long as a small server takes to start.
    const sdk = await loadSdk()
    signal.throwIfAborted()
    return sdk
  } catch (error) {
    await transport.close()
    throw error
  }
}

function clientOptions(attempt: Try, probeTimeoutMs = PROBE_TIMEOUT_MS): ClientOptions {
  const { negotiation } = attempt
  switch (negotiation.kind) {
    case 'probe':
      return {
        capabilities: {},
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeTimeoutMs } },
      }
    case 'modern':
      return { capabilities: {}, versionNegotiation: { mode: { pin: negotiation.revision } } }
    case 'legacy':
      return {
        capabilities: {},
        ...(negotiation.revision === undefined ? {} : { supportedProtocolVersions: [negotiation.revision] }),
      }
  }
}

/** What messages go through. */
interface Ways {
  readonly client: Client
  readonly transport: OpenTransport['transport']
  readonly requests: Requests
}

class LiveSession implements Session {
  readonly generation: Generation
  private readonly spec: ServerSpec
  private readonly client: Client
  private readonly transport: OpenTransport['transport']
  private readonly requests: Requests
  private readonly options: OpenOptions
  readonly diagnostics: () => SessionDiagnostics
  private settledFacts: SessionFacts | undefined
  private subscription: Subscription | undefined
  private closing: Promise<void> | undefined
  private down: McpError | undefined

  constructor(
    spec: ServerSpec,
    { client, transport, requests }: Ways,
    diagnostics: () => SessionDiagnostics,
    options: OpenOptions,
  ) {
    this.spec = spec
    this.client = client
    this.transport = transport
    this.requests = requests
    this.diagnostics = diagnostics
    this.options = options
    this.generation = options.generation
    // The SDK quotes whole messages here, such as an answer that came after its call was given up.
    client.onerror = (error) =>
      options.events.onNote('debug', safeLine(error.message, spec.redact, MAX_NOTE_CHARS))
  }

  get facts(): SessionFacts {
    /* v8 ignore next -- a session is handed out only after it was established */
    if (this.settledFacts === undefined) throw new Error('facts of a session that was never established')
    return this.settledFacts
  }

  /** Read what the server said of itself, and follow its changes. */
  establish(): void {
    const { client } = this
    /* v8 ignore next -- the SDK has an era once it is connected; its type does not say so */
    const era = client.getProtocolEra() ?? 'legacy'
    /* v8 ignore next -- as above */
    const revision = client.getNegotiatedProtocolVersion() ?? 'unknown'
    const claims = {
      serverInfo: client.getServerVersion(),
      instructions: client.getInstructions(),
      capabilities: client.getServerCapabilities(),
    }
    this.settledFacts = toFacts({ era, revision, ...claims }, this.spec.redact)
    client.setNotificationHandler('notifications/tools/list_changed', () =>
      this.options.events.onToolsChanged(),
    )
    if (era === 'modern' && this.announcesChanges()) {
      this.subscription = openSubscription(client, this.options.events, this.options.clock)
    }
  }

  async listTools(cursor: string | undefined, signal: AbortSignal): Promise<JsonObject> {
    const params = cursor === undefined ? {} : { params: { cursor } }
    const request = { method: 'tools/list' as const, ...params }
    try {
      if (this.facts.era === 'legacy')
        return await this.requests.request(request.method, request.params, { signal })
      return rawResultOf(await this.client.request(request, { signal, timeout: NO_TIMEOUT }))
    } catch (error) {
      throw this.translate(error, 'discovery', signal)
    }
  }

  async callTool(tool: WireTool, args: JsonObject, options: CallOptions): Promise<JsonObject> {
    const { meta } = options
    const params = { name: tool.rawName, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) }
    try {
      if (this.facts.era === 'legacy') return await this.requests.request('tools/call', params, options)
      const result = await this.client.callTool(params, {
        // Our own definition: mirrors x-mcp-header arguments, and keeps the SDK from compiling output schemas.
        toolDefinition: { name: tool.rawName, inputSchema: tool.inputSchema as { type: 'object' } },
        signal: options.signal,
        timeout: NO_TIMEOUT,
        ...(options.onProgress === undefined ? {} : { onprogress: options.onProgress }),
      })
      return rawResultOf(result)
    } catch (error) {
      throw this.translate(error, 'execution', options.signal)
    }
  }

  hearsChanges(): boolean {
    if (!this.announcesChanges()) return false
    return this.facts.era === 'legacy' || this.subscription?.isOff() === false
  }

  private announcesChanges(): boolean {
    const tools = this.facts.capabilities['tools'] as { readonly listChanged?: unknown } | undefined
    return tools?.listChanged === true
  }

  close(): Promise<void> {
    this.closing ??= this.teardown()
    return this.closing
  }

  /** The reason the transport ended by itself, if it has. */
  endedWith(): McpError | undefined {
    return this.down
  }

  private async teardown(): Promise<void> {
    await this.subscription?.close()
    await this.client.close()
    // The client knows no transport yet when the probe failed.
    await this.transport.close()
  }

  /** The transport ended, by itself or because we closed it. */
  transportEnded(): void {
    if (this.closing !== undefined || this.down !== undefined) return
    this.down = this.transport.downReason ?? this.endReason()
    if (this.settledFacts !== undefined) this.options.events.onDown(this.down)
  }

  private endReason(): McpError {
    const { exit, stderrTail } = this.diagnostics()
    const how =
      exit === undefined ? 'the server ended the connection' : `the server process ended with ${exit}`
    const words = cleanLine((stderrTail ?? '').trim().slice(-MAX_LAST_WORDS_CHARS), MAX_LAST_WORDS_CHARS)
    return new McpError(words === '' ? how : `${how}; last stderr: ${words}`, {
      code: 'MCP_CONNECTION_CLOSED',
      server: this.spec.serverName,
      stage: 'connect',
      data: exit === undefined ? {} : { exit },
    })
  }

  private translate(error: unknown, stage: 'discovery' | 'execution', signal: AbortSignal): McpError {
    if (signal.aborted && isMcpError(signal.reason)) return signal.reason
    const server = this.spec.serverName
    if (signal.aborted)
      return new McpError('the request was cancelled', { code: 'MCP_ABORTED', server, stage })
    const failure = fromForeign(error, { server, stage, redact: this.spec.redact })
    const { down } = this
    if (down === undefined || failure.code !== 'MCP_CONNECTION_CLOSED') return failure
    if (down.code === failure.code) return down
    // A dead transport fails each pending request with a bare "closed"; the reason it died says more. But for this
    // request it is a lost connection all the same: that another one did not reach the server is no fact about it.
    return new McpError(down.message, { code: failure.code, server, stage, cause: down })
  }
}
