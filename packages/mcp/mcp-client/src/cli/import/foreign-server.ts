/** Owns the shapes that one foreign server takes on its way to a row. A few pure functions over texts, no more. */

/** A variable of the environment that the file itself names. */
export interface Named {
  readonly variable: string
  /** Stands in for an unset or empty variable. */
  readonly fallback?: string
}

/** A value that must come from the environment, under a name that is still to be chosen. */
export interface Wanted {
  /** Names in order of preference. */
  readonly wanted: readonly [string, ...string[]]
  /** Equal keys share one variable. It may hold the secret itself: it never leaves the process. */
  readonly key: string
  /** The value that the file holds, to compare with the environment. */
  readonly value?: string
  /** Where the value comes from, for people. */
  readonly origin: string
  readonly fallback?: string
}

export type Piece = string | Named | Wanted
/** A text of a foreign file: literal parts and references to the environment. */
export type Template = readonly Piece[]
export type NamedTemplate = readonly [name: string, value: Template]

export interface ForeignStdio {
  readonly kind: 'stdio'
  readonly command: Template
  readonly args: readonly Template[]
  readonly env: readonly NamedTemplate[]
  /** Variables of the host that are passed on where they are set. */
  readonly inherit?: readonly string[]
  readonly cwd?: Template
}

export interface ForeignHttp {
  readonly kind: 'http'
  /** `auto`: the file does not say which of the two HTTP transports it is. */
  readonly flavour: 'streamable-http' | 'sse' | 'auto'
  readonly url: Template
  readonly headers: readonly NamedTemplate[]
}

export type ForeignTarget = ForeignStdio | ForeignHttp

/** One server as another client knows it. Times in milliseconds. */
export interface ForeignServer {
  /** The name in the file, as it stands there. */
  readonly name: string
  /** Its legal name here. */
  readonly serverName: string
  readonly target: ForeignTarget
  readonly isDisabled: boolean
  readonly callTimeoutMs?: number
  readonly startupTimeoutMs?: number
  /** Exact names of the only tools that are taken. */
  readonly allow?: readonly string[]
  /** Exact names of tools that are not taken. */
  readonly deny?: readonly string[]
  /** What changed, what was left out and what is to be done: whole sentences without values. */
  readonly notes: readonly string[]
}

/** What became of one entry of a file. */
export type Reading =
  | {
      readonly kind: 'server'
      readonly name: string
      readonly serverName: string
      readonly server: ForeignServer
    }
  | { readonly kind: 'fault'; readonly name: string; readonly serverName: string; readonly reason: string }

/** Why one server, or one file, cannot be taken. The message has no value of the file. */
export class ImportFault extends Error {}

/** What was caught, where it is a fault of a file; anything else is a fault of ours and goes on. */
export function faultOf(error: unknown): ImportFault {
  if (error instanceof ImportFault) return error
  throw error
}

/** A literal text as a template. */
export function literal(text: string): Template {
  return text === '' ? [] : [text]
}

/** Change every text of a target, told where it stands. */
export function mapTarget(
  target: ForeignTarget,
  change: (template: Template, place: Place) => Template,
): ForeignTarget {
  const named = (kind: 'env' | 'header', list: readonly NamedTemplate[]): NamedTemplate[] =>
    list.map(([name, value]) => [name, change(value, { kind, name })])
  if (target.kind === 'http') {
    const url = change(target.url, { kind: 'url' })
    return { ...target, url, headers: named('header', target.headers) }
  }
  const { command, args, env, cwd } = target
  return {
    ...target,
    command: change(command, { kind: 'command' }),
    args: args.map((arg, index) => {
      const before = args[index - 1]?.find((piece) => typeof piece === 'string') ?? ''
      return change(arg, { kind: 'argument', index, before })
    }),
    env: named('env', env),
    ...(cwd === undefined ? {} : { cwd: change(cwd, { kind: 'cwd' }) }),
  }
}

/** Where a text stands in a server. */
export type Place =
  | { readonly kind: 'env' | 'header'; readonly name: string }
  | { readonly kind: 'argument'; readonly index: number; readonly before: string }
  | { readonly kind: 'command' | 'cwd' | 'url' }

/** A place in words. Names that do not look like one are not repeated: they may be a misplaced secret. */
export function placeText(place: Place): string {
  switch (place.kind) {
    case 'env':
      return /^[\w.()-]{1,64}$/.test(place.name) ? `env ${place.name}` : 'env'
    case 'header':
      return /^[\w-]{1,64}$/.test(place.name) ? `header ${place.name}` : 'header'
    case 'argument':
      return `argument ${place.index + 1}`
    default:
      return place.kind
  }
}

/** Variable names that say nothing about whose value it is. */
const GENERIC =
  /^(?:MY_)?(?:(?:API|AUTH|ACCESS|BEARER|CLIENT|PERSONAL|SECRET)_)*(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASS|AUTH|VALUE)$/i

/** Whether a variable of that name could belong to anyone. */
export function isGenericName(name: string): boolean {
  return GENERIC.test(name)
}

/** A variable name of one server: its name, then what the value is. */
export function qualifiedName(serverName: string, what: string): string {
  const [prefix, part] = [variablePart(serverName), variablePart(what)]
  return part === prefix || part.startsWith(`${prefix}_`) ? part : `${prefix}_${part}`
}

/** A text as part of a variable name: `X-Api-Key` becomes `X_API_KEY`. Never empty. */
export function variablePart(text: string): string {
  const part = text
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z\d]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toUpperCase()
    .slice(0, 48)
  return part === '' ? 'VALUE' : /^\d/.test(part) ? `MCP_${part}` : part
}
