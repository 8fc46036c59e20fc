/**
 * Owns the authorization of one server as the bridge uses it: the authorizer, where logins come back to, and the look
 * out for a login that was made elsewhere. Nothing is opened before a server asks.
 */
import type { Clock } from '../clock.ts'
import type { Authorizer } from '../connection/http-client.ts'
import { messageOf } from '../errors.ts'
import { loadSdk } from '../sdk.ts'
import type { AuthSpec, HttpTarget, ServerSpec } from '../types.ts'
import { createAuthorizer } from './authorizer.ts'
import type { AuthorizerOptions, ServerAuthorizer } from './authorizer.ts'
import { openLoopback } from './loopback.ts'
import type { Loopback } from './loopback.ts'
import type { MetadataFetch } from './metadata-fetch.ts'
import { openVault } from './vault.ts'
import type { Safe } from './vault.ts'

export interface AuthorizationOptions {
  readonly spec: ServerSpec
  readonly target: HttpTarget & { readonly auth: AuthSpec }
  /** Folder of this package's files. */
  readonly folder: string
  /** Name of the server's file there, without its ending. */
  readonly name: string
  readonly clock: Clock
  /** The host's own store of credentials, in place of the file. */
  readonly safe?: Safe | undefined
  readonly person?: AuthorizerOptions['person']
  /** `false`: no login is begun here. Default: true. */
  readonly begins?: boolean | undefined
  readonly note: AuthorizerOptions['note']
  /** Hears of a login that begins here, and of what goes wrong with it. */
  readonly watcher?:
    { readonly linked: (url: string) => void; readonly refused: (error: unknown) => void } | undefined
  /** There are new tokens: a server that waits for authorization can be tried again. */
  readonly onAuthorized: () => void
}

export interface Authorization {
  readonly authorizer: Authorizer
  /** The server waits for a person: begin a login, and look out for one made elsewhere. Again and again is once. */
  wait(): void
  /** The server waits no longer. */
  rest(): void
  /** Where a person logs in; `undefined` while no login was begun. */
  link(): string | undefined
  /** Whether tokens are kept for this server. */
  hasTokens(): Promise<boolean>
  /** Revoke and forget the tokens. Returns what was done, a line each. */
  logout(): Promise<readonly string[]>
  close(): Promise<void>
}

/** How often a server that waits looks for a login made elsewhere, in milliseconds. */
const LOOK_MS = 2_000
/** How long after a login could not be begun it is tried again, in milliseconds. */
const BEGIN_AGAIN_MS = 60_000

export function createAuthorization(options: AuthorizationOptions): Authorization {
  const { spec, target, clock, note } = options
  const serverUrl = new URL(target.url)
  const { issuer, idp } = target.auth
  /** Loaded when a server asks: undici costs as much to import as all of this package. */
  let metadata: Promise<MetadataFetch> | undefined
  const openMetadata = (): Promise<MetadataFetch> =>
    (metadata ??= import('./metadata-fetch.ts').then(({ createMetadataFetch }) =>
      createMetadataFetch(spec.serverName, serverUrl, issuer, idp?.tokenEndpoint),
    ))
  let loopback: Promise<Loopback> | undefined
  let cancel: (() => void) | undefined
  let isWaiting = false
  let begunAt = 0
  let isClosed = false
  /** A look that is on its way must not arm a timer beside that of a later wait. */
  let turn = 0

  const authorizer: ServerAuthorizer = createAuthorizer({
    loadSdk,
    serverName: spec.serverName,
    serverUrl,
    auth: target.auth,
    headersCommand: target.auth.headersCommand,
    hasOwnHeader: Object.keys(target.headers).some((name) => name.toLowerCase() === 'authorization'),
    fetch: async (url, init) => (await openMetadata()).fetch(url, init),
    now: () => Date.now(),
    clock,
    vault: openVault({
      folder: options.folder,
      name: options.name,
      clock,
      note: (text) => note('warn', text),
      safe: options.safe,
    }),
    redirectUrl: async () => (await listen()).redirectUrl,
    person: options.person,
    begins: options.begins,
    learn: spec.learn,
    redact: spec.redact,
    note,
  })

  function listen(): Promise<Loopback> {
    loopback ??= openLoopback({
      port: target.auth.callbackPort,
      async onAnswer(params) {
        const waiting = authorizer.pending()
        try {
          await authorizer.complete(params)
        } catch (error) {
          note('warn', messageOf(error))
          // Any page can ask this address: what belongs to no login of ours is no news.
          if (params.get('state') === waiting?.state) options.watcher?.refused(error)
          throw error
        }
        note('info', 'logged in')
        options.onAuthorized()
      },
    })
    // A port that is taken now may be free for the next login.
    loopback.catch(() => (loopback = undefined))
    return loopback
  }

  /** In a while, as long as the server waits: a login that was made elsewhere, one that could not be begun yet. */
  function look(mine: number): void {
    cancel = clock.after(LOOK_MS, () => void lookAgain(mine))
  }

  async function lookAgain(mine: number): Promise<void> {
    await tick()
    if (isWaiting && mine === turn) look(mine)
  }

  async function tick(): Promise<void> {
    try {
      if ((await authorizer.hasNews()) && isWaiting) options.onAuthorized()
    } catch (error) {
      note('debug', messageOf(error))
    }
    const isDue = authorizer.pending() === undefined && clock.now() - begunAt >= BEGIN_AGAIN_MS
    if (isWaiting && isDue) begin()
  }

  function begin(): void {
    if (!authorizer.takesLogins) return
    begunAt = clock.now()
    authorizer.prepare().then(
      ({ url }) => begun(url),
      (error: unknown) => {
        note('warn', messageOf(error))
        options.watcher?.refused(error)
      },
    )
  }

  function begun(url: string): void {
    note('info', `log in with dsh-mcp login ${spec.serverName}, or open ${url}`)
    options.watcher?.linked(url)
  }

  function rest(): void {
    isWaiting = false
    cancel?.()
  }

  return {
    authorizer,
    wait() {
      if (isWaiting || isClosed || target.auth.mode === 'off') return
      isWaiting = true
      look((turn += 1))
      begin()
    },
    rest,
    link: () => authorizer.pending()?.url,
    hasTokens: () => authorizer.hasTokens(),
    logout: () => authorizer.logout(),
    async close() {
      isClosed = true
      rest()
      await authorizer.close()
      await Promise.all([
        metadata?.then((open) => open.close()),
        loopback?.then(
          (open) => open.close(),
          () => undefined,
        ),
      ])
    },
  }
}
