import { Context } from '@deepseek-ai/cordis'
import { AgentRegistry } from '@deepseek-ai/dsh-agent'
import { CommandRuntime } from '@deepseek-ai/dsh-commands'
import type { CommandDefinition } from '@deepseek-ai/dsh-commands'
import { LlmRuntime } from '@deepseek-ai/dsh-llm'
import { SessionStore } from '@deepseek-ai/dsh-session'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { ToolRuntime } from '@deepseek-ai/dsh-tools'
import { UserQuestionService } from '@deepseek-ai/dsh-user-questions'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { beyondHost } from '../../src/host-beyond.ts'
import type { BeyondHost } from '../../src/host-beyond.ts'

let ctx: Context
let host: BeyondHost

const command = (name: string): CommandDefinition => ({
  name,
  description: 'says hello',
  handler: () => ({ kind: 'success' }),
})
const sections = async (): Promise<string[]> =>
  (await ctx.systemPrompt.assemble()).sections.map(({ name }) => name).filter((name) => name.startsWith('t:'))
/** A global command is in the list of whoever asks. */
const commands = (): string[] => ctx.commands.list({} as never).map(({ name }) => name)

beforeEach(async () => {
  ctx = new Context()
  await ctx.plugin({ name: 'row', apply: (inner: Context) => void (host = beyondHost(inner)) })
})
afterEach(() => ctx.fiber.dispose())

describe('a seat', () => {
  it('keeps what is put there until the service comes, and while it comes again', async () => {
    const leave = host.sections.put({ name: 't:one', order: 150, text: 'one' })
    const service = ctx.plugin(SystemPrompt)
    await service
    expect(await sections()).toEqual(['t:one'])
    host.sections.put({ name: 't:two', order: 151, text: 'two' })
    expect(await sections()).toEqual(['t:one', 't:two'])
    await service.dispose()
    await ctx.plugin(SystemPrompt)
    expect(await sections()).toEqual(['t:one', 't:two'])
    leave()
    leave()
    expect(await sections()).toEqual(['t:two'])
  })

  it('lets go of what leaves while the service is away', async () => {
    const service = ctx.plugin(SystemPrompt)
    await service
    const leave = host.sections.put({ name: 't:one', order: 150, text: 'one' })
    await service.dispose()
    leave()
    await ctx.plugin(SystemPrompt)
    expect(await sections()).toEqual([])
  })

  it('tells of a refusal, which costs one item', async () => {
    await ctx.plugin(SystemPrompt)
    await ctx.plugin(LlmRuntime)
    await ctx.plugin(SessionStore)
    await ctx.plugin(ToolRuntime)
    await ctx.plugin(AgentRegistry)
    await ctx.plugin(CommandRuntime)
    const refusals: string[] = []
    const refused = (error: unknown): void => void refusals.push(String(error))
    const leave = host.commands.put(command('Not A Name'), refused)
    host.commands.put(command('another bad one'))
    host.commands.put(command('good'), refused)
    expect(refusals).toHaveLength(1)
    expect(commands()).toEqual(['good'])
    leave()
  })

  it('ends with the row', async () => {
    let seat: BeyondHost | undefined
    await ctx.plugin(SystemPrompt)
    const row = ctx.plugin({ name: 'row', apply: (inner: Context) => void (seat = beyondHost(inner)) })
    await row
    seat?.sections.put({ name: 't:one', order: 150, text: 'one' })
    seat?.contexts.put({ name: 't:one', order: 150, text: 'news' })
    expect((await ctx.systemPrompt.assemble()).contexts.map(({ name }) => name)).toContain('t:one')
    await row.dispose()
    expect(await sections()).toEqual([])
  })
})

describe('who answers questions', () => {
  it('is looked for each time', async () => {
    const { inbound } = host
    expect([inbound.questions(), inbound.approval(), inbound.llm(), inbound.hasAgents()]).toEqual([
      undefined,
      undefined,
      undefined,
      false,
    ])
    expect(inbound.cwd()).toBe(process.cwd())
    await ctx.plugin(LlmRuntime)
    await ctx.plugin(UserQuestionService)
    await ctx.plugin(SessionStore)
    await ctx.plugin(SystemPrompt)
    await ctx.plugin(ToolRuntime)
    await ctx.plugin(AgentRegistry)
    expect(inbound.questions()).toBeDefined()
    expect(inbound.llm()).toBeDefined()
    expect(inbound.hasAgents()).toBe(true)
  })
})
