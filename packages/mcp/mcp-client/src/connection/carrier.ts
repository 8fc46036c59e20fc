/**
 * Owns the way of raw results past the SDK's strict result schemas. One malformed tool or content block would make the
 * SDK reject a whole tools/list or a finished tools/call (typescript-sdk#2722), and checking large results twice costs
 * time. The carrier stands between the transport and the client: for the two methods it swaps the result for an empty
 * valid one that carries the raw object in `_meta`, and `rawResultOf` takes it out again. The two results that open a
 * connection are repaired where a sloppy server left out what cannot be misread.
 */
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  MessageExtraInfo,
  RequestId,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client'
import { isJsonObject } from '../json.ts'
import type { JsonObject } from '../types.ts'
import { OpenAnswers } from './open-answers.ts'
import { originIn } from './origin.ts'
import type { Requests } from './requests.ts'
import type { Trace } from './trace.ts'

const RAW = 'dsh/raw'

/** What the client is given instead of a server's result, by method. */
const REWRITES: Readonly<Record<string, (result: JsonObject) => JsonObject>> = {
  'tools/list': (result) => carry({ tools: [], ttlMs: 0, cacheScope: 'private' }, result),
  'tools/call': (result) => carry({ content: [] }, result),
  'resources/list': (result) => carry({ resources: [], ttlMs: 0, cacheScope: 'private' }, result),
  'resources/templates/list': (result) =>
    carry({ resourceTemplates: [], ttlMs: 0, cacheScope: 'private' }, result),
  'resources/read': (result) => carry({ contents: [], ttlMs: 0, cacheScope: 'private' }, result),
  'prompts/list': (result) => carry({ prompts: [], ttlMs: 0, cacheScope: 'private' }, result),
  'prompts/get': (result) => carry({ messages: [] }, result),
  'completion/complete': (result) => carry({ completion: { values: [] } }, result),
  'tasks/get': (result) => carry({}, result),
  'tasks/update': (result) => carry({}, result),
  'tasks/cancel': (result) => carry({}, result),
  'server/discover': (result) => ({
    ...result,
    resultType: 'complete',
    ttlMs: typeof result['ttlMs'] === 'number' && result['ttlMs'] >= 0 ? result['ttlMs'] : 0,
    cacheScope: result['cacheScope'] === 'public' ? 'public' : 'private',
    capabilities: isJsonObject(result['capabilities']) ? result['capabilities'] : {},
  }),
  initialize: (result) => {
    const { name, version } = isJsonObject(result['serverInfo']) ? result['serverInfo'] : {}
    return {
      ...result,
      capabilities: isJsonObject(result['capabilities']) ? result['capabilities'] : {},
      serverInfo: {
        ...(isJsonObject(result['serverInfo']) ? result['serverInfo'] : {}),
        name: typeof name === 'string' ? name : 'unnamed',
        version: typeof version === 'string' ? version : 'unknown',
      },
    }
  },
}

/** Kinds of result besides the complete one that the session reads itself, by method. */
const OPEN_RESULTS: Readonly<Record<string, readonly unknown[]>> = {
  'tools/call': ['input_required', 'task'],
  'resources/read': ['input_required'],
  'prompts/get': ['input_required'],
}

/** What the SDK hands out: a shell with the server's own result in it, or a result that it read itself. */
export interface Carried {
  readonly _meta?: Record<string, unknown> | undefined
}

/** The server's own result behind a carried one; a result that the SDK read itself comes back as it is. */
export function rawResultOf(result: Carried): JsonObject {
  return (result._meta?.[RAW] ?? result) as JsonObject
}

/** Wraps a transport of any kind; everything but the rewritten results passes through unchanged. */
export class CarrierTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void
  private readonly inner: Transport
  private readonly trace: Trace | undefined
  /** Requests that pass the client by; their answers are taken out before it sees them. */
  requests?: Requests
  /** Method of each request in flight whose result is rewritten, by id as text: some servers give a number back so. */
  private readonly methods = new Map<string, string>()
  private readonly answers = new OpenAnswers((words) => this.onerror?.(new Error(words)))

  constructor(inner: Transport, trace?: Trace) {
    this.inner = inner
    this.trace = trace
    inner.onclose = () => {
      this.onclose?.()
      this.requests?.end()
    }
    inner.onerror = (error) => this.onerror?.(error)
    inner.onmessage = (message, extra) => {
      trace?.({ kind: 'message', direction: 'in', message })
      if (this.requests?.take(message) === true || !this.answers.admits(message, originIn(extra))) return
      this.onmessage?.(this.rewrite(message), extra)
    }
    if ('pid' in inner && 'stderr' in inner) {
      // The SDK knows a stdio transport by these two names and then probes the era in place: one process, not two.
      Object.defineProperties(this, {
        pid: { get: () => inner.pid },
        stderr: { get: () => inner.stderr },
      })
    }
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId
  }

  get hasPerRequestStream(): boolean {
    return this.inner.hasPerRequestStream === true
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version)
  }

  async start(): Promise<void> {
    await this.inner.start()
    this.trace?.({ kind: 'started' })
  }

  close(): Promise<void> {
    return this.inner.close()
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.trace?.({ kind: 'message', direction: 'out', message })
    if (!('method' in message)) return this.answers.track(message, this.inner.send(message, options))
    if (message.method === 'initialize') withoutExtensions(message.params)
    if ('id' in message && Object.hasOwn(REWRITES, message.method)) {
      return this.sendRewritten(message.id, message, options)
    }
    if (message.method === 'notifications/cancelled')
      this.methods.delete(String(message.params?.['requestId']))
    return this.inner.send(message, options)
  }

  /** The request of ours on whose reply this request of the server came; undefined where the wire does not tell. */
  originOf(id: RequestId): RequestId | undefined {
    return this.answers.originOf(id)
  }

  /** Send as it is, whatever the method. */
  pass(message: JSONRPCMessage): Promise<void> {
    this.trace?.({ kind: 'message', direction: 'out', message })
    return this.inner.send(message)
  }

  private async sendRewritten(
    id: string | number,
    message: JSONRPCRequest,
    options: TransportSendOptions | undefined,
  ): Promise<void> {
    const key = String(id)
    this.methods.set(key, message.method)
    options?.requestSignal?.addEventListener('abort', () => this.methods.delete(key), { once: true })
    try {
      await this.inner.send(message, options)
    } catch (error) {
      this.methods.delete(key)
      throw error
    }
  }

  private rewrite<T extends JSONRPCMessage>(message: T): T {
    if ('method' in message || message.id === undefined) return message
    const key = String(message.id)
    const method = this.methods.get(key)
    if (method === undefined) return message
    this.methods.delete(key)
    if (!('result' in message)) return message
    const result = message.result as JsonObject
    // A modern server says which kind of result it is; an old one is silent. Kinds that nobody reads go to the SDK.
    const { resultType = 'complete' } = result
    if (resultType !== 'complete' && OPEN_RESULTS[method]?.includes(resultType) !== true) return message
    return { ...message, result: REWRITES[method]?.(result) }
  }
}

/** A probe that falls back to the legacy handshake has declared them already: that era has none. */
function withoutExtensions(params: Record<string, unknown> | undefined): void {
  const { capabilities } = params ?? {}
  if (isJsonObject(capabilities)) delete capabilities['extensions']
}

function carry(shell: JsonObject, raw: JsonObject): JsonObject {
  return { ...shell, resultType: 'complete', _meta: { [RAW]: raw } }
}
