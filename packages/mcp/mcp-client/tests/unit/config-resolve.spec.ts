/** The resolve step: defaults, faults with path and advice, inference of the transport. */
import { describe, expect, it } from 'vitest'
import { resolveConfig } from '../../src/config-resolve.ts'
import { isMcpError } from '../../src/errors.ts'
import type { McpError } from '../../src/errors.ts'

const stdio = { serverName: 'github', transport: 'stdio', command: 'npx' }
const http = { serverName: 'web', transport: 'streamable-http', url: 'http://localhost:3000/mcp' }

function faultOf(raw: unknown, env: Record<string, string> = {}): McpError {
  try {
    resolveConfig(raw, env)
  } catch (error) {
    if (isMcpError(error)) return error
    throw error
  }
  throw new Error('the row was accepted')
}

describe('resolveConfig', () => {
  it('takes the model of sampling where the row names one', () => {
    const { spec } = resolveConfig({ ...stdio, sampling: { mode: 'ask', model: 'small' } })
    expect(spec.sampling).toEqual({ mode: 'ask', maxTokens: 4096, maxRequests: 10, model: 'small' })
  })

  it('fills in every default once', () => {
    const { spec, warnings } = resolveConfig(stdio)
    expect({ ...spec, redact: undefined, learn: undefined }).toEqual({
      serverName: 'github',
      target: { kind: 'stdio', command: 'npx', args: [], env: {}, inheritEnv: [] },
      protocol: 'auto',
      toolCallTimeoutMs: 60_000,
      toolCallMaxMs: 1_800_000,
      startup: { waitMs: 10_000, timeoutMs: 30_000, mode: 'eager' },
      failOnStartupError: false,
      trustAnnotations: false,
      reconnect: { enabled: true, initialDelayMs: 500, maxDelayMs: 30_000, maxAttempts: 10 },
      tools: {
        duplicates: 'reject',
        allow: ['*'],
        deny: [],
        exposure: 'auto',
        budgetBytes: 131_072,
        alwaysDirect: [],
        approval: 'never',
      },
      pin: 'warn',
      resources: true,
      prompts: true,
      instructions: true,
      elicitation: true,
      roots: 'auto',
      logLevel: 'warning',
      sampling: { mode: 'off', maxTokens: 4096, maxRequests: 10 },
      limits: {
        resultTextBytes: 100 * 1024,
        messageBytes: 64 * 1024 * 1024,
        tools: 10_000,
        pages: 1000,
        stderrBytes: 8 * 1024,
        concurrency: 16,
      },
    })
    expect(warnings).toEqual([])
  })

  it('keeps what the row says', () => {
    const row = {
      ...stdio,
      args: ['-y', 'server'],
      env: { GITHUB_TOKEN: 'ghp_0123456789' },
      cwd: 'work/dir',
      protocol: '2025-06-18',
      startup: { waitMs: 0, mode: 'lazy' },
      reconnect: { enabled: false, initialDelayMs: 0.5 },
      tools: { duplicates: 'keep-first' },
      limits: { concurrency: 1 },
    }
    const { spec } = resolveConfig(row)
    expect(spec).toMatchObject({
      target: { args: ['-y', 'server'], env: { GITHUB_TOKEN: 'ghp_0123456789' }, cwd: 'work/dir' },
      protocol: '2025-06-18',
      startup: { waitMs: 0, timeoutMs: 30_000, mode: 'lazy' },
      reconnect: { enabled: false, initialDelayMs: 0.5, maxDelayMs: 30_000 },
      tools: { duplicates: 'keep-first' },
      limits: { concurrency: 1, pages: 1000 },
    })
    expect(spec.redact('token ghp_0123456789 refused')).toBe('token [redacted] refused')
  })

  it.each([
    [{ ...http }, 'streamable-http'],
    [{ ...http, transport: 'sse' }, 'sse'],
    [{ ...http, transport: undefined }, 'auto'],
    [{ ...http, transport: null }, 'auto'],
  ])('reads the flavour of %o as %s', (row, flavour) => {
    expect(resolveConfig(row).spec.target).toEqual({
      kind: 'http',
      flavour,
      url: 'http://localhost:3000/mcp',
      headers: {},
      auth: {
        mode: 'auto',
        headersCommand: [],
        assertionCommand: [],
        algorithm: 'ES256',
        scopes: [],
        callbackPort: 0,
      },
    })
  })

  it('takes a command without transport as stdio, null and an empty cwd as absent', () => {
    const row = {
      serverName: 'a',
      command: 'x',
      args: null,
      env: null,
      cwd: '',
      reconnect: null,
      url: undefined,
    }
    expect(resolveConfig(row).spec.target).toEqual({
      kind: 'stdio',
      command: 'x',
      args: [],
      env: {},
      inheritEnv: [],
    })
  })

  it('lets an allowed silence lengthen the default limit of a call, and keeps a written limit', () => {
    expect(resolveConfig({ ...stdio, toolCallTimeoutMs: 3_600_000 }).spec.toolCallMaxMs).toBe(3_600_000)
    expect(
      resolveConfig({ ...stdio, toolCallTimeoutMs: 3_600_000, toolCallMaxMs: 1000 }).spec.toolCallMaxMs,
    ).toBe(1000)
  })

  it('freezes the result deeply', () => {
    const resolved = resolveConfig({ ...stdio, args: ['a'] })
    const { spec } = resolved
    const parts = [resolved, resolved.warnings, spec, spec.target, spec.startup, spec.reconnect, spec.tools]
    for (const part of [...parts, spec.limits, (spec.target as { args: unknown }).args]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })

  it('leaves out entries without a value, such as an unset variable of the host, and says so once', () => {
    const row = { ...stdio, env: { A: undefined, B: null, C: 'c' } }
    const { spec, warnings } = resolveConfig(row)
    expect(spec.target).toMatchObject({ env: { C: 'c' } })
    expect(warnings).toEqual(['mcp-client(github): no value for env.A, env.B; left out'])
  })

  it('passes ${NAME} on as written with one warning that names the places', () => {
    const { spec, warnings } = resolveConfig({ ...stdio, args: ['${A}', 'b'], env: { T: '${T:-x}' } })
    expect(spec.target).toMatchObject({ args: ['${A}', 'b'], env: { T: '${T:-x}' } })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/^mcp-client\(github\): .*args\[0\], env\.T; set expandVars: true/)
  })

  it('expands in every place that may hold a variable', () => {
    const env = { A: 'alpha', TOKEN: 'tok-31337-xyz' }
    const child = {
      ...stdio,
      command: '${A}',
      args: ['${A}'],
      env: { E: '${A}' },
      cwd: '${A}',
      expandVars: true,
    }
    expect(resolveConfig(child, env).spec.target).toEqual({
      kind: 'stdio',
      command: 'alpha',
      args: ['alpha'],
      env: { E: 'alpha' },
      cwd: 'alpha',
      inheritEnv: [],
    })
    const remote = { ...http, url: 'http://${A}/m', headers: { H: '${A}' }, expandVars: true }
    expect(resolveConfig(remote, env).spec.target).toMatchObject({
      url: 'http://alpha/m',
      headers: { H: 'alpha' },
    })
    const spec = resolveConfig({ ...stdio, args: ['x', '${TOKEN}'], expandVars: true }, env).spec
    expect(spec.redact('got tok-31337-xyz by alpha')).toBe('got [redacted] by alpha')
  })

  it('trims a header value as fetch does', () => {
    const { spec } = resolveConfig({ ...http, headers: { Authorization: 'Bearer abc\n' } })
    expect(spec.target).toMatchObject({ headers: { Authorization: 'Bearer abc' } })
  })
})

