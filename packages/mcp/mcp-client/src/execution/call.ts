/**
 * Owns one tools/call from the model's arguments to the canonical value: refusals, the queue, the clock, the wire, and
 * the sentence of every failure. Nothing is sent twice, but for what policy.ts names.
 */
import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'
import { McpError, isMcpError, messageOf } from '../errors.ts'
import type { McpErrorCode } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import type { HostServices } from '../projection/host.ts'
import { limitText } from '../projection/limits.ts'
import { PLAIN, projectResult, toContent } from '../projection/result.ts'
import type { CanonicalResult } from '../projection/result.ts'
import { checkArguments } from '../schema/check.ts'
import { cleanLine, cleanText } from '../text.ts'
import type {
  Agent,
  CallOptions,
  Caller,
  CatalogEntry,
  Inbound,
  JsonObject,
  Progress,
  ServerSpec,
  Session,
} from '../types.ts'
import { createDeadline } from './deadline.ts'
import type { Deadline, Ending } from './deadline.ts'
import { describeFailure } from './failure.ts'
import type { CallGate } from './gate.ts'
import { pagesOf, visitPages } from './pages.ts'
import { isRepeatable } from './policy.ts'
import type { CallPolicy } from './policy.ts'
import { createProgressRecord, formatProgress } from './progress.ts'
import type { ProgressRecord } from './progress.ts'
import { readReply } from './reply.ts'
import { callAndFollow, taskRefusal } from './task.ts'

const MAX_TOOL_CHARS = 128
const MAX_NOTED_PLACES = 8
const REST_OF_ERROR = 'The text is longer than limits.resultTextBytes allows'
/** HeaderMismatch of revision 2026-07-28. */
const HEADER_MISMATCH = -32020
/** How servers of many kinds say that a name is gone. A wrong guess costs one coalesced re-list. */
const UNKNOWN_TOOL =
  /\b(unknown|no such|unrecognized) tool\b|\btool\b.{0,200}\b(not found|does not exist|is unknown)\b/is

/** What every call of one server shares. */
export interface CallContext {
  readonly spec: ServerSpec
  /** The live session; `undefined` while there is none. */
  readonly session: () => Session | undefined
  /** Why there is no session: the state, and when the next attempt comes. One sentence, without a full stop. */
  readonly reason: () => string
  readonly onUnknownTool: () => void
  /**
   * The session, once there is one again that offers this very tool; `undefined` where nobody is reconnecting, or at
   * the signal. Never rejects.
   */
  readonly sessionAgain: (entry: CatalogEntry, signal: AbortSignal) => Promise<Session | undefined>
  /** One line for the operator, clean and redacted by the caller. */
  readonly log: HostServices['log']
  /** The server's places for calls in flight. */
  readonly gate: CallGate
  /** What a request carries as `_meta`; asked at the moment it goes out. */
  readonly meta?: () => JsonObject | undefined
  /** Asked last, before a call is sent. Throws McpError MCP_DENIED. */
  readonly checkAgain?: (entry: CatalogEntry) => void
  /** A call reports progress; the words are made when they are asked for. */
  readonly onProgress?: (callId: string, words: () => string) => void
  /** Who answers what the server asks; absent where nobody does. */
  readonly ask?: Inbound['answer']
}

export interface CallRequest {
  readonly entry: CatalogEntry
  readonly policy: CallPolicy
  /** The schema that the registry enforces on structured content. */
  readonly outputSchema: JsonSchemaNode | undefined
  readonly args: unknown
  readonly signal: AbortSignal
  /** On whose behalf; what the server asks meanwhile is asked of them. */
  readonly exec?: Origin
}

/** Where a call comes from. */
export interface Origin {
  readonly agent?: Agent | undefined
  readonly callId: string
  readonly rootCallId?: string | undefined
}

/** Run one call. Rejects with McpError; `isError` results reject as MCP_TOOL_FAILED with the server's text. */
export async function callTool(request: CallRequest, context: CallContext): Promise<CanonicalResult> {
  const { entry, args } = request
  if (!isJsonObject(args)) {
    const text = `Tool "${entry.rawName}" takes its arguments as one JSON object, not ${typeName(args)}; nothing was sent`
    throw failure('MCP_REQUEST_REJECTED', text, context)
  }
  const checked = checkArguments(entry.inputSchema, args)
  if (!checked.ok) throw failure('MCP_REQUEST_REJECTED', checked.message, context)
  if (checked.coerced.length > 0) noteCoercion(entry, checked.coerced, context)
  const raw = await exchange(request, checked.args, context)
  const reply = readReply(raw, request.outputSchema)
  switch (reply.kind) {
    case 'success':
      return reply.value
    case 'failure':
      throw toolFailure(reply.value, request, context)
    case 'unsupported':
      throw failure('MCP_UNSUPPORTED', `Tool "${entry.rawName}" answered with ${reply.reason}`, context)
    case 'invalid':
      throw failure(
        'MCP_RESULT_INVALID',
        `Tool "${entry.rawName}" ran, but answered with ${reply.reason}`,
        context,
      )
  }
}

