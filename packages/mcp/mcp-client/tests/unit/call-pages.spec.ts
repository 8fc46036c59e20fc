/** Owns the tests of pages that a server wants opened before it takes a call: each is asked for, and the call sent once more. */
import { ProtocolError, UrlElicitationRequiredError } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { McpError } from '../../src/errors.ts'
import { callTool } from '../../src/execution/call.ts'
import type { CallContext } from '../../src/execution/call.ts'
import { createGate } from '../../src/execution/gate.ts'
import { policyOf } from '../../src/execution/policy.ts'
import { fromForeign } from '../../src/foreign.ts'
import { loadSdk } from '../../src/sdk.ts'
import type { Asking, InboundRequest, JsonObject } from '../../src/types.ts'
import { agentAt } from './inbound-scene.ts'
import { makeEntry, makeSession, makeSpec } from '../composition/registry-host.ts'

const PAGE = { mode: 'url' as const, url: 'https://a.example', message: 'Log in.', elicitationId: '1' }
const spec = makeSpec()

/** As the session rejects with it. */
function refusal(error: unknown): McpError {
  return fromForeign(error, { server: 'demo', stage: 'execution', redact: spec.redact })
}

const wanting = (...pages: object[]): McpError =>
  refusal(new UrlElicitationRequiredError(pages as (typeof PAGE)[], 'Log in first'))

interface Options extends Partial<CallContext> {
  /** Of the answers of the session, one after the other; the last one stays. */
  readonly answers: readonly (JsonObject | Error)[]
}

function run({ answers, ...over }: Options) {
  const asked: [InboundRequest, Asking][] = []
  const controller = new AbortController()
  let sent = 0
  const session = makeSession(() => {
    const answer = answers[Math.min(sent, answers.length - 1)]
    sent += 1
    if (answer instanceof Error) throw answer
    return answer as JsonObject
  })
  const context: CallContext = {
    spec,
    session: () => session,
    reason: () => 'reconnecting',
    onUnknownTool: () => undefined,
    sessionAgain: () => Promise.resolve(undefined),
    log: () => undefined,
    gate: createGate(1),
    ask: (request, asking) => {
      asked.push([request, asking])
      return Promise.resolve({ action: 'accept' })
    },
    ...over,
  }
  const entry = makeEntry()
  const exec = { agent: agentAt('/a'), callId: 'call-1', rootCallId: 'call-0' }
  const request = { entry, policy: policyOf(entry, false), outputSchema: undefined, args: {}, exec }
  const result = callTool({ ...request, signal: controller.signal }, context)
  return { result, asked, controller, sent: () => sent, agent: exec.agent }
}

const DONE = { content: [{ type: 'text', text: 'done' }] }

beforeAll(() => loadSdk())

describe('a call that is refused with pages', () => {
  it('is sent once more when each was opened', async () => {
    const second = { ...PAGE, url: 'https://b.example' }
    const { result, asked, sent, agent } = run({ answers: [wanting(PAGE, second), DONE] })
    expect((await result).content).toEqual(DONE.content)
    expect(sent()).toBe(2)
    expect(asked.map(([request]) => request)).toEqual([
      { method: 'elicitation/create', params: PAGE },
      { method: 'elicitation/create', params: second },
    ])
    const [, asking] = asked[0] ?? []
    expect(asking?.caller).toMatchObject({ agent, callId: 'call-1', rootCallId: 'call-0' })
    expect(asking?.signal.aborted).toBe(false)
  })

  it('is not sent a third time', async () => {
    const { result, asked, sent } = run({ answers: [wanting(PAGE)] })
    await expect(result).rejects.toMatchObject({ code: 'MCP_REQUEST_REJECTED', message: 'Log in first' })
    expect([sent(), asked.length]).toEqual([2, 1])
  })

  it('fails where one was not opened', async () => {
    const { result, sent } = run({
      answers: [wanting(PAGE), DONE],
      ask: () => Promise.resolve({ action: 'decline' }),
    })
    await expect(result).rejects.toMatchObject({
      code: 'MCP_REQUEST_REJECTED',
      message:
        'Log in first. A person must open a page of the server first, and that was not done. The call did not run',
    })
    expect(sent()).toBe(1)
  })

  it.each<[string, object[], RegExp]>([
    ['more than eight', Array.from({ length: 9 }, () => PAGE), /too many pages/],
    ['no pages', ['https://a.example' as unknown as object], /url must be/],
  ])('fails with %s', async (_, pages, words) => {
    const asked: unknown[] = []
    const ask: CallContext['ask'] = async ({ params }) => {
      asked.push(params)
      throw new Error('url must be a full address')
    }
    const { result } = run({ answers: [wanting(...pages), DONE], ask })
    await expect(result).rejects.toThrow(words)
    expect(asked).toEqual(pages.length > 8 ? [] : [{ mode: 'url' }])
  })

  it('ends with the caller', async () => {
    const { result, controller, sent } = run({
      answers: [wanting(PAGE), DONE],
      async ask() {
        controller.abort()
        return { action: 'cancel' }
      },
    })
    await expect(result).rejects.toMatchObject({ code: 'MCP_ABORTED' })
    expect(sent()).toBe(1)
  })

  it('is checked again after the wait for a person', async () => {
    const checks: string[] = []
    const checkAgain = ({ rawName }: { rawName: string }) => {
      checks.push(rawName)
      if (checks.length > 1)
        throw new McpError('changed', { code: 'MCP_DENIED', server: 'demo', stage: 'execution' })
    }
    const { result, sent } = run({ answers: [wanting(PAGE), DONE], checkAgain })
    await expect(result).rejects.toMatchObject({ code: 'MCP_DENIED' })
    expect([sent(), checks.length]).toEqual([1, 2])
  })

  it.each<[string, Options]>([
    ['nobody answers', { answers: [wanting(PAGE)], ask: undefined as never }],
    ['there are none', { answers: [wanting()] }],
    ['it has no data', { answers: [refusal(new ProtocolError(-32042, 'Log in first'))] }],
    [
      'its data are of another error',
      { answers: [refusal(new ProtocolError(-32000, 'Log in first', { elicitations: [PAGE] }))] },
    ],
    ['it is an error of ours', { answers: [new Error('Log in first')] }],
  ])('fails as it is where %s', async (_, options) => {
    const { result, asked, sent } = run(options)
    await expect(result).rejects.toThrow(/^Log in first$/)
    expect([asked, sent()]).toEqual([[], 1])
  })
})
