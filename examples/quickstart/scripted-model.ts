/**
 * A model that follows a script, so that the example needs no key: each request takes the next step and answers with a
 * text or with a tool call. A plugin row like any other model adapter.
 */
import type { Context } from '@deepseek-ai/cordis'
import { CallId, LlmAdapter } from '@deepseek-ai/dsh-llm'
import type { GenerateOptions, StreamChunk } from '@deepseek-ai/dsh-llm'

export type Step =
  { readonly text: string } | { readonly call: { readonly name: string; readonly args: Record<string, unknown> } }

/** Steps still to play, and what the model was asked so far. */
export const script: Step[] = []
export const requests: GenerateOptions[] = []

export const name = 'scripted-model'
export const inject = ['llm']

class ScriptedModel extends LlmAdapter {
  override resolveModel(provider: string, model: string) {
    return Promise.resolve({ provider, id: model, name: model, inputModalities: ['text', 'image'] as const })
  }

  override async *stream(options: GenerateOptions): AsyncIterable<StreamChunk> {
    requests.push(options)
    const step = script.shift() ?? { text: 'done' }
    if ('call' in step) {
      const id = CallId(`call-${requests.length}`)
      const args = JSON.stringify(step.call.args)
      yield { type: 'block-start', index: 0, blockType: 'tool-call' }
      yield { type: 'tool-call-delta', index: 0, id, name: step.call.name, argumentsDelta: args }
      yield { type: 'block-end', index: 0, block: { type: 'tool-call', id, name: step.call.name, arguments: args } }
    } else {
      yield { type: 'block-start', index: 0, blockType: 'text' }
      yield { type: 'text-delta', index: 0, text: step.text }
      yield { type: 'block-end', index: 0, block: { type: 'text', text: step.text } }
    }
    yield { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }
    yield { type: 'finish', reason: { kind: 'call' in step ? 'tool-calls' : 'stop' } }
  }
}

export async function apply(ctx: Context): Promise<void> {
  ctx.llm.registerAdapter(['scripted'], new ScriptedModel())
}