const N = Number.MAX_SAFE_INTEGER
const faults: [string, unknown, string][] = [
  ['no mapping', 'text', '?): config must be a mapping of keys to values, not a string'],
  ['a list', [], '?): config must be a mapping of keys to values, not a list'],
  ['nothing', null, '?): config must be a mapping of keys to values, not nothing'],
  ['a class', new Map(), '?): config must be a mapping of keys to values, not an object of a class'],
  [
    'a misspelled command',
    { serverName: 'a', comand: 'npx' },
    'a): comand is not a configuration key; did you mean command?',
  ],
  [
    'neither, and a key of nobody',
    { serverName: 'a', program: 'npx' },
    'a): program is not a configuration key; a row needs a command',
  ],
  [
    'a key in other letters',
    { ...stdio, servername: 'a' },
    ' servername is not a configuration key; did you mean serverName?',
  ],
  [
    'a key of other clients',
    { ...stdio, environment: {} },
    ' environment is not a configuration key; did you mean env?',
  ],
  [
    'a key of nobody',
    { ...stdio, startup: { zzzzzz: 1 } },
    ' startup.zzzzzz is not a startup option; write one of waitMs,',
  ],
  ['empty', {}, '?): config needs a command (stdio server) or a url (HTTP server)'],
  ['no name', { command: 'x' }, '?): serverName is missing; it must be 1 to 32 letters, digits, _ or - (^['],
  ['bad name', { ...stdio, serverName: 'a b' }, '?): serverName must be 1 to 32 letters, digits, _ or - (^['],
  ['long name', { ...stdio, serverName: 'a'.repeat(33) }, '?): serverName must be 1 to 32'],
  ['number name', { ...stdio, serverName: 5 }, '32}$), not a number; put it in quotes'],
  ['bad transport', { ...stdio, transport: 'ws' }, ' transport must be one of stdio, streamable-http, sse'],
  ['typed transport', { ...stdio, transport: 1 }, ' sse, not a number'],
  ['no command', { ...stdio, command: undefined }, ' command is missing; it must be a string'],
  ['no url', { ...http, url: null }, ' url is missing; it must be a string'],
  [
    'command and url',
    { serverName: 'a', command: 'x', url: 'http://a' },
    ' url belongs to an HTTP server (url),',
  ],
  ['headers, stdio', { ...stdio, headers: {} }, ' headers belongs to an HTTP server (url), and this row is'],
  ['env, http', { ...http, env: {} }, ' env belongs to a stdio server (command), and this row is an HTTP'],
  [
    'unknown key',
    { ...stdio, timeout: 1 },
    ' timeout is not a configuration key; write one of transport, command',
  ],
  ['odd key', { ...stdio, 'Bearer x y': 1 }, ' key 4 is not a configuration key'],
  ['null key', { ...stdio, typo: null }, ' typo is not a configuration key'],
  [
    'proto key',
    JSON.parse('{"serverName":"a","command":"x","__proto__":1}'),
    ' __proto__ is not a configuration',
  ],
  ['later key', { ...stdio, sandbox: 'x' }, ' sandbox is not a configuration key'],
  ['empty command', { ...stdio, command: ' ' }, ' command must be the program to start, not an empty string'],
  ['command type', { ...stdio, command: ['x'] }, ' command must be a string, not a list'],
  ['command NUL', { ...stdio, command: 'a\0' }, ' command holds a NUL byte'],
  ['args type', { ...stdio, args: 'a b' }, ' args must be a list, not a string'],
  ['arg type', { ...stdio, args: ['a', 5] }, ' args[1] must be a string, not a number; put it in quotes'],
  ['arg nothing', { ...stdio, args: [undefined] }, ' args[0] must be a string, not nothing'],
  ['arg hole', { ...stdio, args: Array(1) }, ' args[0] must be a string, not nothing'],
  ['arg NUL', { ...stdio, args: ['\0'] }, ' args[0] holds a NUL byte'],
  ['cwd NUL', { ...stdio, cwd: '\0' }, ' cwd holds a NUL byte'],
  ['env type', { ...stdio, env: ['A=b'] }, ' env must be a mapping of names to values, not a list'],
  ['env value', { ...stdio, env: { A: true } }, ' env.A must be a string, not a boolean; put it in quotes'],
  ['env map', { ...stdio, env: { A: {} } }, ' env.A must be a string, not a mapping'],
  ['env NUL', { ...stdio, env: { A: '\0' } }, ' env.A holds a NUL byte'],
  ['env name', { ...stdio, env: { 'A=secret': 'x' } }, ' env[entry 1] has a name that no variable can have'],
  ['env no name', { ...stdio, env: { '': 'x' } }, ' env[entry 1] has a name'],
  [
    'env proto',
    { ...stdio, env: JSON.parse('{"__proto__":"x"}') },
    ' env.__proto__ has a name that no variable',
  ],
  [
    'relative url',
    { ...http, url: 'mcp' },
    ' url must be an absolute URL that starts with http:// or https://',
  ],
  [
    'scheme',
    { ...http, url: 'ftp://a/' },
    ' url must be an absolute URL that starts with http:// or https://',
  ],
  ['scheme prefix', { ...http, url: 'httpx://a/' }, ' url must be an absolute URL'],
  ['user', { ...http, url: 'http://u@a/' }, ' url must not hold user info; put credentials into headers'],
  [
    'password',
    { ...http, url: 'http://:p@a/' },
    ' url must not hold user info; put credentials into headers',
  ],
  ['header name', { ...http, headers: { 'A: b': 'c' } }, ' headers[entry 1] has a name that no HTTP header'],
  ['header proto', { ...http, headers: JSON.parse('{"__proto__":"x"}') }, ' headers.__proto__ has a name'],
  ['header twice', { ...http, headers: { A: 'b', a: 'c' } }, ' headers.a is there twice'],
  [
    'header break',
    { ...http, headers: { A: 'b\r\nc' } },
    ' headers.A holds a line break or another character',
  ],
  [
    'header text',
    { ...http, headers: { A: '\u20ac' } },
    ' headers.A holds a line break or another character',
  ],
  [
    'protocol',
    { ...stdio, protocol: '2024-01-01' },
    ' protocol must be one of auto, legacy, 2024-11-05, 2025-0',
  ],
  ['protocol type', { ...stdio, protocol: 2025 }, '2026-07-28, not a number'],
  [
    'boolean text',
    { ...stdio, expandVars: 'true' },
    ' expandVars must be true or false, not a string; write it w',
  ],
  [
    'boolean number',
    { ...stdio, failOnStartupError: 1 },
    ' failOnStartupError must be true or false, not a number',
  ],
  ['number text', { ...stdio, toolCallTimeoutMs: '5' }, '2147483647, not a string; write it without quotes'],
  ['number list', { ...stdio, toolCallTimeoutMs: [] }, '2147483647, not a list'],
  [
    'silence 0',
    { ...stdio, toolCallTimeoutMs: 0 },
    ' toolCallTimeoutMs must be a positive finite number no greater',
  ],
  [
    'limit',
    { ...stdio, toolCallMaxMs: 2 ** 31 },
    ' toolCallMaxMs must be a positive finite number no greater',
  ],
  [
    'wait',
    { ...stdio, startup: { waitMs: -1 } },
    ' startup.waitMs must be a non-negative finite number no grea',
  ],
  [
    'startup key',
    { ...stdio, startup: { wait: 1 } },
    ' startup.wait is not a startup option; did you mean waitMs?',
  ],
  ['startup type', { ...stdio, startup: 5 }, ' startup must be a mapping of names to values, not a number'],
  [
    'bytes',
    { ...stdio, limits: { messageBytes: 2 ** 30 } },
    ' limits.messageBytes must be a positive integer no g',
  ],
  ['pages', { ...stdio, limits: { pages: 1.5 } }, ' limits.pages must be a positive integer'],
  ['unsafe', { ...stdio, limits: { tools: N + 1 } }, ' limits.tools must be a positive integer'],
  [
    'duplicates',
    { ...stdio, tools: { duplicates: 'last' } },
    ' tools.duplicates must be one of reject, keep-first',
  ],
]

