/** Owns the tests of what server-everything asks of the real services of the host, through a real session and real turns. */
import { tmpdir } from 'node:os'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { everythingRow } from '../composition/reference-servers.ts'
import { CLOSED, openInboundHost } from './inbound-host.ts'
import type { InboundHost, InboundHostOptions, Person } from './inbound-host.ts'

let host: InboundHost | undefined
afterEach(async () => {
  await host?.close()
  host = undefined
})

/** Without roots: a process that asks for them as it ends does not end by itself. */
async function open(
  options: InboundHostOptions,
  config: Readonly<Record<string, unknown>> = {},
): Promise<InboundHost> {
  host = await openInboundHost(everythingRow({ protocol: 'legacy', roots: 'off', ...config }), options)
  return host
}

/** A person who answers each field by its title, and says yes first. */
const person =
  (answers: Readonly<Record<string, string | readonly string[]>>): Person =>
  ({ id, question }) =>
    id === 'form'
      ? 'Answer'
      : Object.entries(answers).find(([title]) => question.startsWith(`"${title}"`))?.[1]

const FORM = 'trigger-elicitation-request'
const contentOf = (text: string): unknown => {
  const raw = /Raw result: (\{.*\})/s.exec((JSON.parse(text) as { text: string }[]).at(-1)?.text ?? '')
  return JSON.parse(raw?.[1] ?? 'null')
}

describe('a form of server-everything', () => {
  it('is filled in by a person, with every kind of field', async () => {
    const { call, questions } = await open({
      person: person({
        String: '=Ada Lovelace',
        Boolean: 'Yes',
        'String with email format': '=ada@example.com',
        'String with uri format': '=https://example.com',
        'String with date format': '=1815-12-10',
        Integer: '=7',
        'Untitled Single Select Enum': 'Joey',
        'Untitled Multiple Select Enum': ['Piano', 'Drums'],
        'Titled Single Select Enum': 'Green Lantern',
      }),
    })
    expect(contentOf(await call(FORM))).toEqual({
      action: 'accept',
      content: {
        name: 'Ada Lovelace',
        check: true,
        firstLine: 'It was a dark and stormy night.',
        email: 'ada@example.com',
        homepage: 'https://example.com',
        birthdate: '1815-12-10',
        integer: 7,
        number: 3.14,
        untitledSingleSelectEnum: 'Joey',
        untitledMultipleSelectEnum: ['Piano', 'Drums'],
        titledSingleSelectEnum: 'hero-2',
        titledMultipleSelectEnum: ['fish-1'],
        legacyTitledEnum: 'pet-1',
      },
    })
    expect(questions[0]?.detail).toContain('Please provide inputs for the following fields:')
  })

  it('is asked for again where it was filled in wrongly', async () => {
    let tries = 0
    const { call, questions } = await open({
      person: (question) => {
        if (question.id === 'form') return 'Answer'
        if (question.question.startsWith('"String"')) return '=Ada'
        if (!question.question.startsWith('"Integer"')) return undefined
        tries += 1
        return tries === 1 ? '=101' : '=100'
      },
    })
    expect(contentOf(await call(FORM))).toMatchObject({
      action: 'accept',
      content: { name: 'Ada', integer: 100 },
    })
    expect(questions.at(-1)?.detail).toContain('it must be a whole number, 1 to 100')
  })

  it.each<[string, Person, string]>([
    ['declined', () => 'Decline', 'decline'],
    [
      'closed',
      () => {
        throw CLOSED
      },
      'cancel',
    ],
  ])('is %s', async (_, who, action) => {
    const { call } = await open({ person: who })
    expect(contentOf(await call(FORM))).toEqual({ action })
  })

  it('is declined at once where there is no client', async () => {
    const { call, lines } = await open({})
    expect(contentOf(await call(FORM))).toEqual({ action: 'decline' })
    expect(lines).toEqual([
      'debug: elicitation: declined, nobody can be asked: no user-questions provider is registered',
    ])
  })

  it('is declined at once for a sub-agent', async () => {
    const { call, agent, lines, questions } = await open({ person: () => 'Answer' })
    const child = await agent({ owner: await agent() })
    expect(contentOf(await call(FORM, {}, child))).toEqual({ action: 'decline' })
    expect(lines).toEqual([expect.stringContaining('owned by another live agent')])
    expect(questions).toEqual([])
  })

  it('is not offered by a host without the service: the server does not even list the tool', async () => {
    const { call, lines } = await open({ hasQuestions: false })
    expect(await call(FORM)).toMatch(/not found/)
    expect(lines).toEqual([])
  })

  it('does not count against the silence that a call may have', async () => {
    const { call } = await open(
      {
        person: ({ id }) => {
          if (id !== 'form') return '=Ada'
          // The whole host stands still meanwhile: the timer of the call fires late, and finds that it was held.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
          return 'Decline'
        },
      },
      { toolCallTimeoutMs: 250 },
    )
    expect(contentOf(await call(FORM))).toEqual({ action: 'decline' })
  })
})

