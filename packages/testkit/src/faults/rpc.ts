/**
 * Owns the rows of JSON-RPC: answers that are none, come twice, late or never.
 */
import assert from 'node:assert/strict'
import { NO_ANSWER, text, tool } from '../behaviour.ts'
import { initializeResult } from '../answer.ts'
import { failed, hasNoTools, hasTools, succeeded, told } from './checks.ts'
import { named } from './named.ts'
import { SHORT_CALL } from './row.ts'
import type { FaultRow } from './row.ts'

export const rpc: readonly FaultRow[] = [
  {
    id: 'answers-twice',
    title: 'two different responses to one id',
    right: 'the first counts, once',
    server: () => named('answers-twice'),
    async check(scene) {
      const outcome = await scene.call('echo')
      succeeded(outcome, /the first/)
      assert.doesNotMatch(outcome.text, /the second/)
      succeeded(await scene.call('echo'), /the first/)
    },
  },
  {
    id: 'null-id',
    title: 'error response with id null',
    right: 'settles with an error in time',
    server: () => named('malformed-answers'),
    config: SHORT_CALL,
    async check(scene) {
      failed(await scene.call('null-id'), /./)
    },
  },
  {
    id: 'neither',
    title: 'neither result nor error',
    right: 'settles with an error',
    server: () => named('malformed-answers'),
    config: SHORT_CALL,
    async check(scene) {
      failed(await scene.call('neither'), /./)
    },
  },
  {
    id: 'odd-error',
    title: 'error with a string code and no message',
    right: 'settles with an error',
    server: () => named('malformed-answers'),
    async check(scene) {
      failed(await scene.call('odd-error'), /./)
    },
  },
  {
    id: 'extra-members',
    title: 'unknown members beside the result, and an id given back as text',
    right: 'dropped or read; the answer counts or the call fails clearly in time',
    server: () => ({
      callTool(_params, peer, { id, era }) {
        const result = { ...text('the answer'), ...(era === 'modern' ? { resultType: 'complete' } : {}) }
        peer.send({ jsonrpc: '2.0', id, result, _meta: { odd: true }, extra: 1 })
        return NO_ANSWER
      },
    }),
    async check(scene) {
      succeeded(await scene.call('echo'), /the answer/)
    },
  },
  {
    id: 'late',
    title: 'the answer comes after the timeout, during the next call',
    right: 'dropped; the next call is right',
    server: () => named('late', { ms: 2_400 }),
    config: SHORT_CALL,
    async check(scene) {
      failed(await scene.call('late'), /2000 ms/)
      const next = await Promise.all(
        Array.from({ length: 3 }, (_, index) => scene.call('echo', { message: `next ${index}` })),
      )
      next.forEach((outcome, index) => succeeded(outcome, new RegExp(`next ${index}`)))
      const second = await scene.call('late')
      failed(second, /2000 ms/)
    },
  },
  {
    id: 'asks-back',
    title: 'sampling, elicitation, roots and an unknown request from the server in mid-call',
    right: 'each undeclared one refused with an error, none answered with data; the call completes',
    eras: ['legacy'],
    server: () => named('asks-back'),
    config: { toolCallTimeoutMs: 5_000 },
    async check(scene) {
      const { isError, text: shown } = await scene.call('echo')
      assert.ok(!isError, shown)
      const answers = JSON.parse(shown) as { result?: unknown; error?: unknown }[]
      assert.equal(answers.length, 4)
      for (const { result, error } of answers) {
        assert.equal(result, undefined)
        assert.ok(error !== undefined)
      }
    },
  },
  {
    id: 'progress-for-ever',
    title: 'progress every 150 ms, never an answer',
    right: 'a hard ceiling ends it whatever the progress says',
    server: () => named('progress-for-ever'),
    config: { toolCallTimeoutMs: 1_500, toolCallMaxMs: 4_000 },
    async check(scene) {
      const outcome = await scene.call('work')
      failed(outcome, /was not done after 4000 ms/)
      assert.ok(outcome.ms > 3_000, `progress did not reset the silence limit: ${outcome.ms} ms`)
    },
  },
  {
    id: 'cancels-our-call',
    title: 'the server sends notifications/cancelled for our call, then answers',
    right: 'no crash; settles',
    server: () => ({
      callTool(_params, peer, { id }) {
        peer.notify('notifications/cancelled', { requestId: id, reason: 'why not' })
        return text('answered all the same')
      },
    }),
    config: SHORT_CALL,
    async check(scene) {
      assert.ok((await scene.call('echo')).ms < 5_000)
    },
  },
  {
    id: 'odd-version',
    title: 'initialize answered with protocol version 1999-01-01',
    right: 'disconnects; the error names the version',
    eras: ['legacy'],
    server: () => named('odd-version'),
    config: { reconnect: { enabled: false } },
    async check(scene) {
      hasNoTools(scene)
      told(scene, /1999-01-01/)
    },
  },
  {
    id: 'refuses-initialize',
    title: 'initialize answered with an error',
    right: 'the message of the server is shown',
    eras: ['legacy'],
    server: () => named('refuses-initialize', { message: 'License \u001b[31mexpired\r\nERROR forged line' }),
    config: { reconnect: { enabled: false } },
    async check(scene) {
      hasNoTools(scene)
      told(scene, /License .*expired/)
    },
  },
  {
    id: 'initialize-twice',
    title: 'initialize answered twice',
    right: 'one connection, one list',
    eras: ['legacy'],
    server: () => ({
      initialize(params, peer, { id }) {
        peer.reply(id, initializeResult({}, params))
        return initializeResult({}, params)
      },
    }),
    async check(scene) {
      hasTools(scene, ['echo'])
      const lists = (await scene.received()).filter(({ method }) => method === 'tools/list')
      assert.equal(lists.length, 1)
      succeeded(await scene.call('echo', { message: 'one' }), /one/)
    },
  },
  {
    id: 'many-calls',
    title: '300 concurrent calls, each answered after 100 ms',
    right: 'all answered, none crossed',
    server: () => named('delayed', { ms: 100 }),
    config: { toolCallTimeoutMs: 20_000, limits: { concurrency: 300 } },
    async check(scene) {
      const outcomes = await Promise.all(
        Array.from({ length: 300 }, (_, index) => scene.call('echo', { message: `number ${index}.` })),
      )
      outcomes.forEach((outcome, index) => succeeded(outcome, new RegExp(`number ${index}\\.`)))
    },
  },
  {
    id: 'refuses-call',
    title: 'JSON-RPC -32602 on call, with ANSI and line breaks in its message',
    right: 'the message of the server reaches the model, cleaned',
    server: () => named('refuses-calls', { message: 'Bad argument: \u001b[31mcity\u001b[0m' }),
    async check(scene) {
      const outcome = await scene.call('echo')
      failed(outcome, /Bad argument: /)
      assert.ok(!outcome.text.includes('\u001b'), 'raw ANSI in a failure')
    },
  },
  {
    id: 'batch',
    title: 'the reply comes inside a JSON-RPC batch array',
    right: 'not in this protocol: settles, never a crash',
    server: () => named('batch'),
    config: SHORT_CALL,
    async check(scene) {
      assert.ok((await scene.call('echo')).ms < 5_000)
      assert.ok((await scene.call('echo')).ms < 5_000)
    },
  },
  {
    id: 'error-after-result-type',
    title: 'the result of a call is a string, a number, null',
    right: 'settles with an error; the connection stays usable',
    server: () => ({
      tools: [tool('string'), tool('number'), tool('null'), tool('echo')],
      callTool({ name }, peer, { id }) {
        const results: Record<string, unknown> = { string: 'yes', number: 7, null: null }
        if (!(String(name) in results)) return text('fine')
        peer.send({ jsonrpc: '2.0', id, result: results[String(name)] })
        return NO_ANSWER
      },
    }),
    async check(scene) {
      for (const name of ['string', 'number', 'null']) failed(await scene.call(name), /./)
      succeeded(await scene.call('echo'), /fine/)
    },
  },
]
