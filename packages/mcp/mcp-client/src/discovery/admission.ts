/**
 * Owns which tools of one server's list are let in: the pins asked, what changed told, what is withheld kept back until
 * it is approved, here or in the file. The selection by name came before, with the making of the catalog.
 */
import type { Clock } from '../clock.ts'
import { INSTRUCTIONS } from '../naming.ts'
import type { Catalog, PinChange, ServerSpec, ServerStatus } from '../types.ts'
import { MAX_TOLD, causeOf, createChangeTeller } from './pin-change.ts'
import type { Change } from './pin-change.ts'
import type { PinFile } from './pin-file.ts'
import { isNamed } from './pin-review.ts'
import { takeDigested } from './parse.ts'
import { definitionOf, instructionsEntry, judge } from './pins.ts'
import type { HeldEntry, Judgement, PinEdit } from './pins.ts'
import type { Selection } from './selection.ts'

/** While something is withheld, the file is looked at this often, in milliseconds: one stat call. */
export const LOOK_MS = 5_000
/** Changed tools that are kept for the status: the first of a run. */
export const MAX_CHANGED = 200

export interface AdmissionOptions {
  readonly spec: Pick<ServerSpec, 'serverName' | 'pin' | 'redact'>
  readonly selection: Selection
  /** Absent where nothing is pinned. */
  readonly pins: PinFile | undefined
  readonly clock: Clock
  readonly say: (line: { readonly level: 'info' | 'warn'; readonly text: string }) => void
  /** The pins allow another choice of the last list now. */
  readonly readmit: (listed: Catalog) => void
}

export interface Admission {
  /**
   * The list without what is withheld. Tells the operator what is news.
   * @param words the instructions of the server, '' where it says nothing; undefined where nobody wants them
   */
  admit(listed: Catalog, words?: string): Catalog
  /** Whether the instructions are not those that were pinned, with `hold`. */
  withholdsInstructions(): boolean
  /** Why no call of this tool is sent: its rule, or its pin. One sentence; undefined where nothing is against it. */
  refusal(rawName: string): string | undefined
  /** The same for a name that the host knows nothing of. */
  refusalByName(publicName: string): string | undefined
  /** Trust what is withheld and admit it; see ServerHandle. */
  approve(tool: string): Promise<readonly string[]>
  pins(): readonly PinChange[]
  status(): Pick<ServerStatus['tools'], 'denied' | 'held' | 'changed'>
  /** There is no list any more. */
  clear(): void
  /** Ends the looking, and settles when the pins are on disk; bounded. */
  close(): Promise<void>
}