describe('faults', () => {
  it.each(faults)('%s', (_name, row, text) => {
    const error = faultOf(row)
    expect(error.message).toContain(text)
    expect(error.message).toMatch(/^mcp-client\((?:[\w-]+|\?)\): /)
    expect([error.code, error.stage, error.disposition]).toEqual(['MCP_CONFIG_INVALID', 'config', 'throw'])
    expect(error.server).toMatch(/^(?:github|web|a|\?)$/)
    expect(error.message).toContain(`): ${String(error.data['path'])} `)
  })

  it.each([
    [{ initialDelayMs: 0 }, 'initialDelayMs must be a positive finite number no greater than 2147483647'],
    [{ initialDelayMs: NaN }, 'initialDelayMs must be a positive finite number no greater than 2147483647'],
    [{ maxDelayMs: Infinity }, 'maxDelayMs must be a positive finite number no greater than 2147483647'],
    [{ maxDelayMs: 2147483648 }, 'maxDelayMs must be a positive finite number no greater than 2147483647'],
    [{ initialDelayMs: 2, maxDelayMs: 1 }, 'initialDelayMs must be less than or equal to maxDelayMs'],
    [{ maxAttempts: 0 }, 'maxAttempts must be a positive integer'],
    [{ maxAttempts: 1.5 }, 'maxAttempts must be a positive integer'],
  ])('keeps the known words of reconnect faults: %o', (reconnect, text) => {
    expect(faultOf({ ...stdio, reconnect }).message).toBe(`mcp-client(github): reconnect.${text}`)
  })

  it('keeps the known words for an unknown reconnect key, and accepts equal delays and the largest timer', () => {
    const error = faultOf({ ...stdio, reconnect: { retries: 3 } })
    expect(error.message).toMatch(/^mcp-client\(github\): reconnect\.retries is not a reconnect option/)
    const reconnect = { initialDelayMs: 2147483647, maxDelayMs: 2147483647 }
    expect(resolveConfig({ ...stdio, reconnect }).spec.reconnect).toMatchObject(reconnect)
  })

  it('names a missing variable and the place, and a reference that is none', () => {
    const row = { ...http, expandVars: true }
    expect(faultOf({ ...row, headers: { Authorization: 'Bearer ${NOPE}' } }).message).toBe(
      'mcp-client(web): headers.Authorization needs the environment variable NOPE, which is not set; ' +
        'set it or write ${NAME:-default}',
    )
    expect(faultOf({ ...row, url: 'http://${a b}/' }).message).toContain(
      ' url holds a ${ that starts no ${NAME}',
    )
  })
})