/** Names places, never values: those are the user's. */
function noteCoercion(entry: CatalogEntry, places: readonly string[], { spec, log }: CallContext): void {
  const named = places.slice(0, MAX_NOTED_PLACES).join(', ')
  const more = places.length > MAX_NOTED_PLACES ? ` and ${places.length - MAX_NOTED_PLACES} more` : ''
  const tool = cleanLine(entry.rawName, MAX_TOOL_CHARS)
  log('debug', spec.redact(`call of "${tool}": strings sent as the values they hold: ${named}${more}`))
}

/** Wait for a place, send, wait for the answer; every wait ends with the deadline. */
async function exchange(request: CallRequest, args: JsonObject, context: CallContext): Promise<JsonObject> {
  const { spec, gate } = context
  liveSession(context)
  let isSent = false
  const say = (text: string): void => {
    const tool = cleanLine(request.entry.rawName, MAX_TOOL_CHARS)
    context.log('debug', spec.redact(`call of "${tool}"${text}`))
  }
  const progress = createProgressRecord((text) => say(`: progress ${text}`))
  const deadline = createDeadline({
    caller: request.signal,
    silenceMs: spec.toolCallTimeoutMs,
    wallMs: spec.toolCallMaxMs,
    toError: (ending) => endingError(ending, request, { context, isSent, progress: progress.last() }),
  })
  let release: (() => void) | undefined
  let session: Session | undefined
  let answer: JsonObject
  try {
    release = await gate.enter(deadline.signal)
    session = liveSession(context)
    context.checkAgain?.(request.entry)
    const refusal = taskRefusal(request.entry, session.facts)
    if (refusal !== undefined) throw failure('MCP_UNSUPPORTED', refusal, context)
    isSent = true
    const sending = { ...request, args, deadline, progress, meta: context.meta?.() }
    answer = await send(session, sending, context).catch(async (error: unknown) => {
      session =
        (await sessionAfterPages(error, sending, context)) ??
        (await sessionForRepeat(error, sending, context))
      say(` is sent once more: ${messageOf(error)}`)
      return send(session, sending, context)
    })
  } catch (error) {
    throw explained(error, session, context)
  } finally {
    release?.()
    deadline.close()
  }
  return answer
}

/** A checked call on its way. */
interface Sending extends CallRequest {
  readonly args: JsonObject
  readonly meta: JsonObject | undefined
  readonly deadline: Deadline
  readonly progress: ProgressRecord
}

/** The wire. The raw name goes out; the race answers even where a transport does not let go of its write. */
async function send(session: Session, sending: Sending, context: CallContext): Promise<JsonObject> {
  const { entry, args, deadline, progress, meta } = sending
  const { run } = entry
  deadline.touch()
  const options = {
    signal: deadline.signal,
    meta,
    caller: callerOf(sending),
    onProgress(latest: Progress) {
      deadline.touch()
      progress.take(latest)
      if (sending.exec !== undefined)
        context.onProgress?.(sending.exec.callId, () => context.spec.redact(formatProgress(latest)))
    },
  } satisfies CallOptions
  const answer =
    run === undefined
      ? callAndFollow(args, {
          session,
          entry,
          options,
          ttlMs: context.spec.toolCallMaxMs,
          server: context.spec.serverName,
          ask: context.ask,
          sessionAgain: (signal) => context.sessionAgain(entry, signal),
        })
      : run(session, args, options)
  return Promise.race([answer, deadline.ended])
}

function callerOf({ exec, deadline }: Sending): Caller | undefined {
  if (exec === undefined) return undefined
  const { agent, callId, rootCallId } = exec
  return { agent, callId, ...(rootCallId === undefined ? {} : { rootCallId }), hold: deadline.hold }
}

/** The session, where the server wanted a person to open pages before the call, and they did. */
async function sessionAfterPages(
  error: unknown,
  sending: Sending,
  context: CallContext,
): Promise<Session | undefined> {
  const pages = pagesOf(error)
  if (pages === undefined || context.ask === undefined) return undefined
  const asking = { signal: sending.deadline.signal, caller: callerOf(sending) }
  try {
    await visitPages(pages, context.ask, asking)
  } catch (why) {
    // The caller went meanwhile, or the time was up: that is the news.
    if (asking.signal.aborted) throw asking.signal.reason
    throw failure('MCP_REQUEST_REJECTED', `${messageOf(error)}. ${messageOf(why)}`, context, error)
  }
  context.checkAgain?.(sending.entry)
  return liveSession(context)
}

