/** Owns the tests of one call's clock, queue and failures, on fake timers and an in-test session. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { McpError } from '../../src/errors.ts'
import type { McpErrorCode } from '../../src/errors.ts'
import { callTool } from '../../src/execution/call.ts'
import type { CallContext, CallRequest } from '../../src/execution/call.ts'
import { policyOf } from '../../src/execution/policy.ts'
import { createGate } from '../../src/execution/gate.ts'
import { withLimit } from '../../src/projection/host.ts'
import type { CanonicalResult } from '../../src/projection/result.ts'
import type { CallOptions, JsonObject, Session } from '../../src/types.ts'
import { makeEntry, makeSession, makeSpec } from '../composition/registry-host.ts'

const CAUTIOUS = policyOf(makeEntry(), false)

interface Sent {
  readonly options: CallOptions
  readonly args: JsonObject
  readonly resolve: (result: JsonObject) => void
  readonly reject: (error: unknown) => void
}

/** A session that never answers by itself, and does not even let go at an abort. */
function silentSession(diagnostics: ReturnType<Session['diagnostics']> = {}): {
  session: Session
  sent: Sent[]
} {
  const sent: Sent[] = []
  const session = makeSession((_tool, args, options) => {
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    sent.push({ options, args, resolve, reject })
    return promise
  }, diagnostics)
  return { session, sent }
}

function setup(over: Partial<CallContext> = {}, diagnostics: ReturnType<Session['diagnostics']> = {}) {
  const { session, sent } = silentSession(diagnostics)
  const onUnknownTool = vi.fn<() => void>()
  const log = vi.fn<CallContext['log']>()
  const sessionAgain = vi.fn<CallContext['sessionAgain']>(() => Promise.resolve(undefined))
  const spec = makeSpec({ toolCallTimeoutMs: 1_000, toolCallMaxMs: 10_000 })
  const context: CallContext = {
    spec,
    session: () => session,
    reason: () => 'reconnecting, next attempt in 500 ms',
    onUnknownTool,
    sessionAgain,
    log,
    gate: createGate(spec.limits.concurrency),
    ...over,
  }
  const controller = new AbortController()
  const run = (request: Partial<CallRequest> = {}): Promise<CanonicalResult> =>
    callTool(
      {
        entry: makeEntry(),
        policy: CAUTIOUS,
        outputSchema: undefined,
        args: {},
        signal: controller.signal,
        ...request,
      },
      context,
    )
  return { run, sent, controller, context, onUnknownTool, log, sessionAgain }
}

async function failureOf(promise: Promise<unknown>): Promise<McpError> {
  const error = await promise.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(McpError)
  return error as McpError
}

