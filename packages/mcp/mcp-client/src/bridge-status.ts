/** Owns the making of one server's status from what each step knows of it. Pure. */
import type { Snapshot } from './connection/supervisor.ts'
import type { McpError } from './errors.ts'
import { targetOf } from './status-target.ts'
import type { Quarantined, ServerSpec, ServerStatus, Session, SessionDiagnostics } from './types.ts'

export interface StatusParts {
  readonly snapshot: Snapshot
  readonly session: Session | undefined
  /** Of the last process or connection. */
  readonly diagnostics: SessionDiagnostics
  /** Why the last list was not taken over. */
  readonly problem: McpError | undefined
  readonly transport: ServerStatus['transport']
  readonly since: number
  readonly listedAt: number | undefined
  readonly calls: ServerStatus['calls']
  /** Where a person logs in. */
  readonly link: string | undefined
  readonly quarantined: readonly Quarantined[]
  readonly beyond: Pick<ServerStatus, 'prompts' | 'instructionBytes'>
  readonly tools: Omit<ServerStatus['tools'], 'quarantined'>
}

export function statusOf(spec: ServerSpec, parts: StatusParts): ServerStatus {
  const { session, transport, since, listedAt, link, tools } = parts
  const { state, attempt, lastError = parts.problem } = parts.snapshot
  const { pid, exit, stderrTail } = parts.diagnostics
  return {
    serverName: spec.serverName,
    transport,
    target: targetOf(spec),
    state: state.name,
    since,
    attempt,
    ...(state.name === 'backoff' ? { nextRetryAt: since + state.delayMs } : {}),
    ...(lastError === undefined
      ? {}
      : { lastError: { code: lastError.code, message: spec.redact(lastError.message) } }),
    ...(link === undefined ? {} : { login: link }),
    ...(session === undefined ? {} : { facts: session.facts }),
    ...(pid === undefined || session === undefined ? {} : { pid }),
    ...(exit === undefined ? {} : { exit }),
    ...(stderrTail === undefined ? {} : { stderrTail }),
    calls: parts.calls,
    ...parts.beyond,
    ...(listedAt === undefined ? {} : { listedAt }),
    tools: {
      ...tools,
      // A server chooses the names of its tools.
      quarantined: parts.quarantined.map(({ name, reason }) => ({
        name: spec.redact(name),
        reason: spec.redact(reason),
      })),
    },
  }
}