/** The session for the one repetition that policy.ts allows; otherwise it rejects with the failure itself. */
async function sessionForRepeat(error: unknown, sending: Sending, context: CallContext): Promise<Session> {
  const { entry, policy, deadline } = sending
  if (!isMcpError(error) || !isRepeatable(policy, error)) throw error
  const session = await context.sessionAgain(entry, deadline.signal)
  // The caller went meanwhile: that is the news. An outage that lasts too long is told as what it is.
  if (sending.signal.aborted) throw deadline.signal.reason
  if (session === undefined || deadline.signal.aborted) throw error
  return session
}

function liveSession(context: CallContext): Session {
  const session = context.session()
  if (session !== undefined) return session
  const text = `MCP server "${context.spec.serverName}" is not connected: ${context.reason()}. The call was not sent`
  throw failure('MCP_NOT_CONNECTED', text, context)
}

/** Our own endings pass; everything else is told with the facts of the session. */
function explained(error: unknown, session: Session | undefined, context: CallContext): McpError {
  const { spec } = context
  const known = isMcpError(error) ? error : failure('MCP_RESULT_INVALID', messageOf(error), context, error)
  const text = describeFailure(known, session?.diagnostics() ?? {})
  if (known.code === 'MCP_REQUEST_REJECTED' && (isUnknownTool(text) || isHeaderMismatch(known))) {
    context.onUnknownTool()
  }
  const message = shown(text, spec)
  if (message === known.message) return known
  return new McpError(message, {
    code: known.code,
    server: known.server,
    stage: known.stage,
    data: known.data,
    cause: known,
  })
}

/** The failure a tool reports of itself. Nothing of it is stored: the registry owns the failure path. */
function toolFailure(value: CanonicalResult, request: CallRequest, context: CallContext): McpError {
  const source = { toolName: request.entry.rawName, outputSchema: undefined }
  const text = toContent(projectResult(value, source), source, PLAIN)
    .map((block) => (block as { text: string }).text)
    .join('\n')
  if (isUnknownTool(text)) context.onUnknownTool()
  return failure('MCP_TOOL_FAILED', text, context)
}

function endingError(
  ending: Ending,
  request: CallRequest,
  { context, isSent, progress }: { context: CallContext; isSent: boolean; progress: string | undefined },
): McpError {
  const { spec } = context
  const call = `The call of tool "${request.entry.rawName}" at MCP server "${spec.serverName}"`
  const effect = isSent
    ? 'It was cancelled, but it may have run'
    : 'It was still waiting for its turn and was not sent'
  const reached = progress === undefined ? '' : ` Its last progress was ${progress}.`
  if (ending === 'aborted') return failure('MCP_ABORTED', `${call} was aborted.${reached} ${effect}`, context)
  const [limitMs, key, words] =
    ending === 'silence'
      ? [spec.toolCallTimeoutMs, 'toolCallTimeoutMs', 'brought no answer and no progress for']
      : [spec.toolCallMaxMs, 'toolCallMaxMs', 'was not done after']
  const advice = `Raise ${key} in the row of this server if the tool needs longer`
  const text = `${call} ${words} ${limitMs} ms.${reached} ${effect}. ${advice}`
  return new McpError(shown(text, spec), {
    code: 'MCP_CALL_TIMEOUT',
    server: spec.serverName,
    stage: 'execution',
    data: { limitMs, key, mayHaveRun: isSent },
  })
}

function failure(code: McpErrorCode, message: string, context: CallContext, cause?: unknown): McpError {
  const { spec } = context
  return new McpError(shown(message, spec), { code, server: spec.serverName, stage: 'execution', cause })
}

/** Hidden characters go first, since one inside a secret must not save it; then secrets, then what is too long. */
function shown(text: string, spec: ServerSpec): string {
  return limitText(spec.redact(cleanText(text)), spec.limits.resultTextBytes, REST_OF_ERROR)
}

/** By the start of the text alone: the pattern takes its time, and a server may send megabytes. */
function isUnknownTool(text: string): boolean {
  return UNKNOWN_TOOL.test(text.slice(0, 1_000))
}

/** The tool mirrors other arguments into headers now than its listed schema says. */
function isHeaderMismatch({ data }: McpError): boolean {
  return data['rpcCode'] === HEADER_MISMATCH
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
