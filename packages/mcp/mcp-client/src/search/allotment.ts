/**
 * Owns the exposure of all servers of one app while it runs: chosen anew as servers come until the first request goes
 * out, kept from then on, so that no server's coming or going changes the definitions of another one.
 */
import { allocate, requestBytes } from '../registry/exposure.ts'
import type { Share } from '../registry/exposure.ts'
import type { DefinitionBytes, Exposure, ToolsSpec } from '../types.ts'

/** A server as the allotment sees it. */
export interface Party {
  readonly serverName: string
  readonly tools: Pick<ToolsSpec, 'exposure' | 'budgetBytes'>
  /** What its definitions took when they were last known. */
  readonly remembered: DefinitionBytes | undefined
  /** Offer the tools the other way. */
  expose(exposure: Exposure): void
  /** One line for the operator. */
  say(text: string): void
}

export interface Allotment {
  /** @returns takes the server out; may be called more than once */
  enrol(party: Party): () => void
  /** The bytes of a server are known now; other servers may be told to change, this one gets its answer. */
  measure(serverName: string, bytes: DefinitionBytes): Exposure
  /** The exposure as far as it is known; a server of unknown size is direct unless its row says other. */
  exposureOf(serverName: string): Exposure
  /** A request was put together: what is chosen stays. */
  settle(): void
}

interface Seat {
  readonly party: Party
  bytes: DefinitionBytes | undefined
  /** What the server was told last. */
  exposure: Exposure
  isTold: boolean
}

/** Per app root, since several apps may live in one process. */
const allotments = new WeakMap<object, Allotment>()

/** The allotment of an app. */
export function allotmentOf(root: object): Allotment {
  const allotment = allotments.get(root) ?? createAllotment()
  allotments.set(root, allotment)
  return allotment
}

export function createAllotment(): Allotment {
  const seats = new Map<string, Seat>()
  /** Also of servers that went: one that comes back is offered as it was. */
  const settled = new Map<string, Exposure>()
  let isSettled = false

  const shareOf = ({ party, bytes }: Seat): Share[] =>
    bytes === undefined
      ? []
      : [
          {
            serverName: party.serverName,
            wanted: party.tools.exposure,
            budgetBytes: party.tools.budgetBytes,
            ...bytes,
            settled: settled.get(party.serverName),
          },
        ]
  const shares = (): Share[] => [...seats.values()].flatMap(shareOf)

  /** Choose anew. `asking` gets its answer by itself. */
  function choose(asking?: Seat): void {
    const all = shares()
    const chosen = allocate(all)
    for (const seat of seats.values()) {
      const { serverName, tools } = seat.party
      const next = chosen.get(serverName)
      if (next === undefined) continue
      if (isSettled && tools.exposure === 'auto') settled.set(serverName, next)
      const isNew = next !== seat.exposure
      seat.exposure = next
      if (isNew && seat !== asking) seat.party.expose(next)
      if (next === 'search') tell(seat, requestBytes(all, new Map()))
    }
  }

  function tell(seat: Seat, allBytes: number): void {
    const { party, bytes } = seat
    if (seat.isTold || party.tools.exposure !== 'auto' || bytes === undefined) return
    seat.isTold = true
    party.say(
      `its tools are reached by mcp_search and mcp_call: their definitions take ${bytes.total} bytes, those of all ` +
        `servers ${allBytes}, and tools.budgetBytes is ${party.tools.budgetBytes}; tools.exposure: direct keeps them ` +
        'in the request',
    )
  }

  /** A direct server that grew so much that the request no longer fits gives way itself, once, instead of all others. */
  function giveWay({ party }: Seat, before: DefinitionBytes | undefined, bytes: DefinitionBytes): void {
    const { serverName, tools } = party
    if (before === undefined || settled.get(serverName) !== 'direct' || tools.exposure !== 'auto') return
    const all = shares()
    const after = requestBytes(all, allocate(all))
    const grown = bytes.total - before.total
    if (after > tools.budgetBytes && after - grown <= tools.budgetBytes) settled.set(serverName, 'search')
  }

  return {
    enrol(party) {
      const { serverName, tools, remembered } = party
      const exposure = tools.exposure === 'auto' ? (settled.get(serverName) ?? 'direct') : tools.exposure
      const seat: Seat = { party, bytes: remembered, exposure, isTold: false }
      seats.set(serverName, seat)
      choose(seat)
      return () => {
        if (seats.get(serverName) !== seat) return
        seats.delete(serverName)
        choose()
      }
    },
    measure(serverName, bytes) {
      const seat = seats.get(serverName)
      // A row that ends while its list comes.
      if (seat === undefined) return 'direct'
      const before = seat.bytes
      seat.bytes = bytes
      giveWay(seat, before, bytes)
      choose(seat)
      return seat.exposure
    },
    exposureOf: (serverName) => seats.get(serverName)?.exposure ?? 'direct',
    settle() {
      if (isSettled) return
      isSettled = true
      choose()
    },
  }
}
