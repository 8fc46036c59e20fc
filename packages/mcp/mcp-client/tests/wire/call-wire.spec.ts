/**
 * Owns the tests of calls as the server sees them: cancelled and timed out on its side, answered out of order, answered
 * after a re-sync; and of policies that have the last word over what came from a wire.
 */
import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import type { PostToolDecision } from '@deepseek-ai/dsh-tools'
import {
  NO_ANSWER,
  httpRow,
  received,
  startHttpServer,
  stdioRow,
  stdioServer,
  text,
  tool,
  waitFor,
} from '@dsh-mcp/testkit'
import type { Behaviour, HttpServer, Params, StdioServer } from '@dsh-mcp/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { makeAgent, textOf } from '../composition/registry-host.ts'
import type { HostOptions } from '../composition/registry-host.ts'
import { SAMPLES } from '../unit/image-samples.ts'
import { behaviour as batch } from './fixtures/batch.ts'
import { openWireHost } from './wire-host.ts'
import type { WireHost } from './wire-host.ts'

const BATCH = fileURLToPath(new URL('fixtures/batch.ts', import.meta.url))
const ERAS = ['legacy', 'modern'] as const
/** The product has 100 ms; a machine under tests is slower. */
const SOON_MS = 1_000

let host: WireHost
let end: (() => unknown) | undefined
afterEach(async () => {
  await host.close()
  await end?.()
  end = undefined
})

async function serve(
  behaviour: Behaviour,
  config: object = {},
  options: HostOptions = {},
): Promise<HttpServer> {
  const server = await startHttpServer(behaviour, { reply: 'sse' })
  end = () => server.close()
  host = await openWireHost(httpRow('kit', server.url, { ...config }), options)
  return server
}

async function spawn(name: string, era: string, config: object = {}, options: object = {}) {
  const server: StdioServer = stdioServer(name, { era, ...options })
  host = await openWireHost(stdioRow('kit', server, { ...config }))
  return server
}

/** What ends a call early: the code of its error, and how it is run. */
const ENDINGS = [
  [
    'cancelled by the caller',
    'MCP_ABORTED',
    {},
    async (begun: () => Promise<unknown>) => {
      const controller = new AbortController()
      const call = host.call('hang', { signal: controller.signal })
      await begun()
      controller.abort()
      return { call, endedAt: Date.now() }
    },
  ],
  [
    'out of time',
    'MCP_CALL_TIMEOUT',
    { toolCallTimeoutMs: 300 },
    async (begun: () => Promise<unknown>) => {
      const call = host.call('hang')
      await begun()
      return { call, endedAt: Date.now() + 300 }
    },
  ],
] as const

describe.each(ENDINGS)('a call that is %s', (_what, code, config, run) => {
  it.each(ERAS)('is cancelled at a stdio server by its id (%s)', async (era) => {
    const server = await spawn('never-answers', era, config)
    const { call, endedAt } = await run(() => waitFor(server.journal, received('tools/call')))
    expect(await call).toMatchObject({ isError: true, error: { info: { code } } })
    const sent = await waitFor(server.journal, received('tools/call'))
    const cancelled = await waitFor(server.journal, received('notifications/cancelled'))
    expect(cancelled.message?.params?.['requestId']).toBe(sent.message?.id)
    expect(cancelled.at - endedAt).toBeLessThan(SOON_MS)
    expect(textOf(await host.call('echo', { args: { message: 'still here' } }))).toBe('still here')
    expect((await server.journal()).filter(received('notifications/cancelled'))).toHaveLength(1)
  })

  it.each(ERAS)('is cancelled at an HTTP server (%s)', async (era) => {
    const hanging: Behaviour = {
      era,
      tools: [tool('hang'), tool('echo')],
      async callTool({ name, arguments: args }, peer) {
        if (name === 'echo') return text(String((args as Params)['message']))
        await peer.raw(': begun\n\n')
        return NO_ANSWER
      },
    }
    const server = await serve(hanging, config)
    const isCall = ({ message }: HttpServer['requests'][number]): boolean =>
      message?.method === 'tools/call' && message.params?.['name'] === 'hang'
    await waitFor(
      () => [...server.openResponses],
      () => true,
    )
    const before = new Set(server.openResponses)
    const { call } = await run(() => waitFor(() => server.requests, isCall))
    const [stream] = [...server.openResponses].filter((response) => !before.has(response))
    expect(await call).toMatchObject({ isError: true, error: { info: { code } } })
    const cancelled = () =>
      server.requests.filter(({ message }) => message?.method === 'notifications/cancelled')
    // The stream of the call is let go in both eras; in the modern one that is the cancellation.
    await waitFor(
      () => [stream?.destroyed === true || (stream !== undefined && !server.openResponses.has(stream))],
      (closed) => closed,
    )
    if (era === 'legacy') {
      const { message } = await waitFor(cancelled, () => true)
      expect(message?.params?.['requestId']).toBe(server.requests.find(isCall)?.message?.id)
    }
    expect(textOf(await host.call('echo', { args: { message: 'still here' } }))).toBe('still here')
    expect(cancelled()).toHaveLength(era === 'legacy' ? 1 : 0)
  })
})

