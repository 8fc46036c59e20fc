/**
 * Owns the following of one task to its end: a call that the server runs by itself and answers later. Both ways of the
 * protocol: tasks of revision 2025-11-25, and the tasks extension of 2026-07-28. The call is never sent twice for it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { McpError, isMcpError } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import { cleanLine, cleanText } from '../text.ts'
import type {
  CallOptions,
  CatalogEntry,
  Inbound,
  JsonObject,
  Progress,
  Session,
  SessionFacts,
} from '../types.ts'
import { isLoss, unlessLost } from './task-loss.ts'
import { answerQuestions } from './task-questions.ts'
import type { Answers } from './task-questions.ts'
import { createdTask, isTerminal, readTask } from './task-state.ts'
import type { Task } from './task-state.ts'

/** A cancellation waits no longer for its answer, in milliseconds. */
const CANCEL_LIMIT_MS = 5_000
const MAX_WORDS = 300

export interface TaskWay {
  readonly session: Session
  readonly entry: Pick<CatalogEntry, 'rawName' | 'inputSchema' | 'taskRequired'>
  readonly server: string
  readonly options: CallOptions & { readonly onProgress: (progress: Progress) => void }
  /** How long the server is asked to keep a task, in milliseconds. */
  readonly ttlMs: number
  /** Who answers what the task asks. */
  readonly ask: Inbound['answer'] | undefined
  /** The session after an outage, once there is one; undefined where nobody reconnects. Never rejects. */
  readonly sessionAgain: (signal: AbortSignal) => Promise<Session | undefined>
}

/** Why this server cannot run this tool; undefined where nothing is against it. Revision 2025-11-25 says so at the start. */
export function taskRefusal(
  { rawName, taskRequired }: Pick<CatalogEntry, 'rawName' | 'taskRequired'>,
  { era, capabilities }: Pick<SessionFacts, 'era' | 'capabilities'>,
): string | undefined {
  if (!taskRequired || era !== 'legacy') return undefined
  const { requests } = memberOf(capabilities['tasks'])
  const { call } = memberOf(memberOf(requests)['tools'])
  if (call !== undefined) return undefined
  return `Tool "${rawName}" requires task-based execution, which its server does not offer`
}

function memberOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {}
}

/** One tools/call; where the server makes a task of it, that is followed to its end. */
export async function callAndFollow(args: JsonObject, way: TaskWay): Promise<JsonObject> {
  const { session, entry, options, ttlMs } = way
  const { rawName, inputSchema, taskRequired } = entry
  // Later revisions leave it to the server which calls become tasks.
  const task = taskRequired && session.facts.era === 'legacy' ? { task: { ttl: ttlMs } } : {}
  const result = await session.callTool({ rawName, inputSchema }, args, { ...options, ...task })
  const created = createdTask(result)
  return created === undefined ? result : followTask(created, way)
}

/**
 * The result of the call that a task runs. An outage is waited out, and the same task is looked at again.
 * @throws McpError whatever the task ended with; MCP_OUTCOME_UNKNOWN where the server lost it
 */
async function followTask(created: Task, way: TaskWay): Promise<JsonObject> {
  const { options } = way
  const { signal } = options
  const answers: Answers = { given: new Map(), sent: new Set() }
  let { session } = way
  let task = created
  /** Legacy: asked for as soon as the task is done or wants input; it brings the questions, too. */
  let result: Promise<JsonObject | undefined> | undefined
  const askResult = async (): Promise<JsonObject | undefined> => {
    const value = await unlessLost(session.request('tasks/result', { taskId: task.id }, options))
    if (value === undefined) result = undefined
    return value
  }
  const follow = async (): Promise<JsonObject> => {
    let value: JsonObject | undefined
    for (let looks = 1; value === undefined; looks++) {
      if (looks > 1) ({ task, session } = await look(task, session, way))
      options.onProgress({ progress: looks, message: wordsOf(task) })
      const isLegacy = session.facts.era === 'legacy'
      if (isLegacy && task.status !== 'working' && task.status !== 'cancelled') {
        result ??= quiet(askResult())
      }
      if (!isLegacy) await answerQuestions(task, answers, session, way)
      const end = isTerminal(task) ? await endOf(task, result, way) : undefined
      value = end ?? (await resultOrPause(result, task.pollMs, signal))
    }
    return value
  }
  return follow().catch((error: unknown) => {
    if (!isTerminal(task) && !isGone(error)) void cancel(task, session)
    throw error
  })
}

