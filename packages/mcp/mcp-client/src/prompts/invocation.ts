/**
 * Owns what the command of a prompt does: its arguments are read, the server is asked for the messages, and they become
 * one turn of the user. Whatever fails is told to the person who wrote the command.
 */
import type { CommandInvocation, CommandResult } from '@deepseek-ai/dsh-commands'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import type { CallId } from '@deepseek-ai/dsh-llm'
import type { Clock } from '../clock.ts'
import { McpError, isMcpError, messageOf } from '../errors.ts'
import { createDeadline } from '../execution/deadline.ts'
import type { Ending } from '../execution/deadline.ts'
import type { HostServices } from '../projection/host.ts'
import { safeLine } from '../text.ts'
import type { Agent, JsonObject, ServerSpec, Session } from '../types.ts'
import { readArguments } from './arguments.ts'
import type { Values } from './arguments.ts'
import { suggestionsFor } from './completion.ts'
import { hintOf } from './prompt.ts'
import type { Prompt } from './prompt.ts'
import { turnOf } from './turn.ts'

const MAX_FAULT_CHARS = 1_000

export interface InvocationContext {
  readonly spec: Pick<ServerSpec, 'serverName' | 'limits' | 'redact' | 'toolCallTimeoutMs' | 'toolCallMaxMs'>
  readonly clock: Clock
  readonly host: HostServices
  readonly session: () => Session | undefined
  /** Wakes a server that sleeps; the session, if there is one then. */
  readonly prepare: (signal: AbortSignal, agent: Agent) => Promise<Session | undefined>
  /** Why there is no session, as a sentence without a full stop. */
  readonly reason: () => string
  /** Public name of the tool that reads a resource link, where there is one. */
  readonly linkReader?: () => string | undefined
  /** A request of this session failed. */
  readonly failed: (session: Session | undefined, error: unknown) => void
}

export interface PromptCommand {
  /** Name of the command, without the slash. */
  readonly command: string
  readonly prompt: Prompt
}

/** Run a command. Never rejects. */
export async function runPrompt(
  { command, prompt }: PromptCommand,
  invocation: CommandInvocation,
  context: InvocationContext,
): Promise<CommandResult> {
  const { spec, clock } = context
  const { signal } = invocation
  const given = readArguments(invocation.rawInput, prompt.arguments)
  const suggest = (about?: string): Promise<string> =>
    suggestionsFor({
      prompt,
      session: context.session(),
      clock,
      signal,
      redact: spec.redact,
      values: given.values,
      about,
    })
  const refuse = (words: string): CommandResult => ({
    kind: 'error',
    text: spec.redact(`${prompt.shownName}: ${words}`),
  })
  if (!given.ok) {
    const values = given.about === undefined ? '' : await suggest(given.about)
    return refuse(`${given.fault}.${values} Usage: ${`/${command} ${hintOf(prompt)}`.trimEnd()}`)
  }
  try {
    const result = await fetchMessages(prompt, given.values, { invocation, context })
    const turn = await turnOf(result, {
      // The id of the command stands for that of a call: what is stored is filed under it.
      exec: {
        agent: invocation.agent,
        callId: invocation.commandId as string as CallId,
        name: command,
        signal,
      },
      host: context.host,
      linkReader: context.linkReader,
      maxTextBytes: spec.limits.resultTextBytes,
    })
    if (turn === undefined) return refuse('the server sent no messages')
    // Whoever gave the command up is not waiting for a turn any more.
    if (signal.aborted) return refuse('it was aborted')
    invocation.agent.followup(createUserMessage({ content: turn.content, source: { kind: 'user' } }))
    const count = turn.messages === 1 ? '1 message' : `${turn.messages} messages`
    return { kind: 'success', text: `Sent ${count} of the prompt "${prompt.shownName}".` }
  } catch (error) {
    const isRefusal = isMcpError(error) && error.code === 'MCP_REQUEST_REJECTED'
    const words = safeLine(messageOf(error), spec.redact, MAX_FAULT_CHARS)
    // A server that refuses may have wanted one of its own values.
    return refuse(`${words.replace(/[.!?]$/, '')}.${isRefusal ? await suggest() : ''}`)
  }
}

/** The answer of prompts/get. Rejects with McpError. */
async function fetchMessages(
  prompt: Prompt,
  values: Values,
  { invocation, context }: { readonly invocation: CommandInvocation; readonly context: InvocationContext },
): Promise<JsonObject> {
  const { spec } = context
  const { agent } = invocation
  const deadline = createDeadline({
    caller: invocation.signal,
    silenceMs: spec.toolCallTimeoutMs,
    wallMs: spec.toolCallMaxMs,
    toError: (ending) => endingError(ending, spec),
  })
  let session: Session | undefined
  let result: JsonObject
  try {
    session = await Promise.race([context.prepare(deadline.signal, agent), deadline.ended])
    if (session === undefined) throw notConnected(spec, context.reason())
    deadline.touch()
    const params: JsonObject = { name: prompt.rawName, arguments: { ...values } }
    const request = session.request('prompts/get', params, {
      signal: deadline.signal,
      caller: { agent, hold: deadline.hold },
      onProgress: () => deadline.touch(),
    })
    result = await Promise.race([request, deadline.ended])
  } catch (error) {
    context.failed(session, error)
    throw error
  } finally {
    deadline.close()
  }
  return result
}

function notConnected({ serverName }: InvocationContext['spec'], reason: string): McpError {
  return new McpError(`the MCP server "${serverName}" is not connected: ${reason}`, {
    code: 'MCP_NOT_CONNECTED',
    server: serverName,
    stage: 'execution',
  })
}

const LIMITS = { silence: 'toolCallTimeoutMs', wall: 'toolCallMaxMs' } as const

function endingError(ending: Ending, spec: InvocationContext['spec']): McpError {
  const about = { server: spec.serverName, stage: 'execution' } as const
  if (ending === 'aborted') return new McpError('it was aborted', { ...about, code: 'MCP_ABORTED' })
  const limit = LIMITS[ending]
  return new McpError(`no answer within ${spec[limit]} ms (${limit})`, { ...about, code: 'MCP_CALL_TIMEOUT' })
}
