/**
 * Owns the registry's definition of one tool: its output contract, the call, and the hand-over of the richer
 * projection. Staged projections belong to this definition alone: an older generation cannot take a newer one's.
 */
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import type {
  JsonSchemaNode,
  ToolDefinition,
  ToolExecution,
  ToolExecutionResult,
} from '@deepseek-ai/dsh-tools'
import { isMcpError } from '../errors.ts'
import { jsonEqual } from '../projection/equality.ts'
import type { HostServices } from '../projection/host.ts'
import { projectResult } from '../projection/result.ts'
import type { CanonicalResult, ResultSource } from '../projection/result.ts'
import { mayBeStaged, plainContent, stageContent } from '../projection/stage.ts'
import { cleanLine } from '../text.ts'
import type { CatalogEntry, JsonObject } from '../types.ts'
import { callTool } from './call.ts'
import type { CallContext, CallRequest } from './call.ts'
import { policyOf } from './policy.ts'
import { presentCall } from './presentation.ts'

export type { HostServices }

const MAX_LOG_CHARS = 1_000

/** What a definition closes over. */
export interface DefinitionContext extends CallContext {
  readonly host: HostServices
  /** Public name of the tool that reads a resource link, where there is one. */
  readonly linkReader?: () => string | undefined
}

/** A projection that waits for the end of its own execution. */
interface Staged {
  readonly value: CanonicalResult
  readonly fallback: readonly ContentBlock[]
  readonly content: ContentBlock[]
}

/** The output contract of every tool without an output schema of its own; shared by all of them. */
const UNTYPED_OUTPUT: JsonSchemaNode = outputContract({ structuredContent: bare({}) })

/**
 * Build the definition of one catalog entry. Does no I/O.
 * @param parameters normalised input schema, as the model sees it
 * @param outputSchema normalised schema of structuredContent, in the registry's subset
 */
export function createDefinition(
  entry: CatalogEntry,
  parameters: JsonObject,
  outputSchema: JsonSchemaNode | undefined,
  context: DefinitionContext,
): ToolDefinition {
  const source: ResultSource = {
    toolName: entry.rawName,
    outputSchema,
    linkReader: () => context.linkReader?.(),
  }
  const staged = new WeakMap<object, Staged>()
  const maxTextBytes = context.spec.limits.resultTextBytes
  // What we say of a tool of our own is no claim of the server.
  const policy = policyOf(entry, context.spec.trustAnnotations || entry.run !== undefined)

  return {
    name: entry.publicName,
    description: entry.description,
    parameters,
    output: {
      schema: outputSchema === undefined ? UNTYPED_OUTPUT : typedOutput(outputSchema),
      render: (_args, value) =>
        plainContent(projectResult(value as CanonicalResult, source), source, maxTextBytes),
    },
    async execute(args, exec) {
      const value = await call({ entry, policy, outputSchema, args, signal: exec.signal, exec }, context)
      const stage = { exec, host: context.host, maxTextBytes }
      if (!mayBeStaged(value, stage)) return value
      const projection = projectResult(value, source)
      const content = await stageContent(projection, source, stage)
      if (content !== undefined) {
        staged.set(exec, { value, fallback: plainContent(projection, source, maxTextBytes), content })
      }
      return value
    },
    finalizeContent: (exec, result) => takeStaged(staged, exec, result),
    presentCall: (args) => presentCall(entry, policy.kind, args),
    ...(policy.isConcurrencySafe ? { isConcurrencySafe: () => true } : {}),
  }
}

/** One call; what went wrong is told to the operator too, without the tool's own failures. */
async function call(request: CallRequest, context: DefinitionContext): Promise<CanonicalResult> {
  try {
    return await callTool(request, context)
  } catch (error) {
    if (isMcpError(error) && error.code !== 'MCP_TOOL_FAILED' && error.code !== 'MCP_ABORTED') {
      const tool = cleanLine(request.entry.rawName, 128)
      context.log(
        // An outage is told once, where it begins, and bad arguments are the model's to mend: neither is news.
        error.code === 'MCP_NOT_CONNECTED' || error.code === 'MCP_REQUEST_REJECTED' ? 'debug' : 'warn',
        `call of "${tool}" failed (${error.code}): ${cleanLine(error.message, MAX_LOG_CHARS)}`,
      )
    }
    throw error
  }
}

/**
 * The staged content, once, and only where the outcome is still the tool's own: no error, the same value, the same
 * rendering. What a policy put in their place stays.
 */
function takeStaged(
  staged: WeakMap<object, Staged>,
  exec: Readonly<ToolExecution>,
  result: Readonly<ToolExecutionResult>,
): ContentBlock[] | undefined {
  const projection = staged.get(exec)
  staged.delete(exec)
  if (projection === undefined || result.isError) return undefined
  if (!jsonEqual(result.value, projection.value)) return undefined
  return jsonEqual(result.content, projection.fallback) ? projection.content : undefined
}

function typedOutput(outputSchema: JsonSchemaNode): JsonSchemaNode {
  return outputContract({ structuredContent: outputSchema, invalidStructuredContent: {} })
}

/** The host looks at every node of it for every tool; at one without a prototype it looks faster. */
function outputContract(structured: Record<string, JsonSchemaNode>): JsonSchemaNode {
  return bare({
    type: 'object',
    properties: bare({ content: bare<JsonSchemaNode>({ type: 'array' }), ...structured }),
    required: ['content'],
    additionalProperties: false,
  })
}

function bare<T extends object>(members: T): T {
  return Object.assign(Object.create(null), members) as T
}
