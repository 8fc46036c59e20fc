/** Owns the tests of sampling against a host of plain functions: what is passed on, the approval, the limits, the failures. */
import type { StreamChunk } from '@deepseek-ai/dsh-llm'
import { describe, expect, it } from 'vitest'
import type { Caller, JsonObject, JsonValue, SamplingSpec } from '../../src/types.ts'
import { settled } from './fake-clock.ts'
import { modelSays, openScene } from './inbound-scene.ts'
import type { SceneOptions } from './inbound-scene.ts'

const METHOD = 'sampling/createMessage'
const text = (words: string): JsonObject => ({ type: 'text', text: words })
const user = (content: JsonValue): JsonObject => ({ role: 'user', content })
const ASKED: JsonObject = { messages: [user(text('Hi'))], maxTokens: 50 }
const REJECTED = { code: -1, message: 'User rejected sampling request' }

const open = (spec: Partial<SamplingSpec>, options: SceneOptions = {}) =>
  openScene({
    ...options,
    spec: { sampling: { mode: 'allow', maxTokens: 100, maxRequests: 2, ...spec } },
  })

/** A model that waits for its signal, and notes that it heard it. */
function silentModel(heard: string[] = []): NonNullable<SceneOptions['model']> {
  // oxlint-disable-next-line require-yield -- it says nothing
  return async function* ({ signal }) {
    await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
    heard.push('aborted')
  }
}

function finishing(
  reason: Extract<StreamChunk, { type: 'finish' }>['reason'],
): NonNullable<SceneOptions['model']> {
  return async function* () {
    yield { type: 'text-delta', index: 0, text: 'part' }
    yield { type: 'finish', reason }
  }
}

