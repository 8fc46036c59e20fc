/**
 * Owns the choice of protocol era: how a connection is tried first, what a failed try means for the next one, and how
 * long a verdict is believed. Pure; session.ts acts.
 */
import type { McpError } from '../errors.ts'
import type { Era, ServerSpec } from '../types.ts'

/** A silent old server costs at most this much once, in milliseconds; the verdict is then remembered. */
export const PROBE_TIMEOUT_MS = 2_000
/** After this long a remembered verdict is probed again: servers get upgraded. */
export const VERDICT_TTL_MS = 7 * 24 * 60 * 60 * 1000

/** The first revision without a handshake; revisions are dates and compare as text. */
export const FIRST_MODERN_REVISION = '2026-07-28'

export interface Verdict {
  readonly era: Era
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** One way to try a connection. */
export interface Try {
  readonly transport: 'stdio' | 'streamable-http' | 'sse'
  readonly negotiation:
    /** Ask with server/discover, fall back to initialize on the same connection. */
    | { readonly kind: 'probe' }
    /** initialize at once; a revision pins what is offered. */
    | { readonly kind: 'legacy'; readonly revision?: string }
    /** server/discover, and nothing else will do. */
    | { readonly kind: 'modern'; readonly revision: string }
  /** A remembered verdict chose it: a failure may only mean that the verdict is old, so the next attempt probes. */
  readonly remembered: boolean
}

/** The first try of an attempt. */
export function firstTry(spec: ServerSpec, verdict: Verdict | undefined, now: number): Try {
  const transport = transportOf(spec)
  const { protocol } = spec
  if (transport === 'sse') {
    // The old HTTP+SSE transport ends with the legacy era; a probe could only fail.
    return { transport, negotiation: legacy(protocol), remembered: false }
  }
  if (protocol === 'auto') {
    const believed = verdict?.era === 'legacy' && now - verdict.at < VERDICT_TTL_MS && verdict.at <= now
    return { transport, negotiation: { kind: believed ? 'legacy' : 'probe' }, remembered: believed }
  }
  if (protocol >= FIRST_MODERN_REVISION && protocol !== 'legacy') {
    return { transport, negotiation: { kind: 'modern', revision: protocol }, remembered: false }
  }
  return { transport, negotiation: legacy(protocol), remembered: false }
}

/** The next try after one failed, or `undefined` when the failure stands. */
export function nextTry(spec: ServerSpec, failed: Try, error: McpError): Try | undefined {
  if (error.code === 'MCP_SPAWN_FAILED' || error.code === 'MCP_ABORTED') return undefined
  if (failed.negotiation.kind === 'probe' && blamesProbe(error)) {
    return { ...failed, negotiation: { kind: 'legacy' } }
  }
  const revision = spec.protocol === 'auto' ? modernOffer(failed, error) : undefined
  if (revision !== undefined) {
    return { ...failed, negotiation: { kind: 'modern', revision }, remembered: false }
  }
  const status = error.data['status']
  const refused = status === 400 || status === 404 || status === 405
  const mayFallBack =
    spec.target.kind === 'http' && spec.target.flavour === 'auto' && failed.transport !== 'sse'
  if (refused && mayFallBack) return { transport: 'sse', negotiation: { kind: 'legacy' }, remembered: false }
  return undefined
}

/** Whether a server that only fears the probe would fail like this: it dies, stays silent, or answers 5xx or HTML. */
function blamesProbe(error: McpError): boolean {
  if (error.data['cause'] !== undefined) return false
  switch (error.code) {
    case 'MCP_CONNECTION_CLOSED':
    case 'MCP_CONNECT_TIMEOUT':
    case 'MCP_HTTP_UNAVAILABLE':
      return true
    case 'MCP_HTTP_REJECTED':
      return error.data['status'] === undefined
    default:
      return false
  }
}

/**
 * The new revision that a server names when it refuses initialize: it is modern after all, and was only slower than the
 * probe waits, or has been upgraded since the verdict.
 */
function modernOffer({ negotiation, transport }: Try, error: McpError): string | undefined {
  if (negotiation.kind === 'modern' || transport === 'sse') return undefined
  const supported = error.code === 'MCP_PROTOCOL_UNSUPPORTED' ? error.data['supported'] : undefined
  return Array.isArray(supported) && supported.includes(FIRST_MODERN_REVISION)
    ? FIRST_MODERN_REVISION
    : undefined
}

function transportOf(spec: ServerSpec): Try['transport'] {
  if (spec.target.kind === 'stdio') return 'stdio'
  return spec.target.flavour === 'sse' ? 'sse' : 'streamable-http'
}

function legacy(protocol: string): Try['negotiation'] {
  return protocol === 'legacy' || protocol === 'auto' || protocol >= FIRST_MODERN_REVISION
    ? { kind: 'legacy' }
    : { kind: 'legacy', revision: protocol }
}
