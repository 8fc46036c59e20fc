/**
 * Owns answering single HTTP requests by hand, for the rows of HTTP.
 */
import type { ServerResponse } from 'node:http'
import type { Message } from '../behaviour.ts'
import type { HttpFault } from './row.ts'

export const isCall = (message: Message | undefined): boolean => message?.method === 'tools/call'

/** Answer these messages by hand; the rest is healthy. */
export function onMessage(
  matches: (message: Message | undefined) => boolean,
  respond: (
    res: ServerResponse,
    message: Message,
    headers: Readonly<Record<string, unknown>>,
  ) => void | Promise<void>,
): HttpFault {
  return () => ({
    async intercept(_req, res, { message, headers }) {
      if (message === undefined || !matches(message)) return false
      await respond(res, message, headers)
      return true
    },
  })
}

/** The first call only. */
export function onFirstCall(
  respond: (res: ServerResponse, message: Message) => void | Promise<void>,
): HttpFault {
  return (era) => {
    let done = false
    const isFirst = (message: Message | undefined): boolean => {
      if (!isCall(message) || done) return false
      done = true
      return true
    }
    return onMessage(isFirst, respond)(era)
  }
}

/** One status, with a body that says no. */
export function answerStatus(status: number, body = 'no', type = 'text/plain') {
  return (res: ServerResponse): void => void res.writeHead(status, { 'content-type': type }).end(body)
}
