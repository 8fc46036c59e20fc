/**
 * Owns the examination of one row: it reads, resolves, starts, lists and closes, times each step, and gathers the facts
 * that the diagnosis is made from. The one acting part of doctor.
 */
import type { McpError } from '../../errors.ts'
import { safeLine } from '../../text.ts'
import type { ServerSpec, ServerStatus, SessionFacts } from '../../types.ts'
import { loginHostOf } from '../login-host.ts'
import type { Io } from '../output.ts'
import type { Row } from '../rows/source.ts'
import { lookAtPins } from '../pinned.ts'
import { openServer } from '../server.ts'
import type { LiveServer } from '../server.ts'
import { targetOf, transportOf } from '../target.ts'
import { commandFacts } from './command.ts'
import { diagnose } from './diagnosis.ts'
import type { Facts, Failure, HttpFacts, StdioFacts, Step, WireMessage } from './facts.ts'
import type { Diagnosis } from './kinds.ts'
import { loginFacts } from './login-facts.ts'
import { httpFacts, resolveHost, watchNetwork } from './network.ts'
import type { NetworkWatch } from './network.ts'
import { probePaths } from './probes.ts'
import { createRecorder } from './recorder.ts'
import type { WireRecord } from './recorder.ts'
import { catalogFacts } from './weight.ts'

export interface Examination {
  readonly name: string
  readonly transport: string
  readonly target?: string
  readonly steps: readonly Step[]
  readonly facts: Facts
  /** What the server said of itself. Untrusted, redacted, clean. */
  readonly session?: SessionFacts
  readonly diagnoses: readonly Diagnosis[]
  readonly wire: readonly WireMessage[]
  /** Messages that the record did not take. */
  readonly droppedMessages: number
}

export interface ExaminationOptions {
  readonly timeoutMs?: number | undefined
  /** Look at the usual paths of the configured origin when the path is wrong. */
  readonly probe: boolean
  /** How long the source took to read, in milliseconds. */
  readonly readMs: number
  readonly io: Io
  /** Called when a step begins, for the spinner. */
  readonly onStep?: (text: string) => void
}

const MAX_LINE_CHARS = 400
const MAX_STDERR_CHARS = 4_000
const NOISE = 'stray text on stdout, skipped: '

export async function examine(row: Row, options: ExaminationOptions): Promise<Examination> {
  const { name, findings, resolved } = row
  const nothing = { name, findings, unexpanded: [], empty: [], stderr: '', heard: 0, timeoutMs: 0 }
  if (!resolved.ok) {
    const facts: Facts = { ...nothing, fault: { path: resolved.path, text: resolved.fault } }
    const detail = `refused at ${resolved.path}`
    const steps: Step[] = [{ name: 'read config', outcome: 'failed', durationMs: options.readMs, detail }]
    return {
      name,
      transport: 'unknown',
      steps,
      facts,
      diagnoses: diagnose(facts),
      wire: [],
      droppedMessages: 0,
    }
  }
  const { spec, warnings } = resolved
  const base = {
    ...nothing,
    unexpanded: warnings.flatMap((text) => /passed on as written in (.*?); set/.exec(text)?.[1] ?? []),
    empty: emptyValues(spec),
    timeoutMs: options.timeoutMs ?? spec.startup.timeoutMs,
  }
  const steps: Step[] = [{ name: 'read config', outcome: 'ok', durationMs: options.readMs }]
  const found = await resolveTarget(spec, steps, options)
  const tried = await connect(spec, options)
  steps.push(...tried.steps)
  const target = found.kind === 'stdio' ? found : { ...found, ...networkFacts(tried.network) }
  const probes = await probesOf(spec, target, tried.failure, options)
  const login =
    target.kind === 'http' ? await loginFacts(spec, { target, failure: tried.failure }, options) : undefined
  const facts: Facts = {
    ...base,
    target:
      target.kind === 'http'
        ? {
            ...target,
            ...(probes === undefined ? {} : { probes }),
            ...(login === undefined ? {} : { login }),
          }
        : target,
    ...tried.facts,
  }
  return {
    name,
    transport: transportOf(spec),
    target: targetOf(spec),
    steps,
    facts,
    ...(tried.session === undefined ? {} : { session: tried.session }),
    diagnoses: diagnose(facts),
    wire: tried.record.wire,
    droppedMessages: tried.record.dropped,
  }
}

