/**
 * Owns what an observer may see of a connection while it is made and used: each try, the start of its transport, each
 * message, and how a failed try ended. For `dsh-mcp doctor`; absent elsewhere, where it costs one test a message.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import type { SessionDiagnostics } from '../types.ts'
import type { Try } from './era.ts'

export type TraceEvent =
  /** A connection is tried. */
  | { readonly kind: 'try'; readonly attempt: Try }
  /** Its transport has started: the process runs, or HTTP may begin. */
  | { readonly kind: 'started' }
  /** One message as it stands on the wire: not redacted, not cleaned. */
  | { readonly kind: 'message'; readonly direction: 'out' | 'in'; readonly message: JSONRPCMessage }
  /** The try failed; what its transport knows, and whether it ended alone, before we closed it. */
  | { readonly kind: 'ended'; readonly alone: boolean; readonly diagnostics: SessionDiagnostics }

/** Called at the moment of each event. Must not throw. */
export type Trace = (event: TraceEvent) => void
