/**
 * Companion row `@deepseek-ai/dsh-mcp-client/invariant`: reserves this package's place among the host's invariants, as
 * profiles written for the harness's own client expect.
 */
import type { Context } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/dsh-invariants'

/** Plugin name in the loader's diagnostics. */
export const name = 'mcp-client-invariant'
/** Services this plugin cannot do without. */
export const inject = ['invariants']

/**
 * Register the companion. It watches nothing yet: the registry itself refuses what would break naming, and there is no
 * second record of servers and tools to compare with.
 */
export async function apply(ctx: Context): Promise<void> {
  ctx.invariants.register('@deepseek-ai/dsh-mcp-client', () => undefined)
}