/** Names of variables and headers without a value. */
function emptyValues({ target }: ServerSpec): string[] {
  const [path, values] = target.kind === 'stdio' ? ['env', target.env] : ['headers', target.headers]
  return Object.entries(values).flatMap(([name, value]) =>
    value === '' || /^(?:bearer|basic|token)$/i.test(value) ? [`${path}.${name}`] : [],
  )
}

async function resolveTarget(
  spec: ServerSpec,
  steps: Step[],
  { io, onStep }: ExaminationOptions,
): Promise<StdioFacts | HttpFacts> {
  const began = performance.now()
  const durationMs = (): number => performance.now() - began
  const clean = (text: string): string => safeLine(text, spec.redact, MAX_LINE_CHARS)
  if (spec.target.kind === 'stdio') {
    const facts = commandFacts(spec.target, io)
    const { found, cwdState } = facts
    const isGood = found !== undefined && (cwdState === 'none' || cwdState === 'ok')
    const detail = found === undefined ? 'there is no such command' : isGood ? found : 'cwd is no directory'
    steps.push({
      name: 'find command',
      outcome: isGood ? 'ok' : 'failed',
      durationMs: durationMs(),
      detail: clean(detail),
    })
    return cleanFacts(facts, clean)
  }
  const facts = httpFacts(spec.target, io.env)
  onStep?.(`resolving ${facts.host}`)
  // The proxy resolves the name: what this machine says of it does not count.
  const { address, error } = facts.proxy === undefined ? await resolveHost(new URL(facts.url)) : {}
  steps.push({
    name: 'resolve host',
    outcome: error === undefined ? 'ok' : 'failed',
    durationMs: durationMs(),
    detail: error ?? address ?? `through the proxy ${facts.proxy}`,
  })
  return {
    ...facts,
    url: clean(facts.url),
    path: clean(facts.path),
    ...(error === undefined ? {} : { dnsError: error }),
  }
}

function cleanFacts(facts: StdioFacts, clean: (text: string) => string): StdioFacts {
  const { command, missingFiles, line, tilde } = facts
  return {
    ...facts,
    command: clean(command),
    missingFiles: missingFiles.map(clean),
    ...(line === undefined ? {} : { line: { program: clean(line.program), args: line.args.map(clean) } }),
    ...(tilde === undefined ? {} : { tilde: { ...tilde, path: clean(tilde.path), full: clean(tilde.full) } }),
  }
}

interface Tried {
  readonly steps: readonly Step[]
  readonly facts: Pick<Facts, 'failure' | 'exit' | 'stderr' | 'heard' | 'noise' | 'catalog'>
  readonly failure: McpError | undefined
  readonly session?: SessionFacts
  readonly record: WireRecord
  readonly network: NetworkWatch
}

async function connect(spec: ServerSpec, { timeoutMs, io, onStep }: ExaminationOptions): Promise<Tried> {
  const now = (): number => performance.now()
  const network = watchNetwork(now)
  const recorder = createRecorder(spec, { now, networkWords: () => wordsOf(network) })
  onStep?.('connecting')
  const server = await openServer(spec, {
    timeoutMs,
    signal: io.signal,
    trace: recorder.trace,
    login: loginHostOf(spec, io),
    pins: await lookAtPins(spec, io),
  })
  const status = server.status()
  const definitions = server.definitions()
  const closing = now()
  onStep?.('closing')
  await server.close()
  const closeMs = now() - closing
  network.stop()
  const record = recorder.finish()
  const failure = server.failure
  return {
    steps: [
      ...connectStep(network),
      ...spawnStep(spec, record, failure),
      ...record.steps,
      closeStep(closeMs),
    ],
    facts: {
      ...connectionFacts(spec, server, status, record),
      ...(failure !== undefined && status.facts === undefined
        ? {}
        : { catalog: catalogFacts(spec, definitions, status, record.listed) }),
    },
    failure,
    ...(status.facts === undefined ? {} : { session: status.facts }),
    record,
    network,
  }
}

