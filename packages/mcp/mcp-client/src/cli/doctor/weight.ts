/** Owns what a server's definitions cost in each request, and what hides in its texts. Pure. */
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import { createSelection } from '../../discovery/selection.ts'
import { isJsonObject } from '../../json.ts'
import { cleanLine, inspectText } from '../../text.ts'
import type { ServerSpec, ServerStatus } from '../../types.ts'
import type { CatalogFacts, ToolWeight } from './facts.ts'

/** English prose and JSON come to about this many bytes a token: an estimate, and told as one. */
export const BYTES_PER_TOKEN = 4
const MAX_NAME_CHARS = 80
const MAX_PATTERN_CHARS = 200
/** Nested further, a text is not looked at. */
const MAX_DEPTH = 32

export function weigh({ name, description, parameters }: ToolDefinition): ToolWeight {
  // What a function-calling request carries of a tool.
  const shown = { type: 'function', function: { name, description, parameters } }
  const bytes = Buffer.byteLength(JSON.stringify(shown))
  return { name, bytes, tokens: tokensOf(bytes) }
}

export function tokensOf(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

/**
 * The facts of one list.
 * @param listed the tools as the server listed them, page by page
 */
export function catalogFacts(
  spec: ServerSpec,
  definitions: readonly ToolDefinition[],
  { tools }: ServerStatus,
  listed: readonly unknown[],
): CatalogFacts {
  const weights = definitions.map(weigh)
  const bytes = weights.reduce((sum, weight) => sum + weight.bytes, 0)
  return {
    tools: weights,
    bytes,
    tokens: tokensOf(bytes),
    budgetBytes: spec.tools.budgetBytes,
    exposure: spec.tools.exposure,
    quarantined: tools.quarantined,
    rewritten: tools.rewritten,
    denied: tools.denied,
    held: tools.held,
    ...patternFacts(spec, tools),
    hidden: listed.flatMap((tool) => {
      const count = hiddenIn(tool, 0)
      if (count === 0) return []
      const name =
        isJsonObject(tool) && typeof tool['name'] === 'string' ? tool['name'] : 'a tool without a name'
      return [{ name: cleanLine(spec.redact(name), MAX_NAME_CHARS), count }]
    }),
  }
}

/** Patterns of the row that name nothing; a tool that is left out by itself is named all the same. */
function patternFacts(
  { tools, redact }: ServerSpec,
  status: ServerStatus['tools'],
): Pick<CatalogFacts, 'unused' | 'rawNames'> {
  const names = [
    ...status.offered.map(({ rawName }) => rawName),
    ...[status.denied, status.held, status.quarantined].flat().map(({ name }) => name),
  ]
  return {
    unused: createSelection(tools)
      .unused(names)
      .map((text) => cleanLine(redact(text), MAX_PATTERN_CHARS)),
    rawNames: names.map((name) => cleanLine(redact(name), MAX_NAME_CHARS)),
  }
}

/** Hidden characters in all texts of a JSON value, keys included. */
function hiddenIn(value: unknown, depth: number): number {
  if (typeof value === 'string') return inspectText(value).hidden
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 0
  return Object.entries(value).reduce(
    (sum, [key, member]) => sum + inspectText(key).hidden + hiddenIn(member, depth + 1),
    0,
  )
}
