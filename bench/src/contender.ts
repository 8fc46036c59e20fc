/** Owns the words that contenders and workloads share. */
import type { Nature, Order } from './server/answers.ts'

/** One server as a client is to reach it. */
export type Target =
  | {
      readonly kind: 'stdio'
      readonly name: string
      readonly command: string
      readonly args: readonly string[]
    }
  | { readonly kind: 'http'; readonly name: string; readonly url: string }

/** What a call gave, in the form in which a caller of this client gets it. */
export interface Outcome {
  readonly text: string
  /** Bytes of the picture as the caller can have them: base64 characters, or the bytes of the stored file. */
  readonly imageBytes: number
}

export interface Connection {
  /** Tools that can be called now. */
  tools(): number
  /** Run `tool_<at>` of a server. Rejects when it failed. */
  call(server: string, at: number, order: Order, signal?: AbortSignal): Promise<Outcome>
  /** Registry events so far; only where there is a registry. */
  events(): number | undefined
  /** Bytes of the definitions as a request to the model would carry them. */
  definitionBytes(): number
  close(): Promise<void>
}

/** Settings that a workload needs; each contender maps what it knows. */
export interface Wishes {
  /** Longest message, in bytes. */
  readonly messageBytes?: number
  /** Tools are reached by search, all but the first one, where the client knows such a thing. */
  readonly searchable?: boolean
  /** Delay before the first reconnection, in milliseconds. Default: the client's own. */
  readonly firstDelayMs?: number
}

export interface Contender {
  /** Bring up what is not this client but must be there: the host. */
  prepare?(wishes: Wishes): Promise<void>
  /** Import the client. */
  load(): Promise<void>
  /** Connect to all servers, as one would with this client, and have their tools ready. */
  open(targets: readonly Target[], wishes: Wishes): Promise<Connection>
}

export type { Nature, Order }
