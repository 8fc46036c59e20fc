/** Types of one live connection: what the later steps may ask of it, what it tells, and what the server may ask. No runtime code. */
import type { ToolExecution } from '@deepseek-ai/dsh-tools'
import type { McpError } from './errors.ts'
import type { JsonObject } from './types-json.ts'

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

/** The agent on whose behalf something runs. */
export type Agent = NonNullable<ToolExecution['agent']>

/** Who is behind a request that is in flight: whatever the server asks meanwhile is asked of them. */
export interface Caller {
  readonly agent: Agent | undefined
  /** The host's ids of the call; absent for what is no tool call. */
  readonly callId?: string
  readonly rootCallId?: string
  /** A person is being waited for: silence does not count until the returned function is called. */
  hold(): () => void
}

export interface RequestOptions {
  /** Aborting tells the server and rejects the request. */
  readonly signal: AbortSignal
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Goes out as the request's `_meta`: the trace that the call belongs to. */
  readonly meta?: JsonObject | undefined
  readonly caller?: Caller | undefined
}

export interface CallOptions extends RequestOptions {
  /** Ask for task-based execution, as revision 2025-11-25 has it: goes out as `task`. */
  readonly task?: JsonObject | undefined
}

/** Requests beside tools/list and tools/call. */
export type RequestMethod =
  | 'resources/list'
  | 'resources/templates/list'
  | 'resources/read'
  | 'prompts/list'
  | 'prompts/get'
  | 'completion/complete'
  | 'tasks/get'
  | 'tasks/result'
  | 'tasks/update'
  | 'tasks/cancel'

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
  /** One request of another method; the result is raw and complete. */
  request(method: RequestMethod, params: JsonObject, options: RequestOptions): Promise<JsonObject>
  /**
   * From now on the server is to tell of changes of exactly these resources. Never rejects; false where the server does
   * not do that.
   */
  watchResources(uris: readonly string[]): Promise<boolean>
  /** Tell the server that other roots hold now, where it was told that there are roots at all. Never rejects. */
  rootsChanged(): Promise<void>
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
  /** The same for the list of prompts. */
  onPromptsChanged?(): void
  /** A resource that is watched is another one now, or may be: the stream of changes was interrupted. */
  onResourceUpdated?(uri: string): void
  /** A log message of the server: one line, redacted, clean and capped. */
  onLog?(level: 'debug' | 'info' | 'warn' | 'error', text: string): void
  /** One line for the operator: already redacted and clean. */
  onNote(level: 'debug' | 'info' | 'warn', text: string): void
}

// ---------------------------------------------------------------- inbound

export type InboundMethod = 'elicitation/create' | 'roots/list' | 'sampling/createMessage'

/** A request of the server, or of an input-required round. Untrusted. */
export interface InboundRequest {
  readonly method: InboundMethod
  readonly params: JsonObject
}

export interface Asking {
  /** Aborts when the server or the caller no longer wants the answer. */
  readonly signal: AbortSignal
  /** Undefined where nobody's request is in flight, or those of several agents are. */
  readonly caller: Caller | undefined
}

/** What a server may ask of its client, and who answers. */
export interface Inbound {
  /**
   * The client capabilities that a connection declares, asked once for each: only what somebody can answer.
   * Undefined values are left out.
   */
  capabilities(): { readonly [key in 'elicitation' | 'roots' | 'sampling']?: JsonObject | undefined }
  /** The result for the server. A rejection is told to it as an error, by its message: no secrets, nothing of the host. */
  answer(request: InboundRequest, asking: Asking): Promise<JsonObject>
}
