/**
 * Owns the shape of a row of the fault table: one fault of a server, what to do, and what is right. The same row runs
 * over stdio and HTTP and in both eras; who runs it also holds the invariants that are true of every row.
 */
import type { Behaviour, Era, Message, Options, Params, Run } from '../behaviour.ts'
import type { HttpServer, HttpServerOptions } from '../servers/http.ts'

export type FaultTransport = 'stdio' | 'http'

/** How one call ended. */
export interface Outcome {
  readonly isError: boolean
  /** Text of the content, or of the failure. */
  readonly text: string
  /** Milliseconds it took. */
  readonly ms: number
}

/** The client under test as a row sees it: one configured server in a real host. */
export interface Scene {
  readonly transport: FaultTransport
  readonly era: Era
  /** Milliseconds that start-up took. */
  readonly startMs: number
  /** Public names that are registered now. */
  tools(): readonly string[]
  /** Call by raw name; never rejects. Fails the row when it does not settle within its limit and two seconds. */
  call(rawName: string, args?: unknown, signal?: AbortSignal): Promise<Outcome>
  /** What the operator was told so far: `level: text`. */
  readonly logs: readonly string[]
  /** Wait until it holds, as the host shows it. @throws Error after `limitMs` (10,000) */
  until(holds: () => boolean | Promise<boolean>, limitMs?: number): Promise<void>
  /** What the server got so far, over all its starts. */
  received(): Promise<readonly Message[]>
  /** Data of the notes of the behaviour by this name. */
  notes(name: string): Promise<readonly unknown[]>
  /** How often the server was started (stdio). */
  starts(): Promise<number>
  /** A process that must be gone after disposal besides the server itself. */
  watch(pid: number): void
  /** Dispose now instead of at the end; the bounds hold all the same. */
  dispose(): Promise<void>
  /** The server of an HTTP scene. @throws Error over stdio */
  http(): HttpServer
}

/** A server whose HTTP side does what no behaviour can say. */
export type HttpFault = (era: Era) => HttpServerOptions

export interface FaultRow {
  readonly id: string
  /** What goes wrong. */
  readonly title: string
  /** What is right. */
  readonly right: string
  /** Default: both. */
  readonly transports?: readonly FaultTransport[]
  /** Default: both. */
  readonly eras?: readonly Era[]
  /** What the server says; its era comes from the scene. Default: a healthy one. */
  readonly server?: (run: Run, options: Options) => Behaviour
  readonly http?: HttpFault
  /** HTTP: another URL in the row than that of the server. */
  readonly url?: (url: string) => string
  /** Keys of the config row over the defaults of the table. */
  readonly config?: Params
  /** stdio: a command of its own instead of the scripted server. */
  readonly command?: string
  /** Do it, and assert what is right. */
  readonly check: (scene: Scene) => Promise<void>
}

/** Start-up that is to fail ends soon. */
export const SHORT_START: Params = { startup: { waitMs: 9_000, timeoutMs: 1_500 } }

/** A call that is not to be answered ends soon; one that is has time enough on a busy machine, too. */
export const SHORT_CALL: Params = { toolCallTimeoutMs: 2_000 }
