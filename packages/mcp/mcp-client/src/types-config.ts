/** Types of one server's configuration: the frozen result of the one resolve step. No runtime code. */

/** Automatic reconnection of one server; all times in milliseconds. */
export interface ReconnectPolicy {
  readonly enabled: boolean
  readonly initialDelayMs: number
  /** Backoff ceiling, and the uptime after which an outage counts as over. */
  readonly maxDelayMs: number
  /** Consecutive failed attempts of one outage before the server is given up. */
  readonly maxAttempts: number
}

export interface StartupSpec {
  /** How long activation waits for the first catalog. */
  readonly waitMs: number
  /** Wall of one connect-and-discover attempt. */
  readonly timeoutMs: number
  readonly mode: 'eager' | 'lazy'
}

/** Caps on what a server may cost. Bytes are UTF-8 bytes. */
export interface Limits {
  readonly resultTextBytes: number
  readonly messageBytes: number
  readonly tools: number
  readonly pages: number
  readonly stderrBytes: number
  /** Calls in flight at one server. */
  readonly concurrency: number
}

/** What of a server's tools is taken and how it is offered. Globs are over raw names. */
export interface ToolsSpec {
  readonly duplicates: 'reject' | 'keep-first'
  readonly allow: readonly string[]
  /** Wins over `allow`. */
  readonly deny: readonly string[]
  readonly exposure: Exposure | 'auto'
  /** Bytes of all MCP definitions together up to which `auto` is direct. */
  readonly budgetBytes: number
  readonly alwaysDirect: readonly string[]
  readonly approval: 'never' | 'destructive' | 'write' | 'always' | readonly ApprovalRule[]
}

/** In the request, or reached by mcp_search and mcp_call. */
export type Exposure = 'direct' | 'search'

/** The first rule whose glob matches a raw name decides; without one the call is allowed. */
export interface ApprovalRule {
  readonly match: string
  readonly decision: 'allow' | 'ask' | 'deny'
}

export interface StdioTarget {
  readonly kind: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  /** Explicit variables from the row, merged over the scrubbed parent environment. */
  readonly env: Readonly<Record<string, string>>
  /** Working directory; absent means the host's. */
  readonly cwd?: string
  /** Names of host variables that are passed on although the scrub would drop them. */
  readonly inheritEnv: readonly string[]
}

export interface HttpTarget {
  readonly kind: 'http'
  /** `auto` is Streamable HTTP with fallback to SSE: a url without a transport key. */
  readonly flavour: 'streamable-http' | 'sse' | 'auto'
  /** Absolute http(s) URL without user info. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Absent: the row's headers are all there is. */
  readonly auth?: AuthSpec
}

/** How a server that asks for authorization gets it. */
export interface AuthSpec {
  /** `auto`: OAuth where the server asks and the row has no Authorization header of its own. */
  readonly mode: 'auto' | 'off' | 'client-credentials' | 'jwt-bearer'
  /** Program and arguments that print further headers; empty for none. */
  readonly headersCommand: readonly string[]
  readonly clientId?: string
  readonly clientSecret?: string
  /** HTTPS URL of our client metadata document. */
  readonly clientMetadataUrl?: string
  /** PEM of the key that signs for the client, in place of a secret. */
  readonly privateKey?: string
  readonly algorithm: string
  /** Program and arguments that print a JWT or, with `idp`, an ID token. */
  readonly assertionCommand: readonly string[]
  /** Where an ID token is exchanged for a grant. */
  readonly idp?: { readonly tokenEndpoint: string; readonly clientId: string; readonly clientSecret?: string }
  readonly scopes: readonly string[]
  /** The only issuer that is accepted. */
  readonly issuer?: string
  /** Port of the loopback address that a login comes back to; 0 for any. */
  readonly callbackPort: number
}

export type Target = StdioTarget | HttpTarget

/** Model calls on behalf of a server. */
export interface SamplingSpec {
  readonly mode: 'off' | 'ask' | 'allow'
  /** Tokens of one answer, whatever the server asks for. */
  readonly maxTokens: number
  /** Answers during one call of a tool. */
  readonly maxRequests: number
  /** Model of the calling agent's provider; absent means the agent's own. */
  readonly model?: string
}

/** Severities of RFC 5424, as the protocol names them. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

/** What is taken of a server besides its tools, and what it may ask. */
export interface BeyondSpec {
  /** Two tools that list and read what it offers. */
  readonly resources: boolean
  /** Slash commands. */
  readonly prompts: boolean
  /** Its instructions in the system prompt. */
  readonly instructions: boolean
  /** It may ask the person. */
  readonly elicitation: boolean
  /** `auto`: the workspace of the agent whose call is in flight; `workspace`: at any time. */
  readonly roots: 'auto' | 'workspace' | 'off'
  readonly sampling: SamplingSpec
  /** Least severe of its log messages that is wanted. */
  readonly logLevel: LogLevel | 'off'
}

/** One configured server: the frozen result of the one resolve step. Nothing later has a default. */
export interface ServerSpec extends BeyondSpec {
  readonly serverName: string
  readonly target: Target
  /** `auto` probes; `legacy` never probes; a revision such as `2026-07-28` or `2025-06-18` is pinned. */
  readonly protocol: 'auto' | 'legacy' | (string & {})
  /** Silence allowed in one call, in milliseconds; progress resets it. */
  readonly toolCallTimeoutMs: number
  /** Absolute wall of one call, in milliseconds. */
  readonly toolCallMaxMs: number
  readonly startup: StartupSpec
  readonly failOnStartupError: boolean
  /** Believe the tools' annotations; see execution/policy.ts. */
  readonly trustAnnotations: boolean
  readonly reconnect: ReconnectPolicy
  readonly tools: ToolsSpec
  /** What happens to a known tool whose definition changed between runs. */
  readonly pin: 'off' | 'warn' | 'hold'
  readonly limits: Limits
  /** Cuts every configured secret out of a text that leaves (log, error, status). */
  readonly redact: (text: string) => string
  /** From now on this is a secret too: a token, a printed header. */
  readonly learn: (secret: string) => void
}
