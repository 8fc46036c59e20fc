/**
 * Owns the waiting for a login: one connection that begins it where the server asks, the answer by the loopback address
 * or by a pasted line, a limit, and the end of all of it.
 */
import { takesLogin } from '../bridge-login.ts'
import type { LoginHost } from '../bridge-login.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import { messageOf } from '../errors.ts'
import type { ServerSpec } from '../types.ts'
import type { Io } from './output.ts'
import { readLines, readPasted } from './paste.ts'
import { openServer } from './server.ts'
import type { LiveServer } from './server.ts'

export interface WaitOptions {
  readonly host: LoginHost
  readonly io: Io
  readonly limitMs: number
  /** Only a pasted address can come: the end of the input ends the wait. */
  readonly needsPaste: boolean
  readonly note: (text: string) => void
  /** Show the page of the login. */
  readonly show: (link: string) => Promise<void>
}

export type LoginOutcome =
  | { readonly kind: 'logged-in'; readonly tools: number }
  /** The server took us as we are. */
  | { readonly kind: 'ready'; readonly tools: number }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'interrupted' }

/** The connection itself, before and after a person. */
const ANSWER_MS = 30_000

/** Never rejects. */
export async function waitForLogin(spec: ServerSpec, options: WaitOptions): Promise<LoginOutcome> {
  const { host, io, limitMs } = options
  const { signal } = io
  const done = Promise.withResolvers<LoginOutcome>()
  let link: string | undefined
  /** The server was tried again after the login. */
  let isTried = false
  let server: LiveServer | undefined
  let stopReading = (): void => undefined
  const fail = (error: unknown): void => done.resolve({ kind: 'failed', error })

  const look = (): void => {
    if (server === undefined) return
    const { state, lastError, tools } = server.status()
    if (state === 'ready') {
      const kind = link === undefined ? 'ready' : 'logged-in'
      done.resolve({ kind, tools: tools.registered })
    } else if (state === 'failed') fail(lastError)
    else if (state === 'connecting') isTried = link !== undefined
    else if (state === 'needs-auth' && (isTried || !takesLogin(spec))) fail(lastError)
  }

  server = await openServer(spec, {
    timeoutMs: undefined,
    signal,
    onChange: look,
    login: {
      ...host,
      begins: true,
      watcher: {
        linked(url) {
          link = url
          if (io.stdin !== undefined) stopReading = listen(io.stdin, url)
          void options.show(url)
        },
        refused: fail,
      },
    },
  })
  const interrupt = (): void => done.resolve({ kind: 'interrupted' })
  signal.addEventListener('abort', interrupt, { once: true })
  if (signal.aborted) interrupt()
  const cancel = SYSTEM_CLOCK.after(limitMs, () =>
    fail(new Error(`nobody logged in within ${Math.round(limitMs / 1000)} s (--timeout)`)),
  )
  look()
  const outcome = await done.promise
  cancel()
  stopReading()
  signal.removeEventListener('abort', interrupt)
  await server.close()
  return outcome

  function listen(stdin: NonNullable<Io['stdin']>, url: string): () => void {
    return readLines(stdin, {
      onLine(line) {
        const pasted = readPasted(line, url)
        if (pasted.kind === 'fault') return options.note(pasted.text)
        answer(pasted.url).catch((error: unknown) => options.note(messageOf(error)))
      },
      onEnd() {
        if (options.needsPaste) fail(new Error('the input ended before an address was pasted'))
      },
    })
  }
}

/** As the browser would have done; what comes of it is told by the login itself. */
async function answer(url: URL): Promise<void> {
  const reply = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) })
  await reply.body?.cancel()
}