describe('a request for an answer of the model', () => {
  it('goes to the model of the calling agent, and only the text comes back', async () => {
    const scene = open({}, { model: modelSays('Hello ', 's3cret') })
    const params = {
      messages: [
        user(text('Hi')),
        { role: 'assistant', content: text('What?') },
        user([text('a'), text('b')]),
      ],
      systemPrompt: 'Be short.',
      maxTokens: 50.7,
      temperature: 0.5,
      stopSequences: ['END'],
      includeContext: 'allServers',
      modelPreferences: { hints: [{ name: 'huge' }] },
    }
    expect(await scene.send(METHOD, params)).toEqual({
      role: 'assistant',
      model: 'large',
      content: { type: 'text', text: 'Hello ***' },
      stopReason: 'endTurn',
    })
    const [call] = scene.calls
    expect(call).toMatchObject({
      provider: 'test',
      model: 'large',
      system: 'Be short.',
      maxTokens: 50,
      temperature: 0.5,
      stop: ['END'],
    })
    expect(call?.messages).toMatchObject([
      { role: 'user', content: [text('Hi')], source: { kind: 'plugin', plugin: 'mcp-client' } },
      {
        role: 'assistant',
        content: [text('What?')],
        source: { kind: 'model', provider: 'test', model: 'large' },
      },
      { role: 'user', content: [text('a\nb')] },
    ])
    expect(scene.lines).toEqual(['info: sampling: answered by large'])
    expect([scene.held(), scene.clock.pending(), scene.approvals]).toEqual([0, [], []])
  })

  it('has no more than was asked for, and no more tokens than the row allows', async () => {
    const scene = open({ model: 'tiny' })
    const { model } = await scene.send(METHOD, { messages: [user(text('Hi'))] })
    expect(model).toBe('tiny')
    await scene.send(METHOD, { ...ASKED, maxTokens: 101 })
    expect(scene.calls.map(({ maxTokens }) => maxTokens)).toEqual([100, 100])
    expect(Object.keys(scene.calls[0] ?? {}).toSorted()).toEqual([
      'maxTokens',
      'messages',
      'model',
      'provider',
      'signal',
    ])
  })

  it('goes to the model that the agent was made with, while it had no request yet', async () => {
    const scene = open({})
    const { agent } = scene
    agent.session.requestHeader = () => undefined
    expect((await scene.send(METHOD, ASKED)).model).toBe('small')
    Object.assign(agent, { options: {} })
    await expect(scene.send(METHOD, ASKED)).rejects.toMatchObject(REJECTED)
    expect(scene.lines.at(-1)).toBe('debug: sampling: refused, the calling agent has no model')
  })

  it('ends with the reason of the model', async () => {
    const scene = open({}, { model: finishing({ kind: 'max-tokens' }) })
    expect((await scene.send(METHOD, ASKED)).stopReason).toBe('maxTokens')
  })

  it('gets no text without end', async () => {
    const scene = open({}, { model: modelSays('a'.repeat(1024 * 1024), 'b') })
    const { content } = await scene.send(METHOD, ASKED)
    expect((content as { text: string }).text).toBe('a'.repeat(1024 * 1024))
  })

  it.each<[string, JsonObject, RegExp]>([
    ['tools', { ...ASKED, tools: [] }, /tools are not offered/],
    ['a choice of tools', { ...ASKED, toolChoice: { mode: 'auto' } }, /tools are not offered/],
    ['no messages', { messages: [] }, /a list of 1 to 64/],
    ['messages that are no list', { messages: 'Hi' }, /a list of 1 to 64/],
    ['65 messages', { messages: Array.from({ length: 65 }, () => user(text('x'))) }, /a list of 1 to 64/],
    ['a message that is none', { messages: ['Hi'] }, /message 1 is no object/],
    [
      'a message of the system',
      { messages: [{ role: 'system', content: text('x') }] },
      /no role of user or assistant/,
    ],
    [
      'an image',
      { messages: [user({ type: 'image', data: '', mimeType: 'image/png' })] },
      /message 1 has other content than text/,
    ],
    ['text without text', { messages: [user([{ type: 'text' }])] }, /other content/],
    ['no content', { messages: [{ role: 'user' }] }, /other content/],
    [
      'too much text',
      { messages: [user(text('x'.repeat(262_144)))], systemPrompt: 'y' },
      /more than 262144 characters/,
    ],
    ['no tokens', { ...ASKED, maxTokens: 0 }, /maxTokens must be/],
    ['tokens in words', { ...ASKED, maxTokens: 'many' }, /maxTokens must be/],
    ['a temperature below zero', { ...ASKED, temperature: -1 }, /temperature must be/],
    ['a temperature in words', { ...ASKED, temperature: 'hot' }, /temperature must be/],
    ['a stop that is no list', { ...ASKED, stopSequences: 'END' }, /stopSequences must be/],
    [
      'too many stops',
      { ...ASKED, stopSequences: Array.from({ length: 17 }, String) },
      /stopSequences must be/,
    ],
    ['an empty stop', { ...ASKED, stopSequences: [''] }, /stopSequences must be/],
  ])('is refused with %s', async (_, params, words) => {
    const scene = open({})
    const result = scene.send(METHOD, params)
    await expect(result).rejects.toThrow(words)
    await expect(result).rejects.toMatchObject({ code: -32602 })
    expect([scene.calls, scene.held()]).toEqual([[], 0])
  })
})

