/** Owns the judging of an address that a server wants a person to open: what is refused, and how the rest is shown. Pure. */
import type { AskUserQuestionItem } from '@deepseek-ai/dsh-user-questions'
import type { JsonObject } from '../types.ts'
import { headerOf, quoted } from './question-words.ts'
import type { Asker } from './question-words.ts'
import { invalid } from './refusal.ts'

export const DONE = 'I have done it'
export const DECLINE_ADDRESS = 'Decline'
const MAX_ADDRESS_CHARS = 4_096
const MAX_MESSAGE_CHARS = 4_096
/** A name in ASCII, or an address: nothing that Markdown would take for a sign. */
const PLAIN_HOST = /^([a-z\d._-]+|\[[\da-f:.]+\])$/
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * The address of one elicitation/create in URL mode.
 * @throws InboundRefusal for one that nobody should be led to
 */
export function readAddress(params: JsonObject): URL {
  const text = params['url']
  if (typeof text !== 'string' || text.length > MAX_ADDRESS_CHARS || !URL.canParse(text))
    throw invalid('url must be a full address')
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(url.hostname)))
    throw invalid('url must be https, or http of this machine')
  if (!PLAIN_HOST.test(url.hostname)) throw invalid('url must have a plain host name')
  if (url.username !== '' || url.password !== '') throw invalid('url must not have user information')
  return url
}

/** Whether the person went there. Nothing is opened or fetched by us. */
export function addressQuestion(url: URL, message: unknown, asker: Asker): AskUserQuestionItem {
  const disguise = /(^|\.)xn--/.test(url.hostname)
    ? ['', 'The name of this host is written in other letters than it seems to be in a browser. Be careful.']
    : []
  return {
    id: 'address',
    header: headerOf(asker),
    question: `MCP server "${asker.serverName}" asks you to open a page at ${url.host}. Do you want to?`,
    detail: [
      ...quoted(typeof message === 'string' ? message : '', MAX_MESSAGE_CHARS, asker),
      `Host: \`${url.host}\``,
      ...disguise,
      '',
      // The parsed address is ASCII and has no angle bracket: the whole of it stands there, and what is seen is what opens.
      `Open this address yourself: <${url.href}>`,
      '',
      'Nothing was opened for you. Open it only if you expected it, then say so here.',
    ].join('\n'),
    options: [
      { label: DONE, description: 'The server is told that you opened it' },
      { label: DECLINE_ADDRESS, description: 'The server is told that you do not' },
    ],
  }
}
