/** Owns the diagnoses of a list of tools: what is left out, what it costs, what hides in it. Pure. */
import type { CatalogKind, Finding, Rows } from './kinds.ts'
import type { CatalogFacts, Facts } from './facts.ts'

/** Tools named in a sentence. */
const MAX_NAMED = 5
const MAX_REMEDIES = 3

function named(names: readonly string[]): string {
  const rest = names.length - MAX_NAMED
  return names.slice(0, MAX_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`
}

function listed(test: (catalog: CatalogFacts, facts: Facts) => Finding): (facts: Facts) => Finding {
  return (facts) => (facts.catalog === undefined ? undefined : test(facts.catalog, facts))
}

export const CATALOG_ROWS: Rows<CatalogKind> = {
  'duplicate-tools'({ failure }) {
    const tool = /listed tool "([^"]*)" more than once/.exec(failure?.message ?? '')?.[1]
    if (tool === undefined) return undefined
    return {
      severity: 'error',
      what: `The server lists the tool "${tool}" more than once, so its list is not taken.`,
      next: [
        'Set tools.duplicates: keep-first in the row to use the first one.',
        'Report it to the makers of the server.',
      ],
    }
  },

  'tools-left-out': listed(({ quarantined }) => {
    if (quarantined.length === 0) return undefined
    const told = quarantined.slice(0, MAX_NAMED).map(({ name, reason }) => `"${name}": ${reason}`)
    return {
      severity: 'warning',
      what: `${quarantined.length} of its tools cannot be given to a model and ${quarantined.length === 1 ? 'is' : 'are'} left out. ${named(told)}.`,
      next: [
        ...quarantined.slice(0, MAX_REMEDIES).map(({ name, reason }) => remedy(name, reason)),
        'The other tools work. docs/tools-and-schemas.md has what a model can be given.',
      ],
    }
  }),

  'tools-held': listed(({ held }, { name: server }) => {
    if (held.length === 0) return undefined
    return {
      severity: 'warning',
      what: `${held.length} of its definitions ${held.length === 1 ? 'is' : 'are'} withheld until a person approves ${held.length === 1 ? 'it' : 'them'}. ${named(held.map(({ name, reason }) => `"${name}": ${reason}`))}.`,
      next: [
        `See the difference: /mcp ${server} pins in a host that runs, or dsh-mcp pins show ${server} after one ran.`,
        `Trust it there: /mcp ${server} approve [TOOL], or dsh-mcp pins approve ${server} TOOL.`,
      ],
    }
  }),

  'tools-denied': listed(({ denied, tools }) => {
    if (denied.length === 0) return undefined
    const told = named(denied.map(({ name, rule }) => `"${name}" by ${rule}`))
    const isAll = tools.length === 0
    return {
      severity: isAll ? 'warning' : 'note',
      what: `The row keeps ${isAll ? 'all' : denied.length} of its tools out: ${told}.`,
      next: [
        isAll
          ? 'Mend tools.allow and tools.deny: names are those of the server.'
          : 'Nothing to do, if so meant.',
      ],
    }
  }),

  'pattern-unused': listed(({ unused, rawNames }) => {
    if (unused.length === 0) return undefined
    return {
      severity: 'warning',
      what: `${named(unused)}.`,
      next: [`Mend the pattern, or remove it. The server calls its tools ${named(rawNames)}.`],
    }
  }),

  'too-many-tools': listed(({ bytes, tokens, budgetBytes, exposure, tools }) => {
    // A row that searches keeps all of them out of the request.
    if (bytes <= budgetBytes || exposure === 'search') return undefined
    const cost = `${tools.length} tools cost ${kib(bytes)} in each request, about ${tokens} tokens (estimate: bytes / 4)`
    const largest = tools.toSorted((a, b) => b.bytes - a.bytes).slice(0, 3)
    const becomes =
      exposure === 'direct'
        ? 'exposure is direct, so every request carries all of it.'
        : 'The model finds them with mcp_search in place of seeing them all.'
    return {
      severity: 'warning',
      what: `${cost}; the budget is ${kib(budgetBytes)}. ${becomes}`,
      next: [
        'Keep the tools you use: tools.allow: [names or globs], or leave some out: tools.deny.',
        exposure === 'direct'
          ? 'Or set tools.exposure: auto, and the model searches for tools when they are too many.'
          : 'Name what must stay in sight in tools.alwaysDirect, or raise tools.budgetBytes.',
        `The largest are ${largest.map(({ name, bytes: own }) => `${name} (${kib(own)})`).join(', ')}.`,
      ],
    }
  }),

  'hidden-characters': listed(({ hidden }) => {
    if (hidden.length === 0) return undefined
    const told = hidden.map(({ name, count }) => `"${name}" (${count})`)
    return {
      severity: 'warning',
      what: `Hidden characters stand in the texts of ${named(told)}. They are removed before a model reads them.`,
      next: [
        'Nobody needs them there: ask the makers of the server why, and do not trust it until you know.',
      ],
    }
  }),

  'schemas-rewritten': listed(({ rewritten }) => {
    if (rewritten.length === 0) return undefined
    return {
      severity: 'note',
      what: `The schemas of ${named(rewritten.map(({ name }) => name))} were rewritten for the model; --verbose lists what.`,
      next: ['Nothing to do: arguments are still checked against the schema of the server.'],
    }
  }),

  'no-tools': listed(({ tools, quarantined, denied, held }, { failure }) => {
    const isAny = [tools, quarantined, denied, held].some(({ length }) => length > 0)
    if (failure !== undefined || isAny) return undefined
    return {
      severity: 'warning',
      what: 'The server works and offers no tools.',
      next: [
        'Does it need an argument or a permission before it has any? Resources and prompts are not tools.',
      ],
    }
  }),
}

/** Which keyword the model cannot take, and what to ask the server's makers for. */
function remedy(name: string, reason: string): string {
  if (/does not take an object/.test(reason))
    return `For "${name}" the keyword is type: inputSchema must say type: object.`
  if (/allows no arguments at all/.test(reason))
    return `For "${name}" inputSchema is false: it must be a schema of an object.`
  if (/does not fit into/.test(reason))
    return `For "${name}" inputSchema is too large: it needs fewer properties.`
  if (/inputSchema is not an object|the input schema is an? /.test(reason))
    return `For "${name}" inputSchema must be an object with type: object.`
  if (/x-mcp-header/.test(reason))
    return `For "${name}" the keyword is x-mcp-header: the server must mend it.`
  return `For "${name}" the makers of the server must mend its definition.`
}
