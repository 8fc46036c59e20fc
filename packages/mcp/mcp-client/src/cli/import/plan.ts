/**
 * Owns what an import is going to do: which server becomes which row, which is left out and why, and which variables the
 * rows read. Pure.
 */
import { conceal } from './conceal.ts'
import { faultOf } from './foreign-server.ts'
import type { ForeignServer } from './foreign-server.ts'
import type { FileReading } from './locate.ts'
import { UsageFault } from './locate.ts'
import { makeRow } from './row.ts'
import type { Row } from './row.ts'
import type { Target } from './target.ts'
import { nameVariables } from './variables.ts'
import type { Variable } from './variables.ts'

interface OutcomeBase {
  /** Its name in the file. */
  readonly name: string
  readonly path: string
  readonly client: string
  readonly dialect: string
  readonly notes: readonly string[]
}

/** What becomes of one server. `skipped`: its name is taken. `failed`: it cannot be taken. The reason is a sentence. */
export type Outcome =
  | (OutcomeBase & { readonly status: 'added'; readonly row: Row })
  | (OutcomeBase & { readonly status: 'skipped' | 'failed'; readonly reason: string })

export interface Plan {
  readonly outcomes: readonly Outcome[]
  readonly rows: readonly Row[]
  readonly variables: readonly Variable[]
  /** Credentials that were found: for the redactor. */
  readonly secrets: readonly string[]
}

interface Item {
  readonly name: string
  readonly path: string
  readonly client: string
  readonly dialect: string
  readonly serverName: string
  readonly read:
    { readonly kind: 'server'; readonly index: number } | { readonly kind: 'fault'; readonly reason: string }
}

/** Make the plan. Throws UsageFault where `only` names a server that is in no file. */
export function makePlan(
  files: readonly FileReading[],
  target: Target,
  only: readonly string[] | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Plan {
  const found: ForeignServer[] = []
  const items = files.flatMap((file) => itemsOf(file, found))
  const chosen = only === undefined ? items : items.filter((item) => isChosen(item, only))
  const missing = only?.filter((name) => !items.some((item) => isChosen(item, [name]))) ?? []
  if (missing.length > 0 && items.length > 0) {
    const known = items.map(({ name }) => name).join(', ')
    throw new UsageFault(`--only names no server: ${missing.join(', ')}. There are ${known}.`)
  }
  const { servers, secrets } = conceal(found)
  const named = nameVariables(servers, env, target.text)
  const taken = new Map<string, string>()
  const outcomes = chosen.map((item) => outcomeOf(item, named.servers, target, taken))
  const added = new Set(
    chosen.flatMap(({ read }, at) =>
      read.kind === 'server' && outcomes[at]?.status === 'added' ? [read.index] : [],
    ),
  )
  const variables = named.variables
    .map((variable) => ({ ...variable, uses: variable.uses.filter(({ index }) => added.has(index)) }))
    .filter(({ uses }) => uses.length > 0)
  const rows = outcomes.flatMap((outcome) => (outcome.status === 'added' ? [outcome.row] : []))
  return { outcomes, rows, variables, secrets }
}

function itemsOf(file: FileReading, found: ForeignServer[]): Item[] {
  if (file.kind === 'fault') return []
  const { path, dialect, readings } = file
  return readings.map((reading): Item => {
    const { name, serverName } = reading
    const base = { name, path, client: dialect.client, dialect: dialect.name, serverName }
    if (reading.kind === 'fault') return { ...base, read: { kind: 'fault', reason: reading.reason } }
    found.push(reading.server)
    return { ...base, read: { kind: 'server', index: found.length - 1 } }
  })
}

function isChosen(item: Item, only: readonly string[]): boolean {
  return only.includes(item.name) || only.includes(item.serverName)
}

function outcomeOf(
  item: Item,
  servers: readonly ForeignServer[],
  target: Target,
  taken: Map<string, string>,
): Outcome {
  const { name, path, client, dialect, serverName, read } = item
  const base = { name, path, client, dialect, notes: [] as readonly string[] }
  if (read.kind === 'fault') return { ...base, status: 'failed', reason: read.reason }
  const server = servers[read.index] as ForeignServer
  const other = taken.get(serverName)
  const reason = target.serverNames.has(serverName)
    ? `The name ${serverName} is in the file already.`
    : target.ids.has(`mcp-${serverName}`)
      ? `The id mcp-${serverName} is in the file already.`
      : other === undefined
        ? undefined
        : `The name ${serverName} is taken by the server of ${other}. To take this one: --from ${dialect} --only ${serverName}`
  if (reason !== undefined) return { ...base, status: 'skipped', reason }
  try {
    const { row, notes } = makeRow(server)
    taken.set(serverName, client)
    return { ...base, status: 'added', notes: [...notes, ...server.notes], row }
  } catch (error) {
    return { ...base, status: 'failed', reason: faultOf(error).message, notes: server.notes }
  }
}
