/**
 * Shared types of all steps: config -> connection -> discovery -> registry -> execution -> projection.
 * No runtime code. Values that travel are plain and frozen.
 */
import type { JsonValue } from '@deepseek-ai/dsh-tools'
import type { McpError } from './errors.ts'

export type { JsonValue }
export type JsonObject = { [key: string]: JsonValue }

// ---------------------------------------------------------------- config

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
}

export type Target = StdioTarget | HttpTarget

/** One configured server: the frozen result of the one resolve step. Nothing later has a default. */
export interface ServerSpec {
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
}

// ---------------------------------------------------------------- connection

/** Number of one transport and client; never reused within a server. */
export type Generation = number
export type Era = 'legacy' | 'modern'

/** What the server said about itself when the session opened. Untrusted text. */
export interface SessionFacts {
  readonly era: Era
  /** Negotiated protocol revision, such as `2025-11-25`. */
  readonly revision: string
  readonly serverInfo?: {
    readonly name: string
    readonly version: string
    readonly title?: string | undefined
  }
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions?: string
}

export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** What a tools/call needs of a tool: its wire name, and its own schema for header mirroring. */
export interface WireTool {
  readonly rawName: string
  readonly inputSchema: JsonObject
}

export interface CallOptions {
  /** Aborting tells the server and rejects the call. */
  readonly signal: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

/** Facts for errors and status. Texts are redacted and clean. */
export interface SessionDiagnostics {
  readonly pid?: number
  /** How the child ended, such as `exit code 3` or `signal SIGKILL`. */
  readonly exit?: string
  readonly stderrTail?: string
}

/**
 * One live connection: the only way back from the later steps to the wire. Every method rejects with McpError.
 * Results are the server's own JSON, not validated by the SDK: parse them item by item.
 */
export interface Session {
  readonly generation: Generation
  readonly facts: SessionFacts
  /** One raw page of tools/list; an empty-string cursor is a cursor. */
  listTools(cursor: string | undefined, signal: AbortSignal): Promise<JsonObject>
  /** One tools/call; the result is raw and complete. */
  callTool(tool: WireTool, args: JsonObject, options: CallOptions): Promise<JsonObject>
  diagnostics(): SessionDiagnostics
  /** Whether a change of the tool list would be heard of: announced, and no stream for it given up. */
  hearsChanges(): boolean
  /** The one teardown promise: all callers share it. Settles when the transport confirmed its end. */
  close(): Promise<void>
}

/** What a session tells its owner. Each may come at any time until `close()` has settled. */
export interface SessionEvents {
  /** The transport ended by itself, or calls prove it dead. At most once. */
  onDown(reason: McpError): void
  /** The tool list may have changed: a notification, a healed HTTP session, a re-opened stream. */
  onToolsChanged(): void
  /** One line for the operator: already redacted and clean. */
  onNote(level: 'debug' | 'info' | 'warn', text: string): void
}

// ---------------------------------------------------------------- discovery

/** Behaviour hints as the server claims them; untrusted unless the row says so. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** One tool a server offers. */
export interface CatalogEntry {
  /** Exact name on the wire. */
  readonly rawName: string
  /** Name the model sees. */
  readonly publicName: string
  readonly title?: string
  readonly description: string
  /** The server's own input schema. */
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  readonly annotations: ToolAnnotations
  /** The server demands task-based execution of it. */
  readonly taskRequired: boolean
  /** Equal digests mean an equal definition. */
  readonly digest: string
}

/** A tool that was left out, alone, with the reason. */
export interface Quarantined {
  /** The raw name, or a position such as `#3` where it has none. Clean and capped. */
  readonly name: string
  readonly reason: string
}

/** What one server offers at one moment; frozen. */
export interface Catalog {
  /** In stable order: by raw name. */
  readonly entries: readonly CatalogEntry[]
  readonly quarantined: readonly Quarantined[]
  /** Said once to the operator: caps hit, pages repeated. */
  readonly warnings: readonly string[]
}

// ---------------------------------------------------------------- status

export type ServerState =
  'idle' | 'connecting' | 'syncing' | 'ready' | 'closing' | 'backoff' | 'needs-auth' | 'failed' | 'stopped'

/** What of one tool's schemas was not passed on to the model as the server wrote it. */
export interface RewrittenTool {
  /** The raw name, clean and capped. */
  readonly name: string
  /** How many; `rewrites` has the first of them. */
  readonly count: number
  readonly rewrites: readonly {
    readonly path: string
    readonly keyword: string
    /** One of the reasons in schema/run.ts. */
    readonly reason: string
  }[]
}

export interface ServerStatus {
  readonly serverName: string
  readonly state: ServerState
  /** Milliseconds since the epoch at which the state was entered. */
  readonly since: number
  /** Failed attempts of the current outage. */
  readonly attempt: number
  /** Milliseconds since the epoch of the next attempt; only in `backoff`. */
  readonly nextRetryAt?: number
  readonly lastError?: { readonly code: string; readonly message: string }
  readonly facts?: SessionFacts
  readonly pid?: number
  readonly stderrTail?: string
  readonly tools: {
    readonly registered: number
    readonly quarantined: readonly Quarantined[]
    /** The registered tools of whose schemas something was rewritten. */
    readonly rewritten: readonly RewrittenTool[]
  }
}

// ---------------------------------------------------------------- companions

/** A live server as status, search and commands see it: snapshots and verbs, never a client. */
export interface ServerHandle {
  readonly serverName: string
  /** How the row wants its tools to be offered. */
  readonly tools: ToolsSpec
  status(): ServerStatus
  /** Close the connection, if there is one, and connect again with a fresh budget of attempts. */
  restart(): void
}
