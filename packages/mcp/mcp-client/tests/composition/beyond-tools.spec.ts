/** Owns the tests that hold docs/beyond-tools.md to the real host: each feature of server-everything, as the guide uses it. */
import { createAgent, runTurn } from '@dsh-mcp/testkit'
import type { Host, LocalPlugin } from '@dsh-mcp/testkit'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { AskUserQuestionItem } from '@deepseek-ai/dsh-user-questions'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { hostSuite } from './host-suite.ts'
import { everythingRow } from './reference-servers.ts'

const suite = hostSuite()
/** As the guide has it, but for the program. */
const ROW = everythingRow({
  roots: 'workspace',
  logLevel: 'debug',
  sampling: { mode: 'ask', maxTokens: 200 },
})

interface Guide {
  readonly host: Host
  readonly agent: Agent
  readonly questions: AskUserQuestionItem[]
  call(tool: string, args?: object): Promise<string>
  command(line: string): Promise<string>
}

/** A person who takes the first choice, and types the words of this list for the questions without choices. */
function person(questions: AskUserQuestionItem[], words: string[]): LocalPlugin {
  return {
    id: 'person',
    inject: ['userQuestions'],
    apply(ctx) {
      ctx.userQuestions.registerProvider({
        async ask(request) {
          questions.push(...request.questions)
          const answers = request.questions.map(({ id, options }) => ({
            id,
            selected: options === undefined ? [] : [String(options[0]?.label)],
            ...(options === undefined ? { custom: words.shift() ?? '' } : {}),
          }))
          return { answers }
        },
      })
      ctx.on('approval/request', async () => 'allowed-once')
    },
  }
}

async function open(words: string[] = []): Promise<Guide> {
  const questions: AskUserQuestionItem[] = []
  const host = await suite.boot({
    rows: [ROW],
    extra: ['userQuestions', 'approval', 'commands', 'spill'],
    plugins: [person(questions, words)],
  })
  const agent = await createAgent(host)
  // It registers more tools once it knows what its client can do.
  await host.until(() => host.tools().includes('mcp__everything__trigger-sampling-request'))
  return {
    host,
    agent,
    questions,
    async call(tool, args = {}) {
      const { content } = await host.call(`mcp__everything__${tool}`, args, { agent })
      return content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
    },
    async command(line) {
      const execution = await host.ctx.commands.execute(agent, line, [], new AbortController().signal)
      return execution?.result.text ?? `no command: ${line}`
    },
  }
}

