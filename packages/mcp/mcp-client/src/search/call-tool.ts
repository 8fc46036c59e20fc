/**
 * Owns the definition of mcp_call: one tool of search is registered for the time of one call and run through the host's
 * own pipeline under its public name, so that guards, approvals, limits and cards see the real tool. What comes of it is
 * handed on as it is. The definition's text is constant.
 */
import { CallId, HarnessError } from '@deepseek-ai/dsh-llm'
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import type {
  JsonSchemaNode,
  JsonValue,
  ToolDefinition,
  ToolExecutionResult,
  ToolRunContext,
  ToolRuntime,
} from '@deepseek-ai/dsh-tools'
import { isJsonObject } from '../json.ts'
import { cleanLine, cutBytes } from '../text.ts'
import type { JsonObject } from '../types.ts'
import type { Directory, Found } from './directory.ts'
import type { Loans } from './loans.ts'
import type { Agent } from './visibility.ts'

export const CALL_NAME = 'mcp_call'

/** What is shown of a tool's schema after wrong arguments. */
const MAX_SCHEMA_BYTES = 6 * 1024

export interface CallToolOptions {
  readonly directory: Directory
  readonly loans: Loans
  readonly tools: () => Pick<ToolRuntime, 'execute' | 'get'>
  /** Names an agent may see that are most like an unknown one. */
  readonly nearest: (name: string, agent: Agent) => readonly string[]
}

/** What every MCP tool returns; the same contract as in execution/definition.ts. */
const RESULT_SCHEMA: JsonSchemaNode = {
  type: 'object',
  properties: {
    content: { type: 'array', items: {} },
    structuredContent: {},
    invalidStructuredContent: {},
  },
  required: ['content'],
  additionalProperties: false,
}

/** A failure of the inner call, passed on with its words, its code and what the model reads of it. */
class InnerFailure extends HarnessError {
  constructor(message: string, info: { readonly name: string; readonly code: string }) {
    super(message, info.code)
    this.name = info.name
  }
}

function failureOf({ message, info }: Failed['error']): Error {
  return info === undefined ? new Error(message) : new InnerFailure(message, info)
}

type Failed = Extract<ToolExecutionResult, { readonly isError: true }>

interface Request {
  readonly name: string
  readonly args: JsonObject
}

