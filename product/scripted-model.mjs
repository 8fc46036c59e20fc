/**
 * Owns a model without a key: it answers with the steps of PRODUCT_SCRIPT, a JSON list of { text } and
 * { call: { name, args } }, and appends each request it gets to PRODUCT_REQUESTS, one JSON line a request.
 */
import { appendFileSync } from 'node:fs'
import { CallId, LlmAdapter } from '@deepseek-ai/dsh-llm'

export const name = 'scripted-model'
export const inject = ['llm']

const steps = JSON.parse(process.env.PRODUCT_SCRIPT)
let answered = 0

/** The block of one step, the delta that streams it, and why the message ends after it. */
function partsOf(step) {
  if (step.call === undefined) {
    const { text } = step
    return { block: { type: 'text', text }, delta: { type: 'text-delta', text }, reason: 'stop' }
  }
  const id = CallId(`call-${answered}`)
  const tool = step.call.name
  const json = JSON.stringify(step.call.args)
  return {
    block: { type: 'tool-call', id, name: tool, arguments: json },
    delta: { type: 'tool-call-delta', id, name: tool, argumentsDelta: json },
    reason: 'tool-calls',
  }
}

class ScriptedModel extends LlmAdapter {
  async resolveModel(provider, model) {
    return { provider, id: model, name: model, inputModalities: ['text'] }
  }

  async *stream({ messages, tools }) {
    appendFileSync(process.env.PRODUCT_REQUESTS, `${JSON.stringify({ messages, tools })}\n`)
    const { block, delta, reason } = partsOf(steps[answered] ?? { text: 'the script is at its end' })
    answered += 1
    yield { type: 'block-start', index: 0, blockType: block.type }
    yield { ...delta, index: 0 }
    yield { type: 'block-end', index: 0, block }
    yield { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }
    yield { type: 'finish', reason: { kind: reason } }
  }
}

export async function apply(ctx) {
  ctx.llm.registerAdapter(['scripted'], new ScriptedModel())
}
