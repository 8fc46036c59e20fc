/**
 * Owns which calls of one row ask a person, by `tools.approval`. A server's hints count only where the row trusts them:
 * without trust every call may write and destroy. Pure.
 */
import { createGlobs } from '../globs.ts'
import { createLooseGlob } from '../loose-glob.ts'
import type { CatalogEntry, ServerSpec } from '../types.ts'

export interface Verdict {
  readonly decision: 'allow' | 'ask' | 'deny'
  /** What decided, such as `tools.approval: write` or `tools.approval[2] match "delete_*"`. */
  readonly rule: string
}

type Judged = Pick<CatalogEntry, 'rawName' | 'annotations' | 'run'>

/**
 * The verdicts of one row.
 * @throws Error for a pattern that cannot be read
 */
export function createVerdicts({
  tools: { approval },
  trustAnnotations,
}: Pick<ServerSpec, 'trustAnnotations'> & { readonly tools: Pick<ServerSpec['tools'], 'approval'> }): (
  tool: Judged,
) => Verdict {
  if (typeof approval === 'string') {
    const rule = `tools.approval: ${approval}`
    const asks = ASKS[approval]
    // What we say of a tool of our own is no claim of the server.
    return ({ annotations, run }) => ({
      decision: asks(trustAnnotations || run !== undefined ? annotations : {}) ? 'ask' : 'allow',
      rule,
    })
  }
  const rules = approval.map(({ match, decision }, index) => ({
    decision,
    matches: decision === 'allow' ? createGlobs([match]) : createLooseGlob(match),
    rule: `tools.approval[${index}] match ${JSON.stringify(match)}`,
  }))
  return ({ rawName }) =>
    rules.find(({ matches }) => matches(rawName)) ?? { decision: 'allow', rule: 'no rule of tools.approval' }
}

/** By the hints that count; what a server does not say is the worse of both. */
const ASKS: Readonly<
  Record<'never' | 'destructive' | 'write' | 'always', (hints: CatalogEntry['annotations']) => boolean>
> = {
  never: () => false,
  destructive: ({ readOnlyHint, destructiveHint }) => readOnlyHint !== true && destructiveHint !== false,
  write: ({ readOnlyHint }) => readOnlyHint !== true,
  always: () => true,
}
