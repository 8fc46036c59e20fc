/**
 * Owns the rows of revision 2026-07-28 itself.
 */
import assert from 'node:assert/strict'
import { NO_ANSWER, RpcError, text, tool } from '../behaviour.ts'
import { discoverResult, listPage } from '../answer.ts'
import { failed, hasTools, succeeded, told, untilTool } from './checks.ts'
import { named } from './named.ts'
import type { FaultRow } from './row.ts'

const MODERN = ['modern'] as const
const HTTP = ['http'] as const

export const modern: readonly FaultRow[] = [
  {
    id: 'input-required',
    title: 'a call answers input_required although no capability was declared',
    right: 'clear error; nothing invented; no endless rounds',
    eras: MODERN,
    server: () => ({
      callTool: () => ({
        resultType: 'input_required',
        inputRequests: {
          a: {
            method: 'elicitation/create',
            params: { message: 'Password?', requestedSchema: { type: 'object', properties: {} } },
          },
        },
        requestState: 'state',
      }),
    }),
    config: { toolCallTimeoutMs: 5_000 },
    async check(scene) {
      failed(await scene.call('echo'), /./)
      const calls = (await scene.received()).filter(({ method }) => method === 'tools/call')
      assert.ok(calls.length <= 12, `${calls.length} rounds`)
      assert.ok(
        calls.every(({ params }) => params?.['inputResponses'] === undefined),
        'an answer was invented',
      )
    },
  },
  {
    id: 'input-required-for-ever',
    title: 'a call answers input_required with nothing but a state, for ever',
    right: 'no endless rounds',
    eras: MODERN,
    server: () => ({ callTool: () => ({ resultType: 'input_required', requestState: 'again' }) }),
    config: { toolCallTimeoutMs: 8_000 },
    async check(scene) {
      failed(await scene.call('echo'), /./)
      const calls = (await scene.received()).filter(({ method }) => method === 'tools/call')
      assert.ok(calls.length <= 12, `${calls.length} rounds`)
    },
  },
  {
    id: 'unknown-result-type',
    title: 'resultType is of no kind that is known',
    right: 'treated as invalid',
    eras: MODERN,
    server: () => ({ callTool: () => ({ resultType: 'hologram', ...text('not for you') }) }),
    async check(scene) {
      failed(await scene.call('echo'), /./)
    },
  },
  {
    id: 'no-result-type',
    title: 'resultType absent',
    right: 'taken as complete',
    eras: MODERN,
    server: () => ({
      callTool(_params, peer, { id }) {
        peer.reply(id, text('complete'))
        return NO_ANSWER
      },
      listTools(params, peer, { id }) {
        peer.reply(id, listPage({}, params))
        return NO_ANSWER
      },
      discover(_params, peer, { id }) {
        peer.reply(id, discoverResult({}))
        return NO_ANSWER
      },
    }),
    async check(scene) {
      hasTools(scene, ['echo'])
      succeeded(await scene.call('echo'), /complete/)
    },
  },
  {
    id: 'listen-refused',
    title: 'subscriptions/listen refused',
    right: 'ready all the same; not asked in a loop',
    eras: MODERN,
    server: () => ({
      methods: {
        'subscriptions/listen'() {
          throw new RpcError(-32601, 'Method not found')
        },
      },
    }),
    async check(scene) {
      succeeded(await scene.call('echo', { message: 'ready' }), /ready/)
      const at = performance.now()
      await scene.until(() => performance.now() - at > 1_000)
      const asked = (await scene.received()).filter(({ method }) => method === 'subscriptions/listen')
      assert.ok(asked.length <= 3, `asked ${asked.length} times`)
    },
  },
  {
    id: 'listen-silent',
    title: 'subscriptions/listen is never acknowledged',
    right: 'ready all the same; disposal settles',
    eras: MODERN,
    server: () => ({ methods: { 'subscriptions/listen': () => NO_ANSWER } }),
    async check(scene) {
      succeeded(await scene.call('echo', { message: 'ready' }), /ready/)
    },
  },
  {
    id: 'listen-ends',
    title: 'the listen stream ends once; the list changes meanwhile and is said only on a new stream',
    right: 'listens again, with a fresh list',
    eras: MODERN,
    server: () => {
      let names = ['old']
      return {
        tools: () => names.map((name) => tool(name)),
        calls: {
          old(_args, peer) {
            names = ['new']
            peer.endSubscriptions()
            return text('ended')
          },
        },
      }
    },
    async check(scene) {
      await scene.until(async () =>
        (await scene.received()).some(({ method }) => method === 'subscriptions/listen'),
      )
      succeeded(await scene.call('old'), /ended/)
      await untilTool(scene, 'new')
      hasTools(scene, ['new'])
      await scene.until(
        async () =>
          (await scene.received()).filter(({ method }) => method === 'subscriptions/listen').length >= 2,
      )
    },
  },
  {
    id: 'listen-hot-loop',
    title: 'the listen stream ends as soon as it is acknowledged, for ever',
    right: 'opened again with back-off, not in a hot loop',
    eras: MODERN,
    server: () => ({
      onMessage({ method }, peer) {
        if (method === 'subscriptions/listen') setTimeout(() => peer.endSubscriptions(), 1)
        return false
      },
    }),
    async check(scene) {
      const at = performance.now()
      await scene.until(() => performance.now() - at > 2_000)
      const asked = (await scene.received()).filter(({ method }) => method === 'subscriptions/listen')
      assert.ok(asked.length <= 10, `asked ${asked.length} times in 2 s`)
    },
  },
  {
    id: 'bad-mirror-headers',
    title: 'tools with invalid x-mcp-header (CR LF, twice the same, on an object, empty)',
    right: 'exactly the bad ones left out, with a warning',
    transports: HTTP,
    eras: MODERN,
    server: () => {
      const mirrored = (name: string, properties: Record<string, unknown>) =>
        tool(name, { inputSchema: { type: 'object', properties } })
      return {
        tools: [
          mirrored('crlf', { a: { type: 'string', 'x-mcp-header': 'A\r\nEvil: 1' } }),
          mirrored('twice', {
            a: { type: 'string', 'x-mcp-header': 'Same' },
            b: { type: 'string', 'x-mcp-header': 'same' },
          }),
          mirrored('on-object', { a: { type: 'object', 'x-mcp-header': 'Obj' } }),
          mirrored('empty', { a: { type: 'string', 'x-mcp-header': '' } }),
          mirrored('fine', { a: { type: 'string', 'x-mcp-header': 'Region' } }),
          tool('plain'),
        ],
        callTool: () => text('ran'),
      }
    },
    async check(scene) {
      hasTools(scene, ['fine', 'plain'])
      for (const name of ['crlf', 'twice', 'on-object', 'empty'])
        told(scene, new RegExp(`"${name}" is left out`))
      succeeded(await scene.call('fine', { a: 'grün\r\n' }), /ran/)
      const call = scene.http().requests.find(({ message }) => message?.method === 'tools/call')
      assert.match(String(call?.headers['mcp-param-region']), /^=\?base64\?/)
    },
  },
  {
    id: 'header-mismatch',
    title: 'a call refused once with -32020 after the schema gained an x-mcp-header',
    right: 'the list is read again; the next call at the latest works',
    transports: HTTP,
    eras: MODERN,
    server: () => {
      let refusals = 0
      return {
        tools: () => [
          tool('echo', {
            inputSchema: {
              type: 'object',
              properties: { a: { type: 'string', ...(refusals > 0 ? { 'x-mcp-header': 'Region' } : {}) } },
            },
          }),
        ],
        callTool() {
          refusals += 1
          if (refusals === 1) throw new RpcError(-32020, 'Header mismatch: Mcp-Param-Region is missing')
          return text('ran')
        },
      }
    },
    async check(scene) {
      const first = await scene.call('echo', { a: 'north' })
      if (first.isError) {
        assert.match(first.text, /Header mismatch/)
        await scene.until(
          async () => (await scene.received()).filter(({ method }) => method === 'tools/list').length >= 2,
        )
        succeeded(await scene.call('echo', { a: 'north' }), /ran/)
      }
    },
  },
  ...[-5, 1e308, 'x'].map((ttlMs): FaultRow => ({
    id: `ttl-${String(ttlMs)}`,
    title: `ttlMs ${JSON.stringify(ttlMs)}; cacheScope nonsense`,
    right: 'tools usable; a change is still heard of',
    eras: MODERN,
    server: () => {
      let names = ['set', 'start']
      return {
        listTools: () => ({ tools: names.map((name) => tool(name)), ttlMs, cacheScope: 'galaxy' }),
        discover: () => ({ ...discoverResult({}), ttlMs, cacheScope: 7 }),
        calls: {
          set(_args, peer) {
            names = ['set', 'later']
            peer.listChanged()
            return text('set')
          },
        },
      }
    },
    async check(scene) {
      hasTools(scene, ['set', 'start'])
      await scene.until(async () =>
        (await scene.received()).some(({ method }) => method === 'subscriptions/listen'),
      )
      await scene.call('set')
      await untilTool(scene, 'later')
    },
  })),
  {
    id: 'structured-any',
    title: 'structuredContent is an array, a string, a number, null',
    right: 'all legal in this era',
    eras: MODERN,
    server: () => ({
      tools: ['array', 'string', 'number', 'null'].map((name) => tool(name)),
      callTool: ({ name }) => {
        const values: Record<string, unknown> = { array: [1, 2], string: 'plain', number: 7, null: null }
        return text('said', { structuredContent: values[String(name)] })
      },
    }),
    async check(scene) {
      for (const name of ['array', 'string', 'number', 'null']) succeeded(await scene.call(name), /said/)
    },
  },
  {
    id: 'stops-speaking',
    title: 'in mid-session the server stops speaking the version: 400 and -32022',
    right: 'clear error that names the version',
    eras: MODERN,
    server: () => ({
      callTool() {
        throw new RpcError(-32022, 'Unsupported protocol version', {
          supported: ['2031-01-01'],
          requested: '2026-07-28',
        })
      },
    }),
    async check(scene) {
      failed(await scene.call('echo'), /2031-01-01/)
    },
  },
  {
    id: 'subscription-storm',
    title: '20 000 list_changed on the subscription',
    right: 'coalesced',
    eras: MODERN,
    server: () => named('list-storm', { count: 20_000 }),
    config: { toolCallTimeoutMs: 20_000 },
    async check(scene) {
      succeeded(await scene.call('storm'), /said 20000 times/)
      await untilTool(scene, 'final')
      const lists = (await scene.received()).filter(({ method }) => method === 'tools/list').length
      assert.ok(lists <= 12, `${lists} lists for one storm`)
    },
  },
]
