/** Owns the closed list of the kinds of diagnosis, and the shape of a table over them. No runtime code. */
import type { Facts } from './facts.ts'

export type ConfigKind =
  'config-refused' | 'variable-missing' | 'undefined-in-value' | 'value-empty' | 'variable-unexpanded'

export type StdioKind =
  | 'tilde'
  | 'cwd-wrong'
  | 'command-with-arguments'
  | 'command-not-found'
  | 'command-not-runnable'
  | 'script-not-found'
  | 'package-not-found'
  | 'node-too-old'
  | 'module-missing'
  | 'credential-refused'
  | 'crash'
  | 'http-server-as-stdio'
  | 'silent-server'
  | 'stdout-noise'

export type HttpKind =
  | 'proxy'
  | 'dns'
  | 'refused'
  | 'tls-untrusted'
  | 'tls'
  | 'unreachable'
  | 'auth-failed'
  | 'auth-missing'
  | 'auth-refused'
  | 'forbidden'
  | 'wrong-transport'
  | 'html-page'
  | 'path-not-found'
  | 'too-busy'
  | 'server-error'
  | 'redirect'
  | 'http-silent'

export type CatalogKind =
  | 'duplicate-tools'
  | 'tools-left-out'
  | 'tools-held'
  | 'tools-denied'
  | 'pattern-unused'
  | 'too-many-tools'
  | 'hidden-characters'
  | 'schemas-rewritten'
  | 'no-tools'

export type FallbackKind = 'protocol' | 'list-failed' | 'timeout' | 'interrupted' | 'unclosed' | 'other'

export type DiagnosisKind = ConfigKind | StdioKind | HttpKind | CatalogKind | FallbackKind

/** `error`: no tools from this server. `warning`: it works, and something should be mended. `note`: worth knowing. */
export type Severity = 'error' | 'warning' | 'note'

export interface Diagnosis {
  readonly kind: DiagnosisKind
  readonly severity: Severity
  /** What is wrong, in one sentence. */
  readonly what: string
  /** What to do next, the likeliest first. */
  readonly next: readonly string[]
}

/** What a row of the table finds; `undefined` where its kind does not apply. */
export type Finding = Omit<Diagnosis, 'kind'> | undefined
export type Rows<Kind extends string> = Readonly<Record<Kind, (facts: Facts) => Finding>>