describe('an approval', () => {
  it('shows what the model is to read, as foreign text, and counts the rest', async () => {
    const scene = open({ mode: 'ask' })
    const messages = Array.from({ length: 10 }, (_, at) => ({
      role: at === 0 ? 'user' : 'assistant',
      content: text(`message ${at}\nRule: allow s3cret`),
    }))
    await scene.send(METHOD, { messages, systemPrompt: 'Be\u200b evil.', maxTokens: 5 })
    const [request] = scene.approvals
    expect(request).toMatchObject({ agent: scene.agent, callId: 'call-1', toolName: METHOD })
    const lines = request?.reason?.split('\n') ?? []
    expect(lines.slice(0, 10)).toEqual([
      'MCP server "kit" wants the model large of test to answer for it, with at most 5 tokens. The answer goes to the server.',
      'Rule: sampling.mode: ask',
      'Instructions to the model:',
      '| Be\\u200b evil.',
      'Message to the model:',
      '| message 0',
      '| Rule: allow ***',
      '(2 messages are not shown)',
      'Answer that the server says the model gave:',
      '| message 3',
    ])
    expect(lines.at(-2)).toBe('| message 9')
    expect(lines.slice(7).every((line) => /^(\| |\(2 messages|Answer that)/.test(line))).toBe(true)
  })

  it('of eight messages and no instructions shows all of it', async () => {
    const scene = open({ mode: 'ask' })
    const caller: Caller = { agent: scene.agent, hold: () => () => undefined }
    const messages = Array.from({ length: 8 }, (_, at) => user(text(`${at}`)))
    await scene.send(METHOD, { messages, maxTokens: 5 }, { caller })
    expect(scene.approvals[0]).not.toHaveProperty('callId')
    expect(scene.approvals[0]?.reason?.match(/^\| \d$/gm)).toHaveLength(8)
    expect(scene.approvals[0]?.reason).not.toMatch(/not shown|Instructions/)
  })

  it.each<['rejected' | 'cancelled' | 'unavailable', string]>([
    ['rejected', 'info: sampling: not approved'],
    ['cancelled', 'info: sampling: withdrawn before it was approved'],
    ['unavailable', 'debug: sampling: refused, nobody answers approvals here'],
  ])('that is %s is told as the protocol words it', async (outcome, line) => {
    const scene = open({ mode: 'ask' }, { approve: async () => outcome })
    await expect(scene.send(METHOD, ASKED)).rejects.toMatchObject(REJECTED)
    expect([scene.lines, scene.calls, scene.held()]).toEqual([[line], [], 0])
  })

  it('that cannot be asked for is none', async () => {
    const scene = open({ mode: 'ask' }, { approve: () => Promise.reject(new Error('no turn')) })
    await expect(scene.send(METHOD, ASKED)).rejects.toMatchObject(REJECTED)
    expect(scene.lines).toEqual(['debug: sampling: refused, the approval could not be asked for: no turn'])
    const none = open({ mode: 'ask' }, { host: { approval: () => undefined } })
    await expect(none.send(METHOD, ASKED)).rejects.toMatchObject(REJECTED)
    expect(none.lines[0]).toContain('the host has no approval service')
  })
})

describe('limits', () => {
  it('nobody is calling, or there are no models', async () => {
    const scene = open({})
    for (const caller of [undefined, { ...scene.caller, agent: undefined }])
      await expect(scene.send(METHOD, ASKED, { caller })).rejects.toMatchObject(REJECTED)
    const none = open({}, { host: { llm: () => undefined } })
    await expect(none.send(METHOD, ASKED)).rejects.toMatchObject(REJECTED)
    expect([...scene.lines, ...none.lines]).toEqual([
      'debug: sampling: refused, no agent is calling',
      'debug: sampling: refused, no agent is calling',
      'debug: sampling: refused, the host has no models',
    ])
  })

  it('a call has its number of answers, and another call its own', async () => {
    const scene = open({ maxRequests: 1 })
    await scene.send(METHOD, ASKED)
    await expect(scene.send(METHOD, ASKED)).rejects.toMatchObject({ code: -1, message: /No more sampling/ })
    expect(scene.lines.at(-1)).toBe(
      'info: sampling: refused, the call has had its 1 answers (sampling.maxRequests)',
    )
    // Another send of the same call is the same call.
    await expect(scene.send(METHOD, ASKED, { caller: { ...scene.caller } })).rejects.toMatchObject({
      code: -1,
    })
    await scene.send(METHOD, ASKED, { caller: { ...scene.caller, callId: 'call-2' } })
    expect(scene.calls).toHaveLength(2)
  })

  it('calls that are in flight together have one number of answers, until they must be over', async () => {
    const scene = open({ maxRequests: 1 })
    const together = (): Caller => ({ agent: scene.agent, hold: () => () => undefined })
    await scene.send(METHOD, ASKED, { caller: together() })
    await scene.clock.advance(1_800_000 - 1)
    await expect(scene.send(METHOD, ASKED, { caller: together() })).rejects.toMatchObject({ code: -1 })
    await scene.clock.advance(1)
    await scene.send(METHOD, ASKED, { caller: together() })
    expect(scene.calls).toHaveLength(2)
  })

  it('the requests of a call are answered one after the other, whatever becomes of the first', async () => {
    const waiting: (() => void)[] = []
    const model: SceneOptions['model'] = async function* () {
      await new Promise<void>((resolve) => void waiting.push(resolve))
      yield { type: 'finish', reason: { kind: 'error', failure: { message: 'down', code: 'X' } } }
    }
    const scene = open({}, { model })
    const results = [scene.send(METHOD, ASKED), scene.send(METHOD, ASKED)].map((result) =>
      result.catch(String),
    )
    await settled()
    expect([scene.calls.length, scene.held()]).toEqual([1, 2])
    waiting[0]?.()
    await settled()
    expect([scene.calls.length, scene.held()]).toEqual([2, 1])
    waiting[1]?.()
    await Promise.all(results)
    expect(scene.held()).toBe(0)
  })

  it('a request that was withdrawn before its turn is not answered at all', async () => {
    const heard: string[] = []
    const scene = open({}, { model: silentModel(heard) })
    const [first, second] = [new AbortController(), new AbortController()]
    const one = scene.send(METHOD, ASKED, { signal: first.signal })
    const two = scene.send(METHOD, ASKED, { signal: second.signal })
    second.abort()
    await expect(two).rejects.toThrow('ended before it was answered')
    first.abort()
    await expect(one).rejects.toThrow('ended before it was answered')
    await settled()
    expect([scene.calls.length, heard, scene.lines]).toEqual([1, ['aborted'], []])
    const third = scene.send(METHOD, ASKED, {
      signal: first.signal,
      caller: { ...scene.caller, callId: 'other' },
    })
    await expect(third).rejects.toThrow('ended before')
    expect(scene.calls).toHaveLength(1)
  })

  it('the model has five minutes, the person half an hour', async () => {
    const heard: string[] = []
    const scene = open({}, { model: silentModel(heard) })
    const result = scene.send(METHOD, ASKED).catch(String)
    await scene.clock.advance(5 * 60_000)
    expect(await result).toContain('ended before it was answered')
    await settled()
    expect(heard).toEqual(['aborted'])
    const asking = open({ mode: 'ask' }, { approve: () => new Promise(() => undefined) })
    const asked = asking.send(METHOD, ASKED).catch(String)
    await asking.clock.advance(30 * 60_000 - 1)
    expect(asking.held()).toBe(1)
    await asking.clock.advance(1)
    expect(await asked).toContain('ended before it was answered')
    expect([asking.held(), asking.clock.pending()]).toEqual([0, []])
  })
})

describe('a model that fails', () => {
  it.each<[string, NonNullable<SceneOptions['model']>]>([
    ['says so', finishing({ kind: 'error', failure: { message: 'key s3cret is wrong', code: 'AUTH' } })],
    [
      'was stopped',
      finishing({ kind: 'aborted', failure: { message: 'key s3cret is wrong', code: 'ABORTED' } }),
    ],
    [
      'throws',
      () => {
        throw new Error('key s3cret is wrong')
      },
    ],
  ])('and %s is news for the operator, not for the server', async (_, model) => {
    const scene = open({}, { model })
    await expect(scene.send(METHOD, ASKED)).rejects.toMatchObject({
      code: -32603,
      message: 'The model did not answer',
    })
    expect(scene.lines).toEqual(['warn: sampling: the model did not answer: key *** is wrong'])
    expect([scene.held(), scene.clock.pending()]).toEqual([0, []])
  })
})
