/**
 * Owns the rules of the house that a program can check. Each rule is a pure function from the sources to its
 * findings, one line each; no finding means the rule holds.
 */
import { posix } from 'node:path'
import ts from 'typescript'
import { nodesOf } from './source.ts'
import type { Source } from './source.ts'

/**
 * A step of the one way through, and the steps it may import. Data goes forward by values of types.ts; the
 * Session, the definitions and the projections are handed over at composition, in bridge.ts.
 */
export const MAY_IMPORT = {
  base: ['base'],
  config: ['config', 'base'],
  memory: ['memory', 'base'],
  status: ['status', 'base'],
  connection: ['connection', 'base'],
  auth: ['auth', 'connection', 'base'],
  inbound: ['inbound', 'base'],
  resources: ['resources', 'discovery', 'base'],
  prompts: ['prompts', 'execution', 'discovery', 'projection', 'base'],
  schema: ['schema', 'base'],
  discovery: ['discovery', 'base'],
  projection: ['projection', 'base'],
  execution: ['execution', 'projection', 'schema', 'base'],
  registry: ['registry', 'base'],
  host: ['host', 'inbound', 'projection', 'base'],
  bridge: [
    'bridge',
    'registry',
    'execution',
    'projection',
    'discovery',
    'schema',
    'inbound',
    'resources',
    'prompts',
    'host',
    'auth',
    'connection',
    'status',
    'memory',
    'config',
    'base',
  ],
  servers: ['servers', 'status', 'base'],
  search: ['search', 'registry', 'servers', 'base'],
  index: ['index', 'rows', 'search', 'bridge', 'host', 'servers', 'status', 'memory', 'config', 'base'],
  rows: ['rows', 'servers', 'status', 'config', 'base'],
  cli: ['cli', 'bridge', 'discovery', 'servers', 'status', 'memory', 'config', 'base'],
} as const satisfies Record<string, readonly string[]>

export type Step = keyof typeof MAY_IMPORT

/**
 * Files beside the folders whose step is not their own name; `status.ts` and `config-target.ts` are of the steps
 * status and config without a line here.
 */
const ROOT_FILES: Readonly<Record<string, Step>> = {
  'types.ts': 'base',
  'types-config.ts': 'base',
  'types-json.ts': 'base',
  'types-session.ts': 'base',
  'seat.ts': 'base',
  'instructions.ts': 'prompts',
  'errors.ts': 'base',
  'foreign.ts': 'base',
  'text.ts': 'base',
  'json.ts': 'base',
  'sdk.ts': 'base',
  'sdk-parts.ts': 'base',
  'naming.ts': 'base',
  'globs.ts': 'base',
  'clock.ts': 'base',
  'distance.ts': 'base',
  'environment.ts': 'base',
  'expansion.ts': 'config',
  'secrets.ts': 'config',
  'redaction.ts': 'config',
  'version.ts': 'base',
  'store.ts': 'base',
  'line-rate.ts': 'base',
  'visible.ts': 'base',
  'marked.ts': 'base',
  'loose-glob.ts': 'base',
  'index.ts': 'index',
  'row.ts': 'index',
  'reservation.ts': 'index',
  'companions.ts': 'index',
  'all-companions.ts': 'index',
  'hub.ts': 'servers',
  'search.ts': 'rows',
  'commands.ts': 'rows',
  'commands-line.ts': 'rows',
  'telemetry.ts': 'rows',
  'invariant.ts': 'rows',
}

/** The step a file belongs to, or undefined when the table does not know it. */
export function stepOf(path: string): Step | undefined {
  const [head = '', ...rest] = path.split('/')
  const word = rest.length > 0 ? head : (/^[a-z]+/.exec(head)?.[0] ?? '')
  if (rest.length === 0 && ROOT_FILES[head] !== undefined) return ROOT_FILES[head]
  return word in MAY_IMPORT && word !== 'base' && word !== 'rows' ? (word as Step) : undefined
}

const SDK = /^@modelcontextprotocol\//
/** Who may know the SDK: by type, or through sdk.ts at run time. */
const SDK_STEPS: ReadonlySet<Step | undefined> = new Set<Step>(['connection', 'auth', 'inbound'])
const SDK_FILES: ReadonlySet<string> = new Set(['sdk.ts', 'sdk-parts.ts', 'errors.ts', 'foreign.ts'])

function resolved(source: Source, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(source.path), specifier) : undefined
}

/** A file imports only from its own step and from those that the table names. */
export function wrongDirections(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const from = stepOf(source.path)
    if (from === undefined) return [`${source.path}: no step of the table`]
    const allowed: readonly string[] = MAY_IMPORT[from]
    return source.imports.flatMap(({ specifier }) => {
      const target = resolved(source, specifier)
      if (target === undefined) return []
      const to = stepOf(target)
      return to !== undefined && allowed.includes(to) ? [] : [`${source.path} (${from}) imports ${target}`]
    })
  })
}

