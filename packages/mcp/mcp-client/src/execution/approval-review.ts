/**
 * Owns the review of one row's calls on their way through the host: before a call what `tools.approval` says of it, after
 * a refusal the words that name the rule, and at the call itself that it is the one that was reviewed. State is one weak
 * table by execution: nothing is remembered from one call for the next.
 */
import type { PreToolDecision, ToolExecution, ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { nameOf } from '../marked.ts'
import type { CatalogEntry, ServerSpec } from '../types.ts'
import { createVerdicts } from './approval.ts'
import { questionOf } from './approval-question.ts'

/** What the host calls. */
export interface CallReview {
  /**
   * Decide a pending call. Undefined: nothing against it, or no tool of this row.
   * @param canAsk whether anybody could be asked
   */
  before(exec: Pending, canAsk: () => boolean): PreToolDecision | undefined
  /** What the model reads of a call that was refused when it asked; undefined for any other outcome. */
  after(exec: object, result: Readonly<ToolExecutionResult>): string | undefined
}

export interface Review extends CallReview {
  /**
   * At the call itself: why this execution of this definition is not sent; undefined where nothing is against it.
   * @param exec undefined for the word of a person at a command line, which is an approval
   */
  refusal(exec: object | undefined, entry: CatalogEntry): string | undefined
  /** Why a call that was let through under this definition must be reviewed again; undefined where it need not. */
  staleness(entry: CatalogEntry): string | undefined
}

type Pending = Pick<ToolExecution, 'name' | 'arguments'>

export interface ReviewOptions {
  readonly spec: ServerSpec
  /** The tool that is published under a public name now. */
  readonly find: (publicName: string) => CatalogEntry | undefined
  /** Why a public name is not published, where this server lists it. */
  readonly refusalByName: (publicName: string) => string | undefined
}

interface Reviewed {
  readonly entry: CatalogEntry
  readonly rule: string
  hasRun: boolean
}

/** Every refusal begins with it: what comes back through the host has no code of its own. */
const CODE = 'MCP_DENIED'

export function createReview({ spec, find, refusalByName }: ReviewOptions): Review {
  const verdictOf = createVerdicts(spec)
  const asked = new WeakMap<object, Reviewed>()

  const refused = ({ rawName }: CatalogEntry, why: string): string =>
    spec.redact(
      `Tool ${nameOf(rawName, spec.redact)} of MCP server "${spec.serverName}" ${why}. Nothing was sent`,
    )
  const deny = (reason: string): PreToolDecision => ({ kind: 'deny', reason: `${CODE}: ${reason}` })

  return {
    before(exec, canAsk) {
      const entry = find(exec.name)
      if (entry === undefined) {
        const reason = refusalByName(exec.name)
        return reason === undefined ? undefined : deny(reason)
      }
      const { decision, rule } = verdictOf(entry)
      if (decision === 'allow') return undefined
      if (decision === 'deny') return deny(refused(entry, `is denied by ${rule}`))
      if (!canAsk())
        return deny(refused(entry, `needs a person's approval (${rule}), and nobody can be asked here`))
      asked.set(exec, { entry, rule, hasRun: false })
      return { kind: 'ask', reason: questionOf({ entry, args: exec.arguments, rule }, spec) }
    },
    after(exec, result) {
      const reviewed = asked.get(exec)
      // A refusal of the host has a message and no code; a call that was cancelled has one.
      if (reviewed === undefined || reviewed.hasRun || !result.isError || result.error.info !== undefined)
        return undefined
      const { entry, rule } = reviewed
      return `${CODE}: ${refused(entry, `was not approved (${rule}): ${result.error.message}`)}`
    },
    refusal(exec, entry) {
      const { decision, rule } = verdictOf(entry)
      if (decision === 'deny') return refused(entry, `is denied by ${rule}`)
      if (decision === 'allow' || exec === undefined) return undefined
      const reviewed = asked.get(exec)
      // Another plugin may let a call through without the others: it does not speak for the person.
      if (reviewed === undefined)
        return refused(entry, `needs a person's approval (${rule}), and nobody was asked`)
      if (reviewed.hasRun) return refused(entry, `was approved for one call (${rule})`)
      if (reviewed.entry.digest !== entry.digest)
        return refused(entry, `changed while a person was asked (${rule}); call it again to ask anew`)
      reviewed.hasRun = true
      return undefined
    },
    staleness(entry) {
      const now = find(entry.publicName)
      if (now === undefined || now.digest === entry.digest) return undefined
      const { decision, rule } = verdictOf(now)
      if (decision === 'allow') return undefined
      return refused(entry, `changed since the call began (${rule}); call it again`)
    },
  }
}
