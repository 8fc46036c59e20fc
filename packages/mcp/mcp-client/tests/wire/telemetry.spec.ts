/** Owns the tests of telemetry: the real API and SDK of OpenTelemetry, real servers, from the source. */
import { AsyncLocalStorage } from 'node:async_hooks'
import * as api from '@opentelemetry/api'
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { Context } from '@deepseek-ai/cordis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startHttpServer, stdioServer } from '@dsh-mcp/testkit'
import { hubOf } from '../../src/hub.ts'
import { mountTelemetry } from '../../src/telemetry.ts'
import { openOperatorHost } from './operator-host.ts'
import type { OperatorHost } from './operator-host.ts'

/** Keeps the active context across awaits, as an application's SDK does. */
class StorageContextManager implements api.ContextManager {
  private readonly storage = new AsyncLocalStorage<api.Context>()
  active(): api.Context {
    return this.storage.getStore() ?? api.ROOT_CONTEXT
  }
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: api.Context,
    fn: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.storage.run(context, () => fn.call(thisArg, ...args))
  }
  bind<T>(_context: api.Context, target: T): T {
    return target
  }
  enable(): this {
    return this
  }
  disable(): this {
    return this
  }
}

let host: OperatorHost
let spans: InMemorySpanExporter
let metrics: InMemoryMetricExporter
let reader: PeriodicExportingMetricReader

beforeEach(() => {
  spans = new InMemorySpanExporter()
  metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 })
  api.trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
  )
  api.metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  api.context.setGlobalContextManager(new StorageContextManager())
  api.propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  )
})

afterEach(async () => {
  await host.close()
  await reader.shutdown()
  for (const part of [api.trace, api.metrics, api.context, api.propagation]) part.disable()
})

const shown = ({ name, kind, attributes, status }: ReadableSpan): object => ({
  name,
  kind,
  attributes,
  status,
})

/** Points of one metric: attributes, and the count or the sum. */
async function pointsOf(name: string): Promise<object[]> {
  await reader.forceFlush()
  const last =
    metrics
      .getMetrics()
      .at(-1)
      ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? []
  return last
    .filter(({ descriptor }) => descriptor.name === name)
    .flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => ({
        unit: descriptor.unit,
        attributes,
        count: typeof value === 'number' ? value : (value as { count: number }).count,
      })),
    )
}

/** The API is imported beside the rows: a call before that is not seen. */
const observed = (): Promise<void> => host.until(() => hubOf(host.ctx.root).observer() !== undefined)

const ABOUT = {
  'mcp.method.name': 'tools/call',
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': 'echo',
  'dsh.mcp.server.name': 'one',
  'network.transport': 'pipe',
  'mcp.protocol.version': '2025-11-25',
}

describe('a call', () => {
  it('is a span below that of the application, without arguments, and goes out with its trace', async () => {
    host = await openOperatorHost()
    const server = stdioServer('healthy')
    await host.row({ serverName: 'one', command: server.command, args: server.args, env: server.env })
    await observed()
    const baggage = api.propagation.createBaggage({ user: { value: 'alice' } })
    const parent = api.trace.getTracer('app').startSpan('turn')
    const around = api.propagation.setBaggage(api.trace.setSpan(api.context.active(), parent), baggage)
    await api.context.with(around, () => host.call('mcp__one__echo', { message: 'private words' }))
    const [span] = spans.getFinishedSpans()
    expect(shown(span as ReadableSpan)).toEqual({
      name: 'tools/call echo',
      kind: api.SpanKind.CLIENT,
      attributes: ABOUT,
      status: { code: api.SpanStatusCode.UNSET },
    })
    expect(span?.parentSpanContext?.spanId).toBe(parent.spanContext().spanId)
    expect(JSON.stringify(span?.attributes)).not.toContain('private')
    const sent = (await server.journal()).find(({ message }) => message?.method === 'tools/call')
    expect(sent?.message?.params?.['_meta']).toMatchObject({
      traceparent: `00-${span?.spanContext().traceId}-${span?.spanContext().spanId}-01`,
    })
    expect(sent?.message?.params?.['_meta']).not.toHaveProperty('baggage')
    expect(await pointsOf('mcp.client.operation.duration')).toEqual([
      { unit: 's', attributes: ABOUT, count: 1 },
    ])
  })

  it('over HTTP of the new era names the host, and carries its trace too', async () => {
    const http = await startHttpServer({ era: 'modern' })
    host = await openOperatorHost()
    await host.row({ serverName: 'one', url: http.url })
    await observed()
    await host.call('mcp__one__echo', { message: 'x' })
    const [span] = spans.getFinishedSpans()
    const { hostname, port } = new URL(http.url)
    expect(span?.attributes).toEqual({
      ...ABOUT,
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'server.address': hostname,
      'server.port': Number(port),
      'mcp.protocol.version': '2026-07-28',
    })
    const bodies = JSON.stringify(http.requests.map(({ body }) => body))
    expect(bodies).toContain(String(span?.spanContext().traceId))
    await http.close()
  })

  it('that fails says of what kind, and nothing of what the server said', async () => {
    host = await openOperatorHost()
    const server = stdioServer('healthy')
    await host.row({ serverName: 'one', command: server.command, args: server.args, env: server.env })
    await observed()
    await host.call('mcp__one__echo', {})
    const observer = hubOf(host.ctx.root).observer()
    const about = { serverName: 'one', tool: 'echo', transport: 'stdio' } as const
    const failing = async (data: object, code: string): Promise<unknown> => {
      const { McpError } = await import('../../src/errors.ts')
      const error = new McpError('private words', {
        code: code as never,
        server: 'one',
        stage: 'execution',
        data: { ...data },
      })
      return observer?.around(about, () => Promise.reject(error)).catch((caught: unknown) => caught === error)
    }
    expect(await failing({}, 'MCP_TOOL_FAILED')).toBe(true)
    expect(await failing({ rpcCode: -32602 }, 'MCP_REQUEST_REJECTED')).toBe(true)
    await observer?.around(about, () => Promise.reject(new Error('odd'))).catch(() => undefined)
    const finished = spans.getFinishedSpans()
    expect(finished.map(({ attributes }) => attributes['error.type'])).toEqual([
      'MCP_REQUEST_REJECTED',
      'tool_error',
      '-32602',
      '_OTHER',
    ])
    expect(finished[2]?.attributes['rpc.response.status_code']).toBe('-32602')
    expect(finished.map(({ status }) => status)).toEqual(
      finished.map(() => ({ code: api.SpanStatusCode.ERROR })),
    )
    expect(JSON.stringify(finished.map(({ events }) => events))).not.toContain('private')
  })
})

