/**
 * Owns the scripted model: a plugin row that answers each request with the next step of its host's script. Route
 * `scripted`, models `vision` (text and image) and `text`.
 */
import type { Context } from '@deepseek-ai/cordis'
import { CallId, LlmAdapter } from '@deepseek-ai/dsh-llm'
import type { ContentBlock, GenerateOptions, StreamChunk } from '@deepseek-ai/dsh-llm'

export interface ModelCall {
  readonly name: string
  readonly args: unknown
}

export type Step =
  { readonly text: string } | { readonly call: ModelCall } | { readonly calls: readonly ModelCall[] }

/** A step, or how to choose it when the request is there. */
export type ScriptStep = Step | ((request: GenerateOptions) => Step)

/** The script of one host, and what its model was asked. */
export interface Script {
  /** Steps still to play; an empty list plays `{ text: 'done' }`. */
  steps: ScriptStep[]
  readonly requests: GenerateOptions[]
}

/** Name of the service under which the host carries its script. */
export const SCRIPT_SERVICE = 'testkitScript'

class ScriptedModel extends LlmAdapter {
  private readonly script: Script
  private calls = 0

  constructor(script: Script) {
    super()
    this.script = script
  }

  override resolveModel(provider: string, model: string) {
    const inputModalities: ('text' | 'image')[] = model === 'vision' ? ['text', 'image'] : ['text']
    return Promise.resolve({ provider, id: model, name: model, inputModalities })
  }

  override async *stream(options: GenerateOptions): AsyncIterable<StreamChunk> {
    this.script.requests.push(options)
    const next = this.script.steps.shift() ?? { text: 'done' }
    const step = typeof next === 'function' ? next(options) : next
    const blocks = blocksOf(step, () => CallId(`call-${++this.calls}`))
    for (const [index, block] of blocks.entries()) {
      yield { type: 'block-start', index, blockType: block.type }
      yield block.type === 'tool-call'
        ? { type: 'tool-call-delta', index, id: block.id, name: block.name, argumentsDelta: block.arguments }
        : { type: 'text-delta', index, text: block.text }
      yield { type: 'block-end', index, block }
    }
    yield { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }
    yield { type: 'finish', reason: { kind: 'text' in step ? 'stop' : 'tool-calls' } }
  }
}

type Block = Extract<ContentBlock, { type: 'text' | 'tool-call' }>

function blocksOf(step: Step, nextId: () => CallId): Block[] {
  if ('text' in step) return [{ type: 'text', text: step.text }]
  const calls = 'calls' in step ? step.calls : [step.call]
  return calls.map(({ name, args }) => ({
    type: 'tool-call',
    id: nextId(),
    name,
    arguments: JSON.stringify(args),
  }))
}

export const name = 'scripted-model'
export const inject = ['llm']

export async function apply(ctx: Context): Promise<void> {
  const script: unknown = ctx.get(SCRIPT_SERVICE)
  ctx.llm.registerAdapter(['scripted'], new ScriptedModel(script as Script))
}