export function createAdmission(options: AdmissionOptions): Admission {
  const { spec, selection, pins: file, clock, say, readmit } = options
  const { redact } = spec
  let listed: Catalog | undefined
  let held = new Map<string, Change>()
  const changed = new Map<string, Change>()
  const teller = createChangeTeller(spec, (text) => say({ level: 'warn', text }))
  const { quoted, shown } = teller
  let cancelLook: (() => void) | undefined
  let isClosed = false

  function admit(next: Catalog, words?: string): Catalog {
    listed = next
    const isPinned = file !== undefined && spec.pin !== 'off'
    const entries = isPinned ? admitPinned(next, words, file, spec.pin) : next.entries
    // Whatever no pin has taken: it would be kept as long as the tool is.
    next.entries.forEach(takeDigested)
    return entries === next.entries ? next : { ...next, entries }
  }

  function admitPinned(
    { entries }: Catalog,
    words: string | undefined,
    file: PinFile,
    mode: Exclude<ServerSpec['pin'], 'off'>,
  ): Catalog['entries'] {
    if (file.found === 'lost' && file.set() === undefined && !file.isLost()) lose(file)
    if (file.set() === undefined && file.hasOthers()) {
      say({
        level: 'warn',
        text: 'the command or URL under this name is another one than before: its tools are pinned anew',
      })
    }
    const isJudged = words !== undefined && words !== ''
    const judged = judge(isJudged ? [...entries, instructionsEntry(words)] : entries, {
      mode,
      set: file.set(),
      isLost: file.isLost(),
      now: Date.now(),
    })
    file.edit([...judged.edits, ...silenceOf(words, file)])
    take(judged)
    return isJudged ? judged.admitted.filter(({ rawName }) => rawName !== INSTRUCTIONS) : judged.admitted
  }

  /** That a server said nothing is pinned as well: what it says later is a change. */
  function silenceOf(words: string | undefined, { set }: PinFile): PinEdit[] {
    if (words !== '' || set()?.pins.has(INSTRUCTIONS) === true) return []
    const entry = instructionsEntry('')
    const version = { digest: entry.digest, at: Date.now(), definition: definitionOf(entry) }
    return [{ kind: 'pin', name: INSTRUCTIONS, version }]
  }

  /** Nothing shows any more what was trusted. */
  function lose({ edit }: PinFile): void {
    if (spec.pin === 'hold') edit([{ kind: 'lost' }])
    const end = spec.pin === 'hold' ? 'every tool is held until it is approved' : 'they are pinned anew'
    say({ level: 'warn', text: `the pins of its tools are lost: ${end}` })
  }

  function take(judged: Judgement): void {
    const before = held
    const news: Change[] = []
    held = new Map(
      judged.held.map((found) => {
        const known = before.get(found.entry.rawName)
        const isSame = known?.to.digest === found.version.digest
        return [found.entry.rawName, isSame ? known : heldChange(found)]
      }),
    )
    for (const { entry, from, to } of judged.changed) {
      const { rawName, publicName } = entry
      const change = teller.changeOf({ rawName, publicName, state: 'changed', why: 'changed', from, to })
      news.push(change)
      if (changed.size < MAX_CHANGED || changed.has(rawName)) changed.set(rawName, change)
    }
    teller.tell([...news, ...held.values()])
    const added = judged.added.filter((name) => name !== INSTRUCTIONS)
    if (added.length > 0) {
      const names = added.slice(0, MAX_TOLD).map(quoted)
      const rest = added.length - names.length
      say({ level: 'info', text: `new tools: ${names.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}` })
    }
    look()
  }

  function heldChange({ entry: { rawName, publicName }, why, from, version }: HeldEntry): Change {
    return teller.changeOf({ rawName, publicName, state: 'held', why, from, to: version })
  }

  /** An approval may be given in the file, by another process. */
  function look(): void {
    cancelLook?.()
    cancelLook = undefined
    if (held.size === 0 || isClosed || file === undefined) return
    cancelLook = clock.after(LOOK_MS, () => void lookNow(file))
  }

  async function lookNow({ refresh }: PinFile): Promise<void> {
    const isNew = await refresh()
    if (isClosed || listed === undefined) return
    if (isNew) readmit(listed)
    else look()
  }

  function refusal(rawName: string): string | undefined {
    const rule = selection.ruleAgainst(rawName)
    if (rule !== undefined) return refused(rawName, `is not taken from this server: ${rule}`)
    const change = held.get(rawName)
    return change === undefined
      ? undefined
      : refused(rawName, `is held back (pin: hold): ${causeOf(change.why)}; ${teller.adviceOf(change)}`)
  }

  function refused(rawName: string, why: string): string {
    return redact(`Tool ${quoted(rawName)} of MCP server "${spec.serverName}" ${why}. Nothing was sent`)
  }

  return {
    admit,
    withholdsInstructions: () => held.has(INSTRUCTIONS),
    refusal,
    refusalByName(publicName) {
      const denied = listed?.denied.find((tool) => tool.publicName === publicName)
      const found = denied ?? [...held.values()].find((change) => change.publicName === publicName)
      return found === undefined ? undefined : refusal(found.rawName)
    },
    async approve(tool) {
      if (file === undefined || listed === undefined) return []
      const approved = [...held.values()].filter(({ rawName }) => isNamed(rawName, tool))
      const edits = approved.map(({ rawName, to }): PinEdit => ({
        kind: 'approve',
        name: rawName,
        version: to,
      }))
      if (tool === '*' && file.isLost()) edits.push({ kind: 'whole' })
      file.edit(edits)
      if (approved.length > 0) readmit(listed)
      await file.flush()
      return approved.map(({ rawName }) => rawName)
    },
    pins: () =>
      [...held.values(), ...changed.values()].map(({ rawName, state, places, diff, to }) => ({
        name: shown(rawName),
        state,
        places,
        diff,
        since: to.at,
      })),
    status: () => ({
      denied: (listed?.denied ?? []).map(({ rawName, rule }) => ({ name: shown(rawName), rule })),
      held: [...held.values()].map((change) => ({
        name: shown(change.rawName),
        reason: redact(teller.reasonOf(change)),
        since: change.to.at,
      })),
      changed: [...changed.values()].map(({ rawName, places, to }) => ({
        name: shown(rawName),
        places,
        since: to.at,
      })),
    }),
    clear() {
      listed = undefined
      held = new Map()
      look()
    },
    async close() {
      isClosed = true
      look()
      await file?.flush()
    },
  }
}
