/**
 * Owns the Streamable HTTP connection of one session, as a transport for the SDK's client: which message goes which
 * way, the requests in flight, the notification stream, and the end. Why not the SDK's own transport: see
 * docs/decisions/0005-own-http-transport.md.
 */
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client'
import { SYSTEM_CLOCK } from '../clock.ts'
import type { Clock } from '../clock.ts'
import { McpError, isMcpError, messageOf } from '../errors.ts'
import type { Sdk } from '../sdk.ts'
import type { Limits, SessionDiagnostics, SessionEvents } from '../types.ts'
import { HttpAgent } from './http-agent.ts'
import type { Environment } from './http-agent.ts'
import { drain } from './http-body.ts'
import { HttpClient } from './http-client.ts'
import type { Authorizer } from './http-client.ts'
import { Exchange } from './http-exchange.ts'
import { isModern, isModernRevision } from './http-headers.ts'
import { isAnswer } from './http-message.ts'
import { HttpListener } from './http-listener.ts'
import { HttpSession } from './http-session.ts'

/** Bounds of a notification, of making a new session, and of ending it at the server, in milliseconds. */
const NOTIFY_TIMEOUT_MS = 10_000
const REOPEN_TIMEOUT_MS = 15_000
const DELETE_TIMEOUT_MS = 1_000

export interface HttpOptions {
  readonly sdk: Sdk
  readonly serverName: string
  /** Absolute http(s) URL without user info. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly limits: Pick<Limits, 'messageBytes'>
  readonly redact: (text: string) => string
  readonly onNote: SessionEvents['onNote']
  /** A new session took the place of a lost one, or the notification stream was opened again: lists may differ. */
  readonly onResync: () => void
  readonly authorizer?: Authorizer
  readonly clock?: Clock
  /** Epoch milliseconds. */
  readonly epoch?: () => number
  /** 0 to 1. */
  readonly random?: () => number
  /** Where the proxy variables are read. */
  readonly env?: Environment
}
