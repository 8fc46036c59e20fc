/** Owns what an HTTP transport is made of, and the check of its address. Pure. */
import type { Clock } from '../clock.ts'
import { McpError } from '../errors.ts'
import type { Sdk } from '../sdk.ts'
import type { Limits, SessionEvents } from '../types.ts'
import type { Environment } from './http-agent.ts'
import type { Authorizer } from './http-client.ts'

export interface HttpOptions {
  readonly sdk: Sdk
  readonly serverName: string
  /** Absolute http(s) URL without user info. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly limits: Pick<Limits, 'messageBytes'>
  readonly redact: (text: string) => string
  readonly onNote: SessionEvents['onNote']
  /**
   * A new session took the place of a lost one, or the notification stream was opened again: lists may differ. A new
   * session knows nothing of what the lost one was told.
   */
  readonly onResync: (isNewSession: boolean) => void
  readonly authorizer?: Authorizer
  readonly clock?: Clock
  /** Epoch milliseconds. */
  readonly epoch?: () => number
  /** 0 to 1. */
  readonly random?: () => number
  /** Where the proxy variables are read. */
  readonly env?: Environment
}

/** The text itself is never shown: it may hold a password. */
export function checkedUrl({ url, serverName }: Pick<HttpOptions, 'url' | 'serverName'>): URL {
  const parsed = URL.parse(url)
  if (parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.username + parsed.password === '')
    return parsed
  throw new McpError('url must be an absolute http or https URL without user info', {
    code: 'MCP_CONFIG_INVALID',
    server: serverName,
    stage: 'config',
  })
}
