/** Owns the making of one tool for the registry: its offer to the model, and what surrounds each of its calls. */
import type { Trust } from './bridge-trust.ts'
import { hiddenOf } from './discovery/hidden.ts'
import { createDefinition } from './execution/definition.ts'
import type { DefinitionContext } from './execution/definition.ts'
import type { Defined } from './registry/tools.ts'
import type { Budget } from './schema/budget.ts'
import { toOffer } from './schema/offer.ts'
import type { CallRecord } from './status-calls.ts'
import { cleanLine, safeLine } from './text.ts'
import type { Agent, CatalogEntry, Session } from './types.ts'

/** What surrounds each call of a tool. */
export interface CallHooks {
  readonly budget: Budget
  prepare(signal: AbortSignal, agent?: Agent): Promise<Session | undefined>
  failed(session: Session | undefined, error: unknown): void
  watch: CallRecord['watch']
  check: Trust['check']
}

/** Said of each tool that comes after the time for all of them is spent. */
const TOO_COSTLY = { ok: false, reason: 'the schemas of this server take too long to prepare' } as const

/** One entry as the registry can hold it, or why it cannot. Does no I/O. */
export function defineTool(entry: CatalogEntry, context: DefinitionContext, hooks: CallHooks): Defined {
  const offer = hooks.budget.spend(() => toOffer(entry)) ?? TOO_COSTLY
  if (!offer.ok)
    return { ok: false, quarantined: { name: cleanLine(entry.rawName, 80), reason: offer.reason } }
  const shown = { ...entry, description: offer.description }
  const definition = createDefinition(shown, offer.parameters, offer.outputSchema, context)
  return {
    ok: true,
    rewrites: offer.rewrites.map((rewrite) => ({ ...rewrite, path: context.spec.redact(rewrite.path) })),
    flagged: hiddenOf(entry, context.spec.redact),
    definition: {
      ...definition,
      execute: (args, exec) =>
        hooks.watch(safeLine(entry.rawName, context.spec.redact, 80), exec.callId, async () => {
          hooks.check(entry, exec)
          const session = await hooks.prepare(exec.signal, exec.agent)
          try {
            return await definition.execute(args, exec)
          } catch (error) {
            hooks.failed(session, error)
            throw error
          }
        }),
    },
  }
}
