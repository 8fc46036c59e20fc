/**
 * Owns the running of one server for a command: through the plugin's own bridge, without a host. One attempt, no
 * reconnect, nothing remembered between runs; what a run learns is what a first start of the plugin learns.
 */
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import { createBridge } from '../bridge.ts'
import type { BridgeHost, Line, Trace } from '../bridge.ts'
import type { LoginHost } from '../bridge-login.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import type { PinFile } from '../discovery/pin-file.ts'
import type { McpError } from '../errors.ts'
import type { ServerSpec, ServerStatus } from '../types.ts'
import { VERSION } from '../version.ts'

export interface OpenOptions {
  /** Wall of connecting and listing, and of one call, in milliseconds; the row's own where it is absent. */
  readonly timeoutMs?: number | undefined
  /** Aborting closes the server. */
  readonly signal: AbortSignal
  readonly trace?: Trace
  /** Where logins are kept. Without it the server gets the row's headers and nothing else. */
  readonly login?: LoginHost
  /** What is pinned of it. Without it nothing is compared. */
  readonly pins?: PinFile | undefined
  /** Called after each change of the state. */
  readonly onChange?: () => void
}

export interface LiveServer {
  /** Why there is no usable connection or list. */
  readonly failure: McpError | undefined
  status(): ServerStatus
  /** The registered tools, in the order of the model's request. */
  definitions(): readonly ToolDefinition[]
  /** What the plugin would have logged so far, redacted and clean. */
  readonly lines: readonly Line[]
  /** Settles within 5 s, whatever the server does. */
  close(): Promise<void>
}

/** Start the server and read its tools. Never rejects: a failure is a fact. */
export async function openServer(spec: ServerSpec, options: OpenOptions): Promise<LiveServer> {
  const { timeoutMs, signal, trace, login, pins, onChange } = options
  const registered = new Map<string, ToolDefinition>()
  const lines: Line[] = []
  const say = ({ level, text }: Line): void => void lines.push({ level, text: spec.redact(text) })
  const host: BridgeHost = {
    register(definition) {
      registered.set(definition.name, definition)
      return () => void registered.delete(definition.name)
    },
    services: {
      /* v8 ignore next 3 -- asked for by the calls of an agent only */
      attachments: () => undefined,
      llm: () => undefined,
      spillStore: () => undefined,
      log: (level, text) => say({ level, text }),
    },
    memory: { read: () => ({}), update: () => undefined, flush: () => Promise.resolve() },
    clock: SYSTEM_CLOCK,
    version: VERSION,
    trace,
    login,
    pins,
    // A person at a command line calls: nobody else is asked.
    isUnreviewed: true,
    say,
    changed: (change) => void (change === 'state' && onChange?.()),
  }
  const bridge = createBridge(onceOnly(spec, timeoutMs), host)
  const close = (): Promise<void> => bridge.dispose()
  const abort = (): void => void close()
  signal.addEventListener('abort', abort, { once: true })
  const failure = signal.aborted ? undefined : await bridge.start()
  return {
    failure,
    status: () => bridge.status(),
    definitions: () => [...registered.values()],
    lines,
    async close() {
      signal.removeEventListener('abort', abort)
      await close()
    },
  }
}

/** The row for one attempt; an answer is wanted now, so nothing is served from memory. */
function onceOnly(spec: ServerSpec, timeoutMs: number | undefined): ServerSpec {
  // Both: progress does not move the limit that a person set.
  const limit = timeoutMs === undefined ? {} : { toolCallTimeoutMs: timeoutMs, toolCallMaxMs: timeoutMs }
  return {
    ...spec,
    ...limit,
    startup: { ...spec.startup, mode: 'eager', timeoutMs: timeoutMs ?? spec.startup.timeoutMs },
    reconnect: { ...spec.reconnect, enabled: false },
    // Nothing of these would be seen here.
    prompts: false,
    logLevel: 'off',
    // All of them, in any row: a tool that is searched for is a tool, too.
    tools: { ...spec.tools, exposure: 'direct' },
  }
}
