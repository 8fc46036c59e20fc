/**
 * Owns the list of what is known not to pass: its file, and the judgement of results by it. The file is one that the
 * suite reads too (`client`), with a section of our own (`unverified`) for scenarios whose passing says nothing. Pure.
 */
import type { Check, Result } from './results.ts'

export const SECTIONS = ['client', 'unverified'] as const
export type Section = (typeof SECTIONS)[number]

export interface Entry {
  readonly section: Section
  readonly scenario: string
  /** One check of the scenario; all of it where there is none. */
  readonly checkId: string | undefined
  readonly reason: string
}

/** How a scenario of a leg ended, by the baseline. */
export type Outcome = 'passed' | 'listed' | 'unverified' | 'failed'

export interface Verdict {
  readonly outcome: Outcome
  /** Why it failed, a line each. */
  readonly problems: readonly string[]
}

/**
 * Read a baseline: sections of `- scenario` or `- scenario:check`, each entry under a comment that gives the reason.
 * @throws Error for any other line, and for an entry without a reason
 */
export function readBaseline(text: string): Entry[] {
  const entries: Entry[] = []
  let section: Section | undefined
  let reason: string[] = []
  let isOpen = false
  for (const [index, line] of text.split('\n').entries()) {
    const heading = /^(\w+):$/.exec(line)?.[1]
    const comment = /^\s*#\s*(.*)$/.exec(line)?.[1]
    const [, scenario, checkId] = /^ {2}- ([^\s:]+)(?::(\S+))?$/.exec(line) ?? []
    if (comment !== undefined) {
      // A comment after entries begins the next group.
      reason = isOpen ? [comment] : [...reason, comment]
      isOpen = false
    } else if (heading !== undefined) {
      section = SECTIONS.find((name) => name === heading)
      if (section === undefined) throw new Error(`line ${index + 1}: no section ${heading}`)
      reason = []
    } else if (scenario !== undefined && section !== undefined) {
      if (reason.length === 0) throw new Error(`line ${index + 1}: ${scenario} has no reason`)
      entries.push({ section, scenario, checkId, reason: reason.join(' ') })
      isOpen = true
    } else if (line.trim() === '') {
      reason = []
      isOpen = false
    } else {
      throw new Error(`line ${index + 1}: not understood`)
    }
  }
  return entries
}

/** Judge one result. A listed failure that does not happen is a failure of the list. */
export function judge(result: Result, baseline: readonly Entry[]): Verdict {
  const entries = baseline.filter(({ scenario }) => scenario === result.scenario)
  const failing = result.checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
  const succeeded = new Set(result.checks.filter(({ status }) => status === 'SUCCESS').map(({ id }) => id))
  const failingIds = new Set(failing.map(({ id }) => id))
  const listed = entries.filter(({ section }) => section === 'client')
  const isWholeListed = listed.some(({ checkId }) => checkId === undefined)
  const isUnverifiedListed = listed.length < entries.length
  const isVerified = succeeded.size > 0 && result.isFinished

  const problems = failing
    .filter(({ id }) => !isWholeListed && !listed.some(({ checkId }) => checkId === id))
    .map((check) => `fails and is not listed: ${described(check)}`)
  if (isWholeListed && failing.length === 0) problems.push('is listed and does not fail: remove the entry')
  for (const { checkId } of listed) {
    if (checkId !== undefined && succeeded.has(checkId) && !failingIds.has(checkId))
      problems.push(`is listed and passes: ${checkId}: remove the entry`)
  }
  if (isUnverifiedListed && isVerified)
    problems.push('is listed as unverified and is verified: remove the entry')
  if (listed.length === 0 && !isUnverifiedListed && problems.length === 0 && !isVerified) {
    problems.push(
      result.isFinished ? 'nothing was checked' : 'the checks pass, but the driver did not get to its end',
    )
  }
  if (problems.length > 0) return { outcome: 'failed', problems }
  if (listed.length > 0) return { outcome: 'listed', problems }
  return { outcome: isUnverifiedListed ? 'unverified' : 'passed', problems }
}

/** Entries for scenarios that no leg has. */
export function unusedEntries(baseline: readonly Entry[], scenarios: ReadonlySet<string>): Entry[] {
  return baseline.filter(({ scenario }) => !scenarios.has(scenario))
}

function described({ id, errorMessage, description }: Check): string {
  return `${id}: ${errorMessage ?? description ?? 'no message'}`
}