export function createCallTool({ directory, loans, tools, nearest }: CallToolOptions): ToolDefinition {
  /** Final content of inner calls, by the arguments of the outer call: a renderer is given no more than these. */
  const rendered = new WeakMap<object, readonly ContentBlock[]>()
  /** Of inner calls that failed, by the outer execution. */
  const failures = new WeakMap<
    object,
    { readonly message: string; readonly content: readonly ContentBlock[] }
  >()

  async function execute(args: unknown, exec: ToolRunContext): Promise<JsonValue> {
    const { name, given } = readRequest(args)
    const found = directory.find(name)
    const giveBack = found === undefined ? undefined : borrow(found, exec.agent)
    if (found === undefined || giveBack === undefined) throw await refusal(name, given, exec)
    try {
      const result = await run(name, readArguments(given, found), exec)
      return handOver(result, { args, exec, found })
    } finally {
      giveBack()
    }
  }

  function run(name: string, args: JsonValue, exec: ToolRunContext): Promise<ToolExecutionResult> {
    return tools().execute({
      callId: CallId(`${exec.callId}:mcp`),
      rootCallId: exec.rootCallId,
      name,
      arguments: args,
      parent: exec.token,
      signal: exec.signal,
      ...(exec.agent === undefined ? {} : { agent: exec.agent }),
    })
  }

  /** Why a tool does not run. A server may hold it back for a reason: the pipeline knows, and audit sees the try. */
  async function refusal(name: string, given: JsonValue | undefined, exec: ToolRunContext): Promise<Error> {
    const isOurs = name.startsWith('mcp__') && tools().get(name, exec.agent) === undefined
    if (!isOurs || directory.find(name) !== undefined) return unknown(name, exec.agent)
    const result = await run(name, objectOf(given) ?? {}, exec)
    const isKnown = result.isError && result.error.info?.code !== 'UNKNOWN_TOOL'
    return isKnown ? failureOf(result.error) : unknown(name, exec.agent)
  }

  /** Register the tool; undefined where this agent does not see it. The caller gives it back. */
  function borrow(found: Found, agent: Agent): (() => void) | undefined {
    const giveBack = loans.take(found)
    if (tools().get(found.tool.publicName, agent) === found.tool.definition) return giveBack
    giveBack()
    return undefined
  }

  function handOver(
    result: ToolExecutionResult,
    { args, exec, found }: { args: unknown; exec: ToolRunContext; found: Found },
  ): JsonValue {
    for (const context of result.additionalContexts ?? []) exec.deferContext(context)
    if (result.isError) {
      const { message, info } = result.error
      // The one failure that the model can mend with more than its own words.
      if (info?.code === 'MCP_REQUEST_REJECTED')
        throw new InnerFailure(`${message}\n${schemaLine(found)}`, info)
      failures.set(exec, { message, content: result.content })
      throw failureOf(result.error)
    }
    if (result.concludesTurn === true) exec.concludeTurn()
    rendered.set(args as object, result.content)
    return result.value
  }

  async function unknown(name: string, agent: Agent): Promise<HarnessError> {
    await directory.ready()
    const near = nearest(name, agent)
    const isOther = directory.find(name) === undefined && tools().get(name, agent) !== undefined
    const words = isOther
      ? `"${name}" is no MCP tool: call it directly`
      : `no MCP tool is called "${cleanLine(name, 128)}"; ` +
        (near.length === 0 ? '' : `names that come near: ${near.join(', ')}; `) +
        'find the exact name with mcp_search first'
    return new InnerFailure(words, { name: 'ToolNotFoundError', code: 'UNKNOWN_TOOL' })
  }

  const innerOf = (args: unknown): { definition: ToolDefinition; args: JsonObject } | undefined => {
    const request = lenient(args)
    const definition = request === undefined ? undefined : directory.find(request.name)?.tool.definition
    return request === undefined || definition === undefined ? undefined : { definition, args: request.args }
  }

  return {
    name: CALL_NAME,
    description:
      'Run an MCP tool that mcp_search found, by its exact name, with arguments that fit its input schema.',
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Tool name, such as mcp__server__tool.' },
        arguments: { type: 'object', description: "The tool's arguments." },
      },
      required: ['name', 'arguments'],
    },
    output: {
      schema: RESULT_SCHEMA,
      // Nothing is rendered of a value that is read back from a log: what the model read is there, too.
      render: (args, value) => [
        ...(rendered.get(args as object) ?? [{ type: 'text', text: JSON.stringify(value) }]),
      ],
    },
    execute,
    finalizeContent(exec, result) {
      const failure = failures.get(exec)
      failures.delete(exec)
      return result.isError && failure?.message === result.error.message ? [...failure.content] : undefined
    },
    isConcurrencySafe(args) {
      const inner = innerOf(args)
      return inner?.definition.isConcurrencySafe?.(inner.args) === true
    },
    presentCall(args) {
      const inner = innerOf(args)
      const card = inner?.definition.presentCall?.(inner.args)
      return card ?? { card: 'generic', title: 'Call an MCP tool', kind: 'other', rawInput: args }
    },
  }
}

function readRequest(args: unknown): { readonly name: string; readonly given: JsonValue | undefined } {
  const { name, arguments: given } = isJsonObject(args) ? args : {}
  if (typeof name === 'string' && name !== '') return { name, given }
  throw refused('name must be the exact name of a tool, as mcp_search gives it')
}

/** An object, or the text of one, which some models write. Left out means no arguments. */
function readArguments(given: JsonValue | undefined, found: Found): JsonObject {
  const read = objectOf(given)
  if (read !== undefined) return read
  throw refused(`arguments must be an object\n${schemaLine(found)}`)
}

function objectOf(given: JsonValue | undefined): JsonObject | undefined {
  if (given === undefined || given === null || given === '') return {}
  if (typeof given !== 'string') return isJsonObject(given) ? given : undefined
  try {
    const parsed: unknown = JSON.parse(given)
    return isJsonObject(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

/** For cards and scheduling, which see arguments before they are complete. */
function lenient(args: unknown): Request | undefined {
  const { name, arguments: given } = isJsonObject(args) ? args : {}
  return typeof name === 'string' ? { name, args: objectOf(given) ?? {} } : undefined
}

function schemaLine({ tool }: Found): string {
  const schema = JSON.stringify(tool.definition.parameters)
  const shown = cutBytes(schema, MAX_SCHEMA_BYTES)
  const rest = shown === schema ? '' : '… (mcp_search with the exact name shows all of it)'
  return `arguments of ${tool.publicName}: ${shown}${rest}`
}

function refused(text: string): InnerFailure {
  return new InnerFailure(text, { name: 'McpError', code: 'MCP_REQUEST_REJECTED' })
}
