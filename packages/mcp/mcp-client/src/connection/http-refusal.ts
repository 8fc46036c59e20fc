/**
 * Owns what a reply without a 2xx status means: an answer after all, a lost session, a wait, missing authorization, or
 * an error; and the short clean text of it for people. Pure.
 */
import { STATUS_CODES } from 'node:http'
import type { JSONRPCErrorResponse, JSONRPCMessage, SdkHttpError } from '@modelcontextprotocol/client'
import type { Sdk } from '../sdk.ts'
import { cleanLine, cleanText, cutBytes } from '../text.ts'
import { readEnvelope } from './envelope.ts'
import { headerOf } from './http-headers.ts'
import type { ReplyHeaders } from './http-headers.ts'

/** The longest announced wait that a message sits out, in milliseconds; a longer one fails it at once. */
export const MAX_COOLDOWN_MS = 30_000
const MIN_COOLDOWN_MS = 250
const MAX_TEXT_BYTES = 4 * 1024
const MAX_PAGE_CHARS = 300

export interface Refusal {
  readonly status: number
  readonly headers: ReplyHeaders
  /** The start of the body as it came: not redacted, not cleaned. */
  readonly text: string
}

/** The message that was refused. */
export interface Refused {
  readonly message: JSONRPCMessage
  /** The session that the request named. */
  readonly sessionId: string | undefined
}

export type Verdict =
  /** The server answered the request with an error, in the envelope of an HTTP error. */
  | { readonly kind: 'answer'; readonly message: JSONRPCErrorResponse }
  /** The server does not know the session: it did not process the message. */
  | { readonly kind: 'session' }
  /** Refused for now; `resend` where the message surely did not run. */
  | { readonly kind: 'wait'; readonly delayMs: number; readonly resend: boolean }
  | { readonly kind: 'auth' }
  | { readonly kind: 'error' }

/** Judge a refusal. `now` is the epoch time that a Retry-After date is measured from. */
export function judge(refusal: Refusal, refused: Refused, now: number): Verdict {
  const { status, text } = refusal
  if (status === 401 || status === 403) return { kind: 'auth' }
  if (status === 429 || status === 503) {
    const delayMs = retryAfterMs(refusal.headers, now)
    if (delayMs === undefined || delayMs > MAX_COOLDOWN_MS) return { kind: 'error' }
    return { kind: 'wait', delayMs, resend: status === 429 || !mayHaveEffects(refused.message) }
  }
  if (status < 400 || status > 499) return { kind: 'error' }
  const answer = answerIn(text, refused.message)
  if (refused.sessionId !== undefined && deniesSession(status, text, answer !== undefined))
    return { kind: 'session' }
  return answer === undefined ? { kind: 'error' } : { kind: 'answer', message: answer }
}

/** Whether a refusal of a request with a session id means that the id is not known; an answer says otherwise. */
export function deniesSession(status: number, text: string, isAnswer = false): boolean {
  if (status === 404 && !isAnswer) return true
  return (status === 400 || status === 404) && SESSION_WORDS.test(text)
}

/** Whether a message may change something at the server, so that it must not be sent twice by itself. */
export function mayHaveEffects(message: JSONRPCMessage): boolean {
  if (!('method' in message)) return true
  const { method } = message
  return !(method.endsWith('/list') || method.startsWith('notifications/') || HARMLESS.has(method))
}

const HARMLESS = new Set(['ping', 'server/discover', 'resources/read', 'prompts/get'])

/** How servers say with 400 or 404 that they do not know the session. */
const SESSION_WORDS =
  /session[\w -]{0,40}\b(?:not found|unknown|invalid|missing|expired|terminated|closed|required|not initialized|does not exist)|(?:no|not|invalid|unknown|missing|expired|bad)\b[\w -]{0,40}\bsession|server not initialized/i

function answerIn(text: string, message: JSONRPCMessage): JSONRPCErrorResponse | undefined {
  if (!('method' in message) || !('id' in message)) return undefined
  try {
    const answers = readEnvelope(JSON.parse(text)).messages
    return answers.find(
      (answer): answer is JSONRPCErrorResponse => 'error' in answer && answer.id === message.id,
    )
  } catch {
    return undefined // not JSON: no answer
  }
}

/** Retry-After in milliseconds, whether seconds or a date. */
function retryAfterMs(headers: ReplyHeaders, now: number): number | undefined {
  const value = headerOf(headers, 'retry-after')?.trim() ?? ''
  if (/^\d{1,9}$/.test(value)) return Math.max(MIN_COOLDOWN_MS, Number(value) * 1000)
  const date = Date.parse(value)
  if (Number.isNaN(date)) return undefined
  // The server's own clock, where it tells, is the one that the date was made with.
  const base = Date.parse(headerOf(headers, 'date') ?? '')
  return Math.max(MIN_COOLDOWN_MS, date - (Number.isNaN(base) ? now : base))
}

/** The error that the SDK knows: era detection and errors.ts read its status and text. */
export function refusalError(sdk: Sdk, refusal: Refusal, redact: (text: string) => string): SdkHttpError {
  const { status } = refusal
  const { SdkErrorCode } = sdk
  const code =
    status === 401
      ? SdkErrorCode.ClientHttpAuthentication
      : status === 403
        ? SdkErrorCode.ClientHttpForbidden
        : SdkErrorCode.ClientHttpNotImplemented
  const statusText = STATUS_CODES[status] ?? ''
  const text = excerptOf(refusal, redact)
  return new sdk.SdkHttpError(code, `the server answered HTTP ${status} ${statusText}: ${text}`, {
    status,
    statusText,
    text,
  })
}

/** What to show of an error body: a page's title or first words, else the text; clean, redacted, at most 4 KiB. */
export function excerptOf({ headers, text }: Refusal, redact: (text: string) => string): string {
  // In this order: a hidden character inside a secret must not save it.
  const safe = redact(cleanText(text))
  const wait = headerOf(headers, 'retry-after')
  const prefix = wait === undefined ? '' : `retry after ${cleanLine(wait, 40)}: `
  if (!/^\s*<(?:!doctype|html|head|body|\?xml)/i.test(safe)) return prefix + cutBytes(safe, MAX_TEXT_BYTES)
  const title = /<title[^>]{0,100}>([^<]{0,1000})/i.exec(safe)?.[1]?.trim() ?? ''
  const words = title === '' ? safe.slice(0, MAX_TEXT_BYTES).replace(/<[^>]*>?/g, ' ') : title
  return prefix + cleanLine(words, MAX_PAGE_CHARS)
}