const wire = (code: McpErrorCode, message: string): McpError =>
  new McpError(message, { code, server: 'demo', stage: 'execution', data: { rpcCode: -32602 } })

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('the silence limit', () => {
  it('ends a call that is never answered, tells the server, and says how to raise it', async () => {
    const { run, sent } = setup()
    const failed = failureOf(run())
    await vi.advanceTimersByTimeAsync(999)
    expect(sent[0]?.options.signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    const error = await failed
    expect(error.message).toBe(
      'The call of tool "get.thing" at MCP server "demo" brought no answer and no progress for 1000 ms. ' +
        'It was cancelled, but it may have run. Raise toolCallTimeoutMs in the row of this server if the tool needs longer',
    )
    expect(error).toMatchObject({ code: 'MCP_CALL_TIMEOUT', data: { limitMs: 1_000, mayHaveRun: true } })
    expect(sent[0]?.options.signal.reason).toBe(error)
  })

  it('is reset by progress, under the absolute wall', async () => {
    const { run, sent } = setup()
    const failed = failureOf(run())
    for (let at = 0; at < 19; at += 1) {
      await vi.advanceTimersByTimeAsync(500)
      sent[0]?.options.onProgress?.({ progress: at })
    }
    expect(sent[0]?.options.signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(500)
    const error = await failed
    expect(error.message).toContain(
      'was not done after 10000 ms. Its last progress was 18. It was cancelled, but it may have run. Raise toolCallMaxMs',
    )
    sent[0]?.options.onProgress?.({ progress: 20 })
  })

  it('is not used up by what came before', async () => {
    const { run, sent } = setup()
    const call = run()
    await vi.advanceTimersByTimeAsync(900)
    sent[0]?.options.onProgress?.({ progress: 1 })
    await vi.advanceTimersByTimeAsync(900)
    sent[0]?.resolve({ content: [] })
    expect(await call).toEqual({ content: [] })
  })

  it('longer than a timer can wait is no timer of one millisecond', async () => {
    const spec = makeSpec({ toolCallTimeoutMs: 2 ** 40, toolCallMaxMs: 2 ** 41 })
    const { run, sent } = setup({ spec })
    const call = run()
    await vi.advanceTimersByTimeAsync(3_600_000)
    sent[0]?.resolve({ content: [] })
    expect(await call).toEqual({ content: [] })
  })

  it('drops the late answer, and the next call has its own', async () => {
    const { run, sent } = setup()
    const failed = failureOf(run({ args: { n: 1 } }))
    await vi.advanceTimersByTimeAsync(1_000)
    await failed
    const next = run({ args: { n: 2 } })
    await vi.advanceTimersByTimeAsync(0)
    sent[0]?.resolve({ content: [{ type: 'text', text: 'late' }] })
    sent[1]?.resolve({ content: [{ type: 'text', text: 'right' }] })
    expect(await next).toEqual({ content: [{ type: 'text', text: 'right' }] })
  })

  it('swallows a late failure', async () => {
    const { run, sent } = setup()
    const failed = failureOf(run())
    await vi.advanceTimersByTimeAsync(1_000)
    await failed
    sent[0]?.reject(new Error('late'))
    await vi.advanceTimersByTimeAsync(0)
  })
})

describe('an abort', () => {
  it('settles the call at once and reaches the session', async () => {
    const { run, sent, controller } = setup()
    const failed = failureOf(run())
    await vi.advanceTimersByTimeAsync(5)
    controller.abort()
    expect(sent[0]?.options.signal.aborted).toBe(true)
    const error = await failed
    expect(error).toMatchObject({ code: 'MCP_ABORTED' })
    expect(error.message).toContain('was aborted. It was cancelled, but it may have run')
  })

  it('before the call sends nothing', async () => {
    const { run, sent, controller } = setup()
    controller.abort()
    const error = await failureOf(run())
    expect(error).toMatchObject({ code: 'MCP_ABORTED' })
    expect(error.message).toContain('was not sent')
    expect(sent).toEqual([])
  })

  it('leaves no listener behind, however many calls share the signal', async () => {
    const { run, sent, controller } = setup()
    const added = vi.spyOn(controller.signal, 'addEventListener')
    const removed = vi.spyOn(controller.signal, 'removeEventListener')
    for (let at = 0; at < 50; at += 1) {
      const call = run()
      await vi.advanceTimersByTimeAsync(0)
      sent[at]?.resolve({ content: [] })
      await call
    }
    expect(removed.mock.calls.length).toBe(added.mock.calls.length)
  })
})

describe('the queue', () => {
  it('sends at most `concurrency` calls, in order of arrival, and answers none twice or crossed', async () => {
    const { run, sent } = setup({ gate: createGate(3) })
    const calls = Array.from({ length: 50 }, (_, n) => run({ args: { n } }))
    for (let at = 0; at < 50; at += 1) {
      await vi.advanceTimersByTimeAsync(0)
      expect(sent.length).toBe(Math.min(50, at + 3))
      // The newest first: out of order.
      const last = sent.filter(({ options }) => !done.has(options)).at(-1)
      if (last === undefined) throw new Error('nothing in flight')
      done.add(last.options)
      last.resolve({ content: [last.args['n'] ?? null] })
    }
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 50 }, (_, n) => ({ content: [n] })))
    expect(sent.map(({ args }) => args['n'])).toEqual(Array.from({ length: 50 }, (_, n) => n))
  })
  const done = new Set<CallOptions>()

  it('lets a waiting call go with its signal, and gives its place to nobody twice', async () => {
    const { run, sent } = setup({ gate: createGate(1) })
    const first = run()
    const impatient = new AbortController()
    const second = failureOf(run({ signal: impatient.signal }))
    const third = run({ args: { third: true } })
    await vi.advanceTimersByTimeAsync(0)
    impatient.abort()
    expect((await second).message).toContain('It was still waiting for its turn and was not sent')
    expect(sent).toHaveLength(1)
    sent[0]?.resolve({ content: [] })
    await first
    await vi.advanceTimersByTimeAsync(0)
    expect(sent[1]?.args).toEqual({ third: true })
    sent[1]?.resolve({ content: [] })
    await third
  })

  it('waits no longer than the wall', async () => {
    const gate = createGate(1)
    await gate.enter(new AbortController().signal)
    const { run, sent } = setup({ gate })
    const failed = failureOf(run())
    await vi.advanceTimersByTimeAsync(10_000)
    const error = await failed
    expect(error.message).toContain(
      'was not done after 10000 ms. It was still waiting for its turn and was not sent',
    )
    expect(error.data).toMatchObject({ mayHaveRun: false })
    expect(sent).toEqual([])
  })

  it('frees the place of a call that failed', async () => {
    const { run, sent } = setup({ gate: createGate(1) })
    const first = failureOf(run())
    const second = run()
    await vi.advanceTimersByTimeAsync(1_000)
    await first
    sent[1]?.resolve({ content: [] })
    await second
  })

  it('releases once per place', async () => {
    const gate = createGate(1)
    const { signal } = new AbortController()
    const release = await gate.enter(signal)
    release()
    release()
    await gate.enter(signal)
    const third = vi.fn<() => void>()
    void gate.enter(signal).then(third)
    await vi.advanceTimersByTimeAsync(0)
    expect(third).not.toHaveBeenCalled()
    await expect(gate.enter(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
  })
})

describe('no session', () => {
  it('fails at once, saying why and what comes next', async () => {
    const { run } = setup({ session: () => undefined })
    const error = await failureOf(run())
    expect(error.code).toBe('MCP_NOT_CONNECTED')
    expect(error.message).toBe(
      'MCP server "demo" is not connected: reconnecting, next attempt in 500 ms. The call was not sent',
    )
  })

  it('is noticed again when the turn comes', async () => {
    const { session, sent } = silentSession()
    let live: Session | undefined = session
    const { run } = setup({ gate: createGate(1), session: () => live })
    const first = run()
    const second = failureOf(run())
    await vi.advanceTimersByTimeAsync(0)
    live = undefined
    sent[0]?.resolve({ content: [] })
    await first
    expect((await second).code).toBe('MCP_NOT_CONNECTED')
  })
})

describe('a failure of the session', () => {
  async function failing(error: unknown, diagnostics: ReturnType<Session['diagnostics']> = {}) {
    const { run, sent, onUnknownTool } = setup({}, diagnostics)
    const failed = failureOf(run())
    await vi.advanceTimersByTimeAsync(0)
    sent[0]?.reject(error)
    return { error: await failed, onUnknownTool }
  }

  it('reaches the model as the server said it, and keeps code and data', async () => {
    const original = wire('MCP_REQUEST_REJECTED', 'Invalid params: "city" is required')
    const { error, onUnknownTool } = await failing(original)
    expect(error).toBe(original)
    expect(onUnknownTool).not.toHaveBeenCalled()
  })

  it('is redacted, cleaned and capped, with the original as cause', async () => {
    const original = wire('MCP_REQUEST_REJECTED', `no \u001b[31ms3cret\u202e ${'x'.repeat(300_000)}`)
    const { error } = await failing(original)
    expect(error).toMatchObject({ code: 'MCP_REQUEST_REJECTED', cause: original, data: { rpcCode: -32602 } })
    expect(error.message).toMatch(/^no \*\*\* xxx/)
    expect(error.message).toContain('longer than limits.resultTextBytes allows')
    expect(error.message.length).toBeLessThan(40_000)
  })

  it.each([
    ['Unknown tool: get.thing', 1],
    // Megabytes of this would take the pattern half a minute.
    [`${'tool '.repeat(210)}not found`, 0],
    ['MCP error -32602: Tool get.thing not found', 1],
    ['tool "get.thing" does not exist', 1],
    ['No such tool', 1],
    ['Invalid arguments for tool get.thing', 0],
    ['file not found', 0],
  ])('%s: lists again %i times', async (message, times) => {
    expect((await failing(wire('MCP_REQUEST_REJECTED', message))).onUnknownTool).toHaveBeenCalledTimes(times)
    const { run, sent, onUnknownTool } = setup()
    const failed = failureOf(run())
    await vi.advanceTimersByTimeAsync(0)
    sent[0]?.resolve({ isError: true, content: [{ type: 'text', text: message }] })
    expect((await failed).code).toBe('MCP_TOOL_FAILED')
    expect(onUnknownTool).toHaveBeenCalledTimes(times)
  })

  it('lists again where the tool mirrors other arguments into headers by now', async () => {
    const data = { rpcCode: -32020 }
    const original = new McpError('Header mismatch', {
      code: 'MCP_REQUEST_REJECTED',
      server: 'demo',
      stage: 'execution',
      data,
    })
    expect((await failing(original)).onUnknownTool).toHaveBeenCalledTimes(1)
  })

  it('says how the process ended, its last words, and that the call may have run', async () => {
    const { error } = await failing(wire('MCP_CONNECTION_CLOSED', 'the connection to the server is closed'), {
      exit: 'exit code 3',
      stderrTail: 'line one\nPanic: s3cret out of memory\n',
    })
    expect(error.message).toBe(
      'MCP server "demo": the connection to the server is closed. The server process ended: exit code 3. The call may have run. ' +
        'Its last words: line one Panic: *** out of memory',
    )
  })

  it('hides a secret that hides itself', async () => {
    const { error } = await failing(wire('MCP_REQUEST_REJECTED', 'bad token s3\u200bcr\u202eet'))
    expect(error.message).toBe('bad token ***')
  })

  it('says nothing twice', async () => {
    const said = 'the server ended with exit code 3, saying "boom"; the call may have run'
    const { error } = await failing(wire('MCP_CONNECTION_CLOSED', said), {
      exit: 'exit code 3',
      stderrTail: 'boom',
    })
    expect(error.message).toBe(`MCP server "demo": ${said}`)
  })

  it.each<[McpErrorCode, string]>([
    ['MCP_OUTCOME_UNKNOWN', 'MCP server "demo": the reply stream was cut. The call may have run'],
    ['MCP_HTTP_UNAVAILABLE', 'MCP server "demo": the reply stream was cut. The call may have run'],
    ['MCP_SESSION_LOST', 'the reply stream was cut'],
    ['MCP_AUTH_REQUIRED', 'the reply stream was cut'],
  ])('%s', async (code, message) => {
    expect(
      (await failing(wire(code, 'the reply stream was cut'), { stderrTail: 'noise' })).error.message,
    ).toBe(message)
  })

  it.each([
    [{ cause: 'ECONNREFUSED' }, 'The call did not reach the server'],
    [{ cause: 'ECONNRESET' }, 'The call may have run'],
    [{ status: 429 }, 'The call did not reach the server'],
    [{ status: 503 }, 'The call may have run'],
  ])('of the network: %j', async (data, words) => {
    const refused = new McpError('no', {
      code: 'MCP_HTTP_UNAVAILABLE',
      server: 'demo',
      stage: 'execution',
      data,
    })
    expect((await failing(refused)).error.message).toBe(`MCP server "demo": no. ${words}`)
  })

  it('that is none of ours becomes one', async () => {
    const cause = new TypeError('odd')
    expect((await failing(cause)).error).toMatchObject({ code: 'MCP_RESULT_INVALID', message: 'odd', cause })
  })

  it('thrown before a promise exists is the same', async () => {
    const { session } = silentSession()
    const broken: Session = {
      ...session,
      callTool: () => {
        throw wire('MCP_CONNECTION_CLOSED', 'already closed')
      },
    }
    const { run } = setup({ session: () => broken })
    expect((await failureOf(run())).message).toBe('MCP server "demo": already closed. The call may have run')
  })
})

describe('a second send', () => {
  const trusted = policyOf(makeEntry({ annotations: { readOnlyHint: true } }), true)
  const lost = (): McpError => wire('MCP_CONNECTION_CLOSED', 'the connection to s3cret is closed')

  it('goes to the new session, once, with the same arguments', async () => {
    const { run, sent, sessionAgain, log } = setup()
    const next = silentSession()
    sessionAgain.mockResolvedValue(next.session)
    const call = run({ policy: trusted, args: { n: 1 } })
    await vi.advanceTimersByTimeAsync(0)
    sent[0]?.reject(lost())
    await vi.advanceTimersByTimeAsync(0)
    expect(next.sent).toHaveLength(1)
    next.sent[0]?.resolve({ content: ['right'] })
    expect(await call).toEqual({ content: ['right'] })
    expect(next.sent[0]?.args).toEqual({ n: 1 })
    expect(log.mock.calls).toEqual([
      ['debug', 'call of "get.thing" is sent once more: the connection to *** is closed'],
    ])
  })

  it('is not followed by a third', async () => {
    const { run, sent, sessionAgain } = setup({}, { exit: 'exit code 1' })
    const next = silentSession({ exit: 'exit code 2' })
    sessionAgain.mockResolvedValue(next.session)
    const failed = failureOf(run({ policy: trusted }))
    await vi.advanceTimersByTimeAsync(0)
    sent[0]?.reject(lost())
    await vi.advanceTimersByTimeAsync(0)
    next.sent[0]?.reject(lost())
    const error = await failed
    expect(error.code).toBe('MCP_CONNECTION_CLOSED')
    // The facts are those of the session that failed last.
    expect(error.message).toContain('The server process ended: exit code 2. The call may have run')
    expect([sent.length, next.sent.length, sessionAgain.mock.calls.length]).toEqual([1, 1, 1])
  })

  it.each<[string, Partial<CallRequest>, McpErrorCode]>([
    ['for a tool that nobody trusts', {}, 'MCP_CONNECTION_CLOSED'],
    ['after a refusal', { policy: trusted }, 'MCP_REQUEST_REJECTED'],
    ['after a broken result', { policy: trusted }, 'MCP_RESULT_INVALID'],
  ])('never comes %s', async (_what, request, code) => {
    const { run, sent, sessionAgain } = setup()
    const failed = failureOf(run(request))
    await vi.advanceTimersByTimeAsync(0)
    sent[0]?.reject(code === 'MCP_RESULT_INVALID' ? new TypeError('odd') : wire(code, 'no'))
    expect((await failed).code).toBe(code)
    expect(sent).toHaveLength(1)
    expect(sessionAgain).not.toHaveBeenCalled()
  })

  it('does not come where nobody reconnects: the loss is the error', async () => {
    const { run, sent } = setup()
    const failed = failureOf(run({ policy: trusted }))
    await vi.advanceTimersByTimeAsync(0)
    sent[0]?.reject(lost())
    expect((await failed).message).toBe(
      'MCP server "demo": the connection to *** is closed. The call may have run',
    )
  })

  it.each([
    ['the silence limit: the loss is the error', 1_000, undefined, 'MCP_CONNECTION_CLOSED'],
    ['the caller: the abort is the error', 10, 10, 'MCP_ABORTED'],
  ] as const)('waits no longer than %s', async (_what, waitMs, abortMs, code) => {
    const { run, sent, sessionAgain, controller } = setup()
    const next = silentSession()
    sessionAgain.mockImplementation(async (_entry, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      // Too late, and so not used.
      return next.session
    })
    const failed = failureOf(run({ policy: trusted }))
    await vi.advanceTimersByTimeAsync(0)
    sent[0]?.reject(lost())
    if (abortMs !== undefined) setTimeout(() => controller.abort(), abortMs)
    await vi.advanceTimersByTimeAsync(waitMs)
    expect((await failed).code).toBe(code)
    expect(next.sent).toEqual([])
  })

  it('has the silence limit anew, and the wall of the first', async () => {
    const { run, sent, sessionAgain } = setup()
    const next = silentSession()
    sessionAgain.mockResolvedValue(next.session)
    const failed = failureOf(run({ policy: trusted }))
    await vi.advanceTimersByTimeAsync(900)
    sent[0]?.reject(lost())
    await vi.advanceTimersByTimeAsync(900)
    expect(next.sent[0]?.options.signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(100)
    expect((await failed).code).toBe('MCP_CALL_TIMEOUT')
  })
})

describe('progress', () => {
  it('is told to the operator now and then, without secrets, and by the error', async () => {
    const { run, sent, log } = setup()
    const failed = failureOf(run())
    await vi.advanceTimersByTimeAsync(0)
    sent[0]?.options.onProgress?.({ progress: 1, total: 3, message: 'with s3\u200bcret' })
    sent[0]?.options.onProgress?.({ progress: 2, total: 3, message: 'with s3cret' })
    await vi.advanceTimersByTimeAsync(1_000)
    expect((await failed).message).toContain('for 1000 ms. Its last progress was 2 of 3: with ***. It was')
    expect(log.mock.calls).toEqual([['debug', 'call of "get.thing": progress 1 of 3: with ***']])
  })
})

describe('withLimit', () => {
  it('ends the wait, and leaves no timer', async () => {
    const never = withLimit(new Promise<void>(() => {}), 100)
    const checked = expect(never).rejects.toThrow('no answer within 100 ms')
    await vi.advanceTimersByTimeAsync(100)
    await checked
    expect(await withLimit(Promise.resolve(5), 100)).toBe(5)
  })
})
