/**
 * Owns one live session: the SDK client over one transport, from the first try to the confirmed end. Translates every
 * foreign error on the way out, and hands over raw results.
 */
import type { Client, RequestId, StandardSchemaV1 } from '@modelcontextprotocol/client'
import type { Clock } from '../clock.ts'
import { McpError, isMcpError } from '../errors.ts'
import { fromForeign } from '../foreign.ts'
import { cleanLine, safeLine } from '../text.ts'
import type {
  CallOptions,
  Era,
  Generation,
  Inbound,
  JsonObject,
  RequestMethod,
  RequestOptions,
  ServerSpec,
  Session,
  SessionDiagnostics,
  SessionEvents,
  SessionFacts,
  WireTool,
} from '../types.ts'
import { openAnnouncements } from './announcements.ts'
import type { Announcements } from './announcements.ts'
import { aborting } from './aborting.ts'
import { behind } from './callers.ts'
import { rawResultOf } from './carrier.ts'
import type { Carried } from './carrier.ts'
import type { Verdict } from './era.ts'
import { toFacts } from './facts.ts'
import type { Authorizer } from './http-client.ts'
import { Inbox } from './inbox.ts'
import type { Declared } from './inbox.ts'
import type { Requests } from './requests.ts'
import { throughRounds } from './rounds.ts'
import type { Trace } from './trace.ts'
import type { OpenTransport } from './transport.ts'

/** Longest delay Node's timers take; our own limits are in execution/call.ts. */
const NO_TIMEOUT = 2 ** 31 - 1
/** How much of the end of stderr an error quotes; status has all of it. */
const MAX_LAST_WORDS_CHARS = 600
const MAX_NOTE_CHARS = 500
/** For what has no caller of its own: one that answers late costs nobody anything. */
const HOUSEKEEPING_MS = 30_000

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
  /** Who answers what the server asks. Without it nothing is declared. */
  readonly inbound?: Inbound | undefined
}

/** The remembered verdict of one server. Times are milliseconds since the epoch. */
export interface EraMemory {
  verdict(): Verdict | undefined
  remember(era: Era): void
  forget(): void
  now(): number
}

/** What messages go through. */
export interface Ways {
  readonly client: Client
  readonly transport: OpenTransport['transport']
  readonly requests: Requests
  /** The request of ours on whose reply one of the server came; undefined where the wire does not tell. */
  originOf(id: RequestId): RequestId | undefined
}

/** As a session is opened, with what it declares. */
export interface LiveOptions extends OpenOptions {
  readonly declared: Declared
}

export class LiveSession implements Session {
  readonly generation: Generation
  private readonly spec: ServerSpec
  private readonly client: Client
  private readonly transport: OpenTransport['transport']
  private readonly requests: Requests
  private readonly options: LiveOptions
  private readonly inbox: Inbox | undefined
  readonly diagnostics: () => SessionDiagnostics
  private settledFacts: SessionFacts | undefined
  private announcements: Announcements | undefined
  private closing: Promise<void> | undefined
  private down: McpError | undefined

  constructor(
    spec: ServerSpec,
    { client, transport, requests, originOf }: Ways,
    diagnostics: () => SessionDiagnostics,
    options: LiveOptions,
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
    const { inbound, declared, clock } = options
    if (inbound === undefined || Object.keys(declared).length === 0) return
    this.inbox = new Inbox(inbound, declared, { clock, server: spec.serverName })
    this.inbox.serve(client, (id) => behind(requests.inFlight(originOf(id))))
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
    this.announcements = openAnnouncements({
      client,
      facts: this.settledFacts,
      spec: this.spec,
      events: this.options.events,
      clock: this.options.clock,
      request: (method, params) => this.housekeep(method, params),
    })
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
    const { task } = options
    const params: JsonObject = {
      name: tool.rawName,
      arguments: args,
      ...(task === undefined ? {} : { task }),
    }
    try {
      if (this.facts.era === 'legacy')
        return await this.requests.request('tools/call', withMeta(params, options.meta), options)
      const send = async (sent: JsonObject): Promise<JsonObject> =>
        rawResultOf(
          await this.client.callTool(sent as { name: string }, {
            // Our own definition: mirrors x-mcp-header arguments, and keeps the SDK from compiling output schemas.
            toolDefinition: { name: tool.rawName, inputSchema: tool.inputSchema as { type: 'object' } },
            ...this.sending(options),
          }),
        )
      return await this.complete(params, options, send)
    } catch (error) {
      throw this.translate(error, 'execution', options.signal)
    }
  }

