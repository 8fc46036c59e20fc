/**
 * Owns the small real host of the execution tests: a cordis context with the real tool registry, model runtime,
 * attachment store and spill store. Only the model adapter, the agent and the MCP session are made up here.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { LocalAttachmentStore } from '@deepseek-ai/dsh-attachment-local'
import type { ImageAttachmentLimits } from '@deepseek-ai/dsh-attachment'
import type { ContentBlock, GenerateOptions, LlmResolvedModelInfo, StreamChunk } from '@deepseek-ai/dsh-llm'
import { CallId, LlmAdapter, LlmRuntime } from '@deepseek-ai/dsh-llm'
import { LocalSpillStore } from '@deepseek-ai/dsh-spill-local'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { ToolRuntime } from '@deepseek-ai/dsh-tools'
import type { ToolDefinition, ToolExecutionInput, ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { createGate } from '../../src/execution/gate.ts'
import type { DefinitionContext } from '../../src/execution/definition.ts'
import type { SpillStore } from '../../src/projection/host.ts'
import type { CallOptions, CatalogEntry, JsonObject, ServerSpec, Session, WireTool } from '../../src/types.ts'

export type Agent = NonNullable<ToolExecutionInput['agent']>
type Answer = (tool: WireTool, args: JsonObject, options: CallOptions) => Promise<JsonObject> | JsonObject

/** Route `test`; the model id says what it reads. */
class Models extends LlmAdapter {
  lookups: (AbortSignal | undefined)[] = []

  override async resolveModel(
    provider: string,
    model: string,
    signal?: AbortSignal,
  ): Promise<LlmResolvedModelInfo> {
    this.lookups.push(signal)
    if (model === 'broken') throw new Error('no such model')
    if (model === 'silent')
      await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
    const modalities = { vision: ['text', 'image'], text: ['text'] }[
      model
    ] as LlmResolvedModelInfo['inputModalities']
    return {
      provider,
      id: model,
      name: model,
      ...(modalities === undefined ? {} : { inputModalities: modalities }),
    }
  }

  // oxlint-disable-next-line require-yield -- no test streams
  override async *stream(_options: GenerateOptions): AsyncIterable<StreamChunk> {
    throw new Error('no model here')
  }
}

export interface RegistryHost {
  readonly ctx: Context
  readonly models: Models
  /** What the plugin told the operator. */
  readonly logs: string[]
  readonly calls: { tool: WireTool; args: JsonObject }[]
  readonly context: DefinitionContext
  /** Answer of the session to the next calls. */
  answer(answer: Answer): void
  register(definition: ToolDefinition): () => void
  execute(
    name: string,
    input?: { args?: unknown; agent?: Agent | undefined; signal?: AbortSignal },
  ): Promise<ToolExecutionResult>
  close(): Promise<void>
}

export interface HostOptions {
  /** The store with its default limits, or with others. */
  readonly attachments?: boolean | Partial<Omit<ImageAttachmentLimits, 'mediaTypes'>>
  readonly llm?: boolean
  readonly spill?: boolean
  readonly spec?: Partial<ServerSpec>
}