describe('tools, pin and inheritEnv', () => {
  it('keeps globs, rules and names as they are written', () => {
    const rules = [
      { match: 'delete_*', decision: 'deny' },
      { match: '*', decision: 'ask' },
    ]
    const tools = { allow: ['get_*'], deny: ['get_secret'], exposure: 'search', approval: rules }
    const { spec } = resolveConfig({ ...stdio, tools, pin: 'hold', inheritEnv: ['SSH_AUTH_SOCK'] })
    expect(spec.tools).toMatchObject(tools)
    expect(spec.pin).toBe('hold')
    expect(spec.target).toMatchObject({ inheritEnv: ['SSH_AUTH_SOCK'] })
  })

  it.each([
    [
      { tools: { approval: 'sometimes' } },
      'tools.approval must be one of never, destructive, write, always, or a list of rules',
    ],
    [
      { tools: { approval: { match: '*' } } },
      'tools.approval must be one of never, destructive, write, always, or a list of rules, not a mapping',
    ],
    [{ tools: { approval: [{ decision: 'ask' }] } }, 'tools.approval[0].match is missing'],
    [
      { tools: { approval: [{ match: '*', decision: 'maybe' }] } },
      'tools.approval[0].decision must be one of allow, ask, deny',
    ],
    [{ tools: { approval: ['x'] } }, 'tools.approval[0] must be a mapping'],
    [{ tools: { budgetBytes: 0 } }, 'tools.budgetBytes must be a positive integer'],
    [{ pin: 'sometimes' }, 'pin must be one of warn, hold, off'],
    [{ inheritEnv: ['A=b'] }, 'inheritEnv[0] must be the name of a variable'],
    [{ inheritEnv: [''] }, 'inheritEnv[0] must be the name of a variable'],
  ])('refuses %j', (over, words) => {
    expect(() => resolveConfig({ ...stdio, ...over })).toThrow(words)
  })
})
