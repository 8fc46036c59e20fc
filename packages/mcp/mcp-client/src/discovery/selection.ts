/**
 * Owns which tools a row takes by their raw names: `tools.allow` and `tools.deny`, deny first. What keeps a tool out is
 * read generously and what lets it in strictly: `deny` ignores case and hidden characters, `allow` does not. Pure.
 */
import { createGlobs } from '../globs.ts'
import { createLooseGlob } from '../loose-glob.ts'
import { OWN_TOOLS } from '../naming.ts'
import type { ToolsSpec } from '../types.ts'

export interface Selection {
  /** The rule of the row that keeps this tool out, such as `tools.deny "delete_*"`; undefined where none does. */
  ruleAgainst(rawName: string): string | undefined
  /** One warning for each pattern that none of these names matches: it is likely a typing error. */
  unused(rawNames: Iterable<string>): string[]
}

/**
 * The selection of one row.
 * @throws Error for a pattern that cannot be read
 */
export function createSelection(
  tools: Pick<ToolsSpec, 'allow' | 'deny'> & Partial<Pick<ToolsSpec, 'approval' | 'alwaysDirect'>>,
): Selection {
  const isAllowed = createGlobs(tools.allow)
  const deny = tools.deny.map((pattern) => ({ pattern, matches: createLooseGlob(pattern) }))
  const watched = [
    ...tools.allow.map((pattern) => ({ key: 'tools.allow', pattern, matches: createGlobs([pattern]) })),
    ...deny.map((rule) => ({ key: 'tools.deny', ...rule })),
    ...(tools.alwaysDirect ?? []).map((pattern) => ({
      key: 'tools.alwaysDirect',
      pattern,
      matches: createGlobs([pattern]),
    })),
    ...(typeof tools.approval === 'object' ? tools.approval : []).map(({ match }, index) => ({
      key: `tools.approval[${index}]`,
      pattern: match,
      matches: createLooseGlob(match),
    })),
  ]
  return {
    ruleAgainst(rawName) {
      const denied = deny.find(({ matches }) => matches(rawName))
      if (denied !== undefined) return `tools.deny ${JSON.stringify(denied.pattern)}`
      return isAllowed(rawName) ? undefined : 'tools.allow, which does not name it'
    },
    unused(rawNames) {
      // What we add to a server's tools may be named, too.
      const names = [...rawNames, ...OWN_TOOLS]
      // A server without tools says nothing about the patterns.
      if (names.length === OWN_TOOLS.length) return []
      return watched
        .filter(({ pattern, matches }) => pattern !== '*' && !names.some(matches))
        .map(({ key, pattern }) => `${key}: ${JSON.stringify(pattern)} matches none of the server's tools`)
    },
  }
}
