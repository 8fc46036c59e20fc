/**
 * Owns a model that follows a script, so that the example needs no key: each request takes the next step and answers
 * with a text or a tool call. A plugin row like any other model adapter; it sees images, and its route is `scripted`.
 */
import type { Context } from '@deepseek-ai/cordis'
import { CallId, LlmAdapter } from '@deepseek-ai/dsh-llm'
import type { GenerateOptions, StreamChunk } from '@deepseek-ai/dsh-llm'

export type Step =
  | { readonly text: string }
  | { readonly call: { readonly name: string; readonly args: Readonly<Record<string, unknown>> } }

/** Steps still to play. */
export const script: Step[] = []
/** What the model was asked, in order. */
export const requests: GenerateOptions[] = []

export const name = 'scripted-model'
export const inject = ['llm']

class ScriptedModel extends LlmAdapter {
  override resolveModel(provider: string, model: string) {
    return Promise.resolve({ provider, id: model, name: model, inputModalities: ['text', 'image'] as const })
  }

  override async *stream(options: GenerateOptions): AsyncIterable<StreamChunk> {
    requests.push(options)
    const step = script.shift() ?? { text: 'The script is over.' }
    yield* 'call' in step ? callChunks(step.call, `call-${requests.length}`) : textChunks(step.text)
    yield { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }
    yield { type: 'finish', reason: { kind: 'call' in step ? 'tool-calls' : 'stop' } }
  }
}

function* textChunks(text: string): Iterable<StreamChunk> {
  yield { type: 'block-start', index: 0, blockType: 'text' }
  yield { type: 'text-delta', index: 0, text }
  yield { type: 'block-end', index: 0, block: { type: 'text', text } }
}

function* callChunks(call: { name: string; args: object }, callId: string): Iterable<StreamChunk> {
  const id = CallId(callId)
  const args = JSON.stringify(call.args)
  yield { type: 'block-start', index: 0, blockType: 'tool-call' }
  yield { type: 'tool-call-delta', index: 0, id, name: call.name, argumentsDelta: args }
  yield { type: 'block-end', index: 0, block: { type: 'tool-call', id, name: call.name, arguments: args } }
}

export async function apply(ctx: Context): Promise<void> {
  ctx.llm.registerAdapter(['scripted'], new ScriptedModel())
}
