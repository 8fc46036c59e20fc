/**
 * Owns the session of a legacy HTTP server: the id it gave to initialize, the revision, and making a new session, once
 * for all that were refused, when the server lost the old one. A modern server has no session and none of this.
 */
import type { JSONRPCRequest } from '@modelcontextprotocol/client'
import { McpError, messageOf } from '../errors.ts'
import { cleanLine } from '../text.ts'
import { headerOf } from './http-headers.ts'
import type { ReplyHeaders, SessionHeaders } from './http-headers.ts'

const MAX_ID_CHARS = 8 * 1024
const MAX_REASON_CHARS = 500

/** Opens a new session by the handshake that opened the old one, and confirms it. Rejects when the server does not. */
export type Reopen = (handshake: JSONRPCRequest) => Promise<void>

export class HttpSession {
  private live: { readonly id: string; readonly handshake: JSONRPCRequest } | undefined
  private healing: Promise<void> | undefined
  private readonly serverName: string
  private readonly reopen: Reopen
  /** The revision that the handshake settled; `undefined` until then. */
  revision: string | undefined

  constructor(serverName: string, reopen: Reopen) {
    this.serverName = serverName
    this.reopen = reopen
  }

  get sessionId(): string | undefined {
    return this.live?.id
  }

  headers(): SessionHeaders {
    return { sessionId: this.sessionId, revision: this.revision }
  }

  /** Take the id from a reply to initialize, if it has one. Throws McpError for an id that HTTP should not carry. */
  adopt(headers: ReplyHeaders, handshake: JSONRPCRequest): void {
    const id = headerOf(headers, 'mcp-session-id')
    if (id !== undefined && (id.length > MAX_ID_CHARS || !/^[\x21-\x7e]+$/.test(id))) {
      const rule = `a session id must be 1 to ${MAX_ID_CHARS} visible ASCII characters`
      throw new McpError(`the server gave a session id that cannot be used: ${rule}; it has ${id.length}`, {
        code: 'MCP_HTTP_REJECTED',
        server: this.serverName,
        stage: 'connect',
        data: { header: 'mcp-session-id' },
      })
    }
    this.live = id === undefined ? undefined : { id, handshake }
  }

  /** The making of a new session, while there is one. Rejects with MCP_SESSION_LOST. */
  get replacement(): Promise<void> | undefined {
    return this.healing
  }

  /**
   * Make a new session in place of the refused one; all callers share one attempt. At once when the refused one has
   * been replaced already. Rejects with MCP_SESSION_LOST.
   */
  heal(refusedId: string): Promise<void> {
    if (this.healing !== undefined) return this.healing
    if (this.live?.id !== refusedId) return Promise.resolve()
    this.healing = this.replace(this.live.handshake).finally(() => (this.healing = undefined))
    return this.healing
  }

  private async replace(handshake: JSONRPCRequest): Promise<void> {
    this.live = undefined
    try {
      await this.reopen(handshake)
    } catch (cause) {
      const reason = cleanLine(messageOf(cause), MAX_REASON_CHARS)
      throw new McpError(`the server lost the session and no new one could be made: ${reason}`, {
        code: 'MCP_SESSION_LOST',
        server: this.serverName,
        stage: 'connect',
        cause,
      })
    }
  }
}
