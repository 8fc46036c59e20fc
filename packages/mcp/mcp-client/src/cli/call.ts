/** Owns `dsh-mcp call`: one call of one tool, and its result as a model would read it. */
import { CallId } from '@deepseek-ai/dsh-llm'
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import type { ToolDefinition, ToolExecutionToken, ToolRunContext } from '@deepseek-ai/dsh-tools'
import { fromForeign } from '../foreign.ts'
import { publicToolName } from '../naming.ts'
import { cleanLine, cleanText } from '../text.ts'
import type { JsonObject, JsonValue, ServerSpec } from '../types.ts'
import { nearest } from './distance.ts'
import { EXIT, UsageError } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { loginHint } from './login-advice.ts'
import { loginHostOf } from './login-host.ts'
import type { Output } from './output.ts'
import { approvalAdvice, lookAtPins } from './pinned.ts'
import type { Row } from './rows/source.ts'
import { openServer } from './server.ts'
import type { LiveServer } from './server.ts'

/** Levels worth a line in --verbose. */
const LOUD: ReadonlySet<string> = new Set(['warn', 'error'])

export interface CallOptions {
  readonly timeout?: number
}

export interface ToolCall {
  readonly row: Row
  readonly tool: string
  readonly args: JsonObject
}

export async function runCall(call: ToolCall, { timeout }: CallOptions, output: Output): Promise<ExitCode> {
  const { row } = call
  if (!row.resolved.ok) throw new UsageError(`the row "${row.name}" is refused: ${row.resolved.fault}`)
  const { spec } = row.resolved
  const { signal } = output.io
  const pins = await lookAtPins(spec, output.io)
  const server = await output.progress(`connecting to ${row.name}`, () =>
    openServer(spec, { timeoutMs: timeout, signal, login: loginHostOf(spec, output.io), pins }),
  )
  const code = await callOn(server, spec, call, output)
  await server.close()
  return code
}

/** Never rejects. */
async function callOn(
  server: LiveServer,
  spec: ServerSpec,
  { tool, args }: ToolCall,
  output: Output,
): Promise<ExitCode> {
  const failure = server.failure ?? server.status().lastError
  if (failure !== undefined) {
    const next = loginHint(server.failure, spec)
    if (next !== undefined) output.note(`-> ${next}`)
    return fail(output, spec, failure)
  }
  const definition = definitionOf(server.definitions(), spec, tool)
  if (definition === undefined) {
    return fail(output, spec, absence(server, spec, tool))
  }
  try {
    const work = (): Promise<Executed> => execute(definition, args, output.io.signal)
    const result = await output.progress(`calling ${cleanLine(tool, 128)}`, work)
    output.json(result.value)
    if (!output.options.json) output.text(spec.redact(cleanText(textOf(result.content))))
    for (const { level, text } of server.lines) if (LOUD.has(level)) output.detail(`${level}: ${text}`)
    return EXIT.ok
  } catch (error) {
    const context = { server: spec.serverName, stage: 'execution' as const, redact: spec.redact }
    return fail(output, spec, fromForeign(error, context))
  }
}

/** The failure as a model would read it: the text on stdout, since it is the result. */
function fail(
  output: Output,
  { redact }: ServerSpec,
  failure: { readonly code: string; readonly message: string },
): ExitCode {
  const message = redact(cleanText(failure.message))
  output.json({ error: { code: failure.code, message } })
  if (!output.options.json) output.text(`Error: ${message}`)
  return EXIT.failed
}

/** By raw name, or by the name that the model sees. */
function definitionOf(
  definitions: readonly ToolDefinition[],
  spec: ServerSpec,
  tool: string,
): ToolDefinition | undefined {
  const publicName = publicToolName(spec.serverName, tool)
  return definitions.find(({ name }) => name === publicName) ?? definitions.find(({ name }) => name === tool)
}

/** Why there is no such tool: the row keeps it out, it waits for approval, or the server has none of that name. */
function absence(server: LiveServer, spec: ServerSpec, tool: string): { code: string; message: string } {
  const { denied, held, quarantined } = server.status().tools
  const isIt = ({ name }: { readonly name: string }): boolean =>
    name === tool || publicToolName(spec.serverName, name) === tool
  const keptOut = denied.find(isIt)
  if (keptOut !== undefined) {
    return {
      code: 'MCP_DENIED',
      message: `the row keeps ${JSON.stringify(keptOut.name)} out by ${keptOut.rule}`,
    }
  }
  const waiting = held.find(isIt)
  if (waiting !== undefined) {
    const { name, reason } = waiting
    return {
      code: 'MCP_DENIED',
      message: `${JSON.stringify(name)} is withheld: ${reason}. ${approvalAdvice(spec.serverName, name)}`,
    }
  }
  const bad = quarantined.find(isIt)
  if (bad !== undefined) {
    return { code: 'UNKNOWN_TOOL', message: `${JSON.stringify(bad.name)} is left out: ${bad.reason}` }
  }
  return { code: 'UNKNOWN_TOOL', message: unknown(server.definitions(), spec, tool) }
}

function unknown(definitions: readonly ToolDefinition[], spec: ServerSpec, tool: string): string {
  const prefix = `mcp__${spec.serverName}__`
  const names = definitions.map(({ name }) => name.slice(prefix.length))
  const close = nearest(tool, names)
  const hint =
    close === undefined
      ? `; it has ${names.slice(0, 20).join(', ') || 'no tools'}`
      : `; did you mean ${close}?`
  return `the server has no tool ${JSON.stringify(cleanLine(tool, 128))}${hint}`
}

interface Executed {
  readonly value: JsonValue
  readonly content: readonly ContentBlock[]
}

/** Run a definition as the host's registry does, without an agent: images are told, not shown. */
async function execute(definition: ToolDefinition, args: JsonObject, signal: AbortSignal): Promise<Executed> {
  const callId = CallId('dsh-mcp-call')
  const context: ToolRunContext = {
    token: Symbol('dsh-mcp') as unknown as ToolExecutionToken,
    callId,
    rootCallId: callId,
    name: definition.name,
    arguments: args,
    signal,
    /* v8 ignore next 2 -- the tools of the bridge do neither */
    deferContext: () => undefined,
    concludeTurn: () => undefined,
  }
  const value = (await definition.execute(args, context)) as JsonValue
  const content = definition.output.render(args, value)
  const final = definition.finalizeContent?.(context, { isError: false, value, content })
  return { value, content: final ?? content }
}

function textOf(content: readonly ContentBlock[]): string {
  /* v8 ignore next -- without a store for attachments everything is told in text */
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
}