describe('a connection', () => {
  it('has a duration, and its loss is an outage', async () => {
    host = await openOperatorHost()
    const server = stdioServer('healthy')
    const reconnect = { initialDelayMs: 60_000, maxDelayMs: 60_000 }
    const fiber = await host.row({
      serverName: 'one',
      command: server.command,
      args: server.args,
      env: server.env,
      reconnect,
    })
    await observed()
    await host.ctx.mcpServers.restart('one')
    process.kill(Number(host.ctx.mcpServers.get('one')?.pid), 'SIGKILL')
    await host.until(() => host.ctx.mcpServers.get('one')?.state === 'backoff')
    await host.call('mcp__one__echo', { message: 'to nobody' })
    const attributes = spans.getFinishedSpans().at(-1)?.attributes
    expect(attributes).toMatchObject({ 'error.type': 'MCP_NOT_CONNECTED' })
    expect(attributes).not.toHaveProperty('mcp.protocol.version')
    await host.ctx.mcpServers.restart('one')
    await fiber.dispose()
    const wire = {
      'dsh.mcp.server.name': 'one',
      'network.transport': 'pipe',
      'mcp.protocol.version': '2025-11-25',
    }
    const lost = { ...wire, 'error.type': 'MCP_CONNECTION_CLOSED' }
    expect(await pointsOf('mcp.client.session.duration')).toEqual([
      { unit: 's', attributes: wire, count: 2 },
      { unit: 's', attributes: lost, count: 1 },
    ])
    expect(await pointsOf('dsh.mcp.client.outages')).toEqual([
      {
        unit: '{outage}',
        attributes: { 'dsh.mcp.server.name': 'one', 'error.type': 'MCP_CONNECTION_CLOSED' },
        count: 1,
      },
    ])
  })
})

describe('a host without the API', () => {
  it('has no observer, and no trace in its requests', async () => {
    host = await openOperatorHost()
    const ctx = new Context()
    await mountTelemetry(ctx, () => Promise.reject(new Error('Cannot find package')))
    expect(hubOf(ctx.root).observer()).toBeUndefined()
    await ctx.fiber.dispose()
  })

  it('sends nothing where no span is active', async () => {
    host = await openOperatorHost()
    api.propagation.disable()
    const server = stdioServer('healthy')
    await host.row({ serverName: 'one', command: server.command, args: server.args, env: server.env })
    await observed()
    await host.call('mcp__one__echo', { message: 'x' })
    const sent = (await server.journal()).find(({ message }) => message?.method === 'tools/call')
    expect(Object.keys((sent?.message?.params?.['_meta'] ?? {}) as object)).toEqual(['progressToken'])
  })

  it('ends before the API is there', async () => {
    host = await openOperatorHost()
    const ctx = new Context()
    const loaded = Promise.withResolvers<typeof api>()
    const apply = (inner: Context): Promise<void> => mountTelemetry(inner, () => loaded.promise)
    const fiber = ctx.plugin(
      { name: 'late', apply: async (inner: Context) => apply(inner) } as never,
      undefined as never,
    )
    await Promise.resolve()
    const gone = fiber.dispose()
    loaded.resolve(api)
    await gone
    expect(hubOf(ctx.root).observer()).toBeUndefined()
  })
})

describe('a program that registers late', () => {
  it('is seen at the next change of a server or the next end of a call', async () => {
    const key = Symbol.for('opentelemetry.js.api.1')
    const registry: unknown = Reflect.get(globalThis, key)
    Reflect.deleteProperty(globalThis, key)
    try {
      host = await openOperatorHost()
      const { command, args, env } = stdioServer('healthy')
      await host.row({ serverName: 'one', command, args, env })
      await host.call('mcp__one__echo', { message: 'not yet' })
      expect(hubOf(host.ctx.root).observer()).toBeUndefined()
      Reflect.set(globalThis, key, registry)
      await host.call('mcp__one__echo', { message: 'still not' })
      await observed()
      await host.call('mcp__one__echo', { message: 'seen' })
      expect(spans.getFinishedSpans().map(({ name }) => name)).toEqual(['tools/call echo'])
    } finally {
      Reflect.set(globalThis, key, registry)
    }
  })
})
