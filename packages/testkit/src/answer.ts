/**
 * Owns the sensible defaults: what a healthy server answers in each era, where the behaviour does not say otherwise.
 */
import { NO_ANSWER, RpcError, text } from './behaviour.ts'
import type { Behaviour, Era, Handler, Message, Params, Peer, Request, RequestId, Tool } from './behaviour.ts'
import type { Subscriptions } from './peer.ts'

export const MODERN = '2026-07-28'
const LEGACY = '2025-11-25'
const META = 'io.modelcontextprotocol/'
const SERVER_INFO = { name: 'testkit', version: '1.0.0' }
const CAPABILITIES: Params = { tools: { listChanged: true } }

const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603
const UNSUPPORTED_VERSION = -32022

/** Revision that a modern request names in its `_meta`; undefined for a legacy message. */
export function modernVersion(message: Message): string | undefined {
  const meta = message.params?.['_meta']
  if (typeof meta !== 'object' || meta === null) return undefined
  const version: unknown = Reflect.get(meta, `${META}protocolVersion`)
  return typeof version === 'string' ? version : undefined
}

/** Deal with one message: the behaviour first, then the defaults. Never rejects. */
export async function answer(
  behaviour: Behaviour,
  message: Message,
  { peer, subscriptions }: { readonly peer: Peer; readonly subscriptions: Subscriptions },
): Promise<void> {
  const { id, method } = message
  try {
    if ((await behaviour.onMessage?.(message, peer)) === true) return
    if (method === 'notifications/cancelled') {
      subscriptions.delete(message.params?.['requestId'] as RequestId, peer)
    }
    if (method === undefined || id === undefined || id === null) return
    const era = eraOf(behaviour, message)
    const request = { id, era, message }
    const params = message.params ?? {}
    if (method === 'subscriptions/listen' && era === 'modern' && behaviour.methods?.[method] === undefined) {
      subscriptions.add(request, params, peer)
      return
    }
    const result = await handlerOf(behaviour, method, era)(params, peer, request)
    if (result !== NO_ANSWER) peer.reply(id, era === 'modern' ? modernResult(method, result) : result)
  } catch (error) {
    if (id === undefined || id === null) return
    peer.fail(id, error instanceof RpcError ? error.wire : { code: INTERNAL_ERROR, message: String(error) })
  }
}

/** @throws RpcError -32022 where the behaviour does not speak what the message does. */
function eraOf(behaviour: Behaviour, message: Message): Era {
  const speaks = behaviour.era ?? 'legacy'
  const version = modernVersion(message)
  if (speaks === 'legacy') return 'legacy'
  if (version === MODERN) return 'modern'
  if (version === undefined && speaks === 'dual') return 'legacy'
  const requested = version ?? message.params?.['protocolVersion']
  throw new RpcError(UNSUPPORTED_VERSION, 'Unsupported protocol version', { supported: [MODERN], requested })
}

function handlerOf(behaviour: Behaviour, method: string, era: Era): Handler {
  const own = behaviour.methods?.[method]
  if (own !== undefined) return own
  switch (method) {
    case 'tools/list':
      return behaviour.listTools ?? ((params) => listPage(behaviour, params))
    case 'tools/call':
      return (
        behaviour.callTool ?? ((params, peer, request) => callByName(behaviour, params, { peer, request }))
      )
    case 'initialize':
      if (era === 'legacy') return behaviour.initialize ?? ((params) => initializeResult(behaviour, params))
      break
    case 'server/discover':
      if (era === 'modern') return behaviour.discover ?? (() => discoverResult(behaviour))
      break
    case 'ping':
    case 'logging/setLevel':
      if (era === 'legacy') return () => ({})
      break
  }
  throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`)
}

/** The default answer to initialize, for a behaviour that changes a part of it. */
export function initializeResult(behaviour: Behaviour, params: Params): Params {
  return {
    protocolVersion: params['protocolVersion'] ?? LEGACY,
    capabilities: behaviour.capabilities ?? CAPABILITIES,
    serverInfo: behaviour.serverInfo ?? SERVER_INFO,
    ...(behaviour.instructions === undefined ? {} : { instructions: behaviour.instructions }),
  }
}

/** The default answer to server/discover. */
export function discoverResult(behaviour: Behaviour): Params {
  return {
    supportedVersions: [MODERN],
    capabilities: behaviour.capabilities ?? CAPABILITIES,
    _meta: { [`${META}serverInfo`]: behaviour.serverInfo ?? SERVER_INFO },
    ...(behaviour.instructions === undefined ? {} : { instructions: behaviour.instructions }),
  }
}

const CACHED: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
])

/** Adds what the modern era requires of a result; what the handler said itself stays. */
function modernResult(method: string, result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result
  const caching = CACHED.has(method) ? { ttlMs: 0, cacheScope: 'private' } : {}
  return { resultType: 'complete', ...caching, ...result }
}

export const ECHO: Tool = {
  name: 'echo',
  description: 'Says the message again',
  inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
}

/** All tools of a behaviour now. */
export function toolsOf({ tools = [ECHO] }: Behaviour): readonly Tool[] {
  return typeof tools === 'function' ? tools() : tools
}

/** The default page of tools/list: the cursor is the offset. */
export function listPage(behaviour: Behaviour, params: Params): Params {
  const all = toolsOf(behaviour)
  const start = Number(params['cursor'] ?? 0)
  const end = start + (behaviour.pageSize ?? all.length)
  return { tools: all.slice(start, end), ...(end < all.length ? { nextCursor: String(end) } : {}) }
}

function callByName(
  behaviour: Behaviour,
  params: Params,
  { peer, request }: { readonly peer: Peer; readonly request: Request },
): unknown {
  const { name } = params
  const args = (params['arguments'] ?? {}) as Params
  const own = behaviour.calls?.[String(name)]
  if (own !== undefined) return own(args, peer, request)
  if (!toolsOf(behaviour).some((listed) => listed['name'] === name)) {
    throw new RpcError(INVALID_PARAMS, `Unknown tool: ${String(name)}`)
  }
  return text(typeof args['message'] === 'string' ? args['message'] : JSON.stringify(args))
}