export async function openRegistryHost(options: HostOptions = {}): Promise<RegistryHost> {
  const home = await mkdtemp(join(tmpdir(), 'mcp-execution-'))
  const ctx = new Context()
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRuntime)
  const models = new Models()
  if (options.llm !== false) {
    await ctx.plugin(LlmRuntime)
    await ctx.plugin({
      name: 'models',
      inject: ['llm'],
      apply: (child: Context) => void child.llm.registerAdapter(['test'], models),
    })
  }
  if (options.attachments !== false) {
    const limits = typeof options.attachments === 'object' ? options.attachments : {}
    await ctx.plugin(LocalAttachmentStore, { dshHome: home, ...limits } as never)
  }
  if (options.spill === true) await ctx.plugin(LocalSpillStore, { root: join(home, 'spill') })

  const logs: string[] = []
  const calls: RegistryHost['calls'] = []
  let answer: Answer = () => ({ content: [] })
  const session = makeSession((tool, args, callOptions) => {
    calls.push({ tool, args })
    return answer(tool, args, callOptions)
  })
  const spec = makeSpec(options.spec)
  const context: DefinitionContext = {
    spec,
    session: () => session,
    reason: () => 'reconnecting, next attempt in 500 ms',
    onUnknownTool: () => logs.push('re-list'),
    sessionAgain: () => Promise.resolve(undefined),
    log: (level, text) => logs.push(`${level}: ${text}`),
    gate: createGate(spec.limits.concurrency),
    host: {
      attachments: () => ctx.get('attachments'),
      llm: () => ctx.get('llm'),
      spillStore: () => ctx.get('spillStore') as SpillStore | undefined,
      log: (level, text) => logs.push(`${level}: ${text}`),
    },
  }
  return {
    ctx,
    models,
    logs,
    calls,
    context,
    answer: (next) => void (answer = next),
    register: (definition) => ctx.tools.register(definition),
    execute: (name, { args = {}, agent, signal = new AbortController().signal } = {}) =>
      ctx.tools.execute({
        callId: CallId('call-1'),
        name,
        arguments: args,
        signal,
        ...(agent ? { agent } : {}),
      }),
    async close() {
      await ctx.fiber.dispose()
      await rm(home, { recursive: true, force: true })
    },
  }
}

export function makeSession(callTool: Answer, diagnostics: ReturnType<Session['diagnostics']> = {}): Session {
  return {
    generation: 1,
    facts: { era: 'legacy', revision: '2025-11-25', capabilities: {} },
    listTools: () => Promise.reject(new Error('not here')),
    callTool: async (tool, args, options) => callTool(tool, args, options),
    diagnostics: () => diagnostics,
    request: () => Promise.reject(new Error('not here')),
    watchResources: () => Promise.resolve(false),
    rootsChanged: () => Promise.resolve(),
    hearsChanges: () => true,
    close: () => Promise.resolve(),
  }
}

export function makeSpec(over: Partial<ServerSpec> = {}): ServerSpec {
  return {
    serverName: 'demo',
    target: { kind: 'stdio', command: 'none', args: [], env: {}, inheritEnv: [] },
    protocol: 'auto',
    toolCallTimeoutMs: 60_000,
    toolCallMaxMs: 1_800_000,
    startup: { waitMs: 1, timeoutMs: 1, mode: 'eager' },
    failOnStartupError: false,
    trustAnnotations: false,
    reconnect: { enabled: true, initialDelayMs: 1, maxDelayMs: 1, maxAttempts: 1 },
    tools: {
      duplicates: 'reject',
      allow: ['*'],
      deny: [],
      exposure: 'auto',
      budgetBytes: 131_072,
      alwaysDirect: [],
      approval: 'never',
    },
    pin: 'off',
    resources: true,
    prompts: true,
    instructions: true,
    elicitation: true,
    roots: 'auto',
    logLevel: 'warning',
    sampling: { mode: 'off', maxTokens: 4096, maxRequests: 10 },
    limits: {
      resultTextBytes: 102_400,
      messageBytes: 1_000_000,
      tools: 1,
      pages: 1,
      stderrBytes: 1,
      concurrency: 16,
    },
    redact: (text) => text.replaceAll('s3cret', '***'),
    learn: () => undefined,
    ...over,
  }
}

export function makeEntry(over: Partial<CatalogEntry> = {}): CatalogEntry {
  return {
    rawName: 'get.thing',
    publicName: 'mcp__demo__get_thing_0123456789ab',
    description: 'Get a thing',
    inputSchema: { type: 'object' },
    annotations: {},
    taskRequired: false,
    digest: '1',
    ...over,
  }
}

/** An agent as far as a call looks at one. */
export function makeAgent(model: string, header?: { provider: string; model: string }): Agent {
  return {
    options: { provider: 'test', model },
    session: {
      header: { id: 'session-1' },
      requestHeader: () => (header === undefined ? undefined : { config: header }),
    },
  } as unknown as Agent
}

/** All text of a result. */
export function textOf(result: { readonly content: readonly ContentBlock[] }): string {
  return result.content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
}
