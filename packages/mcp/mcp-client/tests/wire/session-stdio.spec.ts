/** Owns the tests of what servers ask and announce over stdio, where the wire does not say for which request. */
import { getEventListeners } from 'node:events'
import { fileURLToPath } from 'node:url'
import { stdioServer } from '@dsh-mcp/testkit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { resolveConfig } from '../../src/config.ts'
import { openSession } from '../../src/connection/open-session.ts'
import type { Asking, Caller, Inbound, JsonObject, Session } from '../../src/types.ts'

const FORM = { elicitation: { form: {} } }
const ACCEPT: JsonObject = { action: 'accept', content: { name: 'Ada' } }
const ASKING_MODERN = fileURLToPath(new URL('fixtures/asking-modern.ts', import.meta.url))

let session: Session | undefined
afterEach(async () => {
  await session?.close()
  session = undefined
})

async function open(row: Readonly<Record<string, unknown>>, inbound: Inbound) {
  const told: string[] = []
  const { spec } = resolveConfig({ serverName: 'demo', ...row })
  session = await openSession(spec, {
    generation: 1,
    signal: new AbortController().signal,
    clock: SYSTEM_CLOCK,
    clientVersion: '0',
    era: { verdict: () => undefined, remember() {}, forget() {}, now: () => 0 },
    inbound,
    events: {
      onDown: ({ message }) => told.push(`down: ${message}`),
      onToolsChanged: () => told.push('tools changed'),
      onPromptsChanged: () => told.push('prompts changed'),
      onResourceUpdated: (uri) => told.push(`updated: ${uri}`),
      onLog: (level, line) => told.push(`log ${level}: ${line}`),
      onNote: () => undefined,
    },
  })
  return { session, told }
}

function scripted(...args: Parameters<typeof stdioServer>): Readonly<Record<string, unknown>> {
  const { command, args: words, env } = stdioServer(...args)
  return { command, args: words, env, protocol: args[1]?.['era'] === 'modern' ? '2026-07-28' : 'legacy' }
}

function caller(agent: object = {}): Caller & { held: number } {
  const made = {
    agent: agent as NonNullable<Caller['agent']>,
    callId: 'call',
    held: 0,
    hold() {
      made.held += 1
      return () => void (made.held -= 1)
    },
  }
  return made
}

const call = (
  opened: Session,
  name: string,
  options: { caller?: Caller; signal?: AbortSignal } = {},
): Promise<JsonObject> =>
  opened.callTool(
    { rawName: name, inputSchema: { type: 'object' } },
    {},
    { signal: new AbortController().signal, ...options },
  )

/** Answers at once, and keeps who was asked. */
function keeping(seen: Asking[], answer: () => Promise<JsonObject> = async () => ACCEPT): Inbound {
  return {
    capabilities: () => FORM,
    answer(_request, asking) {
      seen.push(asking)
      return answer()
    },
  }
}

describe('what a legacy server asks over stdio', () => {
  it('is of the one whose call is in flight', async () => {
    const seen: Asking[] = []
    const who = caller()
    const { session: opened } = await open(scripted('asks-a-form'), keeping(seen))
    const { signal } = new AbortController()
    expect(await call(opened, 'ask', { caller: who, signal })).toMatchObject({
      content: [{ text: JSON.stringify(ACCEPT) }],
    })
    expect(seen.map((asking) => asking.caller)).toEqual([who])
    expect(seen[0]?.caller).toBe(who)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('is of the agent where all calls in flight are its own, and holds all of them', async () => {
    const seen: Asking[] = []
    const { session: opened } = await open(scripted('asks-a-form', { gather: 3 }), keeping(seen))
    const agent = {}
    const callers = [caller(agent), caller(agent), caller(agent)]
    await Promise.all(callers.map((who) => call(opened, 'ask', { caller: who })))
    const asked = seen[0]?.caller
    expect(asked?.agent).toBe(agent)
    expect(asked).not.toHaveProperty('callId')
    const end = asked?.hold()
    expect(callers.map(({ held }) => held)).toEqual([1, 1, 1])
    end?.()
    expect(callers.map(({ held }) => held)).toEqual([0, 0, 0])
  })

  it('is of nobody while calls of several agents are in flight', async () => {
    const seen: Asking[] = []
    const { session: opened } = await open(scripted('asks-a-form', { gather: 2 }), keeping(seen))
    await Promise.all([caller(), caller()].map((who) => call(opened, 'ask', { caller: who })))
    expect(seen.map((asking) => asking.caller)).toEqual([undefined])
  })

  it('is no longer wanted once the last of the calls that it may belong to was given up', async () => {
    const seen: Asking[] = []
    const never = (): Promise<JsonObject> => new Promise(() => {})
    const { session: opened } = await open(scripted('asks-a-form', { gather: 2 }), keeping(seen, never))
    const agent = {}
    const controllers = [new AbortController(), new AbortController()]
    const calls = controllers.map(({ signal }) => call(opened, 'ask', { caller: caller(agent), signal }))
    for (const work of calls) work.catch(() => undefined)
    await vi.waitFor(() => expect(seen).toHaveLength(1), 5_000)
    controllers[0]?.abort(new Error('enough'))
    expect(seen[0]?.signal.aborted).toBe(false)
    controllers[1]?.abort(new Error('enough'))
    expect(seen[0]?.signal.aborted).toBe(true)
    expect(String(seen[0]?.signal.reason)).toContain('the request it belongs to was given up')
  })

  it('is no longer wanted once the server took it back', async () => {
    const seen: Asking[] = []
    const never = (): Promise<JsonObject> => new Promise(() => {})
    const { session: opened } = await open(scripted('takes-back'), keeping(seen, never))
    await call(opened, 'ask')
    await vi.waitFor(() => expect(seen).toHaveLength(1), 5_000)
    expect(seen[0]?.signal.aborted).toBe(false)
    await call(opened, 'take-back')
    await vi.waitFor(() => expect(seen[0]?.signal.aborted).toBe(true))
  })
})

describe('a modern server over stdio', () => {
  it('has its questions answered on behalf of the call, and its state back', async () => {
    const seen: Asking[] = []
    const [one, two] = [caller(), caller()]
    const { session: opened } = await open(scripted('asks-a-form', { era: 'modern' }), keeping(seen))
    const answers = await Promise.all([
      call(opened, 'ask', { caller: one }),
      call(opened, 'ask', { caller: two }),
    ])
    const answer = JSON.stringify({ inputResponses: { form: ACCEPT }, requestState: 'état 1' })
    expect(answers).toMatchObject([{ content: [{ text: answer }] }, { content: [{ text: answer }] }])
    expect(new Set(seen.map((asking) => asking.caller))).toEqual(new Set([one, two]))
  })

  it('on the official SDK asks, and is heard of what changed', async () => {
    const row = {
      command: process.execPath,
      args: ['--disable-warning=ExperimentalWarning', ASKING_MODERN],
      protocol: '2026-07-28',
    }
    const { session: opened, told } = await open(row, keeping([]))
    expect(await call(opened, 'ask')).toMatchObject({ content: [{ text: JSON.stringify({ form: ACCEPT }) }] })
    expect(await opened.watchResources(['demo://one'])).toBe(true)
    await call(opened, 'touch')
    await vi.waitFor(() =>
      expect(told).toEqual(
        expect.arrayContaining(['updated: demo://one', 'prompts changed', 'log error: touched']),
      ),
    )
  })
})
