/** Owns the tests of what a prompt's command does at its edges: nobody there, too late, given up, nothing stored. */
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { McpError } from '../../src/errors.ts'
import { SUGGEST_LIMIT_MS } from '../../src/prompts/completion.ts'
import { runPrompt } from '../../src/prompts/invocation.ts'
import type { InvocationContext } from '../../src/prompts/invocation.ts'
import { parsePrompt } from '../../src/prompts/prompt.ts'
import type { Prompt } from '../../src/prompts/prompt.ts'
import type { RequestOptions, Session } from '../../src/types.ts'
import { FakeClock, settled } from './fake-clock.ts'

type Answer = (method: string, params: object, options: RequestOptions) => unknown

const PROMPT = parsePrompt({ name: 'ask', arguments: [{ name: 'who', required: true }] }, String) as Prompt
const MESSAGE = { role: 'user', content: { type: 'text', text: 'Hello' } }
const refusal = (message: string): McpError =>
  new McpError(message, { code: 'MCP_REQUEST_REJECTED', server: 'kit', stage: 'execution' })

const SPEC: InvocationContext['spec'] = {
  serverName: 'kit',
  redact: (text) => text.replaceAll('s3cret', '[redacted]'),
  limits: { resultTextBytes: 1_000 } as never,
  toolCallTimeoutMs: 60_000,
  toolCallMaxMs: 120_000,
}

function setup(
  answer: Answer | undefined,
  over: Partial<InvocationContext> = {},
  capabilities: Record<string, unknown> = { completions: {} },
) {
  const sent: object[] = []
  const failures: unknown[] = []
  const asked: string[] = []
  const gone = new AbortController()
  const clock = new FakeClock()
  const session =
    answer === undefined
      ? undefined
      : ({
          facts: { era: 'legacy', revision: '1', capabilities },
          request: async (method: string, params: object, options: RequestOptions) => {
            asked.push(method)
            return answer(method, params, options)
          },
        } as never as Session)
  const agent = { followup: (message: object) => void sent.push(message), session: { header: { id: 's' } } }
  const context: InvocationContext = {
    spec: SPEC,
    clock,
    host: { attachments: () => undefined, llm: () => undefined, spillStore: () => undefined, log() {} },
    session: () => session,
    prepare: () => Promise.resolve(session),
    reason: () => 'it sleeps',
    failed: (_session, error) => failures.push(error),
    ...over,
  }
  return {
    sent,
    failures,
    asked,
    gone,
    clock,
    run: (rawInput = ' Ada', prompt = PROMPT) =>
      runPrompt(
        { command: 'mcp__kit__ask', prompt },
        {
          commandId: 'cmd-1' as never,
          agent: agent as never,
          rawInput,
          attachments: [],
          signal: gone.signal,
        },
        context,
      ),
  }
}

describe('the command of a prompt', () => {
  it('sends one message of the user', async () => {
    const t = setup(() => ({ messages: [MESSAGE] }))
    expect(await t.run()).toEqual({ kind: 'success', text: 'Sent 1 message of the prompt "ask".' })
    expect(t.sent).toMatchObject([{ content: [{ type: 'text', text: 'Hello' }], source: { kind: 'user' } }])
    expect(t.failures).toEqual([])
    expect(getEventListeners(t.gone.signal, 'abort')).toEqual([])
  })

  it('lets the server ask the person meanwhile, and waits while it reports progress', async () => {
    const seen: RequestOptions[] = []
    const t = setup(
      async (_method, _params, options) => {
        seen.push(options)
        for (let at = 0; at < 6; at++) {
          await new Promise((resolve) => void setTimeout(resolve, 60))
          options.onProgress?.({ progress: at })
        }
        const resume = options.caller?.hold()
        await new Promise((resolve) => void setTimeout(resolve, 400))
        resume?.()
        return { messages: [MESSAGE] }
      },
      { spec: { ...SPEC, toolCallTimeoutMs: 300 } },
    )
    expect(await t.run()).toMatchObject({ kind: 'success' })
    expect(seen[0]?.caller?.agent).toMatchObject({ session: { header: { id: 's' } } })
  })

  it('says why there is nobody to ask', async () => {
    const t = setup(undefined)
    expect(await t.run()).toEqual({
      kind: 'error',
      text: 'ask: the MCP server "kit" is not connected: it sleeps.',
    })
    expect(t.failures).toMatchObject([{ code: 'MCP_NOT_CONNECTED' }])
    expect(await t.run('')).toMatchObject({ text: 'ask: it needs who. Usage: /mcp__kit__ask <who>' })
  })

  it('wakes nobody for a line that is wrong', async () => {
    const woken: string[] = []
    const t = setup(undefined, {
      prepare: () => {
        woken.push('woken')
        return Promise.resolve(undefined)
      },
    })
    await t.run('')
    expect(woken).toEqual([])
    await t.run()
    expect(woken).toEqual(['woken'])
  })

  it('tells the connection of a failure, and the person without secrets and without a second full stop', async () => {
    const t = setup(() => {
      throw new Error('token s3cret\n\u001b[31mis bad.')
    })
    expect(await t.run()).toEqual({ kind: 'error', text: 'ask: token [redacted] is bad.' })
    expect(t.failures).toHaveLength(1)
    expect(t.asked).toEqual(['prompts/get'])
  })

  it('ends when the person goes, also while the server is woken', async () => {
    const t = setup(() => ({}), { prepare: () => new Promise(() => {}) })
    const running = t.run()
    await settled()
    t.gone.abort()
    expect(await running).toEqual({ kind: 'error', text: 'ask: it was aborted.' })
    expect(t.failures).toMatchObject([{ code: 'MCP_ABORTED' }])
  })

  it('ends at the wall too', async () => {
    const t = setup(() => new Promise(() => {}), {
      spec: { ...SPEC, toolCallTimeoutMs: 60_000, toolCallMaxMs: 20 },
    })
    expect(await t.run()).toEqual({ kind: 'error', text: 'ask: no answer within 20 ms (toolCallMaxMs).' })
  })

  it('sends nothing to whoever gave up while contents were stored', async () => {
    const t = setup(
      () => ({
        messages: [{ role: 'user', content: { type: 'audio', data: 'AA==', mimeType: 'audio/wav' } }],
      }),
      {
        host: {
          attachments: () => undefined,
          llm: () => undefined,
          spillStore() {
            t.gone.abort()
            return undefined
          },
          log() {},
        },
      },
    )
    expect(await t.run()).toEqual({ kind: 'error', text: 'ask: it was aborted' })
    expect(t.sent).toEqual([])
  })

  it('files what it stores under names of ours', async () => {
    const saved: object[] = []
    const evil = parsePrompt({ name: '../../etc/passwd' }, String) as Prompt
    const t = setup(
      () => ({
        messages: [{ role: 'user', content: { type: 'audio', data: 'AA==', mimeType: 'audio/wav' } }],
      }),
      {
        host: {
          attachments: () => undefined,
          llm: () => undefined,
          spillStore: () => ({
            saveText(input) {
              saved.push(input)
              return Promise.resolve({ locator: 'spill:1', bytes: 4, retrievalHint: 'Read it.' })
            },
          }),
          log() {},
        },
      },
    )
    expect(await t.run('', evil)).toMatchObject({ kind: 'success' })
    expect(saved).toMatchObject([
      {
        source: { toolName: 'mcp__kit__ask', callId: 'cmd-1', label: 'audio' },
        suggestedName: 'mcp__kit__ask-audio.txt',
      },
    ])
    expect(JSON.stringify(t.sent)).toContain('saved as base64 text. The whole is stored at spill:1')
  })
})

