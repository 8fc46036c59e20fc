/**
 * Owns the trust in one server's tools as a whole: names that the row takes, definitions that are pinned, calls that ask
 * a person. The bridge asks here before it publishes, and each call before it is sent.
 */
import type { Clock } from './clock.ts'
import { createAdmission } from './discovery/admission.ts'
import type { Admission } from './discovery/admission.ts'
import { openPinFile } from './discovery/pin-file.ts'
import type { PinFile, PinFileOptions } from './discovery/pin-file.ts'
import { createSelection } from './discovery/selection.ts'
import type { Selection } from './discovery/selection.ts'
import { McpError } from './errors.ts'
import { createReview } from './execution/approval-review.ts'
import type { Review } from './execution/approval-review.ts'
import type { Catalog, CatalogEntry, ServerSpec } from './types.ts'

export interface TrustOptions {
  readonly spec: ServerSpec
  readonly pins: PinFile | undefined
  readonly clock: Clock
  readonly say: (line: { readonly level: 'info' | 'warn' | 'error'; readonly text: string }) => void
  /** Publish the last list anew: the pins allow another choice of it. May throw what publishing throws. */
  readonly adopt: (listed: Catalog) => void
  /** The caller is the person whose word counts, at a command line: nobody else is asked. */
  readonly isUnreviewed: boolean | undefined
}

export interface Trust extends Pick<
  Admission,
  'approve' | 'pins' | 'status' | 'clear' | 'close' | 'withholdsInstructions'
> {
  /**
   * The list without what is withheld, and with those tools of our own that no rule keeps out: they are not pinned, and
   * everything else holds for them.
   */
  admit(listed: Catalog, own: readonly CatalogEntry[], words?: string): Catalog
  readonly selection: Selection
  readonly review: Pick<Review, 'before' | 'after'>
  /** At the start of a call. @throws McpError MCP_DENIED */
  check(entry: CatalogEntry, exec: object): void
  /** Again right before it is sent: the list may be another one by then. @throws McpError MCP_DENIED */
  checkAgain(entry: CatalogEntry): void
}

/** The pins of a row; undefined where it wants none. Never rejects. */
export async function openPins(
  { serverName, target, pin }: ServerSpec,
  files: Pick<PinFileOptions, 'folder' | 'note'>,
): Promise<PinFile | undefined> {
  return pin === 'off' ? undefined : openPinFile({ serverName, target, ...files })
}

/**
 * The trust of one row. Does no I/O.
 * @throws Error for a pattern that cannot be read
 */
export function createTrust({ spec, pins, clock, say, adopt, isUnreviewed }: TrustOptions): Trust {
  const selection = createSelection(spec.tools)
  let published = new Map<string, CatalogEntry>()
  const admission = createAdmission({
    spec,
    selection,
    pins,
    clock,
    say,
    readmit(listed) {
      try {
        adopt(listed)
      } catch (error) {
        say({ level: 'error', text: (error as McpError).message })
      }
    },
  })
  const review = createReview({
    spec,
    find: (publicName) => published.get(publicName),
    refusalByName: admission.refusalByName,
  })

  function refuse(reason: string | undefined): void {
    if (reason === undefined) return
    throw new McpError(reason, { code: 'MCP_DENIED', server: spec.serverName, stage: 'execution' })
  }

  return {
    ...admission,
    selection,
    review,
    admit(listed, own, words) {
      const admitted = admission.admit(listed, words)
      const added = own.filter(({ rawName }) => selection.ruleAgainst(rawName) === undefined)
      const entries = added.length === 0 ? admitted.entries : [...admitted.entries, ...added]
      published = new Map(entries.map((entry) => [entry.publicName, entry]))
      return { ...admitted, entries }
    },
    clear() {
      admission.clear()
      published = new Map()
    },
    check(entry, exec) {
      refuse(admission.refusal(entry.rawName))
      refuse(review.refusal(isUnreviewed === true ? undefined : exec, entry))
    },
    checkAgain: (entry) => refuse(admission.refusal(entry.rawName) ?? review.staleness(entry)),
  }
}
