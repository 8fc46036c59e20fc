/** Owns the reading of a task as a server reports it, in either era. Pure; what is odd is read as the plainest thing. */
import { isJsonObject } from '../json.ts'
import { cleanLine } from '../text.ts'
import type { JsonObject } from '../types.ts'

/** A server is not asked more often than this, nor more seldom; in milliseconds. */
export const MIN_POLL_MS = 100
export const MAX_POLL_MS = 30_000
const DEFAULT_POLL_MS = 1_000
const MAX_WORDS = 300
const MAX_ID_CHARS = 1_024

const STATUSES = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const
export type TaskStatus = (typeof STATUSES)[number]

export interface Task {
  readonly id: string
  readonly status: TaskStatus
  /** The server's words, clean and capped. */
  readonly message: string
  readonly pollMs: number
  /** Modern: open questions by key, as they came. */
  readonly questions: JsonObject
  /** Modern: the result of a completed one. */
  readonly result: JsonObject | undefined
  /** Modern: why it failed; clean and capped. */
  readonly error: string
}

/** Whether a result of tools/call is the beginning of a task; its state if it is. */
export function createdTask(result: JsonObject): Task | undefined {
  if (result['resultType'] === 'task') return readTask(result)
  return result['content'] === undefined && isJsonObject(result['task']) ? readTask(result) : undefined
}

/**
 * The state in a result of tools/call or tasks/get: flat, or under `task`. Undefined where there is none.
 * @param known the task that was asked for: its id need not be repeated, and the state of another is none of it
 */
export function readTask(result: JsonObject, known?: Task): Task | undefined {
  const state = isJsonObject(result['task']) ? result['task'] : result
  const { taskId = known?.id, status, statusMessage, error, inputRequests } = state
  if (typeof taskId !== 'string' || taskId === '' || taskId.length > MAX_ID_CHARS) return undefined
  if (known !== undefined && taskId !== known.id) return undefined
  if (!STATUSES.includes(status as TaskStatus)) return undefined
  const pollMs = state['pollIntervalMs'] ?? state['pollInterval']
  return {
    id: taskId,
    status: status as TaskStatus,
    message: line(statusMessage),
    pollMs:
      typeof pollMs === 'number'
        ? Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, pollMs))
        : (known?.pollMs ?? DEFAULT_POLL_MS),
    questions: isJsonObject(inputRequests) ? inputRequests : {},
    result: isJsonObject(state['result']) ? state['result'] : undefined,
    error: isJsonObject(error) ? line(error['message']) : '',
  }
}

export function isTerminal({ status }: Task): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

function line(value: unknown): string {
  return typeof value === 'string' ? cleanLine(value, MAX_WORDS) : ''
}
