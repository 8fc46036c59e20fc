/**
 * Owns the composition of what one server offers and asks besides its tools: resources, prompts, instructions, log
 * messages, questions. Each part is there only where the server has it and the host can use it.
 */
import type { Clock } from './clock.ts'
import type { BeyondHost } from './host-beyond.ts'
import { createInbound } from './inbound/inbound.ts'
import type { RowInbound } from './inbound/inbound.ts'
import { createInstructions } from './instructions.ts'
import { OWN_TOOLS } from './naming.ts'
import type { HostServices } from './projection/host.ts'
import { createPrompts } from './prompts/prompts.ts'
import { offerOf } from './resources/entries.ts'
import type { Offer } from './resources/entries.ts'
import { createResources } from './resources/resources.ts'
import type {
  Agent,
  Inbound,
  CatalogEntry,
  JsonObject,
  ServerSpec,
  ServerStatus,
  Session,
  SessionEvents,
  SessionFacts,
} from './types.ts'

export interface BeyondOptions {
  readonly spec: ServerSpec
  /** Absent where there is no host, such as at a command line: nothing is declared and nothing registered. */
  readonly host: BeyondHost | undefined
  readonly services: HostServices
  readonly clock: Clock
  readonly session: () => Session | undefined
  /** Whether a tool of this public name is offered now. */
  readonly offers: (publicName: string) => boolean
  /** A list of prompts was taken. */
  readonly promptsTaken: (items: readonly JsonObject[]) => void
  /** Whether what the server says of itself waits for approval. */
  readonly withholdsInstructions: () => boolean
  readonly prepare: (signal: AbortSignal, agent: Agent) => Promise<Session | undefined>
  readonly reason: () => string
  readonly failed: (session: Session | undefined, error: unknown) => void
  readonly say: (line: { readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly text: string }) => void
}

/** What an earlier run was told of, for a server that sleeps. */
export interface KnownBeyond {
  readonly resources?: Offer | undefined
  readonly instructions?: string | undefined
  readonly prompts?: readonly unknown[] | undefined
}

export interface Beyond {
  readonly inbound: RowInbound | undefined
  /** What a session announces, but for its tools. */
  readonly events: Pick<SessionEvents, 'onPromptsChanged' | 'onResourceUpdated' | 'onLog'>
  /** A session stands, and its tools are about to be listed. */
  listing(facts: SessionFacts): void
  /** What the last session offered, for the next start of a sleeping server; and back from there. */
  offer(): Offer | undefined
  remembered(known: KnownBeyond): void
  /** Tools of our own that stand beside these. A server's own of the same name wins. */
  ownEntries(listed: readonly CatalogEntry[]): readonly CatalogEntry[]
  /** What the server says of itself, as it says it: for the next start of a sleeping one. */
  said(): string | undefined
  /** That as a model would get it, '' where it says nothing; undefined where nobody wants it. */
  words(): string | undefined
  /** A list was judged, and the instructions with it. */
  judged(): void
  /** A session takes calls now. */
  ready(): void
  /** Put a question of the server to whoever answers here. Rejects where nobody does. */
  ask: Inbound['answer']
  /** Before a call of this agent: the server may have to hear of other roots. */
  beforeCall(session: Session | undefined, agent: Agent | undefined): Promise<void> | undefined
  /** Name of the tool that reads a resource link; undefined where there is none. */
  linkReader(): string | undefined
  withdraw(): void
  status(): Pick<ServerStatus, 'prompts' | 'instructionBytes'>
  close(): Promise<void>
}

const NO_SEAT = { put: () => () => undefined }

export function createBeyond(options: BeyondOptions): Beyond {
  const { spec, host, services, clock, session, prepare, reason, failed, say } = options
  const { serverName } = spec
  const resources = createResources(spec)
  const prompts = createPrompts({
    spec,
    clock,
    seat: host?.commands ?? NO_SEAT,
    host: services,
    session,
    prepare,
    reason,
    failed,
    linkReader,
    say,
    taken: options.promptsTaken,
  })
  const instructions = createInstructions({
    spec,
    seat: host?.sections ?? NO_SEAT,
    isWithheld: options.withholdsInstructions,
    say,
  })
  const inbound =
    host === undefined
      ? undefined
      : createInbound({ spec, host: host.inbound, clock, say: (level, text) => say({ level, text }) })
  let offer: Offer | undefined
  let said: string | undefined
  let isReading = false
  /** Said once that the server has tools of these names itself. */
  let isYielding = false
  let endNews: (() => void) | undefined

  function linkReader(): string | undefined {
    return isReading && options.offers(resources.readerName) ? resources.readerName : undefined
  }

  /** Agents are told of changed resources where a server tells of them at all. */
  function followNews(): void {
    endNews?.()
    endNews =
      offer?.canWatch === true
        ? host?.contexts.put({
            name: `mcp:${serverName}:resources`,
            order: 190,
            text: ({ scope }) => resources.newsFor(scope),
          })
        : undefined
  }

  function withdraw(): void {
    prompts.withdraw()
    instructions.withdraw()
    endNews?.()
    endNews = undefined
  }

  return {
    inbound,
    events: {
      onPromptsChanged: prompts.changed,
      onResourceUpdated: resources.updated,
      onLog: (level, text) => say({ level, text: `server: ${text}` }),
    },
    said: () => said,
    words: instructions.words,
    judged: instructions.show,
    listing(facts) {
      said = facts.instructions
      instructions.heard(said)
      offer = spec.resources ? offerOf(facts) : undefined
    },
    offer: () => offer,
    remembered({ resources: known, instructions: words, prompts: listed = [] }) {
      offer = spec.resources ? known : undefined
      said = words
      instructions.heard(said)
      prompts.remembered(listed)
    },
    ownEntries(listed) {
      const names = new Set(listed.map(({ rawName }) => rawName))
      const own = resources.entries(offer)
      const kept = own.filter(({ rawName }) => !names.has(rawName))
      if (kept.length < own.length && !isYielding) {
        isYielding = true
        say({
          level: 'info',
          text: `the server has a tool of its own for ${OWN_TOOLS.join(' or ')}: it is used`,
        })
      }
      isReading = kept.some(({ publicName }) => publicName === resources.readerName)
      return kept
    },
    ready() {
      const opened = session()
      /* v8 ignore next -- it is there when it is said to be */
      if (opened === undefined) return
      followNews()
      resources.opened(opened)
      prompts.opened(opened)
    },
    async ask(request, asking) {
      if (inbound === undefined) throw new Error('nobody here could be asked')
      return inbound.answer(request, asking)
    },
    beforeCall(opened, agent) {
      if (opened === undefined || inbound?.rootsMoveTo(agent) !== true) return undefined
      return opened.rootsChanged()
    },
    linkReader,
    withdraw,
    status: () => ({ prompts: prompts.commands(), instructionBytes: instructions.bytes() }),
    async close() {
      withdraw()
      await prompts.close()
    },
  }
}
