/** Owns the tests of what `/mcp` answers, over made-up servers. */
import { beforeEach, describe, expect, it } from 'vitest'
import { HELP_TEXT, answer } from '../../src/commands.ts'
import { createServers } from '../../src/servers.ts'
import type { McpServers } from '../../src/servers.ts'
import type { PinChange } from '../../src/types.ts'
import { FakeClock } from './fake-clock.ts'
import { madeHub } from './server-handles.ts'
import type { MadeHub } from './server-handles.ts'
import { NOW, brokenStatus, readyStatus } from './status-samples.ts'

let made: MadeHub
let mcpServers: McpServers

beforeEach(() => {
  made = madeHub()
  mcpServers = createServers(made.hub, new FakeClock())
})

const ask = (line: string, servers: McpServers = mcpServers) =>
  answer(line, { mcpServers: servers, hub: made.hub, signal: new AbortController().signal })

const firstLine = async (line: string): Promise<string> => {
  const { kind, text } = await ask(line)
  return `${kind}: ${text?.split('\n')[0]}`
}

const pin = (name: string, state: PinChange['state'] = 'held'): PinChange => ({
  name,
  state,
  places: ['description'],
  diff: '-old\n+new',
  since: NOW,
})

describe('/mcp', () => {
  it('says that there is no server, and how to begin', async () => {
    expect(await firstLine('')).toMatch(/^success: No MCP server is configured/)
  })

  it('shows all, one, its tools, and help', async () => {
    made.add(readyStatus())
    made.add(brokenStatus())
    expect(await firstLine('')).toBe('success: 2 MCP servers: 1 failed, 1 ready')
    expect(await firstLine(' github')).toMatch(/^success: github: failed for .*, MCP_SPAWN_FAILED$/)
    expect(await firstLine(' files tools')).toBe('success: files: 2 in the request, 2.0 KiB of definitions')
    expect(await ask(' help')).toEqual({ kind: 'success', text: HELP_TEXT })
    expect(await firstLine(' gihub')).toMatch(
      /^error: No MCP server is called "gihub"\. Did you mean "github"\?/,
    )
  })

  it('restarts, and says what came of it', async () => {
    const server = made.add(readyStatus())
    expect(await firstLine(' files restart')).toBe('success: files is connected again.')
    server.become(brokenStatus({ serverName: 'files' }))
    expect(await firstLine(' restart files')).toMatch(
      /^error: files did not come back: MCP_SPAWN_FAILED: cannot start/,
    )
    server.become(readyStatus({ state: 'idle' }))
    expect(await firstLine(' restart files')).toBe('error: files did not come back: idle')
  })

  it('says that a restart still goes on', async () => {
    made.add(readyStatus({ state: 'connecting' }))
    const stopped = AbortSignal.abort()
    const said = await answer(' files restart', { mcpServers, hub: made.hub, signal: stopped })
    expect(said).toMatchObject({
      kind: 'success',
      text: expect.stringMatching(/^files is still connecting; it goes/) as string,
    })
  })

  it('gives the link of a login, or says what else to do', async () => {
    const link = 'https://login.test/authorize?x=1'
    made.add(readyStatus())
    made.add(readyStatus({ serverName: 'web', transport: 'streamable-http' }))
    made.add(brokenStatus({ serverName: 'auth', transport: 'streamable-http', state: 'needs-auth' }))
    made.add(
      brokenStatus({ serverName: 'open', transport: 'streamable-http', state: 'needs-auth', login: link }),
    )
    expect(await firstLine(' files login')).toMatch(
      /^error: files is a local process: there is nothing to log in to/,
    )
    expect(await firstLine(' web login')).toBe('error: web does not ask for a login.')
    expect(await firstLine(' auth login')).toMatch(
      /^error: auth asks for authorization and no login is open\. \/mcp/,
    )
    expect(await firstLine(' login open')).toMatch(/^success: open waits for you to log in/)
    expect((await ask(' open')).text).toContain(
      `next         log in with dsh-mcp login open, or open ${link}`,
    )
  })

  it('shows changed definitions and approves them', async () => {
    let waiting = ['read', 'send']
    made.add(readyStatus(), {
      pins: () => waiting.map((name) => pin(name)),
      approve: async (tool) => {
        const approved = waiting.filter((name) => tool === undefined || name === tool)
        waiting = waiting.filter((name) => !approved.includes(name))
        return approved
      },
    })
    expect(await firstLine(' files pins')).toBe('success: files: 2 definitions changed, 2 withheld')
    expect(await firstLine(' files approve nothing')).toBe(
      'error: files: no definition of that name waits for approval. Waiting: read, send.',
    )
    expect(await firstLine(' files approve send')).toBe('success: files: approved send. Still waiting: read.')
    expect(await firstLine(' files approve')).toBe('success: files: approved read.')
    expect(await firstLine(' files approve')).toBe('error: files: no definition waits for approval.')
    expect(await firstLine(' files pins')).toBe('success: files: every definition is as it was pinned.')
  })

  it.each(['', ' restart', ' pins', ' approve'])(
    'says that a row went meanwhile: /mcp files%s',
    async (verb) => {
      const server = made.add(readyStatus())
      const late: McpServers = {
        ...mcpServers,
        get(name) {
          const status = verb === '' ? undefined : mcpServers.get(name)
          server.leave()
          return status
        },
      }
      const said = await ask(` files${verb}`, late)
      const expected =
        verb === ' pins' ? 'files: every definition is as it was pinned.' : 'The row of "files" is gone.'
      expect(said.text).toBe(expected)
    },
  )
})
