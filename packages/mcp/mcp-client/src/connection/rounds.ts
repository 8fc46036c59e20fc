/**
 * Owns the input-required rounds of one request of revision 2026-07-28: what the server asks for is answered, and the
 * request is sent again with the answers and the server's state, byte for byte, until the result is complete. Not left
 * to the SDK's driver: that one knows no caller, and waits for a person longer than the caller does.
 */
import { McpError } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import type { InboundMethod, InboundRequest, JsonObject } from '../types.ts'

/** Answers to one request, states without a question included. */
export const MAX_ROUNDS = 10
/** Questions of one round. */
export const MAX_QUESTIONS = 16
/** Before a request that the server only wants to see again, in milliseconds. */
export const PACE_MS = 250

const METHODS: ReadonlySet<unknown> = new Set<InboundMethod>([
  'elicitation/create',
  'roots/list',
  'sampling/createMessage',
])

export interface RoundsOptions {
  readonly server: string
  /** The result of the first try. */
  readonly first: JsonObject
  readonly params: JsonObject
  /** Send the request again, as a new one. */
  again(params: JsonObject): Promise<JsonObject>
  /** Undefined: nothing that could be asked for was offered. */
  answer?: ((request: InboundRequest) => Promise<JsonObject>) | undefined
  /** Waits; rejects when the caller gives up. */
  pause(ms: number): Promise<void>
}

/**
 * The complete result of a request.
 * @throws McpError MCP_UNSUPPORTED for what was not offered; whatever `again` and `answer` reject with
 */
export async function throughRounds(options: RoundsOptions): Promise<JsonObject> {
  let result = options.first
  for (let round = 1; result['resultType'] === 'input_required'; round++) {
    if (round > MAX_ROUNDS) throw refused(options, `still wants input after ${MAX_ROUNDS} rounds`)
    const inputResponses = await answersTo(result, options)
    const { requestState } = result
    if (inputResponses === undefined) {
      if (typeof requestState !== 'string') throw refused(options, 'wants input and does not say which')
      await options.pause(PACE_MS)
    }
    result = await options.again({
      ...options.params,
      ...(inputResponses === undefined ? {} : { inputResponses }),
      ...(typeof requestState === 'string' ? { requestState } : {}),
    })
  }
  return result
}

/** By the server's keys; undefined where it asks nothing. One after the other: they may be for the same person. */
async function answersTo(result: JsonObject, options: RoundsOptions): Promise<JsonObject | undefined> {
  const { inputRequests } = result
  const questions = Object.entries(isJsonObject(inputRequests) ? inputRequests : {})
  if (questions.length === 0) return undefined
  if (questions.length > MAX_QUESTIONS) throw refused(options, `asks ${questions.length} things at once`)
  const requests = questions.map(([key, question]) => [key, requestOf(question, options)] as const)
  const { answer } = options
  if (answer === undefined)
    throw refused(options, 'wants further input, which this client did not offer to give')
  const responses: [string, JsonObject][] = []
  for (const [key, request] of requests) responses.push([key, await answer(request)])
  // A key may be `__proto__`: it is the server's to choose.
  return Object.fromEntries(responses)
}

function requestOf(question: unknown, options: RoundsOptions): InboundRequest {
  const { method, params } = isJsonObject(question) ? question : {}
  if (!METHODS.has(method)) throw refused(options, 'wants input of a kind that the protocol does not have')
  return { method: method as InboundMethod, params: isJsonObject(params) ? params : {} }
}

function refused({ server }: RoundsOptions, words: string): McpError {
  return new McpError(`The server ${words}`, { code: 'MCP_UNSUPPORTED', server, stage: 'execution' })
}
