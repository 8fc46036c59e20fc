/**
 * Owns the names of the variables that rows read: those the files name stay, the others are chosen so that no two values
 * share one. Pure.
 */
import { mapTarget, placeText } from './foreign-server.ts'
import type { ForeignServer, Named, Piece, Wanted } from './foreign-server.ts'

export interface VariableUse {
  /** Position of the server in the list that came in. */
  readonly index: number
  readonly server: string
  readonly place: string
}

/** One variable that rows read. */
export interface Variable {
  readonly name: string
  /** Where it is read: server and place. */
  readonly uses: readonly VariableUse[]
  /** Where its value came from in the file: `env GITHUB_TOKEN`, `prompt api-key`; undefined for a variable of the file. */
  readonly origin?: string
  /** It may stay unset: each use has a default. */
  readonly hasFallback: boolean
  readonly state: 'set' | 'unset' | 'differs'
}

/** Servers whose references all have a name, and those names. */
export interface NamedServers {
  readonly servers: readonly ForeignServer[]
  readonly variables: readonly Variable[]
}

interface Use extends VariableUse {
  readonly piece: Named | Wanted
  readonly name: string
}

/** How a row, or any other text of its file, reads a variable. */
const READ = /\$\{([A-Za-z_]\w*)|\bprocess\.env(?:\.|\[["'`])([A-Za-z_]\w*)/g

/**
 * Name all wanted variables. The same servers in the same order always get the same names.
 * @param text of the file that rows are added to: what it reads already has another value, for all we know
 */
export function nameVariables(
  servers: readonly ForeignServer[],
  env: Readonly<Record<string, string | undefined>>,
  text = '',
): NamedServers {
  const taken = new Set(Array.from(text.matchAll(READ), ([, braced, member]) => String(braced ?? member)))
  for (const piece of references(servers)) if ('variable' in piece) taken.add(piece.variable)
  const chosen = new Map<string, string>()
  const uses: Use[] = []
  const named = servers.map((server, index) => ({
    ...server,
    target: mapTarget(server.target, (template, place) =>
      template.map((piece): Piece => {
        if (typeof piece === 'string') return piece
        const name = 'variable' in piece ? piece.variable : nameFor(piece, chosen, taken)
        uses.push({ index, piece, name, server: server.name, place: placeText(place) })
        return piece.fallback === undefined
          ? { variable: name }
          : { variable: name, fallback: piece.fallback }
      }),
    ),
  }))
  return { servers: named, variables: variablesOf(uses, env) }
}

function references(servers: readonly ForeignServer[]): (Named | Wanted)[] {
  const found: (Named | Wanted)[] = []
  for (const server of servers) {
    mapTarget(server.target, (template) => {
      found.push(...template.filter((piece) => typeof piece !== 'string'))
      return template
    })
  }
  return found
}

function nameFor(piece: Wanted, chosen: Map<string, string>, taken: Set<string>): string {
  const known = chosen.get(piece.key)
  if (known !== undefined) return known
  const last = piece.wanted.at(-1) as string
  let name = piece.wanted.find((candidate) => !taken.has(candidate))
  for (let number = 2; name === undefined; number += 1) {
    if (!taken.has(`${last}_${number}`)) name = `${last}_${number}`
  }
  taken.add(name)
  chosen.set(piece.key, name)
  return name
}

function variablesOf(uses: readonly Use[], env: Readonly<Record<string, string | undefined>>): Variable[] {
  return [...new Set(uses.map(({ name }) => name))].map((name) => {
    const own = uses.filter((use) => use.name === name)
    const wanted = own.map(({ piece }) => piece).find((piece) => 'wanted' in piece)
    const current = Object.hasOwn(env, name) ? env[name] : undefined
    const differs = wanted?.value !== undefined && current !== undefined && current !== wanted.value
    return {
      name,
      uses: own.map(({ index, server, place }) => ({ index, server, place })),
      ...(wanted === undefined ? {} : { origin: wanted.origin }),
      hasFallback: own.every(({ piece }) => piece.fallback !== undefined),
      state: current === undefined ? 'unset' : differs ? 'differs' : 'set',
    }
  })
}
