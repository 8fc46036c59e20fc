/** Owns what a task of revision 2026-07-28 asks before it goes on: each question is answered once, and the answers sent. */
import { McpError } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import type { CallOptions, Inbound, InboundMethod, JsonObject, Session } from '../types.ts'
import { unlessLost } from './task-loss.ts'
import type { Task } from './task-state.ts'

/** Questions that one task may ask. */
const MAX_QUESTIONS = 100
const QUESTIONS: ReadonlySet<unknown> = new Set<InboundMethod>([
  'elicitation/create',
  'roots/list',
  'sampling/createMessage',
])

/** Who answers, for whom. */
export interface QuestionWay {
  readonly server: string
  readonly options: CallOptions
  readonly ask: Inbound['answer'] | undefined
}

/** Modern: what was answered, and of that what has reached the server, by the keys of the questions. */
export interface Answers {
  readonly given: Map<string, JsonObject>
  readonly sent: Set<string>
}

/** Modern: each question once, however often the task is looked at before the answer is seen. */
export async function answerQuestions(
  task: Task,
  { given, sent }: Answers,
  session: Session,
  { ask, options, server }: QuestionWay,
): Promise<void> {
  if (task.status !== 'input_required') return
  const open = Object.entries(task.questions).filter(([key]) => !sent.has(key))
  const responses: [string, JsonObject][] = []
  for (const [key, question] of open) {
    const { method, params } = isJsonObject(question) ? question : {}
    if (ask === undefined || !QUESTIONS.has(method) || given.size >= MAX_QUESTIONS) {
      throw new McpError('The task wants input that this client did not offer to give', {
        code: 'MCP_UNSUPPORTED',
        server,
        stage: 'execution',
      })
    }
    const request = { method: method as InboundMethod, params: isJsonObject(params) ? params : {} }
    const answer = given.get(key) ?? (await ask(request, { signal: options.signal, caller: options.caller }))
    given.set(key, answer)
    responses.push([key, answer])
  }
  if (responses.length === 0) return
  const params = { taskId: task.id, inputResponses: Object.fromEntries(responses) }
  // The next look sees to an outage; what is still open then is sent again, and nobody is asked again.
  if ((await unlessLost(session.request('tasks/update', params, options))) === undefined) return
  for (const [key] of responses) sent.add(key)
}
