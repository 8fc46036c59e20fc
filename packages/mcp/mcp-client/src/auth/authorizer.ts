/**
 * Owns what one server's requests carry for authorization, over all its sessions: the tokens of now, and one renewal for
 * all who need it. Two hosts share the vault, so a renewal looks there first. No caller's abort ends it for the others.
 */
import type { Clock } from '../clock.ts'
import type { Authorizer } from '../connection/http-client.ts'
import { McpError, messageOf } from '../errors.ts'
import type { Sdk } from '../sdk.ts'
import { safeLine } from '../text.ts'
import { createAllowance } from './attempts.ts'
import { readChallenge, responseOf } from './challenge.ts'
import type { Wanted } from './challenge.ts'
import { runCommand } from './command.ts'
import { NO_CREDENTIALS, credentialsFor, tokensFor } from './credentials.ts'
import type { Credentials, Pending, Tokens } from './credentials.ts'
import type { GrantOptions } from './discovery.ts'
import { createFailures } from './failures.ts'
import { createHeaderSource } from './headers-command.ts'
import { createLogin } from './login.ts'
import { createProof } from './proof.ts'
import { renewed } from './renewal.ts'
import { revoke } from './revocation.ts'
import type { Vault } from './vault.ts'

export interface AuthorizerOptions extends Omit<GrantOptions, 'sdk' | 'dpop' | 'assertion' | 'failed'> {
  readonly loadSdk: () => Promise<Sdk>
  readonly clock: Clock
  readonly headersCommand: readonly string[]
  /** The row brings an Authorization header: nothing else is tried. */
  readonly hasOwnHeader?: boolean
  readonly vault: Vault
  /** The address that a login comes back to; something listens there from now on. */
  readonly redirectUrl: () => Promise<string>
  /** `false`: no login is begun here, only what is kept is used. Default: true. */
  readonly begins?: boolean | undefined
  /** Someone who can log in now: resolves with the parameters that the login page came back with. */
  readonly person?: ((pending: Pending, signal: AbortSignal) => Promise<URLSearchParams>) | undefined
  readonly redact: (text: string) => string
  readonly note: (level: 'debug' | 'info' | 'warn', text: string) => void
}

export interface ServerAuthorizer extends Authorizer {
  /** Whether a person can log in: OAuth is on, and the row brings nothing of its own. */
  readonly takesLogins: boolean
  /** The login that waits for a person, if one was begun. */
  pending(): Pending | undefined
  /** Begin a login, or give the one that waits. */
  prepare(): Promise<Pending>
  /** Take the parameters that the login page came back with. Rejects with McpError; the login goes on waiting. */
  complete(params: URLSearchParams): Promise<void>
  /** Whether another process has put other tokens into the vault since they were looked at. */
  hasNews(): Promise<boolean>
  hasTokens(): Promise<boolean>
  /** Give the tokens up at the authorization server and forget everything. Returns what was done, a line each. */
  logout(): Promise<readonly string[]>
  /** Begin nothing new; a renewal that is on its way may end, for a while: its tokens would be lost. */
  close(): Promise<void>
}

/** A token is renewed this long before its end, in milliseconds, or a fifth of its life where that is less. */
const EARLY_MS = 10_000
/** A token that is refused so soon after it came is no old one. */
const FRESH_MS = 10_000
/** How often a fresh token that is refused is replaced by another, and a person asked, in a stretch of time. */
const FRESH_REFUSALS = { max: 3, windowMs: 60_000 }
const LOGINS = { max: 3, windowMs: 10 * 60_000 }
const CLOSE_MS = 5_000
const MAX_REASON_CHARS = 300