/** The table itself has one direction: no step reaches itself through others. */
export function tableCircles(table: Readonly<Record<string, readonly string[]>>): string[] {
  const edges = new Map(Object.entries(table).map(([step, to]) => [step, to.filter((name) => name !== step)]))
  return circlesOf(edges)
}

/** No file reaches itself through its imports, types included. */
export function fileCircles(sources: readonly Source[]): string[] {
  const edges = new Map(
    sources.map((source) => [
      source.path,
      source.imports.flatMap(({ specifier }) => resolved(source, specifier) ?? []),
    ]),
  )
  return circlesOf(edges)
}

function circlesOf(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const found = new Set<string>()
  const visit = (node: string, way: readonly string[]): void => {
    if (way.includes(node)) found.add([...way.slice(way.indexOf(node)), node].join(' -> '))
    if (way.includes(node) || done.has(node)) return
    for (const next of edges.get(node) ?? []) visit(next, [...way, node])
    done.add(node)
  }
  for (const node of edges.keys()) visit(node, [])
  return [...found]
}

/** The SDK is loaded at one place, lazily: sdk.ts loads sdk-parts.ts, which loads it. Only the steps that speak to it know its types or that place. */
export function sdkLeaks(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const mayKnow = SDK_FILES.has(source.path) || SDK_STEPS.has(stepOf(source.path))
    return source.imports.flatMap(({ specifier, typeOnly, dynamic }) => {
      const target = resolved(source, specifier)
      const isParts = target === 'sdk-parts.ts'
      const knows = SDK.test(specifier) || target === 'sdk.ts' || isParts
      if (knows && !mayKnow) return [`${source.path} knows ${specifier}`]
      if ((!SDK.test(specifier) && !isParts) || typeOnly) return []
      const isSeam = isParts ? source.path === 'sdk.ts' && dynamic : source.path === 'sdk-parts.ts'
      return isSeam ? [] : [`${source.path} loads ${specifier}`]
    })
  })
}

/** Files longer than `cap` lines. */
export function longerThan(sources: readonly Source[], cap: number): string[] {
  return sources.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n').length
    return lines > cap ? [`${path}: ${lines} lines`] : []
  })
}

/** Stdout belongs to the host: no console, no write to a standard stream. The command line tool prints. */
export function prints(sources: readonly Source[]): string[] {
  const library = sources.filter((source) => stepOf(source.path) !== 'cli')
  return library.flatMap((source) =>
    nodesOf(source.tree).flatMap((node) => {
      const isConsole = ts.isIdentifier(node) && node.text === 'console'
      const isStream =
        ts.isPropertyAccessExpression(node) && /^process\.(stdout|stderr)$/.test(node.getText(source.tree))
      return isConsole || isStream ? [`${source.path}: ${node.parent.getText(source.tree)}`] : []
    }),
  )
}

/** Each file starts with a comment that says what it owns. */
export function withoutHeader(sources: readonly Source[]): string[] {
  return sources.filter(({ text }) => !/^(#!.*\n)?\/\*\*\s[\s*]*\w/.test(text)).map(({ path }) => path)
}

function isDefault(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true
  if (ts.isExportSpecifier(node)) return node.name.text === 'default'
  return (
    ts.canHaveModifiers(node) &&
    ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) === true
  )
}

/** The Loader takes a default export for the whole plugin and would lose `inject`. */
export function defaultExports(sources: readonly Source[]): string[] {
  return sources.filter(({ tree }) => nodesOf(tree).some(isDefault)).map(({ path }) => path)
}

/** Tests that do not run. */
export function heldTests(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    nodesOf(source.tree).flatMap((node) => {
      if (!ts.isPropertyAccessExpression(node)) return []
      const text = node.getText(source.tree)
      return /^(it|test|describe|suite)\b.*\.(skip|only|todo)$/s.test(text) ? [`${source.path}: ${text}`] : []
    }),
  )
}

/** Names that say nothing, and names that are not kebab case. */
export function badNames(paths: readonly string[]): string[] {
  return paths.filter((path) => {
    const name = posix.basename(path).replace(/(\.spec)?\.ts$/, '')
    return !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || /(manager|helper|util|common|misc|opts|cfg)/.test(name)
  })
}

/** What must not be in a tracked file: where this tree lies on some machine, and hosts of registries. */
export function foreignText(path: string, text: string, folders: readonly string[]): string[] {
  const patterns = [
    /\/(work|farm)\/\w/,
    /\/root\//,
    /\bregistry\.[a-z0-9-]+\.(org|com|net|io|dev|cn)\b/,
    /https?:\/\/[^\s/"']*(npmjs\.org|npm[m]irror|yarnpkg)/,
    /"resolved": +"http/,
  ]
  const matched = patterns.flatMap((pattern) => pattern.exec(text)?.[0] ?? [])
  return [...matched, ...folders.filter((folder) => text.includes(folder))].map((what) => `${path}: ${what}`)
}
