/**
 * Owns the text that a person reads before the model answers a server: who asks and what it costs in our words, then the
 * server's messages, marked line by line as foreign. Pure.
 */
import { markLines } from '../marked.ts'
import { visibleSafe } from '../visible.ts'
import type { Asker } from './question-words.ts'
import type { SamplingRequest } from './sampling-request.ts'

const MAX_SYSTEM_CHARS = 2_048
const MAX_MESSAGE_CHARS = 4_096
const MAX_MESSAGES = 8

export function samplingQuestion(
  { messages, system, maxTokens }: SamplingRequest,
  {
    route,
    asker,
  }: { readonly route: { readonly provider: string; readonly model: string }; readonly asker: Asker },
): string {
  const shown = (text: string, maxChars: number): string[] =>
    markLines(visibleSafe(text, asker.redact), maxChars)
  const rest = messages.length - MAX_MESSAGES
  const [first, last] = rest > 0 ? [messages.slice(0, 1), messages.slice(1 - MAX_MESSAGES)] : [messages, []]
  const lines = (part: typeof messages): string[] =>
    part.flatMap(({ role, text }) => [
      role === 'user' ? 'Message to the model:' : 'Answer that the server says the model gave:',
      ...shown(text, MAX_MESSAGE_CHARS),
    ])
  return [
    `MCP server "${asker.serverName}" wants the model ${route.model} of ${route.provider} to answer for it, ` +
      `with at most ${maxTokens} tokens. The answer goes to the server.`,
    'Rule: sampling.mode: ask',
    ...(system.trim() === '' ? [] : ['Instructions to the model:', ...shown(system, MAX_SYSTEM_CHARS)]),
    ...lines(first),
    ...(rest > 0 ? [`(${rest} messages are not shown)`] : []),
    ...lines(last),
  ].join('\n')
}
