/** Owns the reading of a server's request for a model's answer: what of it is passed on, within which limits. Pure. */
import { isJsonObject } from '../json.ts'
import type { JsonObject, JsonValue, SamplingSpec } from '../types.ts'
import { invalid } from './refusal.ts'

const MAX_MESSAGES = 64
/** Of all texts together. */
const MAX_CHARS = 256 * 1024
const MAX_STOPS = 16
const MAX_STOP_CHARS = 256

export interface SamplingMessage {
  readonly role: 'user' | 'assistant'
  readonly text: string
}

export interface SamplingRequest {
  readonly messages: readonly SamplingMessage[]
  readonly system: string
  readonly maxTokens: number
  readonly temperature: number | undefined
  readonly stop: readonly string[]
}

/**
 * One sampling/createMessage. Hints at models and at context of other servers are not followed.
 * @throws InboundRefusal for what cannot be passed on
 */
export function readSampling(
  params: JsonObject,
  { maxTokens }: Pick<SamplingSpec, 'maxTokens'>,
): SamplingRequest {
  if (params['tools'] !== undefined || params['toolChoice'] !== undefined)
    throw invalid('tools are not offered in sampling')
  const list = params['messages']
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_MESSAGES)
    throw invalid(`messages must be a list of 1 to ${MAX_MESSAGES}`)
  const messages = list.map(readMessage)
  const system = typeof params['systemPrompt'] === 'string' ? params['systemPrompt'] : ''
  const chars = messages.reduce((sum, { text }) => sum + text.length, system.length)
  if (chars > MAX_CHARS) throw invalid(`messages and systemPrompt have more than ${MAX_CHARS} characters`)
  return {
    messages,
    system,
    maxTokens: tokensOf(params['maxTokens'], maxTokens),
    temperature: temperatureOf(params['temperature']),
    stop: stopsOf(params['stopSequences']),
  }
}

function readMessage(message: JsonValue, at: number): SamplingMessage {
  const where = `message ${at + 1}`
  if (!isJsonObject(message)) throw invalid(`${where} is no object`)
  const { role, content } = message
  if (role !== 'user' && role !== 'assistant') throw invalid(`${where} has no role of user or assistant`)
  const blocks = Array.isArray(content) ? content : [content]
  const texts = blocks.map((block) => {
    if (isJsonObject(block) && block['type'] === 'text' && typeof block['text'] === 'string')
      return block['text']
    throw invalid(`${where} has other content than text, which is not supported`)
  })
  return { role, text: texts.join('\n') }
}

function tokensOf(value: JsonValue | undefined, most: number): number {
  if (value === undefined) return most
  if (typeof value !== 'number' || !(value >= 1)) throw invalid('maxTokens must be at least 1')
  return Math.min(Math.floor(value), most)
}

function temperatureOf(value: JsonValue | undefined): number | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'number' || value < 0) throw invalid('temperature must be a number of at least 0')
  return value
}

function stopsOf(value: JsonValue | undefined): readonly string[] {
  if (value === undefined) return []
  const isList = Array.isArray(value) && value.length <= MAX_STOPS
  if (
    !isList ||
    !value.every((stop) => typeof stop === 'string' && stop !== '' && stop.length <= MAX_STOP_CHARS)
  )
    throw invalid(`stopSequences must be a list of at most ${MAX_STOPS} short texts`)
  return value as string[]
}
