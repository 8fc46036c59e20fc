/**
 * Owns the answer to what an agent may see. The host knows no other way to ask than to look a registered tool up: the
 * candidates are registered, looked up and unregistered in one go, and the verdicts are kept until the registry changes.
 */
import { scopeChainOf } from '@deepseek-ai/dsh-scope'
import type { ToolExecutionInput, ToolRuntime } from '@deepseek-ai/dsh-tools'
import type { Found } from './directory.ts'
import type { Loans } from './loans.ts'

export type Agent = ToolExecutionInput['agent']

export interface Visibility {
  /** Those of the candidates that this agent may see, in their order. */
  of(candidates: readonly Found[], agent: Agent): Found[]
  /** The registry or its restrictions changed. */
  forget(): void
}

interface Verdicts {
  /** The scopes the agent was in: joining another preset is no change of the registry. */
  readonly chain: readonly object[]
  readonly byName: Map<string, boolean>
}

/** Calls without an agent see what everybody sees. */
const NOBODY = {}

export function createVisibility(tools: () => Pick<ToolRuntime, 'get'>, loans: Loans): Visibility {
  let verdicts = new WeakMap<object, Verdicts>()

  /** A name that something else has taken cannot be this tool: it is not to be seen. */
  function look(found: Found, agent: Agent): boolean {
    let giveBack: () => void
    try {
      giveBack = loans.take(found)
    } catch {
      return false
    }
    const isVisible = tools().get(found.tool.publicName, agent) === found.tool.definition
    giveBack()
    return isVisible
  }

  function verdictsOf(agent: Agent): Verdicts['byName'] {
    const chain = scopeChainOf(agent)
    const known = verdicts.get(agent ?? NOBODY)
    if (known !== undefined && known.chain.length === chain.length) {
      if (known.chain.every((scope, at) => scope === chain[at])) return known.byName
    }
    const byName = new Map<string, boolean>()
    verdicts.set(agent ?? NOBODY, { chain, byName })
    return byName
  }

  return {
    of(candidates, agent) {
      const known = verdictsOf(agent)
      return candidates.filter((found) => {
        const { publicName } = found.tool
        const verdict = known.get(publicName) ?? look(found, agent)
        known.set(publicName, verdict)
        return verdict
      })
    },
    forget: () => void (verdicts = new WeakMap()),
  }
}
