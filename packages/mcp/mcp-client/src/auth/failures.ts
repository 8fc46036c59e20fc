/** Owns what becomes of the errors of an authorization: ours, clean, and worth another try or not. */
import { McpError, isMcpError, messageOf } from '../errors.ts'
import { loadedSdk } from '../sdk.ts'
import { safeLine } from '../text.ts'
import { LockTimeout } from './lock.ts'

export interface Failures {
  /** Only a person, or a change of the row, helps. */
  failed(what: string): McpError
  /** Errors of the SDK and of the network, as ours. Their causes stay behind: they hold what servers said. */
  told<T>(work: () => Promise<T>): Promise<T>
}

const MAX_REASON_CHARS = 300
/** Answers of a token endpoint that say nothing about the login. `server_error` is also what the SDK calls nonsense. */
const PASSING: ReadonlySet<string> = new Set([
  'server_error',
  'temporarily_unavailable',
  'too_many_requests',
  'slow_down',
])

/** Whether the authorization server has judged: its refusal stands until somebody logs in anew. */
export function isVerdict(error: unknown): error is Error & { readonly code: string } {
  const OAuthError = loadedSdk()?.OAuthError
  return OAuthError !== undefined && error instanceof OAuthError && !PASSING.has(error.code)
}

/** Whether it may be otherwise in a while. */
function isPassing(error: unknown): boolean {
  const OAuthError = loadedSdk()?.OAuthError
  if (OAuthError !== undefined && error instanceof OAuthError) return PASSING.has(error.code)
  // No JSON: a gateway, or the login page of a network. "HTTP 503 trying to load ...": the SDK's words for metadata.
  return error instanceof LockTimeout || error instanceof SyntaxError || /^HTTP 5\d\d /.test(messageOf(error))
}

export function createFailures(serverName: string, redact: (text: string) => string): Failures {
  const failed = (what: string): McpError =>
    new McpError(`authorization failed: ${what}`, {
      code: 'MCP_AUTH_FAILED',
      server: serverName,
      stage: 'auth',
    })
  return {
    failed,
    async told(work) {
      try {
        return await work()
      } catch (error) {
        if (isMcpError(error)) throw error
        const words = safeLine(messageOf(error), redact, MAX_REASON_CHARS)
        if (!isPassing(error)) throw failed(words)
        throw new McpError(`authorization is not possible now: ${words}`, {
          code: 'MCP_HTTP_UNAVAILABLE',
          server: serverName,
          stage: 'auth',
        })
      }
    },
  }
}
