/** Owns the vocabulary of an examination: what was found out about one row, step by step. No runtime code. */
import type { McpErrorCode } from '../../errors.ts'
import type { Findings } from '../rows/expressions.ts'

/** One timed step. Texts are redacted and clean. */
export interface Step {
  readonly name: string
  readonly outcome: 'ok' | 'failed' | 'note'
  readonly durationMs: number
  readonly detail?: string
}

/** One JSON-RPC message on the wire. */
export interface WireMessage {
  /** Milliseconds since the examination began. */
  readonly atMs: number
  readonly direction: 'out' | 'in'
  /** JSON text: redacted, clean, cut. */
  readonly text: string
}

export interface StdioFacts {
  readonly kind: 'stdio'
  readonly command: string
  /** The file that would be run; absent where there is none. */
  readonly found?: string
  /** A command of a similar name on the PATH. */
  readonly lookAlike?: string
  readonly cwd?: string
  readonly cwdState: 'none' | 'ok' | 'missing' | 'not-a-directory'
  /** Arguments that name a file to run which is not there. */
  readonly missingFiles: readonly string[]
  /** A command line in place of a command: its program, which can be run, and its arguments. */
  readonly line?: { readonly program: string; readonly args: readonly string[] }
  /** A path that begins with `~`, the key it stands in, and the path that is meant. */
  readonly tilde?: { readonly key: string; readonly path: string; readonly full: string }
}

export interface HttpFacts {
  readonly kind: 'http'
  readonly url: string
  readonly host: string
  readonly path: string
  readonly flavour: 'streamable-http' | 'sse' | 'auto'
  readonly isSecure: boolean
  readonly hasAuthorization: boolean
  /** Why the host name has no address, as a code such as ENOTFOUND. */
  readonly dnsError?: string
  /** The proxy in use, as host and port. */
  readonly proxy?: string
  /** The last reply of the server. */
  readonly reply?: HttpReplyFacts
  /** What is known of a login, where the server asked for one and the row takes one. */
  readonly login?: LoginFacts
  /** What --probe found at other paths of the same origin; absent where it was not asked for. */
  readonly probes?: readonly Probe[]
}

export interface LoginFacts {
  /** One is kept, and was not taken. */
  readonly isKept: boolean
  /** Host of the page to log in at. */
  readonly page?: string
  /** Why a login cannot begin. */
  readonly fault?: { readonly code: string; readonly message: string }
}

export interface HttpReplyFacts {
  readonly status: number
  readonly contentType: string
  /** WWW-Authenticate, clean and cut. */
  readonly challenge?: string
}

export interface Probe {
  readonly path: string
  readonly transport: 'streamable-http' | 'sse'
  /** Tools that were listed there; absent where no MCP server answered. */
  readonly tools?: number
}

export interface Failure {
  readonly code: McpErrorCode
  /** Redacted and clean. */
  readonly message: string
  /** HTTP status. */
  readonly status?: number
  /** Code of Node or undici, such as ECONNREFUSED. */
  readonly cause?: string
}

export interface ToolWeight {
  readonly name: string
  readonly bytes: number
  /** Estimate: bytes / 4. */
  readonly tokens: number
}

export interface CatalogFacts {
  readonly tools: readonly ToolWeight[]
  readonly bytes: number
  /** Estimate: bytes / 4. */
  readonly tokens: number
  readonly budgetBytes: number
  readonly exposure: 'direct' | 'search' | 'auto'
  readonly quarantined: readonly { readonly name: string; readonly reason: string }[]
  readonly rewritten: readonly {
    readonly name: string
    readonly count: number
    readonly rewrites: readonly { readonly path: string; readonly keyword: string; readonly reason: string }[]
  }[]
  /** Kept out by the row, and by which rule. */
  readonly denied: readonly { readonly name: string; readonly rule: string }[]
  /** Withheld until a person approves them. */
  readonly held: readonly { readonly name: string; readonly reason: string }[]
  /** A sentence for each pattern of the row that no tool has. */
  readonly unused: readonly string[]
  /** What the server calls its tools, those that are kept out included. */
  readonly rawNames: readonly string[]
  /** Tools whose texts had hidden characters, with how many. */
  readonly hidden: readonly { readonly name: string; readonly count: number }[]
}

export interface Facts {
  readonly name: string
  readonly findings: Findings
  /** Why the row is refused. */
  readonly fault?: { readonly path: string; readonly text: string }
  /** Paths of values that still hold `${NAME}`. */
  readonly unexpanded: readonly string[]
  /** Names of variables and headers with an empty value. */
  readonly empty: readonly string[]
  readonly target?: StdioFacts | HttpFacts
  readonly failure?: Failure
  /** How the process ended by itself, such as `exit code 3`. */
  readonly exit?: string
  /** The end of standard error: redacted, clean, with its lines. */
  readonly stderr: string
  /** Messages that the server sent. */
  readonly heard: number
  /** The first stray text on standard output. */
  readonly noise?: string
  /** The limit of the attempt, in milliseconds. */
  readonly timeoutMs: number
  readonly catalog?: CatalogFacts
}
