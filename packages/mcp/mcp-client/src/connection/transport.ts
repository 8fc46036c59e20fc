/** Owns the making of the one transport a try needs, with what the later steps want to know about it. */
import type { Transport } from '@modelcontextprotocol/client'
import { childEnvironment, withheldLines } from '../environment.ts'
import type { McpError } from '../errors.ts'
import { loadSdk } from '../sdk.ts'
import type { ServerSpec, SessionDiagnostics, SessionEvents } from '../types.ts'
import type { Try } from './era.ts'
import type { Authorizer } from './http-client.ts'
import { StdioTransport } from './stdio.ts'

export interface OpenTransport {
  readonly transport: Transport & {
    /** Why the transport ended by itself, where it knows more than its diagnostics tell. */
    readonly downReason?: McpError | undefined
    /** Begin what takes time before it is started. */
    launch?(): void
  }
  diagnostics(): SessionDiagnostics
}

export interface TransportEdges {
  readonly events: SessionEvents
  readonly authorizer?: Authorizer | undefined
  /** See HttpOptions. */
  readonly onResync: (isNewSession: boolean) => void
}

/** Create the transport of one try; it does nothing before the SDK starts it. */
export async function createTransport(
  spec: ServerSpec,
  attempt: Try,
  { events, authorizer, onResync }: TransportEdges,
): Promise<OpenTransport> {
  const { serverName, target, limits, redact } = spec
  const onNote = events.onNote.bind(events)
  if (target.kind === 'stdio') {
    const { command, args, cwd } = target
    const { variables: env, withheld } = childEnvironment(target)
    for (const line of withheldLines(withheld)) onNote('debug', line)
    const where = cwd === undefined ? {} : { cwd }
    const transport = new StdioTransport({ serverName, command, args, env, limits, redact, onNote, ...where })
    return { transport, diagnostics: () => transport.diagnostics() }
  }
  const granted = authorizer === undefined ? {} : { authorizer }
  const options = {
    sdk: await loadSdk(),
    serverName,
    url: target.url,
    headers: target.headers,
    limits,
    redact,
    onNote,
    ...granted,
  }
  if (attempt.transport === 'sse') {
    const { createSseTransport } = await import('./http-sse.ts')
    return { transport: createSseTransport(options), diagnostics: () => ({}) }
  }
  // Loaded at first use: undici costs as much to import as the SDK, and a host may have stdio servers only.
  const { HttpTransport } = await import('./http.ts')
  const transport = new HttpTransport({ ...options, onResync })
  return { transport, diagnostics: () => transport.diagnostics() }
}
