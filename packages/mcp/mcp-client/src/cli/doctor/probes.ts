/** Owns the look at the usual paths of a configured origin: a whole handshake at each, with what the row sends. */
import type { HttpTarget, ServerSpec } from '../../types.ts'
import { openServer } from '../server.ts'
import type { Probe } from './facts.ts'

const PROBE_LIMIT_MS = 5_000

/** Where servers mostly answer, by transport. */
const USUAL = [
  { ending: '/mcp', transport: 'streamable-http' },
  { ending: '/sse', transport: 'sse' },
] as const

/** Ask the usual paths, one after the other. Never leaves the origin of the row. Never rejects. */
export async function probePaths(spec: ServerSpec, signal: AbortSignal): Promise<readonly Probe[]> {
  const { target } = spec
  /* v8 ignore next -- asked for HTTP targets only */
  if (target.kind !== 'http') return []
  const probes: Probe[] = []
  for (const { path, transport } of candidates(target)) {
    if (signal.aborted) break
    const url = new URL(path, target.url).href
    const server = await openServer(
      { ...spec, target: { ...target, url, flavour: transport } },
      { timeoutMs: PROBE_LIMIT_MS, signal },
    )
    const isThere = server.failure === undefined
    probes.push({ path, transport, ...(isThere ? { tools: server.definitions().length } : {}) })
    await server.close()
  }
  return probes
}

/** The same path by the other transport, then the usual endings of the root and below the configured path. */
export function candidates({
  url,
  flavour,
}: Pick<HttpTarget, 'url' | 'flavour'>): Pick<Probe, 'path' | 'transport'>[] {
  const { pathname } = new URL(url)
  const below = pathname.replace(/\/+$/, '').replace(/\/(?:mcp|sse)$/, '')
  const found: Pick<Probe, 'path' | 'transport'>[] = USUAL.flatMap(({ ending, transport }) =>
    [...new Set([ending, below + ending])].map((path) => ({ path, transport })),
  )
  const other = flavour === 'sse' ? 'streamable-http' : 'sse'
  const all = flavour === 'auto' ? found : [{ path: pathname, transport: other } as const, ...found]
  const asked = (flavour === 'auto' ? USUAL.map(({ transport }) => transport) : [flavour]).map(
    (transport) => `${transport} ${pathname}`,
  )
  const seen = new Set(asked)
  return all.filter(({ path, transport }) => {
    const key = `${transport} ${path}`
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
