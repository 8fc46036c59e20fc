/**
 * Owns one tools/call from the model's arguments to the canonical value: refusals, the queue, the clock, the wire, and
 * the sentence of every failure. Nothing is ever sent twice.
 */
import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'
import { McpError, isMcpError, messageOf } from '../errors.ts'
import type { McpErrorCode } from '../errors.ts'
import { limitText } from '../projection/limits.ts'
import { PLAIN, projectResult, toContent } from '../projection/result.ts'
import type { CanonicalResult } from '../projection/result.ts'
import { checkArguments } from '../schema/check.ts'
import { cleanText } from '../text.ts'
import type { CatalogEntry, JsonObject, ServerSpec, Session } from '../types.ts'
import { createDeadline } from './deadline.ts'
import type { Deadline, Ending } from './deadline.ts'
import { describeFailure } from './failure.ts'
import type { CallGate } from './gate.ts'
import { readReply } from './reply.ts'

const REST_OF_ERROR = 'The text is longer than limits.resultTextBytes allows'
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
  /** The server's places for calls in flight. */
  readonly gate: CallGate
}

export interface CallRequest {
  readonly entry: CatalogEntry
  /** The schema that the registry enforces on structured content. */
  readonly outputSchema: JsonSchemaNode | undefined
  readonly args: unknown
  readonly signal: AbortSignal
}

/** Run one call. Rejects with McpError; `isError` results reject as MCP_TOOL_FAILED with the server's text. */
export async function callTool(request: CallRequest, context: CallContext): Promise<CanonicalResult> {
  const { entry, args } = request
  if (entry.taskRequired) {
    const text = `Tool "${entry.rawName}" requires task-based execution, which this bridge does not support`
    throw failure('MCP_UNSUPPORTED', text, context)
  }
  if (!isJsonObject(args)) {
    const text = `Tool "${entry.rawName}" takes its arguments as one JSON object, not ${typeName(args)}; nothing was sent`
    throw failure('MCP_REQUEST_REJECTED', text, context)
  }
  const checked = checkArguments(entry.inputSchema, args)
  if (!checked.ok) throw failure('MCP_REQUEST_REJECTED', checked.message, context)
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

/** Wait for a place, send once, wait for the answer; every wait ends with the deadline. */
async function exchange(request: CallRequest, args: JsonObject, context: CallContext): Promise<JsonObject> {
  const { spec, gate } = context
  liveSession(context)
  let isSent = false
  const deadline = createDeadline({
    caller: request.signal,
    silenceMs: spec.toolCallTimeoutMs,
    wallMs: spec.toolCallMaxMs,
    toError: (ending) => endingError(ending, request, { context, isSent }),
  })
  let release: (() => void) | undefined
  let session: Session | undefined
  let answer: JsonObject
  try {
    release = await gate.enter(deadline.signal)
    session = liveSession(context)
    isSent = true
    answer = await send(session, { ...request, args }, deadline)
  } catch (error) {
    throw explained(error, session, context)
  } finally {
    release?.()
    deadline.close()
  }
  return answer
}

/** The wire. The raw name goes out; the race answers even where a transport does not let go of its write. */
function send(
  session: Session,
  request: CallRequest & { args: JsonObject },
  deadline: Deadline,
): Promise<JsonObject> {
  const { rawName, inputSchema } = request.entry
  deadline.touch()
  const answer = session.callTool({ rawName, inputSchema }, request.args, {
    signal: deadline.signal,
    onProgress: () => deadline.touch(),
  })
  return Promise.race([answer, deadline.ended])
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
  if (known.code === 'MCP_REQUEST_REJECTED' && UNKNOWN_TOOL.test(text)) context.onUnknownTool()
  const message = bounded(text, spec)
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
  if (UNKNOWN_TOOL.test(text.slice(0, 1_000))) context.onUnknownTool()
  return failure('MCP_TOOL_FAILED', bounded(text, context.spec), context)
}

function endingError(
  ending: Ending,
  request: CallRequest,
  { context, isSent }: { readonly context: CallContext; readonly isSent: boolean },
): McpError {
  const { spec } = context
  const call = `The call of tool "${request.entry.rawName}" at MCP server "${spec.serverName}"`
  const effect = isSent
    ? 'It was cancelled, but it may have run'
    : 'It was still waiting for its turn and was not sent'
  if (ending === 'aborted') return failure('MCP_ABORTED', `${call} was aborted. ${effect}`, context)
  const [limitMs, key, words] =
    ending === 'silence'
      ? [spec.toolCallTimeoutMs, 'toolCallTimeoutMs', 'brought no answer and no progress for']
      : [spec.toolCallMaxMs, 'toolCallMaxMs', 'was not done after']
  const advice = `Raise ${key} in the row of this server if the tool needs longer`
  return new McpError(`${call} ${words} ${limitMs} ms. ${effect}. ${advice}`, {
    code: 'MCP_CALL_TIMEOUT',
    server: spec.serverName,
    stage: 'execution',
    data: { limitMs, key, mayHaveRun: isSent },
  })
}

function failure(code: McpErrorCode, message: string, context: CallContext, cause?: unknown): McpError {
  return new McpError(message, { code, server: context.spec.serverName, stage: 'execution', cause })
}

/** Secrets out first, then hidden characters, then the cap. */
function bounded(text: string, spec: ServerSpec): string {
  return limitText(cleanText(spec.redact(text)), spec.limits.resultTextBytes, REST_OF_ERROR)
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
