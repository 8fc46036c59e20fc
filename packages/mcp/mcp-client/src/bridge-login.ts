/**
 * Owns what the bridge does about authorization: nothing for a child process, and for a server at a URL an authorizer
 * that outlives its sessions, a login that begins when the server waits for one, and a new try when there is one.
 */
import { createAuthorization } from './auth/authorization.ts'
import type { Authorization } from './auth/authorization.ts'
import { NO_CREDENTIALS, credentialsFor, tokensFor } from './auth/credentials.ts'
import { findLoginPage } from './auth/page.ts'
import type { Safe } from './auth/vault.ts'
import type { Clock } from './clock.ts'
import { identityOf } from './memory.ts'
import type { ServerSpec, ServerState } from './types.ts'

/** Where credentials are kept, and who could log in. */
export interface LoginHost {
  /** Folder of this package's files. */
  readonly folder: string
  /** The host's own store, in place of a file. */
  readonly safe?: Safe | undefined
  /** Someone who can log in at once; without it a login waits for its link to be opened. */
  readonly person?: Parameters<typeof createAuthorization>[0]['person']
  /** `false`: use what is kept, and begin no login where the server waits for one. */
  readonly begins?: boolean
  /** Hears of a login that begins here, and of what goes wrong with it. */
  readonly watcher?: LoginWatcher | undefined
}

export interface LoginWatcher {
  /** It waits at this address. */
  linked(url: string): void
  /** It could not begin, or its answer was not taken. */
  refused(error: unknown): void
}

/** What is kept of a login, without its secrets. */
export interface KeptLogin {
  readonly issuer: string
  /** Those that were granted, as far as the server said. */
  readonly scopes: readonly string[]
  /** Epoch milliseconds; absent where the server did not say. */
  readonly expiresAt?: number
  /** It goes on without a person after that. */
  readonly isRenewable: boolean
}

/** Name of what is kept of a server's logins: of its file, and of the reference in the host's own store. */
export function loginNameOf(spec: ServerSpec): string {
  return `auth-${spec.serverName}-${identityOf(spec).slice(0, 16)}`
}

/** What a look at the login of a server finds. */
export type LoginPage = { readonly host: string | undefined } | { readonly fault: unknown }

/** Where a person would log in, by what the refusal says. Begins none. Of a row that takes logins. */
export async function loginPage(spec: ServerSpec, challenge: string): Promise<LoginPage> {
  const { target } = spec
  /* v8 ignore next -- such a row is of an HTTP server */
  if (target.kind !== 'http' || target.auth === undefined) return { host: undefined }
  try {
    return { host: await findLoginPage(spec, { ...target, auth: target.auth }, challenge) }
  } catch (fault) {
    return { fault }
  }
}

/** Whether a person's login is what the row is authorized by: OAuth, and nothing of its own. Pure. */
export function takesLogin({ target }: ServerSpec): boolean {
  if (target.kind !== 'http' || target.auth?.mode !== 'auto' || target.auth.headersCommand.length > 0)
    return false
  return !Object.keys(target.headers).some((name) => name.toLowerCase() === 'authorization')
}

/** Read what is kept for this server; nothing is asked of it. */
export async function keptLogin(
  { target }: ServerSpec,
  { safe }: LoginHost & { readonly safe: Safe },
): Promise<KeptLogin | undefined> {
  /* v8 ignore next -- a local process is not asked */
  if (target.kind !== 'http' || target.auth === undefined) return undefined
  const stored = (await safe.load(false)) ?? NO_CREDENTIALS
  const kept = credentialsFor(stored, new URL(target.url).href)
  const tokens = tokensFor(kept, target.auth)
  if (tokens === undefined) return undefined
  const { expiresAt, scope, refresh } = tokens
  return {
    issuer: String(kept.issuer),
    scopes: scope?.split(' ').filter((word) => word !== '') ?? [],
    ...(expiresAt === undefined ? {} : { expiresAt }),
    isRenewable: refresh !== undefined,
  }
}

export interface Login {
  readonly authorizer: Authorization['authorizer'] | undefined
  /** The connection entered a state. */
  entered(state: ServerState): void
  /** Where a person logs in, while a login waits. */
  link(): string | undefined
  /** Give the tokens up. Returns what was done, a line each. */
  logout(): Promise<readonly string[]>
  close(): Promise<void>
}

export interface LoginOptions {
  readonly spec: ServerSpec
  readonly host: LoginHost | undefined
  readonly clock: Clock
  readonly say: (line: { readonly level: 'debug' | 'info' | 'warn'; readonly text: string }) => void
  readonly onAuthorized: () => void
}

export function createLogin({ spec, host, clock, say, onAuthorized }: LoginOptions): Login {
  const { target } = spec
  if (host === undefined || target.kind !== 'http' || target.auth === undefined) return NO_LOGIN
  const authorization = createAuthorization({
    spec,
    target: { ...target, auth: target.auth },
    folder: host.folder,
    name: loginNameOf(spec),
    clock,
    safe: host.safe,
    person: host.person,
    begins: host.begins,
    watcher: host.watcher,
    note: (level, text) => say({ level, text }),
    onAuthorized,
  })
  return {
    authorizer: authorization.authorizer,
    entered(state) {
      if (state !== 'needs-auth') authorization.rest()
      else if (host.begins !== false) authorization.wait()
    },
    link: () => authorization.link(),
    logout: () => authorization.logout(),
    close: () => authorization.close(),
  }
}

const NO_LOGIN: Login = Object.freeze({
  authorizer: undefined,
  entered: () => undefined,
  link: () => undefined,
  logout: () => Promise.resolve(['the server of this row is not asked for a login']),
  close: () => Promise.resolve(),
})