describe('a late answer', () => {
  it('is nobody’s: the next call has its own', async () => {
    const server = stdioServer('late', { ms: 250 })
    host = await openWireHost(stdioRow('kit', server, { toolCallTimeoutMs: 100 }))
    expect((await host.call('late')).isError).toBe(true)
    await waitFor(
      server.journal,
      ({ kind, message }) => kind === 'sent' && JSON.stringify(message).includes('the late answer'),
    )
    expect(textOf(await host.call('echo', { args: { message: 'mine' } }))).toBe('mine')
    expect(host.bridge.status().state).toBe('ready')
  })
})

describe('fifty calls at once', () => {
  const SIZE = 50
  const config = { limits: { concurrency: SIZE } }
  const expected = Array.from({ length: SIZE }, (_, n) => `answer ${n}`)
  const callAll = async (): Promise<string[]> =>
    (await Promise.all(Array.from({ length: SIZE }, (_, n) => host.call('echo', { args: { n } })))).map(
      (result) => textOf(result),
    )

  it.each(ERAS)('are answered out of order over stdio, none crossed (%s)', async (era) => {
    await spawn(BATCH, era, config, { size: SIZE })
    expect(await callAll()).toEqual(expected)
  })

  it.each(ERAS)('are answered out of order over HTTP, none crossed (%s)', async (era) => {
    await serve(batch({ era, size: SIZE }, { starts: 1 }), config)
    expect(await callAll()).toEqual(expected)
  })

  it('are held at limits.concurrency, and all answered', async () => {
    let inFlight = 0
    let most = 0
    // The first ones wait for each other, so that a slow machine cannot make it look like fewer.
    const full = Promise.withResolvers<void>()
    await serve({
      tools: [tool('echo')],
      async callTool({ arguments: args }) {
        inFlight += 1
        most = Math.max(most, inFlight)
        if (inFlight === 16) full.resolve()
        await full.promise
        await delay(5)
        inFlight -= 1
        return text(`answer ${String((args as Params)['n'])}`)
      },
    })
    expect(await callAll()).toEqual(expected)
    expect(most).toBe(16)
  })
})

describe.each(ERAS)('a re-sync during a call (%s)', (era) => {
  it.each([
    ['withdraws the tool', [tool('other')]],
    ['changes the tool', [tool('work', { description: 'New words' }), tool('other')]],
    ['leaves the tool', [tool('work'), tool('other')]],
  ])('that %s lets the call end as it began', async (_what, next) => {
    let tools = [tool('work')]
    const answer = Promise.withResolvers<Params>()
    const begun = Promise.withResolvers<void>()
    const server = await serve({
      era,
      tools: () => tools,
      callTool() {
        begun.resolve()
        return answer.promise
      },
    })
    const call = host.call('work', { agent: makeAgent('vision') })
    await begun.promise
    await waitFor(
      () => [...server.openResponses],
      () => true,
    )
    tools = next
    await expect
      .poll(() => {
        server.listChanged()
        return host.has('other')
      })
      .toBe(true)
    answer.resolve({
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', data: SAMPLES.png, mimeType: 'image/png' },
      ],
    })
    const result = await call
    expect(result.isError).toBe(false)
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'image'])
  })
})

describe('a policy', () => {
  const image = { type: 'image', data: SAMPLES.png, mimeType: 'image/png' }
  const content = [{ type: 'text', text: 'the secret plan' }, image]

  async function decided(decide: () => PostToolDecision) {
    await serve({ tools: [tool('work')], callTool: () => ({ content }) })
    host.ctx.on('tools/post-execute', () => Promise.resolve(decide()))
    return host.call('work', { agent: makeAgent('vision') })
  }

  it('that blocks has the last word: nothing of the result is shown', async () => {
    const result = await decided(() => ({
      kind: 'block',
      feedback: [{ type: 'text', text: 'not for you' }],
    }))
    expect(textOf(result)).toContain('not for you')
    expect(JSON.stringify(result.content)).not.toMatch(/secret plan|image/)
  })

  it('that replaces the content has the last word: no image comes back', async () => {
    const result = await decided(() => ({ kind: 'accept', content: [{ type: 'text', text: 'replaced' }] }))
    expect(result.content).toEqual([{ type: 'text', text: 'replaced' }])
    expect(result.value).toEqual({ content })
  })

  it('that replaces the value is shown its own value', async () => {
    const result = await decided(() => ({
      kind: 'accept',
      value: { content: [{ type: 'text', text: 'other' }] },
    }))
    expect(textOf(result)).toBe('other')
  })

  it('that denies before the call keeps it from the server', async () => {
    let calls = 0
    await serve({
      tools: [tool('work')],
      callTool() {
        calls += 1
        return text('ran')
      },
    })
    host.ctx.on('tools/pre-execute', () => Promise.resolve({ kind: 'deny', reason: 'not today' }))
    expect(textOf(await host.call('work'))).toContain('not today')
    expect(calls).toBe(0)
  })
})