describe('server-everything in a running host', () => {
  it('offers its resources: listed, templates filled in, blobs, links', async () => {
    const { call } = await open()
    const { resources, templates } = JSON.parse(await call('list_resources')) as Record<
      string,
      { name: string }[]
    >
    expect(resources?.map(({ name }) => name)).toContain('features.md')
    expect(templates).toHaveLength(2)
    expect(await call('read_resource', { uri: 'demo://resource/static/document/features.md' })).toMatch(
      /^Embedded resource demo:\/\/resource\/static\/document\/features\.md \(text\/markdown\):\n# /,
    )
    expect(await call('read_resource', { uri: 'demo://resource/dynamic/text/1' })).toMatch(
      /Resource 1: This is a plaintext/,
    )
    expect(await call('read_resource', { uri: 'demo://resource/dynamic/blob/1' })).toMatch(
      /saved as base64 text\. The whole is stored at /,
    )
    expect(await call('get-resource-links', { count: 1 })).toContain(
      '[mcp__everything__read_resource reads a linked resource by its URI]',
    )
  })

  it('tells of watched resources that changed, at the next step of the agent', async () => {
    const { host, agent, call } = await open()
    expect(await call('read_resource', { uri: 'demo://resource/dynamic/text/1', watch: true })).toContain(
      '[watched: you are told when it changes]',
    )
    await call('toggle-subscriber-updates')
    const news = async (): Promise<string> =>
      (await host.ctx.systemPrompt.assemble({ scope: agent })).contexts
        .filter(({ name }) => name === 'mcp:everything:resources')
        .map(({ text }) => text)
        .join('\n')
    while ((await news()) === '') await new Promise((resolve) => setImmediate(resolve))
    const { requests } = await runTurn(host, { agent, script: [] })
    expect(JSON.stringify(requests[0]?.messages.at(-1))).toContain('- demo://resource/dynamic/text/1')
    await call('toggle-subscriber-updates')
    await call('read_resource', { uri: 'demo://resource/dynamic/text/1' })
    expect(await news()).toBe('')
  })

  it('offers its prompts as slash commands, with the values it would take', async () => {
    const { host, agent, command } = await open()
    await host.until(() => host.ctx.commands.list(agent).length > 4)
    const hints = host.ctx.commands
      .list(agent)
      .map(({ name, input }) => `/${name} ${input?.hint ?? ''}`.trimEnd())
    expect(hints).toEqual(
      expect.arrayContaining([
        '/mcp__everything__args-prompt <city> [state]',
        '/mcp__everything__completable-prompt <department> <name>',
        '/mcp__everything__resource-prompt <resourceType> <resourceId>',
        '/mcp__everything__simple-prompt',
      ]),
    )
    expect(await command('/mcp__everything__args-prompt "New York" state=NY')).toBe(
      'Sent 1 message of the prompt "args-prompt".',
    )
    await agent.whenIdle()
    expect(JSON.stringify(host.script.requests.at(-1)?.messages)).toContain("What's weather in New York, NY?")
    expect(await command('/mcp__everything__args-prompt')).toBe(
      'args-prompt: it needs city (Name of the city). Usage: /mcp__everything__args-prompt <city> [state]',
    )
    expect(await command('/mcp__everything__completable-prompt')).toContain(
      'Values for department: "Engineering", "Sales", "Marketing", "Support".',
    )
    expect(await command('/mcp__everything__resource-prompt Text 1')).toMatch(/^Sent 2 messages/)
    await agent.whenIdle()
    expect(JSON.stringify(host.script.requests.at(-1)?.messages)).toContain(
      'Embedded resource demo://resource/dynamic/text/1',
    )
  })

  it('says its instructions in the system prompt, as its own words', async () => {
    const { host, agent } = await open()
    const { requests } = await runTurn(host, { agent, script: [] })
    expect(requests[0]?.system).toContain(
      '## MCP server "everything"\nThe server says of its tools (its own words',
    )
    expect(requests[0]?.system).toContain('> # Everything Server')
  })

  it('asks the person: a form, a page to open, a page before the call', async () => {
    const { call, questions } = await open(['Ada Lovelace'])
    const answer = await call('trigger-elicitation-request')
    expect(answer).toContain('✅ User provided the requested information!')
    expect(answer).toContain('- Name: Ada Lovelace')
    expect(questions[0]?.question).toBe('MCP server "everything" asks you something. Do you want to answer?')
    expect(questions.length).toBeGreaterThan(10)
    questions.length = 0
    expect(await call('trigger-url-elicitation', { url: 'https://example.com/go' })).toContain(
      '"action": "accept"',
    )
    expect(questions[0]?.detail).toContain('Host: `example.com`')
    expect(
      await call('trigger-url-elicitation', { url: 'https://example.com/go', errorPath: true }),
    ).toContain('User completed the URL elicitation flow')
  })

  it('gets the workspace as its root, and the model after an approval', async () => {
    const { host, agent, call } = await open()
    expect(await call('get-roots-list')).toContain(`URI: ${pathToFileURL(host.folder).href}`)
    const { transcript } = await runTurn(host, {
      agent,
      script: [
        {
          call: {
            name: 'mcp__everything__trigger-sampling-request',
            args: { prompt: 'hi', maxTokens: 1_000 },
          },
        },
        { text: 'sampled words' },
        { text: 'done' },
      ],
    })
    expect(transcript).toContain('sampled words')
    const sampled = host.script.requests.find(({ system }) => system === 'You are a helpful test server.')
    expect(sampled?.maxTokens).toBe(200)
    expect(agent.session.events.some(({ type }) => type === 'approval/asked')).toBe(true)
  })

  it('logs through the host, reports progress, and runs tasks', async () => {
    const { host, call } = await open(['programming'])
    await call('toggle-simulated-logging')
    await host.until(() => host.logs.some(({ text }) => /server: \w+[ -]level[ -]message/.test(text)))
    await call('toggle-simulated-logging')
    const running = call('trigger-long-running-operation', { duration: 0.4, steps: 4 })
    const calls = () => host.ctx.mcpServers.get('everything')?.calls
    await host.until(() => calls()?.running?.[0]?.progress?.includes(' of 4') === true)
    expect(await running).toContain('Long running operation completed')
    expect(await call('simulate-research-query', { topic: 'python', ambiguous: true })).toMatch(
      /^# Research Report: python \(programming\)/,
    )
  }, 30_000)
})

describe('a host without the services', () => {
  it('shows no error, and the server is not offered what nobody could answer', async () => {
    const host = await suite.boot({ rows: [everythingRow()] })
    const agent = await createAgent(host)
    await runTurn(host, { agent, script: [] })
    expect(host.logs.filter(({ type }) => type === 'error' || type === 'warn')).toEqual([])
    expect(host.tools().filter((name) => /trigger-(elicitation|sampling|url)/.test(name))).toEqual([])
    expect(host.tools()).toContain('mcp__everything__read_resource')
  })
})
