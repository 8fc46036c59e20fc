/** Owns the chat with the real model: the same host and servers, the same loop, another route. */
import { createInterface } from 'node:readline/promises'
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import { openConversation } from './conversation.ts'
import type { Conversation } from './conversation.ts'
import { openHost } from './host.ts'
import type { Host } from './host.ts'
import { say, sayPiece, sayRows, styled } from './report.ts'
import { rowsOf } from './transcript.ts'

const PROVIDER = 'deepseek-official'
const MODEL = 'deepseek-v4-flash'
const NO_KEY = `A chat needs a key of the DeepSeek API:

  DEEPSEEK_API_KEY=... npm start -- --chat

Optional: DEEPSEEK_MODEL (${MODEL}), DEEPSEEK_BASE_URL.
Without a key, npm start shows the main job with a scripted model.`

/** Ask one question, or talk until the input ends. Resolves to whether the last turn completed. */
export async function runChat(question: string | undefined): Promise<boolean> {
  if (!process.env['DEEPSEEK_API_KEY']) {
    say(NO_KEY)
    return false
  }
  const host = await openHost()
  const model = process.env['DEEPSEEK_MODEL'] ?? MODEL
  let isCompleted = true
  const onEvent = (event: SessionEvent): void => {
    sayEvent(event)
    if (event.type === 'turn/end') isCompleted = reasonOf(event).kind === 'completed'
  }
  try {
    const conversation = await openConversation(host.ctx, { provider: PROVIDER, model }, onEvent)
    sayServers(host, model)
    if (question === undefined) await talk(host, conversation)
    else await ask(host, conversation, question)
    await conversation.end()
  } finally {
    await host.close()
  }
  return isCompleted
}

async function ask(host: Host, conversation: Conversation, text: string): Promise<void> {
  await conversation.say(text)
  say('')
  sayLog(host)
}

async function talk(host: Host, conversation: Conversation): Promise<void> {
  say('Ctrl-C breaks an answer off, Ctrl-D ends. An edit of cordis.yml is taken over at once.', '')
  const terminal = createInterface({
    input: process.stdin,
    output: process.stdout,
    prompt: styled('cyan', '> '),
  })
  let isBusy = false
  terminal.on('SIGINT', () => (isBusy ? conversation.cancel() : terminal.close()))
  terminal.prompt()
  for await (const line of terminal) {
    isBusy = true
    if (line.trim() !== '') await ask(host, conversation, line)
    isBusy = false
    terminal.prompt()
  }
  say('')
}

function sayServers(host: Host, model: string): void {
  const names = host.servers().map(({ serverName }) => serverName)
  const tools = host.ctx.tools.schemas().length
  say(`${model} with ${tools} tools; MCP servers: ${names.join(', ')}.`)
  say(`The filesystem server may touch ${host.files} alone; the folder goes when the chat ends.`)
  sayLog(host)
}

/** Warnings of the host, such as a server that does not connect. */
function sayLog(host: Host): void {
  sayRows(host.takeLog().map((line) => ['log', line]))
}

/** Text as it streams in; calls and results as lines. */
function sayEvent(event: SessionEvent): void {
  switch (event.type) {
    case 'assistant/chunk': {
      const { chunk } = event.data as SessionEvent<'assistant/chunk'>['data']
      if (chunk.type === 'text-delta') sayPiece(chunk.text)
      if (chunk.type === 'block-end' && chunk.block.type === 'text') sayPiece('\n')
      return
    }
    case 'turn/end': {
      const reason = reasonOf(event)
      if (reason.kind === 'error') say(styled('red', `The turn failed: ${reason.error.message}`))
      else if (reason.kind !== 'completed') say(styled('yellow', `The turn ended: ${reason.kind}`))
      return
    }
    default:
      // What the user typed is on the screen, and the model's text was streamed.
      sayRows(
        rowsOf(event).filter(
          ([label, text]) => label !== 'user' && !(label === 'model' && !text.startsWith('calls ')),
        ),
      )
  }
}

function reasonOf(event: SessionEvent): SessionEvent<'turn/end'>['data']['reason'] {
  return (event.data as SessionEvent<'turn/end'>['data']).reason
}
