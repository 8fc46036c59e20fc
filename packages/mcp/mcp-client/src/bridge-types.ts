/** Owns the words between one server and its host: what the composition is given, and what it can do. No runtime code. */
import type { Login, LoginHost } from './bridge-login.ts'
import type { Trust } from './bridge-trust.ts'
import type { Clock } from './clock.ts'
import type { Trace } from './connection/trace.ts'
import type { PinFile } from './discovery/pin-file.ts'
import type { McpError } from './errors.ts'
import type { BeyondHost } from './host-beyond.ts'
import type { Memory } from './memory.ts'
import type { HostServices } from './projection/host.ts'
import type { Register } from './registry/tools.ts'
import type {
  CallObserver,
  CallSettled,
  DefinitionBytes,
  Exposure,
  OfferedTool,
  ServerState,
  ServerStatus,
} from './types.ts'

export interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  /** Redacted and clean; without the server's label. */
  readonly text: string
}

export interface BridgeHost {
  readonly register: Register
  readonly services: HostServices
  readonly memory: Memory
  readonly clock: Clock
  readonly version: string
  /** Sees every try and message of the connection. */
  readonly trace?: Trace | undefined
  say(line: Line): void
  /** The state or the catalog changed; `status()` tells what it is now. */
  changed?(change: 'state' | 'catalog'): void
  /** How the tools are offered, now that their size is known. Without it: as the row says, and direct for `auto`. */
  allot?(bytes: DefinitionBytes): Exposure
  /** What is pinned of this server. Without it nothing is compared. */
  readonly pins?: PinFile | undefined
  /** What else of the host a server may use. Without it: the tools, and nothing else. */
  readonly beyond?: BeyondHost | undefined
  /** Where credentials are kept. Without it a server that asks for a login gets the row's headers and nothing else. */
  readonly login?: LoginHost | undefined
  /** The caller is the person whose word counts, at a command line: nobody else is asked. */
  readonly isUnreviewed?: boolean
  /** A call ended. */
  settled?(call: CallSettled): void
  /** What goes around each call, and into its request; `undefined` while nobody watches. */
  observer?(): CallObserver | undefined
}

export interface Bridge extends Pick<Trust, 'review' | 'approve' | 'pins'>, Pick<Login, 'logout'> {
  /** Start the server, or serve what is remembered of a lazy one. Settles with the first attempt's error, if any. */
  start(): Promise<McpError | undefined>
  status(): ServerStatus
  state(): ServerState
  /** By public name; the same array while nothing changed. */
  offered(): readonly OfferedTool[]
  find(publicName: string): OfferedTool | undefined
  /** Register a tool of search until the returned function is called. Throws what the registry does. */
  lend(publicName: string): () => void
  /** Offer the tools the other way. */
  expose(exposure: Exposure): void
  restart(): void
  /** Unregister everything for good, at once; the connection may still be closing. */
  withdraw(): void
  /** Withdraw, close and settle within the close bound. All callers share the promise. */
  dispose(): Promise<void>
}
