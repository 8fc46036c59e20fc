/**
 * Owns the stdio transport: one server process and the messages through its pipes, from start to confirmed end. Stands
 * in for the SDK's own, which starts a second process to probe the era, leaves helpers running, needs quadratic time
 * for a large line and never notices an end while a helper holds the pipes (typescript-sdk#2023). Knows the SDK by type.
 */
import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/client'
import { SYSTEM_CLOCK } from '../clock.ts'
import type { Clock } from '../clock.ts'
import { McpError } from '../errors.ts'
import type { Limits, SessionDiagnostics, SessionEvents } from '../types.ts'
import type { SpawnRequest } from './spawn-failure.ts'
import { CHILD_EDGES, openChild } from './stdio-child.ts'
import type { Child, ChildEdges } from './stdio-child.ts'
import { StdioInput } from './stdio-input.ts'
import { StdioNotes } from './stdio-notes.ts'
import { StdioOutput } from './stdio-output.ts'
import { StderrTail } from './stdio-stderr.ts'

export interface StdioOptions extends SpawnRequest {
  readonly limits: Pick<Limits, 'messageBytes' | 'stderrBytes'>
  /** One line for the operator: redacted, clean, and few whatever the server does. */
  readonly onNote: SessionEvents['onNote']
  readonly clock?: Clock
  readonly edges?: Partial<ChildEdges>
}

/** The steps of a close: how long an exit is waited for, and what is sent when it has not come. Under 5 s in all. */
const CLOSE_STEPS = [
  { waitMs: 1_500, signal: 'SIGTERM' },
  { waitMs: 1_500, signal: 'SIGKILL' },
  { waitMs: 1_000, signal: undefined },
] as const
/** After an exit: how long a helper that holds the pipes can keep the last output back. */
const TRAILING_MS = 250
/** After a pipe broke: how long the exit that is the usual reason may take. */
const EXIT_GRACE_MS = 250

interface Open {
  readonly child: Child
  readonly input: StdioInput
  readonly output: StdioOutput
}

type State =
  | { readonly name: 'idle' }
  | { readonly name: 'starting' }
  | ({ readonly name: 'open' } & Open)
  | { readonly name: 'ended'; readonly child?: Child }