describe('an address of server-everything', () => {
  const URL_TOOL = 'trigger-url-elicitation'
  const args = { url: 'https://example.com/login', message: 'Log in, please.', elicitationId: 'one' }

  it.each([
    ['I have done it', { action: 'accept' }],
    ['Decline', { action: 'decline' }],
  ])('is answered with "%s"', async (label, result) => {
    const { call, questions } = await open({ person: () => label })
    expect(contentOf(await call(URL_TOOL, args))).toEqual(result)
    expect(questions[0]?.detail).toContain('<https://example.com/login>')
  })

  it('is asked for by the error of a call, which is then sent once more', async () => {
    const { call, questions } = await open({ person: () => 'I have done it' })
    expect(contentOf(await call(URL_TOOL, { ...args, errorPath: true }))).toEqual({ action: 'accept' })
    expect(questions.map(({ question }) => question)).toEqual([
      expect.stringContaining('a page at modelcontextprotocol.io'),
      expect.stringContaining('a page at example.com'),
    ])
  })

  it('is asked for by the error of a call, which fails where it was not opened', async () => {
    const { call } = await open({ person: () => 'Decline' })
    expect(await call(URL_TOOL, { ...args, errorPath: true })).toMatch(
      /browser-based authorization.*was not done\. The call did not run/,
    )
  })
})

describe('sampling by server-everything', () => {
  const TOOL = 'trigger-sampling-request'
  const args = { prompt: 'What is six times seven?', maxTokens: 1_000_000 }

  it('goes to the model of the agent after an approval, which the session logs', async () => {
    const { call, sampled, agent } = await open(
      { approve: 'allowed-once' },
      { sampling: { mode: 'ask', maxTokens: 99 } },
    )
    const calling = await agent()
    expect(await call(TOOL, args, calling)).toMatch(/forty-two.*large|large.*forty-two/s)
    expect(sampled).toMatchObject([
      {
        provider: 'test',
        model: 'large',
        maxTokens: 99,
        temperature: 0.7,
        system: 'You are a helpful test server.',
      },
    ])
    const audit = calling.session.events
      .filter(({ type }) => type.startsWith('approval/'))
      .map(({ data }) => data)
    expect(audit).toMatchObject([
      { toolName: 'sampling/createMessage', callId: 'call-1', reason: expect.stringContaining('| Resource') },
      { outcome: 'allowed-once' },
    ])
  })

  it.each(['rejected', undefined] as const)('is refused where the approval is %s', async (approve) => {
    const { call, sampled } = await open(approve === undefined ? {} : { approve }, {
      sampling: { mode: 'ask' },
    })
    expect(await call(TOOL, args)).toContain('User rejected sampling request')
    expect(sampled).toEqual([])
  })

  it('needs no approval where the row allows it', async () => {
    const { call, lines } = await open(
      { approve: 'rejected' },
      { sampling: { mode: 'allow', model: 'tiny' } },
    )
    expect(await call(TOOL, args)).toContain('forty-two')
    expect(lines).toEqual(['info: sampling: answered by tiny'])
  })

  it('is off by default: the server does not even list the tool', async () => {
    const { call } = await open({ approve: 'allowed-once' })
    expect(await call(TOOL, args)).toMatch(/not found/)
  })
})

describe('roots at server-everything', () => {
  it('are the workspace of the agent that calls', async () => {
    const { call, folder } = await open({}, { roots: 'auto' })
    expect(await call('get-roots-list')).toContain(pathToFileURL(folder).href)
  })

  it('are with workspace told again when another agent calls', async () => {
    const { call, agent, folder } = await open({}, { roots: 'workspace' })
    expect(await call('get-roots-list')).toContain(pathToFileURL(folder).href)
    const other = await agent({ cwd: tmpdir() })
    // The server fetches them when it is told, and does not wait for that with the next call.
    await expect
      .poll(() => call('get-roots-list', {}, other))
      .toContain(`URI: ${pathToFileURL(tmpdir()).href}\\n`)
  })

  it('are not told with off: the server does not even list the tool', async () => {
    const { call } = await open({})
    expect(await call('get-roots-list')).toMatch(/not found/)
  })
})
