/**
 * Owns `dsh-mcp login`: connect as a host does, and where the server asks for a login show a person its page, wait for
 * the answer at the loopback address or for a pasted one, and say what is kept then.
 */
import { keptLogin } from '../bridge-login.ts'
import type { KeptLogin } from '../bridge-login.ts'
import { safeLine } from '../text.ts'
import type { ServerSpec } from '../types.ts'
import { hasPerson, openBrowser } from './browser.ts'
import { EXIT, UsageError } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { failureOf, loginAdvice } from './login-advice.ts'
import { loginHostOf } from './login-host.ts'
import { keptLines } from './login-screen.ts'
import { waitForLogin } from './login-wait.ts'
import type { Output } from './output.ts'
import type { Row } from './rows/source.ts'

export interface LoginOptions {
  /** `false` for --no-browser. */
  readonly browser?: boolean
  readonly callbackPort?: number
  readonly paste?: boolean
  /** How long a person is waited for, in milliseconds. */
  readonly timeout?: number
}

/** A person has to find a password, and perhaps a second device. */
const WAIT_MS = 300_000
const MAX_LINE_CHARS = 400

/** @throws UsageError for a row that is refused, or that has nothing to log in to */
export async function runLogin(row: Row, options: LoginOptions, output: Output): Promise<ExitCode> {
  const spec = specOf(row, options)
  const { serverName } = spec
  const { io } = output
  const host = loginHostOf(spec, io)
  const outcome = await waitForLogin(spec, {
    host,
    io,
    limitMs: options.timeout ?? WAIT_MS,
    needsPaste: options.paste === true,
    note: (text) => output.note(text),
    show: (link) => show(link, spec, { ...options, browser: options.browser !== false }, output),
  })
  if (outcome.kind === 'interrupted') return EXIT.interrupted
  if (outcome.kind === 'failed') return fail(outcome.error, spec, output)
  const kept = await keptLogin(spec, host)
  if (outcome.kind === 'logged-in' && kept === undefined) {
    return fail(new Error(`the login works, and could not be kept in ${host.place}`), spec, output)
  }
  const state = outcome.kind === 'logged-in' ? outcome.kind : kept === undefined ? 'no-login' : 'already'
  output.json({
    server: serverName,
    state,
    tools: outcome.tools,
    ...(kept === undefined ? {} : { ...shapeOf(kept), place: host.place }),
  })
  for (const line of screen(state, spec, { kept, place: host.place, tools: outcome.tools }, output))
    output.line(line)
  return EXIT.ok
}

function fail(error: unknown, { serverName, redact }: ServerSpec, output: Output): ExitCode {
  const { code, message } = failureOf(error, redact)
  const failure = { code, message: safeLine(message, redact, MAX_LINE_CHARS) }
  const next = loginAdvice(failure, serverName)
  output.json({ server: serverName, state: 'failed', error: failure, next })
  output.line(`${output.style('red', 'FAIL')} ${serverName}: ${failure.message}`)
  for (const text of next) output.line(`  -> ${text}`)
  return EXIT.failed
}

/** The row with what the command line says of the login. */
function specOf(row: Row, { callbackPort }: LoginOptions): ServerSpec {
  if (!row.resolved.ok) throw new UsageError(`the row "${row.name}" is refused: ${row.resolved.fault}`)
  const { spec } = row.resolved
  const { target } = spec
  if (target.kind === 'stdio') {
    throw new UsageError(
      `${spec.serverName} is a local process: there is nothing to log in to; its credentials go into env of the row`,
    )
  }
  if (callbackPort === undefined || target.auth === undefined) return spec
  return { ...spec, target: { ...target, auth: { ...target.auth, callbackPort } } }
}

/** The link, on standard error: it is no result. Opened only where somebody is there to see it. */
async function show(
  link: string,
  { serverName }: ServerSpec,
  { browser, paste }: LoginOptions,
  output: Output,
): Promise<void> {
  const { io } = output
  const mayOpen = browser === true && paste !== true && !output.options.json && hasPerson(io)
  const isOpen = mayOpen && (await openBrowser(link, io))
  output.note(isOpen ? `The browser opens the login page of ${serverName}:` : `Log in to ${serverName} here:`)
  output.note('')
  output.note(link)
  output.note('')
  output.note(
    paste === true
      ? 'Then paste the address that the browser ends at, and press Enter. It may show an error: that is well.'
      : 'Waiting for the browser. If it is on another machine, paste the address that it ends at. Ctrl-C ends.',
  )
}

function shapeOf({ issuer, scopes, expiresAt, isRenewable }: KeptLogin): object {
  const until = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }
  return { issuer, scopes, ...until, renewable: isRenewable }
}

function screen(
  state: 'logged-in' | 'already' | 'no-login',
  { serverName }: ServerSpec,
  found: { readonly kept: KeptLogin | undefined; readonly place: string; readonly tools: number },
  output: Output,
): string[] {
  const { kept, place, tools } = found
  const ok = output.style('green', 'ok')
  const works = `${serverName} works, with ${tools} tools`
  if (kept === undefined) return [`${ok}   ${works}, and asks for no login.`]
  const words = state === 'already' ? `already logged in: ${works}` : `logged in: ${works}`
  const rest = keptLines(kept, place).map((line) => `     ${line}`)
  return [`${ok}   ${words}.`, ...rest, `     dsh-mcp logout ${serverName} ends it.`]
}