/** One process, started once. `onclose` comes exactly once after a start that succeeded. */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void
  private readonly options: StdioOptions
  private readonly clock: Clock
  private readonly notes: StdioNotes
  private readonly tail: StderrTail
  private state: State = { name: 'idle' }
  private isStarted = false
  private launched: Promise<void> | undefined
  private opening: Promise<Child | undefined> = Promise.resolve(undefined)
  private readonly finished = Promise.withResolvers<void>()
  private closing: Promise<void> | undefined
  /** Why the connection was given up while the process lived. */
  private lost: string | undefined
  private cancelGrace: (() => void) | undefined

  constructor(options: StdioOptions) {
    this.options = options
    this.clock = options.clock ?? SYSTEM_CLOCK
    this.notes = new StdioNotes(options.onNote, options.redact)
    this.tail = new StderrTail(options.limits.stderrBytes, options.redact)
  }

  /** The process id, once there is one. With `stderr` the mark by which the SDK knows a stdio transport. */
  get pid(): number | undefined {
    return this.child?.pid
  }

  /** The stream of the process; it is read here already. */
  get stderr(): unknown {
    return this.child?.stderr
  }

  /** Start the process ahead of `start()`, which then tells how it went. Whoever does this closes the transport. */
  launch(): void {
    this.launched ??= this.open()
    this.launched.catch(() => undefined) // for start() to tell
  }

  /** Start the process. Rejects with MCP_SPAWN_FAILED, or MCP_CONNECTION_CLOSED when the machine is short of something. */
  start(): Promise<void> {
    if (this.isStarted) return Promise.reject(new Error('a stdio transport starts once'))
    this.isStarted = true
    return (this.launched ??= this.open())
  }

  private async open(): Promise<void> {
    this.state = { name: 'starting' }
    const opened = openChild(this.options, { ...CHILD_EDGES, ...this.options.edges })
    this.opening = opened.catch(() => undefined) // the error is thrown below; a close then finds nothing to do
    try {
      this.attach(await opened)
    } catch (error) {
      this.state = { name: 'ended' }
      throw error
    }
  }

  /** Settles when the message is written; rejects with McpError when it cannot be. */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.state.name !== 'open') return Promise.reject(this.gone())
    return this.state.output
      .send(`${JSON.stringify(message)}\n`)
      .catch((error: McpError) => this.explain(error))
  }

  /** A pipe that broke mostly tells of an exit that is about to be known, and why it exited says more. */
  private async explain(error: McpError): Promise<never> {
    if (error.code !== 'MCP_CONNECTION_CLOSED' || this.closing !== undefined) throw error
    await this.finished.promise
    throw this.lost === undefined ? this.gone() : error
  }

  /** End the process and all of its group, within 5 s. Rejects with MCP_CLOSE_TIMEOUT when the end is not confirmed. */
  close(): Promise<void> {
    this.closing ??= this.shutDown()
    return this.closing
  }

  /** Facts for errors and status; also after the end. */
  diagnostics(): SessionDiagnostics {
    const pid = this.child?.pid
    const exit = this.lost ?? this.child?.exit()
    const stderrTail = this.tail.text()
    return {
      ...(pid === undefined ? {} : { pid }),
      ...(exit === undefined ? {} : { exit }),
      ...(stderrTail === '' ? {} : { stderrTail }),
    }
  }

  private get child(): Child | undefined {
    return 'child' in this.state ? this.state.child : undefined
  }

  private attach(child: Child): void {
    const { serverName, limits } = this.options
    const { stdin, stdout, stderr } = child
    const output = new StdioOutput({ stream: stdin, serverName, maxBytes: limits.messageBytes * 2 })
    const input = new StdioInput({
      stream: stdout,
      maxBytes: limits.messageBytes,
      notes: this.notes,
      now: () => this.clock.now(),
      onMessage: (message) => this.deliver(message),
      onEndless: (reason) => this.giveUp(reason),
    })
    this.state = { name: 'open', child, input, output }
    stderr.on('data', (chunk: Buffer) => this.heard(chunk))
    // Errors of a pipe are told by what follows: the rejected write, the end of the stream, the exit.
    stdin.on('error', () => this.awaitExit('a closed stdin'))
    stdout.on('error', () => this.awaitExit('a broken stdout'))
    stdout.once('end', () => this.awaitExit('a closed stdout'))
    stderr.on('error', () => undefined)
    void this.awaitLastOutput(child)
  }

  private deliver(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message)
    } catch (error) {
      // Thrown into a stream's event it would end the host.
      this.onerror?.(error instanceof Error ? error : new Error(String(error)))
    }
  }

  private heard(chunk: Buffer): void {
    this.tail.push(chunk)
    this.notes.note(
      'stderr',
      'debug',
      () => `first words on stderr: ${this.notes.quote(chunk.toString('utf8'))}`,
    )
  }

  private async awaitLastOutput(child: Child): Promise<void> {
    await child.exited
    const cancel = this.clock.after(TRAILING_MS, () => this.finish())
    await child.closed
    cancel()
    this.finish()
  }

  /** A server that is deaf or mute is of no use; but mostly it is about to exit, and then that is the reason. */
  private awaitExit(reason: string): void {
    this.cancelGrace ??= this.clock.after(EXIT_GRACE_MS, () => this.giveUp(reason))
  }

  private giveUp(reason: string): void {
    if (this.state.name !== 'open' || this.closing !== undefined || this.child?.exit() !== undefined) return
    this.lost = reason
    this.notes.note('lost', 'warn', () => `the server process is ended because of ${reason}`)
    this.finish()
    // Whoever owns the session closes it too and hears of a failure then.
    this.close().catch(() => undefined)
  }

  /** The connection is over: everything pending settles, and nothing comes any more. */
  private finish(): void {
    if (this.state.name !== 'open') return
    const { child, input, output } = this.state
    this.cancelGrace?.()
    input.finish()
    this.state = { name: 'ended', child }
    output.fail(this.gone())
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    this.notes.finish()
    this.finished.resolve()
    this.onclose?.()
  }

  private async shutDown(): Promise<void> {
    const child = await this.opening
    if (child === undefined) return
    if (this.state.name === 'open') this.state.output.end(this.gone())
    for (const { waitMs, signal } of CLOSE_STEPS) {
      if (await this.exitsWithin(child, waitMs)) {
        await this.finished.promise
        return child.emptied()
      }
      if (signal !== undefined) child.signal(signal)
    }
    this.finish()
    throw this.error('MCP_CLOSE_TIMEOUT', `the server process ${child.pid} did not end`)
  }

  private async exitsWithin(child: Child, waitMs: number): Promise<boolean> {
    const late = Promise.withResolvers<boolean>()
    const cancel = this.clock.after(waitMs, () => late.resolve(false))
    const isGone = await Promise.race([child.exited.then(() => true), late.promise])
    cancel()
    return isGone
  }

  private gone(): McpError {
    const exit = this.lost ?? this.child?.exit()
    const reason = exit === undefined ? 'the connection is closed' : `the server process ended with ${exit}`
    return this.error('MCP_CONNECTION_CLOSED', reason)
  }

  private error(code: 'MCP_CONNECTION_CLOSED' | 'MCP_CLOSE_TIMEOUT', message: string): McpError {
    return new McpError(message, { code, server: this.options.serverName, stage: 'connect' })
  }
}
