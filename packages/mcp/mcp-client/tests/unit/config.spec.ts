/** The schema as the host uses it, and what holds for every row. */
import { Context } from '@deepseek-ai/cordis'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Config, resolveConfig } from '../../src/config.ts'
import { shape } from '../../src/config-schema.ts'
import { isMcpError } from '../../src/errors.ts'

const stdio = { serverName: 'github', transport: 'stdio', command: 'npx' }
const SECRET = 'PLANTED-s3cr3t-42'

/** Any JSON, and rows that are nearly right: the known keys with any value. */
const json = fc.jsonValue()
const near = fc.record(
  {
    serverName: fc.oneof(fc.constantFrom('a', 'b-1'), json),
    transport: fc.oneof(fc.constantFrom('stdio', 'streamable-http', 'sse', undefined), json),
    command: fc.oneof(fc.string(), json),
    args: fc.oneof(fc.array(fc.string()), json),
    env: fc.oneof(fc.dictionary(fc.string(), fc.string()), json),
    cwd: fc.oneof(fc.string(), json),
    url: fc.oneof(fc.webUrl(), fc.string(), json),
    headers: fc.oneof(fc.dictionary(fc.string(), fc.string()), json),
    expandVars: fc.oneof(fc.boolean(), json),
    protocol: fc.oneof(fc.constantFrom('auto', 'legacy', '2025-06-18'), json),
    toolCallTimeoutMs: fc.oneof(fc.integer(), fc.double(), json),
    reconnect: fc.oneof(fc.record({ initialDelayMs: fc.double(), maxAttempts: fc.integer() }), json),
    startup: fc.oneof(fc.record({ waitMs: fc.integer() }), json),
    limits: json,
    extra: json,
  },
  { requiredKeys: [] },
)
/** Rows that are mostly right, so that the accepted side is visited too. */
const common = {
  serverName: fc.constantFrom('a', 'b-1'),
  expandVars: fc.boolean(),
  protocol: fc.constantFrom('auto', 'legacy', '2026-07-28', null),
  toolCallTimeoutMs: fc.option(fc.integer({ min: 1, max: 4_000_000 }), { nil: undefined }),
  reconnect: fc.option(fc.record({ maxAttempts: fc.integer({ min: 1 }) }), { nil: null }),
}
const names = fc.stringMatching(/^[A-Za-z_]\w{0,9}$/)
const texts = fc.oneof(fc.string(), fc.constantFrom('${HOME}', '${NOPE:-x}', '$${A}'))
const good = fc.oneof(
  fc.record({
    ...common,
    command: fc.constantFrom('x', '${CMD:-y}'),
    args: fc.array(texts),
    env: fc.dictionary(names, texts),
    cwd: fc.constantFrom('', 'd', null),
  }),
  fc.record({
    ...common,
    url: fc.webUrl({ withQueryParameters: true }),
    headers: fc.dictionary(names, texts),
  }),
)

function plain(raw: unknown): unknown {
  const { spec, warnings } = resolveConfig(raw, { HOME: '/h' })
  return { ...spec, redact: undefined, learn: undefined, warnings }
}

/** The message of the refusal, or nothing. Any other error fails the test. */
function refusal(raw: unknown): string | undefined {
  try {
    resolveConfig(raw, {})
    return undefined
  } catch (error) {
    if (isMcpError(error) && error.code === 'MCP_CONFIG_INVALID') return error.message
    throw error
  }
}