  async request(method: RequestMethod, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    try {
      if (this.facts.era === 'legacy')
        return await this.requests.request(method, withMeta(params, options.meta), options)
      const send = async (sent: JsonObject): Promise<JsonObject> =>
        rawResultOf(await this.client.request({ method, params: sent }, ANY_RESULT, this.sending(options)))
      return await this.complete(params, options, send)
    } catch (error) {
      throw this.translate(error, 'execution', options.signal)
    }
  }

  watchResources(uris: readonly string[]): Promise<boolean> {
    /* v8 ignore next -- a session is handed out only after it was established */
    return this.announcements?.watch(uris) ?? Promise.resolve(false)
  }

  async rootsChanged(): Promise<void> {
    const { roots } = this.options.declared
    if (this.facts.era !== 'legacy' || roots?.['listChanged'] !== true) return
    // A server that is gone learns nothing, and needs not to.
    await this.client.sendRootsListChanged().catch(() => undefined)
  }

  /** The connection went on after a gap in which changes may have been missed. */
  resync(isNewSession: boolean): void {
    this.announcements?.resync(isNewSession)
  }

  hearsChanges(): boolean {
    return this.announcements?.hearsChanges() === true
  }

  /** Modern: send, and answer what the server wants to know before it goes on. */
  private async complete(
    params: JsonObject,
    { meta, signal, caller }: RequestOptions,
    send: (params: JsonObject) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const { inbox } = this
    const own = this.announcements?.meta
    const all = withMeta(params, own === undefined ? meta : { ...own, ...meta })
    const first = await send(all)
    if (first['resultType'] !== 'input_required') return first
    return throughRounds({
      server: this.spec.serverName,
      first,
      params: all,
      again: send,
      answer: inbox === undefined ? undefined : (request) => inbox.answer(request, { caller, signal }),
      pause: (ms) => this.pause(ms, signal),
    })
  }

  private sending({ signal, onProgress }: RequestOptions) {
    return {
      signal,
      timeout: NO_TIMEOUT,
      ...(onProgress === undefined ? {} : { onprogress: onProgress }),
    }
  }

  private pause(ms: number, signal: AbortSignal): Promise<void> {
    const done = Promise.withResolvers<void>()
    const cancel = this.options.clock.after(ms, done.resolve)
    return aborting(done.promise, signal).finally(cancel)
  }

  /** A request of a legacy session that no caller waits for. */
  private housekeep(method: string, params: JsonObject): Promise<JsonObject> {
    const ended = new AbortController()
    const cancel = this.options.clock.after(HOUSEKEEPING_MS, () =>
      ended.abort(new Error('no answer in time')),
    )
    return this.requests
      .request(method, params, { signal: ended.signal })
      .catch((error: unknown) => {
        throw this.translate(error, 'execution', ended.signal)
      })
      .finally(cancel)
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
    this.inbox?.end()
    await this.announcements?.close()
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

/** Lets any result through: what came lies raw behind the shell of the carrier. */
const ANY_RESULT: StandardSchemaV1<unknown, Carried> = {
  '~standard': { version: 1, vendor: 'dsh', validate: (value) => ({ value: value as Carried }) },
}

function withMeta(params: JsonObject, meta: JsonObject | undefined): JsonObject {
  return meta === undefined ? params : { ...params, _meta: meta }
}
