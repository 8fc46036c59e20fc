/**
 * Owns who is behind what a legacy server asks. Such a server does not say for which request in flight it asks; where the
 * wire does not tell either, the question is of an agent only if all of them are its own. Pure.
 */
import type { Caller } from '../types.ts'

/** One request that waits for its answer. */
export interface InFlight {
  readonly caller?: Caller | undefined
  /** Aborts when nobody wants its answer any more. */
  readonly signal: AbortSignal
}

/** Who is asked, and the signals that, once all have aborted, say that nobody wants to know any more. */
export interface Behind {
  readonly caller: Caller | undefined
  readonly signals: readonly AbortSignal[]
}

/** What has no caller is left out: it asks for nobody. */
export function behind(requests: Iterable<InFlight>): Behind {
  const byCaller = new Map<Caller, AbortSignal>()
  for (const { caller, signal } of requests) if (caller !== undefined) byCaller.set(caller, signal)
  const [first, ...others] = byCaller.keys()
  if (first === undefined || others.some(({ agent }) => agent !== first.agent))
    return { caller: undefined, signals: [] }
  const signals = [...byCaller.values()]
  if (others.length === 0) return { caller: first, signals }
  return { caller: { agent: first.agent, hold: () => holdAll([first, ...others]) }, signals }
}

function holdAll(callers: readonly Caller[]): () => void {
  const releases = callers.map((caller) => caller.hold())
  return () => {
    for (const release of releases) release()
  }
}