describe('every row', () => {
  it('is resolved or refused with MCP_CONFIG_INVALID, whatever JSON it is', () => {
    fc.assert(
      fc.property(fc.oneof(json, near), (raw) => {
        const message = refusal(raw)
        if (message !== undefined) expect(message).toMatch(/^mcp-client\([\w?-]+\): /)
      }),
      { numRuns: 500 },
    )
  })

  it('resolves to the same from its schema-normalised form', () => {
    let accepted = 0
    fc.assert(
      fc.property(fc.oneof(good, near), (raw) => {
        if (refusal(raw) !== undefined) return
        accepted += 1
        const normal: unknown = shape(structuredClone(raw) as never)
        expect(plain(normal)).toEqual(plain(raw))
        expect(plain(shape(structuredClone(normal) as never))).toEqual(plain(raw))
      }),
      { numRuns: 400 },
    )
    expect(accepted).toBeGreaterThan(50)
  })

  it('never shows a planted secret in a refusal', () => {
    const planted = fc.constantFrom(
      SECRET,
      `${SECRET}\0`,
      `Bearer ${SECRET}\r\nx`,
      `http://u:${SECRET}@h/`,
      [SECRET],
      {
        [`A=${SECRET}`]: SECRET,
        a: `\${${SECRET}}`,
      },
    )
    // Not serverName: a well-formed name is there to be shown.
    const keys =
      'command args env cwd url headers protocol transport startup reconnect toolCallTimeoutMs expandVars x limits tools'
    const places = fc.constantFrom(...keys.split(' '))
    const rows = fc
      .tuple(fc.oneof(good, near), places, planted)
      .map(([row, key, value]) => ({ ...row, [key]: value }))
    let refused = 0
    fc.assert(
      fc.property(rows, (raw) => {
        const message = refusal(raw)
        if (message !== undefined) refused += 1
        expect(message ?? '').not.toContain(SECRET)
        const result = Config['~standard'].validate(raw)
        if (!(result instanceof Promise)) expect(JSON.stringify(result.issues ?? [])).not.toContain(SECRET)
      }),
      { numRuns: 500 },
    )
    expect(refused).toBeGreaterThan(100)
  })
})

describe('Config', () => {
  it('fills in defaults, keeps the transport as written, and leaves a frozen row alone', () => {
    const row = Object.freeze({ ...stdio, env: Object.freeze({ A: 'b' }) })
    expect(Config(row as never)).toMatchObject({
      ...row,
      args: [],
      cwd: '',
      protocol: 'auto',
      startup: { waitMs: 10_000 },
    })
    expect(Config({ serverName: 'a', url: 'http://h/' })).not.toHaveProperty('transport')
    expect(row).toEqual({ ...stdio, env: { A: 'b' } })
  })

  it('throws what the resolve step throws', () => {
    expect(() => Config({ ...stdio, nope: 1 } as never)).toThrow(
      'mcp-client(github): nope is not a configuration key',
    )
  })

  it('returns issues with a path to a Standard Schema caller, and rethrows what is no fault of the row', () => {
    expect(Config['~standard'].validate({ ...stdio, startup: { waitMs: -1 } })).toMatchObject({
      issues: [{ path: ['startup', 'waitMs'] }],
    })
    expect(Config['~standard'].validate(stdio)).toHaveProperty('value.args', [])
    const trap = {
      get serverName(): string {
        throw new RangeError('trap')
      },
    }
    expect(() => Config['~standard'].validate(trap)).toThrow(RangeError)
  })

  it('is still a union of two objects for tools that read schemas, with secret values marked', () => {
    expect([Config.type, Config.list?.map((arm) => arm.type)]).toEqual(['union', ['object', 'object']])
    const [child, remote] = Config.list ?? []
    expect(child?.dict?.['env']?.inner?.meta.role).toBe('secret')
    expect(remote?.dict?.['headers']?.inner?.meta.role).toBe('secret')
    expect(Object.keys(Config.toJSON())).toContain('refs')
  })

  it('says more than the bare schema, which would print the row', () => {
    const row = { ...stdio, command: 5, env: { TOKEN: SECRET } }
    expect(() => shape(row as never)).toThrow(SECRET)
    expect(() => Config(row as never)).toThrow('mcp-client(github): command must be a string, not a number')
  })

  it('lets the host refuse an edit before the running server is touched', async () => {
    const ctx = new Context()
    const seen: unknown[] = []
    const plugin = {
      name: 'probe',
      Config,
      async apply(inner: Context, config: unknown) {
        seen.push(resolveConfig(config).spec.serverName)
        inner.effect(() => () => seen.push('disposed'))
      },
    }
    const fiber = await ctx.plugin(plugin, stdio as never)
    expect(() => fiber.update({ ...stdio, serverName: 'next', env: { TOKEN: 5 } })).toThrow(
      /invalid config:\s+- mcp-client\(next\): env\.TOKEN must be a string, not a number; put it in quotes \(at env\.TOKEN\)/,
    )
    expect(seen).toEqual(['github'])
    await fiber.dispose()
    expect(seen).toEqual(['github', 'disposed'])
  })
})