describe('values that the server knows', () => {
  const three = parsePrompt(
    { name: 'ask', arguments: ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ name })) },
    String,
  ) as Prompt
  const refusing =
    (values: unknown): Answer =>
    (method) => {
      if (method === 'prompts/get') throw refusal('that is none')
      return { completion: { values } }
    }

  it('are shown for each wrong one of those given, to a number, and for no other', async () => {
    const t = setup(refusing(['x', 7, 's3cret', 'y\u200b']))
    expect(await t.run(' x 2', three)).toEqual({
      kind: 'error',
      text: 'ask: that is none. Values for b: "x", "[redacted]", "y".',
    })
    expect(t.asked).toEqual(['prompts/get', 'completion/complete', 'completion/complete'])
    await t.run(' 1 2 3 4 5 6', three)
    expect(t.asked.slice(3)).toEqual(['prompts/get', ...Array<string>(5).fill('completion/complete')])
  })

  it('are shown for the one that is missing, with those given as context, ten at most', async () => {
    const two = parsePrompt(
      { name: 'ask', arguments: [{ name: 'a' }, { name: 'b', required: true }, { name: 'c' }] },
      String,
    ) as Prompt
    const params: object[] = []
    const t = setup((_method, given) => {
      params.push(given)
      return { completion: { values: Array.from({ length: 11 }, (_, at) => `v${at}`) } }
    })
    const { text } = (await t.run(' a=1', two)) as { text: string }
    expect(text).toMatch(/^ask: it needs b\. Values for b: "v0", .* "v9", …\. Usage: /)
    expect(params).toEqual([
      {
        ref: { type: 'ref/prompt', name: 'ask' },
        argument: { name: 'b', value: '' },
        context: { arguments: { a: '1' } },
      },
    ])
    expect(t.clock.pending()).toEqual([])
  })

  it('come with what was given for the others, not for themselves', async () => {
    const params: unknown[] = []
    const t = setup((method, given) => {
      if (method === 'prompts/get') throw refusal('that is none')
      params.push((given as { context?: unknown }).context)
      return {}
    })
    await t.run(' 1 2', three)
    expect(params).toEqual([{ arguments: { b: '2' } }, { arguments: { a: '1' } }])
  })

  it('are not asked of a server that completes nothing', async () => {
    const t = setup(refusing(['x']), {}, {})
    expect(await t.run(' 1', three)).toEqual({ kind: 'error', text: 'ask: that is none.' })
    expect(t.asked).toEqual(['prompts/get'])
  })

  it('are not waited for by a person who goes', async () => {
    const t = setup((_method, _params, { signal }) => {
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('late'))),
      )
    })
    const running = t.run('')
    await settled()
    t.gone.abort()
    expect(await running).toMatchObject({ kind: 'error' })
  })

  it.each([[[]], ['odd'], [[7]]])('are not shown where there are none: %j', async (values) => {
    const t = setup(refusing(values))
    expect(await t.run(' 1', three)).toEqual({ kind: 'error', text: 'ask: that is none.' })
  })

  it('are not waited for long, and not asked of a server that failed otherwise', async () => {
    const t = setup((method, _params, { signal }) => {
      if (method === 'prompts/get') throw refusal('that is none')
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('late'))),
      )
    })
    const running = t.run(' 1', three)
    await settled()
    expect(t.clock.pending()).toEqual([SUGGEST_LIMIT_MS])
    await t.clock.advance(SUGGEST_LIMIT_MS)
    expect(await running).toEqual({ kind: 'error', text: 'ask: that is none.' })
    expect(t.clock.pending()).toEqual([])
  })
})
