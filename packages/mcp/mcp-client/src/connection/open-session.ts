/**
 * Owns the opening of a session: the tries in the order of era.ts, each over a transport of its own, until one stands or
 * the last has failed. Whatever a failed try held is released.
 */
import type { ClientOptions, RequestId } from '@modelcontextprotocol/client'
import { fromForeign } from '../foreign.ts'
import { loadSdk } from '../sdk.ts'
import type { Sdk } from '../sdk.ts'
import type { ServerSpec, Session } from '../types.ts'
import { CarrierTransport } from './carrier.ts'
import { PROBE_TIMEOUT_MS, firstTry, nextTry } from './era.ts'
import type { Try } from './era.ts'
import { clientCapabilities, declaredBy } from './inbox.ts'
import type { Declared } from './inbox.ts'
import { Requests } from './requests.ts'
import { LiveSession } from './session.ts'
import type { OpenOptions } from './session.ts'
import { createTransport } from './transport.ts'
import type { OpenTransport } from './transport.ts'

/** Longest delay Node's timers take; our own limits are in execution/call.ts. */
const NO_TIMEOUT = 2 ** 31 - 1

/** Connect, trying what era.ts says in its order. Rejects with the McpError of the last try. */
export async function openSession(spec: ServerSpec, options: OpenOptions): Promise<Session> {
  let attempt: Try = firstTry(spec, options.era.verdict(), options.era.now())
  for (;;) {
    try {
      const session = await connect(spec, attempt, options)
      // A verdict that was only believed gets no new date by it: it must be probed again one day.
      if (spec.protocol === 'auto' && !attempt.remembered) options.era.remember(session.facts.era)
      return session
    } catch (error) {
      const failure = fromForeign(error, { server: spec.serverName, stage: 'connect', redact: spec.redact })
      if (attempt.remembered) options.era.forget()
      const next: Try | undefined = options.signal.aborted ? undefined : nextTry(spec, attempt, failure)
      if (next === undefined) throw failure
      options.events.onNote(
        'debug',
        `trying ${next.negotiation.kind} over ${next.transport}: ${failure.message}`,
      )
      attempt = next
    }
  }
}

async function connect(spec: ServerSpec, attempt: Try, options: OpenOptions): Promise<Session> {
  const { signal, events, trace } = options
  signal.throwIfAborted()
  trace?.({ kind: 'try', attempt })
  const { transport, diagnostics } = await createTransport(spec, attempt, {
    events,
    authorizer: options.authorizer,
    // Not before the transport is started, and so not before there is a session.
    onResync: (isNewSession) => session.resync(isNewSession),
  })
  const carrier = new CarrierTransport(transport, trace)
  const declared = declaredBy(options.inbound)
  const sdk = await loadedBeside(transport, signal)
  const client = new sdk.Client(
    { name: 'dsh-mcp-client', version: options.clientVersion },
    clientOptions(attempt, declared, options.probeTimeoutMs),
  )
  carrier.requests = new Requests({
    send: (message) => carrier.pass(message),
    toError: (code, message, data) => sdk.ProtocolError.fromError(code, message, data),
    closed: () => new sdk.SdkError(sdk.SdkErrorCode.ConnectionClosed, 'Connection closed'),
    onLost: (error) => client.onerror?.(new Error(`Failed to send cancellation: ${String(error)}`)),
  })
  const ways = {
    client,
    transport,
    requests: carrier.requests,
    originOf: (id: RequestId) => carrier.originOf(id),
  }
  const session = new LiveSession(spec, ways, diagnostics, { ...options, declared })
  // Set before connect: the SDK chains it, also while it probes, when the client does not listen yet.
  carrier.onclose = () => session.transportEnded()
  /* v8 ignore next -- it ended while the SDK was loaded, which is done before any test begins */
  if (diagnostics().exit !== undefined) session.transportEnded()
  const abort = (): void => void session.close().catch(() => undefined)
  signal.addEventListener('abort', abort, { once: true })
  try {
    const prior = attempt.negotiation.kind === 'legacy' ? { prior: { kind: 'legacy' as const } } : {}
    await client.connect(carrier, { ...prior, timeout: NO_TIMEOUT, signal })
    signal.throwIfAborted()
    session.establish()
    return session
  } catch (error) {
    const ended = session.endedWith()
    await session.close()
    trace?.({ kind: 'ended', alone: ended !== undefined, diagnostics: diagnostics() })
    if (signal.aborted) throw signal.reason
    const failure = fromForeign(error, { server: spec.serverName, stage: 'connect', redact: spec.redact })
    // The SDK itself closes the transport of a failed try: that end says more than a bare "closed", and nothing else.
    throw ended !== undefined && failure.code === 'MCP_CONNECTION_CLOSED' ? ended : failure
  }
}

/** A server's process starts while the SDK is loaded: at the first start each takes about as long as the other. */
async function loadedBeside(transport: OpenTransport['transport'], signal: AbortSignal): Promise<Sdk> {
  transport.launch?.()
  try {
    // Not before: compiling it blocks for as long as a small server takes to start.
    const sdk = await loadSdk()
    signal.throwIfAborted()
    return sdk
  } catch (error) {
    await transport.close()
    throw error
  }
}

const UNUSED_VALIDATOR: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  /* v8 ignore next 3 -- no call gives the SDK an output schema, see session.ts */
  getValidator() {
    throw new Error('the SDK validates nothing here')
  },
}

function clientOptions(attempt: Try, declared: Declared, probeTimeoutMs = PROBE_TIMEOUT_MS): ClientOptions {
  const { negotiation } = attempt
  const common = {
    capabilities: clientCapabilities(declared),
    // rounds.ts answers, and knows on whose behalf.
    inputRequired: { autoFulfill: false },
    // Results are held against their schemas by projection/, which loses none; the build leaves the SDK's Ajv out.
    jsonSchemaValidator: UNUSED_VALIDATOR,
  }
  switch (negotiation.kind) {
    case 'probe':
      return {
        ...common,
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeTimeoutMs } },
      }
    case 'modern':
      return { ...common, versionNegotiation: { mode: { pin: negotiation.revision } } }
    case 'legacy':
      return {
        ...common,
        ...(negotiation.revision === undefined ? {} : { supportedProtocolVersions: [negotiation.revision] }),
      }
  }
}
