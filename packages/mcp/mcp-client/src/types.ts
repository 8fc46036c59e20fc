/**
 * Shared types of all steps: config -> connection -> discovery -> registry -> execution -> projection.
 * No runtime code. Values that travel are plain and frozen.
 */
import type { JsonValue, ToolDefinition } from '@deepseek-ai/dsh-tools'
import type { McpError } from './errors.ts'
import type { Exposure, ToolsSpec } from './types-config.ts'

export type * from './types-config.ts'
export type { JsonValue }
export type JsonObject = { [key: string]: JsonValue }

// ---------------------------------------------------------------- tools

/** What one server's definitions take, in bytes of JSON. */
export interface DefinitionBytes {
  /** Of all its tools. */
  readonly total: number
  /** Of the tools that are in the request in any exposure. */
  readonly fixed: number
}

/** One tool as the model can use it, whichever way. */
export interface OfferedTool {
  readonly publicName: string
  /** The server's own text, like the title: not for people as it is. */
  readonly rawName: string
  readonly serverName: string
  readonly title?: string
  readonly exposure: Exposure
  /** Of its definition as JSON, as the host sends it. */
  readonly bytes: number
  readonly definition: ToolDefinition
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
  /** Goes out as the request's `_meta`: the trace that the call belongs to. */
  readonly meta?: JsonObject | undefined
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

/** A listed tool that the row does not take. */
export interface DeniedTool {
  readonly rawName: string
  readonly publicName: string
  /** The rule that keeps it out, such as `tools.deny "delete_*"`. */
  readonly rule: string
}

/** What one server offers at one moment; frozen. */
export interface Catalog {
  /** In stable order: by raw name. */
  readonly entries: readonly CatalogEntry[]
  readonly denied: readonly DeniedTool[]
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

/** What the calls of one server came to since its row was loaded. Times are of the last 256 settled calls. */
export interface CallTotals {
  readonly total: number
  /** Failures of any kind, the tool's own included; aborted calls are apart. */
  readonly failed: number
  readonly aborted: number
  /** In flight or waiting for their turn. */
  readonly active: number
  readonly p50Ms?: number
  readonly p95Ms?: number
  /** Milliseconds since the epoch at which the last call settled. */
  readonly lastAt?: number
}

/** A tool in whose definition something was hidden from people. It was removed from all that is shown. */
export interface FlaggedTool {
  /** The raw name, clean and capped. */
  readonly name: string
  /** Characters that show nothing or turn the text around, and terminal sequences. */
  readonly hidden: number
  /** The first places, such as `description` or `inputSchema/properties/city/enum/0`; clean and capped. */
  readonly places: readonly string[]
}

/** A tool whose definition is not the one that was pinned. Texts are redacted and nothing in them is hidden. */
export interface PinChange {
  readonly name: string
  /** `held`: withheld until approved; `changed`: taken over and reported, until the host ends. */
  readonly state: 'held' | 'changed'
  /** Where it differs, such as `description` or `inputSchema.properties.path`. */
  readonly places: readonly string[]
  /** Unified diff, capped; a sentence in brackets where there is none. */
  readonly diff: string
  /** Milliseconds since the epoch at which this definition was first seen. */
  readonly since: number
}

export interface ServerStatus {
  readonly serverName: string
  /** The transport of the last try. */
  readonly transport: 'stdio' | 'streamable-http' | 'sse'
  /** The command line, or the url without its query: redacted, one line. */
  readonly target: string
  readonly state: ServerState
  /** Milliseconds since the epoch at which the state was entered. */
  readonly since: number
  /** Failed attempts of the current outage. */
  readonly attempt: number
  /** Milliseconds since the epoch of the next attempt; only in `backoff`. */
  readonly nextRetryAt?: number
  readonly lastError?: { readonly code: string; readonly message: string }
  /** Where a person logs in, while the server waits for that. */
  readonly login?: string
  readonly facts?: SessionFacts
  /** Of the running process. */
  readonly pid?: number
  /** Resident memory of the process and its descendants; only from `ctx.mcpServers`, and only on Linux. */
  readonly rssBytes?: number
  /** How the last process ended, such as `exit code 3`; gone once another one runs. */
  readonly exit?: string
  /** The end of what the process wrote to stderr; stays after its end, until another one runs. */
  readonly stderrTail?: string
  readonly calls: CallTotals
  /** Milliseconds since the epoch at which the list of tools was taken; absent while there is none. */
  readonly listedAt?: number
  readonly tools: {
    /** In the request. */
    readonly registered: number
    /** Reached by mcp_search and mcp_call. */
    readonly searchable: number
    /** All definitions as JSON, and those of them that are in the request. */
    readonly definitionBytes: number
    readonly requestBytes: number
    /** Every tool by public name. The same array while nothing changed. */
    readonly offered: readonly Pick<OfferedTool, 'publicName' | 'rawName' | 'exposure' | 'bytes'>[]
    readonly quarantined: readonly Quarantined[]
    /** The registered tools of whose schemas something was rewritten. */
    readonly rewritten: readonly RewrittenTool[]
    /** Listed, and kept out by tools.allow or tools.deny. */
    readonly denied: readonly { readonly name: string; readonly rule: string }[]
    /** Withheld until a person approves them. */
    readonly held: readonly { readonly name: string; readonly reason: string; readonly since: number }[]
    /** Taken over although their definitions changed; `pins()` has the differences. */
    readonly changed: readonly Omit<PinChange, 'state' | 'diff'>[]
    /** The registered tools in whose definitions something was hidden. */
    readonly flagged: readonly FlaggedTool[]
  }
}

// ---------------------------------------------------------------- companions

/** A call as an observer sees it when it begins. No arguments. */
export interface CallStart {
  readonly serverName: string
  /** The raw name, clean and capped. */
  readonly tool: string
  /** The host's id of the call. */
  readonly callId?: string
  readonly transport: ServerStatus['transport']
  /** Of an HTTP server. */
  readonly host?: { readonly address: string; readonly port: number }
  /** The negotiated revision, where there is a session. */
  readonly revision?: string
}

/** A call as it ended. No arguments, no results, no messages. */
export interface CallSettled {
  readonly serverName: string
  /** The raw name, clean and capped. */
  readonly tool: string
  /** The host's id of the call. */
  readonly callId?: string
  /** From the arguments to the result, waiting included. */
  readonly durationMs: number
  /** `tool-failed`: the tool itself says so. `failed`: it could not be called, or nothing usable came back. */
  readonly outcome: 'ok' | 'tool-failed' | 'failed' | 'aborted'
  /** One of the codes in errors.ts; absent where the call went well. */
  readonly code?: string
}

/** What goes around every call while somebody watches. */
export interface CallObserver {
  /** Runs the call exactly once and hands on its outcome, whatever becomes of the watching. */
  around<T>(call: CallStart, run: () => Promise<T>): Promise<T>
  /** What the request of the call around it carries as `_meta`. */
  meta(): JsonObject | undefined
}

/** A live server as status, search and commands see it: snapshots and verbs, never a client. */
export interface ServerHandle {
  readonly serverName: string
  /** How the row wants its tools to be offered. */
  readonly tools: ToolsSpec
  status(): ServerStatus
  /** Close the connection, if there is one, and connect again with a fresh budget of attempts. */
  restart(): void
  /** What the host knows its row's scope by, such as an agent preset; undefined: all agents see its tools. */
  readonly scope: object | undefined
  /** By public name; the same array while nothing changed. */
  offered(): readonly OfferedTool[]
  find(publicName: string): OfferedTool | undefined
  /** Register a tool of search in the scope of its row until the returned function is called. Throws what the host does. */
  lend(publicName: string): () => void
  /** Register a tool of our own in the scope of the row; it goes with the row at the latest. Throws what the host does. */
  register(definition: ToolDefinition): () => void
  /**
   * Trust what is withheld, and publish it at once.
   * @param tool raw name as in the status; `*`, or none, is every tool
   * @returns raw names that were approved; empty where nothing of that name waits
   */
  approve(tool?: string): Promise<readonly string[]>
  /** Definitions that are not the pinned ones, with their differences. */
  pins(): readonly PinChange[]
}
