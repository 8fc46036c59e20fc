/**
 * Shared types of all steps: config -> connection -> discovery -> registry -> execution -> projection.
 * No runtime code. Values that travel are plain and frozen.
 */
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import type { Exposure, ToolsSpec } from './types-config.ts'
import type { JsonObject } from './types-json.ts'
import type { CallOptions, Session, SessionFacts } from './types-session.ts'

export type * from './types-config.ts'
export type * from './types-json.ts'
export type * from './types-session.ts'

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
  /** Only on a tool of our own: what runs in place of tools/call. Its result has the shape of one. */
  readonly run?: (session: Session, args: JsonObject, options: CallOptions) => Promise<JsonObject>
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

/** A call that has not settled. */
export interface RunningCall {
  /** The raw name, clean and capped. */
  readonly tool: string
  /** Milliseconds since the epoch. */
  readonly since: number
  /** The last progress in the server's words, such as `3 of 10: indexing`; clean and capped. */
  readonly progress?: string
}

/** What the calls of one server came to since its row was loaded. Times are of the last 256 settled calls. */
export interface CallTotals {
  readonly total: number
  /** Failures of any kind, the tool's own included; aborted calls are apart. */
  readonly failed: number
  readonly aborted: number
  /** In flight or waiting for their turn. */
  readonly active: number
  /** The first of them; absent where there are none. */
  readonly running?: readonly RunningCall[]
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
  /** Slash commands of its prompts, by prompt. Names are clean and capped. */
  readonly prompts: readonly { readonly command: string; readonly name: string }[]
  /** What its instructions take in the system prompt, in bytes; 0 where they are not there. */
  readonly instructionBytes: number
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
  /** That of the status, without the making of it. */
  state(): ServerState
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
