/**
 * Owns the record of one connection: from the trace of the bridge to timed steps and to the lines of the wire. Texts
 * that leave are redacted, clean and cut.
 */
import type { Trace, TraceEvent } from '../../bridge.ts'
import { isJsonObject } from '../../json.ts'
import { safeLine } from '../../text.ts'
import type { JsonObject, ServerSpec, SessionDiagnostics } from '../../types.ts'
import type { Step, WireMessage } from './facts.ts'

/** Messages kept of one examination. */
const MAX_MESSAGES = 2_000
const MAX_TEXT_CHARS = 4_000
const MAX_DETAIL_CHARS = 120
/** Tools kept for the look at their texts. */
const MAX_LISTED = 10_000

interface Pending {
  readonly method: string
  readonly name: string
  readonly since: number
}

export interface WireRecord {
  readonly steps: readonly Step[]
  readonly wire: readonly WireMessage[]
  /** Messages that did not fit. */
  readonly dropped: number
  readonly heard: number
  /** Tools as they were listed. */
  readonly listed: readonly unknown[]
  /** The end of standard error of the last try that failed: redacted, with its lines. */
  readonly stderr: string
  /** How the process of the last try ended by itself. */
  readonly exit?: string
}

export interface Recorder {
  readonly trace: Trace
  /** What was recorded; a request without an answer is a failed step. */
  finish(): WireRecord
}

export interface RecorderOptions {
  /** Monotonic, in milliseconds. */
  readonly now: () => number
  /** What the network says of a request without an answer, such as `HTTP 401`. */
  readonly networkWords: () => string | undefined
}

export function createRecorder(spec: ServerSpec, { now, networkWords }: RecorderOptions): Recorder {
  const began = now()
  const steps: Step[] = []
  const wire: WireMessage[] = []
  const listed: unknown[] = []
  const pending = new Map<string, Pending>()
  const pages = new Map<string, number>()
  let dropped = 0
  let heard = 0
  let tried = began
  let diagnostics: SessionDiagnostics = {}
  let exit: string | undefined
  let transport: string | undefined

  function clean(text: string, maxChars: number): string {
    return safeLine(text, spec.redact, maxChars)
  }

  function record({ direction, message }: TraceEvent & { kind: 'message' }): void {
    if (direction === 'in') heard += 1
    if (wire.length < MAX_MESSAGES) {
      const text = clean(JSON.stringify(message), MAX_TEXT_CHARS)
      wire.push({ atMs: now() - began, direction, text })
    } else dropped += 1
    const { id, method } = message as { id?: string | number; method?: string }
    if (direction === 'out' && method !== undefined && id !== undefined) {
      // The handshake of an older server follows a probe that brought nothing.
      if (method === 'initialize')
        unanswered('note', `${networkWords() ?? 'no answer'}: taken for an older server`)
      const cursor = (message as { params?: { cursor?: unknown } }).params?.cursor
      pending.set(String(id), { method, name: nameOf(method, cursor), since: now() })
    } else if (direction === 'in' && method === undefined)
      settle(String(id), message as unknown as JsonObject)
  }

  function nameOf(method: string, cursor: unknown): string {
    if (method === 'server/discover') return 'era probe'
    if (!method.endsWith('/list')) return method
    // A list without a cursor is the first page: of the list, or of one that the server said has changed.
    const isAgain = cursor === undefined && pages.has(method)
    const page = cursor === undefined ? 1 : Number(pages.get(method)) + 1
    pages.set(method, page)
    if (method === 'tools/list' && page === 1) listed.length = 0
    return `${method} page ${page}${isAgain ? ' again' : ''}`
  }

  function settle(id: string, answer: JsonObject): void {
    const request = pending.get(id)
    if (request === undefined) return
    pending.delete(id)
    const { method, name, since } = request
    const { error, result } = answer
    const isLegacy = method === 'server/discover' && error !== undefined
    const detail =
      error === undefined
        ? detailOf(method, isJsonObject(result) ? result : {})
        : `${isLegacy ? 'an older server: ' : ''}${isJsonObject(error) ? String(error['message']) : 'an error'}`
    const outcome = error === undefined ? 'ok' : isLegacy ? 'note' : 'failed'
    steps.push({ name, outcome, durationMs: now() - since, detail: clean(detail, MAX_DETAIL_CHARS) })
  }

  function detailOf(method: string, result: JsonObject): string {
    if (method === 'initialize') return `revision ${String(result['protocolVersion'])}`
    if (method === 'server/discover')
      return `revisions ${String(result['supportedVersions'] ?? '2026-07-28')}`
    const items = Object.values(result).find((member) => Array.isArray(member))
    if (!Array.isArray(items)) return ''
    if (method === 'tools/list') listed.push(...items.slice(0, MAX_LISTED - listed.length))
    return `${items.length} ${method.split('/')[0]}${typeof result['nextCursor'] === 'string' ? ', more to come' : ''}`
  }

  return {
    trace(event) {
      switch (event.kind) {
        case 'try':
          tried = now()
          transport = event.attempt.transport
          return followFailure()
        case 'started':
          if (spec.target.kind === 'stdio') {
            const isAgain = steps.some(({ name }) => name === 'spawn')
            steps.push({ name: isAgain ? 'spawn again' : 'spawn', outcome: 'ok', durationMs: now() - tried })
          }
          return
        case 'message':
          return record(event)
        case 'ended':
          diagnostics = event.diagnostics
          exit = event.alone ? diagnostics.exit : undefined
          if (transport === 'sse' && pending.size === 0) unopened()
          unanswered('failed')
      }
    },
    finish() {
      unanswered('failed')
      return {
        steps,
        wire,
        dropped,
        heard,
        listed,
        stderr: diagnostics.stderrTail ?? '',
        ...(exit === undefined ? {} : { exit }),
      }
    },
  }

  /** Requests that got no answer. */
  function unanswered(outcome: Step['outcome'], words?: string): void {
    const why =
      words ?? (exit === undefined ? networkWords() : `the process ended with ${exit}`) ?? 'no answer'
    for (const { name, since } of pending.values()) {
      steps.push({ name, outcome, durationMs: now() - since, detail: clean(why, MAX_DETAIL_CHARS) })
    }
    pending.clear()
  }

  /** The stream that this old transport begins with did not come about: there was no message yet. */
  function unopened(): void {
    const detail = clean(networkWords() ?? 'no connection', MAX_DETAIL_CHARS)
    steps.push({ name: 'open sse', outcome: 'failed', durationMs: now() - tried, detail })
  }

  /** A failure that another try follows is none yet: an older server may fear the probe, or speak another transport. */
  function followFailure(): void {
    const last = steps.at(-1)
    if (last === undefined || last.outcome !== 'failed') return
    const next = last.name === 'era probe' ? 'tried as an older server' : `tried over ${transport}`
    steps[steps.length - 1] = { ...last, outcome: 'note', detail: `${last.detail}: ${next}` }
  }
}
