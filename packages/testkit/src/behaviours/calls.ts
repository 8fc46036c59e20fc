/**
 * Owns faults of tools/call and of JSON-RPC around it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { NO_ANSWER, numberOption, RpcError, text, tool } from '../behaviour.ts'
import type { Behaviour, BehaviourFactory, Options, Request } from '../behaviour.ts'

function era(options: Options): Pick<Behaviour, 'era'> {
  const value = options['era']
  return value === 'modern' || value === 'dual' ? { era: value } : {}
}

/** Token under which the caller wants to hear of progress. */
function progressToken({ message }: Request): unknown {
  const meta = message.params?.['_meta']
  return typeof meta === 'object' && meta !== null ? Reflect.get(meta, 'progressToken') : undefined
}

export const calls = {
  /** Never answers `hang`; `echo` works. Option: era. */
  'never-answers': (options) => ({
    ...era(options),
    tools: [tool('hang'), tool('echo')],
    calls: { hang: () => NO_ANSWER },
  }),

  /** Answers each call after `ms` (100). Option: era. */
  delayed: (options) => ({
    ...era(options),
    async callTool({ arguments: args }) {
      await delay(numberOption(options, 'ms', 100))
      return text(JSON.stringify(args))
    },
  }),

  /** `late` is answered after `ms` (300), when the caller has given up; `echo` at once. */
  late: (options) => ({
    tools: [tool('late'), tool('echo')],
    calls: {
      async late() {
        await delay(numberOption(options, 'ms', 300))
        return text('the late answer')
      },
    },
  }),

  /** Progress every `ms` (150), never an answer. */
  'progress-for-ever': (options) => ({
    ...era(options),
    tools: [tool('work')],
    callTool(_params, peer, request) {
      const token = progressToken(request)
      let progress = 0
      const timer = setInterval(
        () => {
          progress += 1
          peer.notify('notifications/progress', { progressToken: token ?? request.id, progress })
        },
        numberOption(options, 'ms', 150),
      )
      timer.unref()
      return NO_ANSWER
    },
  }),

  /** Two different responses to one id. */
  'answers-twice': () => ({
    callTool(_params, peer, { id }) {
      peer.reply(id, text('the first'))
      peer.reply(id, text('the second'))
      return NO_ANSWER
    },
  }),

  /** An answer that is none, by tool name: null-id, neither, odd-error. */
  'malformed-answers': () => ({
    tools: [tool('null-id'), tool('neither'), tool('odd-error')],
    calls: {
      'null-id'(_args, peer) {
        peer.fail(null, { code: -32700, message: 'Parse error' })
        return NO_ANSWER
      },
      neither(_args, peer, { id }) {
        peer.send({ jsonrpc: '2.0', id })
        return NO_ANSWER
      },
      'odd-error'(_args, peer, { id }) {
        peer.fail(id, { code: 'EOOPS' })
        return NO_ANSWER
      },
    },
  }),

  /** Asks the client for sampling, elicitation, roots and nonsense in mid-call; the result has its answers as JSON. */
  'asks-back': () => ({
    async callTool(_params, peer) {
      const answers = await Promise.all([
        peer.request('sampling/createMessage', { messages: [], maxTokens: 1 }),
        peer.request('elicitation/create', {
          message: 'Your password?',
          requestedSchema: { type: 'object', properties: {} },
        }),
        peer.request('roots/list'),
        peer.request('nonsense/please'),
      ])
      return text(JSON.stringify(answers.map(({ result, error }) => ({ result, error }))))
    },
  }),

  /** Refuses each call. Options: code (-32602), message. */
  'refuses-calls': (options) => ({
    ...era(options),
    callTool() {
      const message = typeof options['message'] === 'string' ? options['message'] : 'Bad argument: city'
      throw new RpcError(numberOption(options, 'code', -32602), message)
    },
  }),

  /** Initialize answered with a revision that does not exist. Option: version (1999-01-01). */
  'odd-version': (options) => ({
    initialize: () => ({
      protocolVersion: options['version'] ?? '1999-01-01',
      capabilities: { tools: {} },
      serverInfo: { name: 'odd', version: '1' },
    }),
  }),

  /** Initialize refused with an error. Option: message. */
  'refuses-initialize': (options) => ({
    initialize() {
      throw new RpcError(
        -32000,
        typeof options['message'] === 'string' ? options['message'] : 'License expired',
      )
    },
  }),
} satisfies Record<string, BehaviourFactory>