/** The state of the task now; an outage is waited out. */
async function look(task: Task, session: Session, way: TaskWay): Promise<{ task: Task; session: Session }> {
  const { signal } = way.options
  let asked = session
  for (;;) {
    const { state, loss }: Seen | Unseen = await asked
      .request('tasks/get', { taskId: task.id }, way.options)
      .then(toState, toLoss)
    if (state !== undefined) {
      const next = readTask(state, task)
      if (next === undefined) throw lost(way, 'answered with no task')
      return { task: next, session: asked }
    }
    if (loss.code === 'MCP_REQUEST_REJECTED')
      throw lost(way, `does not tell of it any more (${loss.message})`, loss)
    const again = await way.sessionAgain(signal)
    if (again === undefined) throw lost(way, `is gone (${loss.message})`, loss)
    asked = again
    // A server may refuse each look, one after the other, on a connection that lives.
    await delay(task.pollMs, undefined, { signal })
  }
}

interface Seen {
  readonly state: JsonObject
  readonly loss?: undefined
}

interface Unseen {
  readonly state?: undefined
  readonly loss: McpError
}

function toState(state: JsonObject): Seen {
  return { state }
}

/** Failures of a look that say something of the task or the connection; others stay what they are. */
function toLoss(loss: unknown): Unseen {
  if (isLoss(loss) || (isMcpError(loss) && loss.code === 'MCP_REQUEST_REJECTED')) return { loss }
  throw loss
}

/** Undefined where the connection was lost before the end was told: it is to be asked for again. */
async function endOf(
  task: Task,
  result: Promise<JsonObject | undefined> | undefined,
  way: TaskWay,
): Promise<JsonObject | undefined> {
  if (task.status === 'cancelled') throw failed(way, 'was cancelled by the server', task)
  if (result !== undefined) {
    try {
      return await result
    } catch (error) {
      if (task.status !== 'failed' || !isMcpError(error) || error.code !== 'MCP_REQUEST_REJECTED') throw error
      throw failed(way, `failed: ${error.message}`, task)
    }
  }
  if (task.status === 'completed') return task.result ?? { content: [] }
  throw failed(way, `failed${task.error === '' ? '' : `: ${task.error}`}`, task)
}

/** The result, if it comes before the time of the next look. */
async function resultOrPause(
  result: Promise<JsonObject | undefined> | undefined,
  ms: number,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const over = new AbortController()
  const pause = quiet(delay(ms, undefined, { signal: AbortSignal.any([signal, over.signal]) }))
  try {
    // A connection that is lost, and a result with it, is seen by the next look, and not before its time.
    return (await Promise.race([pause, result ?? pause])) ?? (await pause)
  } finally {
    over.abort()
  }
}

/** Best effort: nobody waits for it. */
async function cancel(task: Task, session: Session): Promise<void> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(new Error('no answer in time')), CANCEL_LIMIT_MS)
  try {
    await session.request('tasks/cancel', { taskId: task.id }, { signal: limit.signal })
  } catch {
    // The task ends by its time to live.
  } finally {
    clearTimeout(timer)
  }
}

/** Looked at later; until then its failure is nobody's. */
function quiet<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined)
  return work
}

function wordsOf({ status, message }: Task): string {
  return message === '' ? status : `${status}: ${message}`
}

function failed({ entry, server }: TaskWay, how: string, { message }: Task): McpError {
  const words = message === '' || how.includes(message) ? '' : ` (${message})`
  const text = cleanLine(`The task of tool "${entry.rawName}" ${how}${words}`, MAX_WORDS * 4)
  return new McpError(text, { code: 'MCP_TOOL_FAILED', server, stage: 'execution' })
}

/** Nobody knows what the task did. The data says that no second call is to follow, whatever the tool claims to be. */
function lost({ entry, server }: TaskWay, how: string, cause?: unknown): McpError {
  const text = cleanText(`the server ${how}: the task of tool "${entry.rawName}" may have run`)
  return new McpError(text, {
    code: 'MCP_OUTCOME_UNKNOWN',
    server,
    stage: 'execution',
    data: { isTask: true },
    cause,
  })
}

/** Of our own making: the server has no such task, or there is no server. */
function isGone(error: unknown): boolean {
  return isMcpError(error) && error.data['isTask'] === true
}