/** What the network tells of the last request. */
function wordsOf(network: NetworkWatch): string | undefined {
  const reply = network.reply()
  if (reply === undefined) return network.connectError()
  return `HTTP ${reply.status} ${reply.contentType}`.trim()
}

function connectStep(network: NetworkWatch): Step[] {
  const durationMs = network.connectMs()
  const error = network.connectError()
  if (durationMs !== undefined) return [{ name: 'connect', outcome: 'ok', durationMs }]
  return error === undefined ? [] : [{ name: 'connect', outcome: 'failed', durationMs: 0, detail: error }]
}

/** A process that could not be started has no step of its own in the record. */
function spawnStep({ target }: ServerSpec, record: WireRecord, failure: McpError | undefined): Step[] {
  if (target.kind !== 'stdio' || failure === undefined) return []
  if (record.steps.some(({ name }) => name === 'spawn')) return []
  return [{ name: 'spawn', outcome: 'failed', durationMs: 0, detail: String(failure.data['cause']) }]
}

/** The bound of a close is 5 s; a server that needs signals takes a good part of it. */
const SLOW_CLOSE_MS = 1_400

function closeStep(durationMs: number): Step {
  const isSlow = durationMs > SLOW_CLOSE_MS
  const detail = 'the server does not end when its input ends, and is ended by a signal'
  return { name: 'close', outcome: isSlow ? 'note' : 'ok', durationMs, ...(isSlow ? { detail } : {}) }
}

function connectionFacts(
  spec: ServerSpec,
  { failure, lines }: LiveServer,
  status: ServerStatus,
  record: WireRecord,
): Pick<Facts, 'failure' | 'exit' | 'stderr' | 'heard' | 'noise'> {
  const clean = (text: string): string => safeLine(text, spec.redact, MAX_LINE_CHARS)
  const noise = lines.find(({ text }) => text.startsWith(NOISE))?.text.slice(NOISE.length)
  const stderr = spec.redact(status.stderrTail ?? record.stderr).slice(-MAX_STDERR_CHARS)
  const exit = record.exit ?? (failure?.data['exit'] as string | undefined)
  return {
    stderr,
    heard: record.heard,
    ...(exit === undefined ? {} : { exit: clean(exit) }),
    ...(noise === undefined ? {} : { noise: clean(noise) }),
    ...(failure === undefined ? {} : { failure: failureFacts(failure, clean) }),
  }
}

function failureFacts({ code, message, data }: McpError, clean: (text: string) => string): Failure {
  const { status, cause } = data
  return {
    code,
    message: clean(message),
    ...(typeof status === 'number' ? { status } : {}),
    ...(typeof cause === 'string' ? { cause } : {}),
  }
}

function networkFacts(network: NetworkWatch): Pick<HttpFacts, 'reply'> {
  const reply = network.reply()
  return reply === undefined ? {} : { reply }
}

async function probesOf(
  spec: ServerSpec,
  target: StdioFacts | HttpFacts,
  failure: McpError | undefined,
  { probe, io, onStep }: ExaminationOptions,
): Promise<HttpFacts['probes']> {
  if (!probe || target.kind !== 'http' || failure === undefined || target.reply === undefined)
    return undefined
  onStep?.(`looking at the usual paths of ${target.host}`)
  return probePaths(spec, io.signal)
}
