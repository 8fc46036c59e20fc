/**
 * Owns `/mcp`, the operator's command in every client that has commands: it answers from `ctx.mcpServers`, adds nothing
 * to what the model reads, and never throws. Without the host's command service it is not there.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { CommandResult } from '@deepseek-ai/dsh-commands'
import { parseLine } from './commands-line.ts'
import type { Request } from './commands-line.ts'
import { hubOf } from './hub.ts'
import type { Hub } from './hub.ts'
import type { McpServers, RestartOutcome } from './servers.ts'
import { overviewText, pinsText, serverText, toolsText, troubleText } from './status.ts'
import { cleanLine } from './text.ts'
import type { ServerStatus } from './types.ts'

export const HELP_TEXT = `/mcp shows the MCP servers and what they do.

/mcp                         all servers, the broken ones with the reason
/mcp SERVER                  one server in full
/mcp SERVER tools            what its tools cost, and which are left out and why
/mcp SERVER restart          connect again, with a fresh budget of attempts
/mcp SERVER pins             definitions that changed since they were last approved
/mcp SERVER approve [TOOL]   approve the changed definition of one tool, or of all
/mcp SERVER login            the link to log in at, where the server waits for that
/mcp help                    this text

The verb may come first: /mcp restart SERVER. With one server its name may be left out.`

const MAX_NAME_CHARS = 128
/** The companion that registers the command while there is a command service. */
export const COMMANDS = {
  name: 'mcp-client-commands',
  inject: ['mcpServers', 'commands'],
  async apply(ctx: Context): Promise<void> {
    const { mcpServers } = ctx
    const hub = hubOf(ctx.root)
    ctx.commands.register({
      name: 'mcp',
      description: 'show MCP servers, restart one, see its tools',
      input: { hint: '[SERVER [tools|restart|pins|approve|login]] | help' },
      handler: ({ rawInput, signal }) => answer(rawInput, { mcpServers, hub, signal }),
    })
  },
} as const

interface Answering {
  readonly mcpServers: McpServers
  readonly hub: Hub
  readonly signal: AbortSignal
}

/** What the command says to one line. */
export async function answer(rawInput: string, answering: Answering): Promise<CommandResult> {
  const servers = answering.mcpServers.list()
  const request = parseLine(
    rawInput,
    servers.map(({ serverName }) => serverName),
  )
  switch (request.kind) {
    case 'overview':
      return said(overviewText(servers, Date.now()))
    case 'help':
      return said(HELP_TEXT)
    case 'refused':
      return refused(request.text)
    case 'server':
      return answerServer(request, answering)
  }
}

async function answerServer(
  request: Extract<Request, { kind: 'server' }>,
  { mcpServers, hub, signal }: Answering,
): Promise<CommandResult> {
  const { serverName, verb } = request
  const status = mcpServers.get(serverName)
  if (status === undefined) return refused(goneText(serverName))
  switch (verb) {
    case 'show':
      return said(serverText(status, Date.now()))
    case 'tools':
      return said(toolsText(status))
    case 'login':
      return login(status)
    case 'restart':
      return restarted(serverName, await mcpServers.restart(serverName, { signal }))
    case 'pins':
      return said(pinsText(serverName, hub.get(serverName)?.pins() ?? [], Date.now()))
    case 'approve':
      return approve(serverName, request.rest[0], hub)
  }
}

async function approve(serverName: string, tool: string | undefined, hub: Hub): Promise<CommandResult> {
  const server = hub.get(serverName)
  if (server === undefined) return refused(goneText(serverName))
  const approved = await server.approve(tool)
  const held = server.pins().filter(({ state }) => state === 'held')
  const waiting = held.map(({ name }) => name)
  if (approved.length === 0) {
    if (waiting.length === 0) return refused(`${serverName}: no definition waits for approval.`)
    return refused(
      `${serverName}: no definition of that name waits for approval. Waiting: ${waiting.join(', ')}.`,
    )
  }
  const rest = waiting.length === 0 ? '' : ` Still waiting: ${waiting.join(', ')}.`
  const names = approved.map((name) => cleanLine(name, MAX_NAME_CHARS)).join(', ')
  return said(`${serverName}: approved ${names}.${rest}`)
}

function restarted(serverName: string, outcome: RestartOutcome): CommandResult {
  if (outcome.kind === 'unknown') return refused(goneText(serverName))
  const { status } = outcome
  const text = `\n\n${serverText(status, Date.now())}`
  if (outcome.kind === 'pending')
    return said(`${serverName} is still connecting; it goes on by itself.${text}`)
  const trouble = troubleText(status, Date.now())
  if (status.state === 'ready') return said(`${serverName} is connected again.${text}`)
  return refused(`${serverName} did not come back: ${trouble ?? status.state}${text}`)
}

/** The link a person opens, or what else there is to do. */
function login({ serverName, state, transport, login: link }: ServerStatus): CommandResult {
  if (link !== undefined) {
    return said(
      `${serverName} waits for you to log in. Open this on the machine of the host:\n${link}\nor run: dsh-mcp login ` +
        `${serverName}\nIt goes on by itself afterwards.`,
    )
  }
  if (transport === 'stdio') {
    return refused(
      `${serverName} is a local process: there is nothing to log in to. Its credentials go into env of its row.`,
    )
  }
  if (state !== 'needs-auth') return refused(`${serverName} does not ask for a login.`)
  return refused(
    `${serverName} asks for authorization and no login is open. /mcp ${serverName} restart asks anew; a fixed token ` +
      'goes into headers of its row.',
  )
}

const goneText = (serverName: string): string => `The row of "${serverName}" is gone.`
const said = (text: string): CommandResult => ({ kind: 'success', text })
const refused = (text: string): CommandResult => ({ kind: 'error', text })
