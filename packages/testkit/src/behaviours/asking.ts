/**
 * Owns servers that ask their client for something in the middle of a call.
 */
import { numberOption, text, tool } from '../behaviour.ts'
import type { BehaviourFactory, Params } from '../behaviour.ts'

const FORM: Params = {
  message: 'Your name?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
}
const TAKEN_BACK = 'taken-back'

export const asking = {
  /**
   * A call asks for a form, and its result is the answer as JSON: with a request in the legacy era, with a result that
   * requires input in the modern. Options: era; gather (1): only the last of so many legacy calls asks, the others wait
   * for it.
   */
  'asks-a-form': (options) => {
    const wanted = numberOption(options, 'gather', 1)
    const asked = Promise.withResolvers<void>()
    let calls = 0
    return {
      era: options['era'] === 'modern' ? 'modern' : 'legacy',
      tools: [tool('ask')],
      async callTool(params, peer, { era }) {
        if (era === 'modern') {
          const { inputResponses, requestState } = params
          if (inputResponses !== undefined) return text(JSON.stringify({ inputResponses, requestState }))
          return {
            resultType: 'input_required',
            inputRequests: { form: { method: 'elicitation/create', params: FORM } },
            requestState: 'état 1',
          }
        }
        calls += 1
        if (calls < wanted) {
          await asked.promise
          return text('waited')
        }
        const { result, error } = await peer.request('elicitation/create', FORM)
        asked.resolve()
        return text(JSON.stringify(result ?? error))
      },
    }
  },

  /** `ask` asks for a form and answers at once; `take-back` says that the answer is not wanted any more. */
  'takes-back': () => ({
    tools: [tool('ask'), tool('take-back')],
    calls: {
      ask(_args, peer) {
        peer.send({ jsonrpc: '2.0', id: TAKEN_BACK, method: 'elicitation/create', params: FORM })
        return text('asked')
      },
      'take-back'(_args, peer) {
        peer.notify('notifications/cancelled', { requestId: TAKEN_BACK, reason: 'no longer needed' })
        return text('taken back')
      },
    },
  }),
} satisfies Record<string, BehaviourFactory>
