/**
 * Owns the place of one row in the host's own pipeline of tool calls: it asks before, and says the rule after. Whoever
 * else has a word in a call has it too, and the stricter one holds.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { PreToolDecision, ToolExecution, ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import type {} from '@deepseek-ai/dsh-user-approval'

/** Decides for the tools of one row; see execution/approval-review.ts. */
export interface CallReview {
  before(exec: ToolExecution, canAsk: () => boolean): PreToolDecision | undefined
  after(exec: object, result: Readonly<ToolExecutionResult>): string | undefined
}

/** Review the calls of one row from now on; ends with the row. First in line, so that others are asked below it. */
export function reviewCalls(ctx: Context, review: CallReview): void {
  ctx.on(
    'tools/pre-execute',
    async (exec, next) => {
      // Most calls are of other tools: the service is looked up where it counts.
      const ours = review.before(exec, () => exec.agent !== undefined && ctx.get('approval') !== undefined)
      if (ours === undefined) return next()
      return ours.kind === 'ask' ? stricter(ours, await next()) : ours
    },
    { prepend: true },
  )
  ctx.on(
    'tools/post-execute',
    async (exec, result, next) => {
      const decision = await next()
      const text = decision.kind === 'accept' ? review.after(exec, result) : undefined
      if (text === undefined) return decision
      const { additionalContexts } = decision
      return {
        kind: 'block',
        feedback: [{ type: 'text', text }],
        ...(additionalContexts === undefined ? {} : { additionalContexts }),
      }
    },
    { prepend: true },
  )
}

type Ask = Extract<PreToolDecision, { readonly kind: 'ask' }>

/** A denial beats a question, and of two questions both are asked as one. */
function stricter(ours: Ask, theirs: PreToolDecision): PreToolDecision {
  if (theirs.kind === 'deny') return theirs
  if (theirs.kind === 'allow' || theirs.reason === undefined) return ours
  return { kind: 'ask', reason: [ours.reason, theirs.reason].join('\n\n') }
}