export function createAuthorizer(options: AuthorizerOptions): ServerAuthorizer {
  const { auth, serverName, clock, now, note, redact } = options
  const server = options.serverUrl.href
  const { failed, told } = createFailures(serverName, redact)
  const source = createHeaderSource(options)
  const proof = createProof()
  const vault: Vault = {
    read: async () => credentialsFor(await options.vault.read(), server),
    update: (change) => options.vault.update((kept) => change(credentialsFor(kept, server))),
  }
  const mayReplaceFresh = createAllowance(clock, FRESH_REFUSALS.max, FRESH_REFUSALS.windowMs)
  const mayAsk = createAllowance(clock, LOGINS.max, LOGINS.windowMs)
  const closing = new AbortController()
  /** Of the vault, as last looked at; `undefined` before that. */
  let current: { readonly tokens: Tokens | undefined } | undefined
  /** When the tokens of now came, by the monotonic clock. */
  let since = 0
  let wanted: Wanted = {}
  let renewing: Promise<boolean> | undefined

  const isOff = auth.mode === 'off' || options.hasOwnHeader === true
  const needsPerson = auth.mode === 'auto'
  const takesLogins = needsPerson && !isOff && !source.authorizes

  const login = createLogin({
    ...options,
    failed,
    vault,
    grant,
    bound: proof.bound,
    wanted: () => wanted,
    async adopt(kept) {
      wanted = {}
      await adopt(kept)
    },
  })

  async function grant(): Promise<GrantOptions> {
    const sdk = await options.loadSdk()
    return { ...options, sdk, dpop: proof.current(), assertion, failed }
  }

  async function assertion(): Promise<string> {
    const text = await runCommand({ ...options, key: 'auth.assertionCommand', argv: auth.assertionCommand })
    options.learn(text.trim())
    return text
  }

  async function adopt(kept: Credentials): Promise<void> {
    const tokens = tokensFor(kept, auth)
    if (tokens?.isBound === true) await proof.load(await options.loadSdk(), kept.proofKey)
    if (tokens !== undefined) options.learn(tokens.access)
    if (tokens?.refresh !== undefined) options.learn(tokens.refresh)
    if (current?.tokens?.access !== tokens?.access) since = clock.now()
    current = { tokens }
  }

  async function tokensNow(): Promise<Tokens | undefined> {
    if (current === undefined) await adopt(await vault.read())
    return current?.tokens
  }

  /** One renewal for all who ask meanwhile. */
  function renew(spent: Tokens | undefined): Promise<boolean> {
    if (closing.signal.aborted) return Promise.reject(failed('the server is being closed'))
    renewing ??= renewNow(spent).finally(() => (renewing = undefined))
    return renewing
  }

  async function renewNow(spent: Tokens | undefined): Promise<boolean> {
    const granted = await grant()
    const kept = await vault.update(async (before) => {
      const there = tokensFor(before, auth)
      // Another process was faster.
      if (there !== undefined && there.access !== spent?.access) return undefined
      return renewed(before, {
        grant: granted,
        bound: proof.bound,
        wanted,
        there,
        onEnd: (why) => note('info', `the login has ended: ${safeLine(why, redact, MAX_REASON_CHARS)}`),
      })
    })
    await adopt(kept)
    const tokens = current?.tokens
    if (tokens !== undefined && tokens.access !== spent?.access) return true
    return needsPerson && askPerson()
  }

  /** False where nobody is there, or was asked often enough. */
  async function askPerson(): Promise<boolean> {
    if (options.person === undefined || !mayAsk()) return false
    await login.complete(await options.person(await login.prepare(), closing.signal))
    return true
  }

  /** Before its end, so that no request is refused. One that cannot be renewed now may still be good. */
  async function renewEarly(tokens: Tokens): Promise<Tokens | undefined> {
    const { expiresAt, lifeMs = 0, refresh } = tokens
    if (expiresAt === undefined || (refresh === undefined && needsPerson)) return tokens
    if (expiresAt - Math.min(EARLY_MS, lifeMs / 5) > now()) return tokens
    try {
      await told(() => renew(tokens))
    } catch (error) {
      if (!(error instanceof McpError) || error.disposition !== 'retry') throw error
      note('debug', error.message)
    }
    return tokensNow()
  }

  async function recoverForbidden(asked: Wanted): Promise<boolean> {
    const { sdk } = await grant()
    const tokens = await tokensNow()
    const more = sdk.computeScopeUnion(tokens?.scope, asked.scope)
    // Asking again for what was granted already leads in circles.
    if (more === undefined || !sdk.isStrictScopeSuperset(more, tokens?.scope)) return false
    wanted = { ...asked, scope: more }
    if (!needsPerson) return mayReplaceFresh() && renew(tokens)
    if (options.person !== undefined) return askPerson()
    let link = ''
    if (options.begins !== false) {
      link = ', or the link in the status of the server'
      login
        .prepare()
        .catch((error: unknown) => note('warn', safeLine(messageOf(error), redact, MAX_REASON_CHARS)))
    }
    throw new McpError(
      `the login does not cover this: the server wants the scope ${safeLine(String(asked.scope), redact, 200)}. ` +
        `Log in again (dsh-mcp login ${serverName}${link})`,
      { code: 'MCP_FORBIDDEN', server: serverName, stage: 'auth', data: { status: 403, awaitsLogin: true } },
    )
  }

  return {
    takesLogins,
    async headers(request) {
      const own = await source.headers()
      if (isOff || source.authorizes) return own
      const held = await told(tokensNow)
      const tokens = held === undefined ? undefined : await renewEarly(held)
      if (tokens === undefined) return own
      const session = proof.current()
      if (tokens.isBound !== true || session === undefined)
        return { ...own, authorization: `Bearer ${tokens.access}` }
      const dpop = await session.buildProof({
        htm: request.method,
        htu: request.url,
        accessToken: tokens.access,
      })
      return { ...own, authorization: `DPoP ${tokens.access}`, dpop }
    },
    async recover(challenge) {
      if (source.authorizes) return challenge.status === 401 && source.again(challenge.sent)
      if (isOff) return false
      const { sdk } = await grant()
      const asked = readChallenge(sdk, challenge)
      if (challenge.status === 403)
        return asked.error === 'insufficient_scope' ? told(() => recoverForbidden(asked)) : false
      const tokens = await told(tokensNow)
      const session = proof.current()
      if (session !== undefined && asked.error === 'use_dpop_nonce') {
        session.observeNonce(responseOf(challenge), challenge.url)
        return true
      }
      wanted = asked
      if (tokens !== undefined) {
        // The refusal of a token that was replaced meanwhile says nothing of the new one.
        if (challenge.sent['authorization']?.endsWith(` ${tokens.access}`) !== true) return true
        const isFresh = clock.now() - since < FRESH_MS
        if (isFresh && renewing === undefined && !mayReplaceFresh()) return false
      }
      return told(() => renew(tokens))
    },
    pending: () => login.pending(),
    prepare: () => told(() => login.prepare()),
    complete: (params) => told(() => login.complete(params)),
    hasNews: () =>
      told(async () => {
        const kept = await vault.read()
        const there = tokensFor(kept, auth)
        if (there === undefined || there.access === current?.tokens?.access) return false
        await adopt(kept)
        return true
      }),
    hasTokens: () => told(async () => tokensFor(await vault.read(), auth) !== undefined),
    logout: () =>
      told(async () => {
        const granted = await grant()
        const lines: string[] = []
        await vault.update(async (before) => {
          const tokens = tokensFor(before, auth)
          if (tokens !== undefined && before.discovery !== undefined)
            lines.push(...(await revoke(granted, before.discovery, tokens)))
          lines.push(tokens === undefined ? 'there were no tokens' : 'forgot the tokens')
          return NO_CREDENTIALS
        })
        login.forget()
        wanted = {}
        current = { tokens: undefined }
        return lines
      }),
    async close() {
      closing.abort()
      const { promise, resolve } = Promise.withResolvers<void>()
      const cancel = clock.after(CLOSE_MS, resolve)
      await Promise.race([Promise.allSettled([renewing]), promise])
      cancel()
    },
  }
}
