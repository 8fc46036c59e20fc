/** What facts mean: every kind of the table, row by row. */
import { describe, expect, it } from 'vitest'
import { diagnose } from '../../src/cli/doctor/diagnosis.ts'
import { FALLBACK_ROWS } from '../../src/cli/doctor/stdio-rows.ts'
import type { CatalogFacts, Facts, Failure, HttpFacts, StdioFacts } from '../../src/cli/doctor/facts.ts'
import type { DiagnosisKind } from '../../src/cli/doctor/kinds.ts'

const NONE: Facts = {
  name: 'one',
  findings: { unset: [], undefinedWords: [] },
  unexpanded: [],
  empty: [],
  stderr: '',
  heard: 0,
  timeoutMs: 3000,
}
const PROGRAM: StdioFacts = {
  kind: 'stdio',
  command: 'tool',
  cwdState: 'none',
  missingFiles: [],
  found: '/bin/tool',
}
const WEB: HttpFacts = {
  kind: 'http',
  url: 'https://mcp.test/mcp',
  host: 'mcp.test',
  path: '/mcp',
  flavour: 'auto',
  isSecure: true,
  hasAuthorization: false,
}
const LIST: CatalogFacts = {
  tools: [{ name: 'mcp__one__a', bytes: 400, tokens: 100 }],
  bytes: 400,
  tokens: 100,
  budgetBytes: 131_072,
  exposure: 'auto',
  quarantined: [],
  rewritten: [],
  hidden: [],
  denied: [],
  held: [],
  unused: [],
  rawNames: ['a'],
}

const failure = (code: Failure['code'], more: Partial<Failure> = {}): Failure => ({
  code,
  message: 'it failed',
  ...more,
})
const spawned = (cause: string): Failure => failure('MCP_SPAWN_FAILED', { cause })
const unavailable = (cause: string, message = 'it failed'): Failure =>
  failure('MCP_HTTP_UNAVAILABLE', { cause, message })
const refused = (status: number, message = `HTTP ${status}`): Failure =>
  failure(status === 401 ? 'MCP_AUTH_REQUIRED' : 'MCP_HTTP_REJECTED', { status, message })
const stdio = (facts: Partial<Facts>, target: Partial<StdioFacts> = {}): Facts => ({
  ...NONE,
  ...facts,
  target: { ...PROGRAM, ...target },
})
const web = (facts: Partial<Facts>, target: Partial<HttpFacts> = {}): Facts => ({
  ...NONE,
  ...facts,
  target: { ...WEB, ...target },
})
const dead = (stderr: string, exit = 'exit code 1'): Facts =>
  stdio({ failure: failure('MCP_CONNECTION_CLOSED'), exit, stderr })
const mute = (facts: Partial<Facts> = {}): Facts =>
  stdio({ failure: failure('MCP_CONNECT_TIMEOUT'), ...facts })
const listed = (catalog: Partial<CatalogFacts>, facts: Partial<Facts> = {}): Facts =>
  stdio({ catalog: { ...LIST, ...catalog }, heard: 3, ...facts })
const without = (target: StdioFacts): Partial<StdioFacts> => ({ ...target, found: undefined }) as never

type Case = readonly [kind: DiagnosisKind, words: string | RegExp, facts: Facts]

const CASES: readonly Case[] = [
  // the row
  [
    'config-refused',
    'comand is not a key',
    { ...NONE, fault: { path: 'comand', text: 'comand is not a key' } },
  ],
  [
    'config-refused',
    'export GH_TOKEN=...',
    {
      ...NONE,
      fault: { path: 'env.A', text: 'env.A needs the environment variable GH_TOKEN, which is not set' },
    },
  ],
  [
    'variable-missing',
    'env.A, args[0] is a !!js',
    { ...NONE, findings: { unset: ['env.A', 'args[0]'], undefinedWords: [] } },
  ],
  [
    'undefined-in-value',
    'the word "undefined"',
    { ...NONE, findings: { unset: [], undefinedWords: ['headers.A'] } },
  ],
  ['value-empty', 'env.TOKEN is empty', { ...NONE, empty: ['env.TOKEN'] }],
  ['variable-unexpanded', 'Set expandVars: true', { ...NONE, unexpanded: ['url'] }],
  // the command
  [
    'cwd-wrong',
    '"/no" does not exist',
    stdio({ failure: spawned('ENOENT') }, { cwd: '/no', cwdState: 'missing' }),
  ],
  [
    'cwd-wrong',
    '"/f" is not a directory',
    stdio({ failure: spawned('ENOTDIR') }, { cwd: '/f', cwdState: 'not-a-directory' }),
  ],
  [
    'tilde',
    /^cwd has the path "~\/x": .*\nWrite the whole path: \/home\/me\/x$/,
    stdio({ failure: spawned('ENOENT') }, { tilde: { key: 'cwd', path: '~/x', full: '/home/me/x' } }),
  ],
  [
    'command-with-arguments',
    /^command is one program, and "npx -y x" is a program with arguments\.\nWrite command: npx and args: \["-y","x"\]$/,
    stdio(
      { failure: spawned('ENOENT') },
      without({ ...PROGRAM, command: 'npx -y x', line: { program: 'npx', args: ['-y', 'x'] } }),
    ),
  ],
  [
    'command-not-found',
    'Did you mean "node"?',
    stdio({ failure: spawned('ENOENT') }, without({ ...PROGRAM, command: 'nodee', lookAlike: 'node' })),
  ],
  [
    'command-not-found',
    'no command "zz" on the PATH',
    stdio({ failure: spawned('ENOENT') }, without({ ...PROGRAM, command: 'zz' })),
  ],
  [
    'command-not-found',
    'no file "./zz"',
    stdio({ failure: spawned('ENOENT') }, without({ ...PROGRAM, command: './zz' })),
  ],
  ['command-not-runnable', 'not the interpreter', stdio({ failure: spawned('ENOENT') })],
  ['command-not-runnable', 'chmod +x', stdio({ failure: spawned('EACCES') })],
  // the process
  [
    'script-not-found',
    '"dist/x.js" in args does not exist',
    stdio(
      { failure: failure('MCP_CONNECTION_CLOSED'), exit: 'exit code 1' },
      { missingFiles: ['dist/x.js'] },
    ),
  ],
  [
    'package-not-found',
    'no package "@acme/mcp"',
    dead("npm error code E404\nnpm error 404  '@acme/mcp@latest' is not in this registry."),
  ],
  ['package-not-found', 'does not exist', dead('uvx: No solution found when resolving tool dependencies')],
  ['node-too-old', '(v16.20.2)', dead("SyntaxError: Unexpected token '??='\n    at wrap\nNode.js v16.20.2")],
  ['node-too-old', 'does not run on this Node:', dead('npm warn EBADENGINE Unsupported engine')],
  [
    'module-missing',
    'module "zod"',
    dead("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from x.js"),
  ],
  ['module-missing', 'module "mcp"', dead("Traceback\nModuleNotFoundError: No module named 'mcp'")],
  ['module-missing', 'misses a module', dead('code: ERR_MODULE_NOT_FOUND')],
  [
    'credential-refused',
    'GITHUB_TOKEN: !!js process.env.GITHUB_TOKEN',
    dead('Error: GITHUB_TOKEN is required'),
  ],
  ['credential-refused', 'NAME: !!js process.env.NAME', dead('please provide an API key')],
  [
    'crash',
    'exit code 1 before it answered: TypeError: x is not a function',
    dead('/a/b.js:1\n  throw new TypeError()\nTypeError: x is not a function\n  at b.js:1'),
  ],
  ['crash', 'npm error code EACCES', dead('npm error code EACCES\nnpm error path /x')],
  ['crash', 'and wrote nothing to standard error', dead('', 'signal SIGSEGV')],
  ['crash', 'while it was talked to: last words', { ...dead('first\nlast words\n'), heard: 2 }],
  ['http-server-as-stdio', 'Listening on port 3000', mute({ stderr: 'Listening on port 3000' })],
  ['http-server-as-stdio', 'often "stdio"', mute({ noise: 'Uvicorn running on http://127.0.0.1:8000' })],
  ['silent-server', 'within 3000 ms', mute()],
  ['silent-server', 'last words on standard error: loading', mute({ stderr: 'loading' })],
  ['stdout-noise', 'no message: Welcome!', stdio({ noise: 'Welcome!', heard: 3 })],
  // the network
  [
    'proxy',
    'NO_PROXY to include mcp.test',
    web({ failure: unavailable('ECONNREFUSED') }, { proxy: 'p:8080' }),
  ],
  ['proxy', 'the proxy p:8080', web({ failure: refused(407) }, { proxy: 'p:8080' })],
  [
    'proxy',
    'the proxy p:8080',
    web(
      { failure: failure('MCP_CONNECTION_CLOSED', { message: 'Proxy response (500)' }) },
      { proxy: 'p:8080' },
    ),
  ],
  ['dns', 'cannot be resolved (ENOTFOUND)', web({ failure: unavailable('ENOTFOUND') })],
  ['dns', '(ETIMEOUT)', web({ failure: failure('MCP_CONNECT_TIMEOUT') }, { dnsError: 'ETIMEOUT' })],
  ['refused', 'Nothing listens at mcp.test', web({ failure: unavailable('ECONNREFUSED') })],
  [
    'tls-untrusted',
    'NODE_EXTRA_CA_CERTS',
    web({ failure: unavailable('DEPTH_ZERO_SELF_SIGNED_CERT', 'TLS failed: self-signed certificate') }),
  ],
  [
    'tls',
    'speaks plain HTTP',
    web({
      failure: unavailable(
        'ERR_SSL_WRONG_VERSION_NUMBER',
        'TLS failed: 80:error:0A:SSL routines:fn:wrong version number:a.c:1:',
      ),
    }),
  ],
  [
    'tls',
    'fails: wrong version number.',
    web(
      {
        failure: unavailable(
          'ERR_SSL_WRONG_VERSION_NUMBER',
          'TLS failed: 80:error:0A:SSL routines:fn:wrong version number:a.c:1:',
        ),
      },
      { proxy: 'p:1' },
    ),
  ],
  [
    'tls',
    'renew the certificate',
    web({ failure: unavailable('CERT_HAS_EXPIRED', 'TLS failed: certificate has expired') }),
  ],
  ['unreachable', 'mcp.test cannot be reached', web({ failure: unavailable('EHOSTUNREACH') })],
  // the door
  ['auth-missing', '`Bearer ${process.env.MCP_TOKEN}`', web({ failure: refused(401) })],
  [
    'auth-missing',
    '`Token ${',
    web(
      { failure: failure('MCP_AUTH_REQUIRED') },
      { reply: { status: 401, contentType: '', challenge: 'Token realm="x"' } },
    ),
  ],
  [
    'auth-missing',
    'the header of the row has no value',
    web(
      { failure: refused(401), findings: { unset: ['headers.Authorization'], undefinedWords: [] } },
      { hasAuthorization: true },
    ),
  ],
  [
    'auth-missing',
    'Log in: dsh-mcp login one (the page is at login.test).\nAdd it to the row',
    web({ failure: refused(401) }, { login: { isKept: false, page: 'login.test' } }),
  ],
  [
    'auth-missing',
    /Add it to the row.*\nIf the server takes an OAuth login: dsh-mcp login one$/,
    web({ failure: refused(401) }, { login: { isKept: false } }),
  ],
  [
    'auth-missing',
    /A login is not possible: it names nothing\.$/,
    web(
      { failure: refused(401) },
      {
        login: {
          isKept: false,
          fault: { code: 'MCP_AUTH_FAILED', message: 'authorization failed: it names nothing' },
        },
      },
    ),
  ],
  [
    'auth-missing',
    /that is kept for it is over\.\nLog in again: dsh-mcp login one$/,
    web({ failure: refused(401) }, { login: { isKept: true } }),
  ],
  [
    'auth-failed',
    'could not be authorized: invalid_client.\nLook at auth of the row',
    web({ failure: { code: 'MCP_AUTH_FAILED', message: 'authorization failed: invalid_client' } }),
  ],
  ['auth-failed', 'Register a client', web({ failure: failure('MCP_CLIENT_REGISTRATION_REQUIRED') })],
  ['auth-refused', 'refuses the credential', web({ failure: refused(401) }, { hasAuthorization: true })],
  ['forbidden', 'does not let you in (HTTP 403)', web({ failure: refused(403) })],
  ['forbidden', 'it is the proxy p:1 that refuses', web({ failure: refused(403) }, { proxy: 'p:1' })],
  [
    'wrong-transport',
    'transport: sse, or leave transport out',
    web({ failure: refused(405) }, { flavour: 'streamable-http', path: '/sse' }),
  ],
  [
    'wrong-transport',
    'transport: streamable-http, or',
    web({ failure: refused(404) }, { flavour: 'sse', path: '/x/mcp/' }),
  ],
  [
    'wrong-transport',
    'No MCP server answers at /mcp of',
    web(
      { failure: refused(400) },
      { flavour: 'sse', path: '/mcp', probes: [{ path: '/mcp', transport: 'sse' }] },
    ),
  ],
  [
    'html-page',
    'A web page answers at https://mcp.test/mcp',
    web({ failure: failure('MCP_HTTP_REJECTED') }, { reply: { status: 200, contentType: 'text/html' } }),
  ],
  ['path-not-found', 'add --probe', web({ failure: refused(404) })],
  ['path-not-found', 'Leave transport out', web({ failure: refused(404) }, { flavour: 'sse', path: '/x' })],
  [
    'path-not-found',
    'answers at /sse with 2 tools',
    web(
      { failure: refused(405) },
      {
        probes: [
          { path: '/sse', transport: 'sse', tools: 2 },
          { path: '/mcp', transport: 'streamable-http' },
        ],
      },
    ),
  ],
  ['too-busy', 'takes no requests now', web({ failure: refused(429) })],
  ['server-error', 'broken inside', web({ failure: refused(500) })],
  ['redirect', 'not where the server is', web({ failure: refused(302) })],
  ['http-silent', 'does not answer within 3000 ms', web({ failure: failure('MCP_CONNECT_TIMEOUT') })],
  // the list
  [
    'duplicate-tools',
    'the tool "a" more than once',
    stdio({
      failure: failure('MCP_LIST_INVALID', { message: 'server listed tool "a" more than once — invalid' }),
    }),
  ],
  [
    'tools-left-out',
    'the keyword is type',
    listed({ quarantined: [{ name: 'a', reason: 'the input schema does not take an object' }] }),
  ],
  [
    'tools-left-out',
    'inputSchema is false',
    listed({ quarantined: [{ name: 'a', reason: 'the input schema allows no arguments at all' }] }),
  ],
  [
    'tools-left-out',
    'too large',
    listed({ quarantined: [{ name: 'a', reason: 'the input schema does not fit into 65536 bytes' }] }),
  ],
  [
    'tools-left-out',
    'must be an object with type',
    listed({ quarantined: [{ name: 'a', reason: 'inputSchema is not an object' }] }),
  ],
  [
    'tools-left-out',
    'the keyword is x-mcp-header',
    listed({ quarantined: [{ name: 'a', reason: 'x-mcp-header of "x" is bad' }] }),
  ],
  [
    'tools-left-out',
    'must mend its definition',
    listed({
      quarantined: [
        { name: 'a', reason: 'odd' },
        { name: 'b', reason: 'odd' },
      ],
    }),
  ],
  [
    'tools-held',
    /^1 of its definitions is withheld until a person approves it\. "a": it changed\.\n.*dsh-mcp pins show one after one ran\.\nTrust it/,
    listed({ held: [{ name: 'a', reason: 'it changed' }] }),
  ],
  [
    'tools-held',
    '2 of its definitions are withheld until a person approves them',
    listed({
      held: [
        { name: 'a', reason: 'x' },
        { name: 'b', reason: 'x' },
      ],
    }),
  ],
  [
    'tools-denied',
    /^The row keeps 1 of its tools out: "rm" by tools\.deny "r\*"\.\nNothing to do/,
    listed({ denied: [{ name: 'rm', rule: 'tools.deny "r*"' }] }),
  ],
  [
    'tools-denied',
    /^The row keeps all of its tools out: .*\nMend tools\.allow/,
    listed({ tools: [], denied: [{ name: 'rm', rule: 'tools.allow, which does not name it' }] }),
  ],
  [
    'pattern-unused',
    /^tools\.allow: "b" matches none of the server's tools\.\n.* The server calls its tools a\.$/,
    listed({ unused: [`tools.allow: "b" matches none of the server's tools`] }),
  ],
  ['too-many-tools', 'mcp_search', listed({ bytes: 200_000, tokens: 50_000 })],
  ['too-many-tools', 'set tools.exposure: auto', listed({ bytes: 200_000, exposure: 'direct' })],
  [
    'hidden-characters',
    '"a" (2), "b" (1)',
    listed({
      hidden: [
        { name: 'a', count: 2 },
        { name: 'b', count: 1 },
      ],
    }),
  ],
  [
    'schemas-rewritten',
    't0, t1, t2, t3, t4 and 2 more',
    listed({
      rewritten: Array.from({ length: 7 }, (_, index) => ({ name: `t${index}`, count: 1, rewrites: [] })),
    }),
  ],
  ['no-tools', 'offers no tools', listed({ tools: [], bytes: 0 })],
  // what fits any failure
  [
    'protocol',
    'no protocol revision in common',
    stdio({ failure: failure('MCP_PROTOCOL_UNSUPPORTED'), heard: 1 }),
  ],
  ['list-failed', 'does not give its list', stdio({ failure: failure('MCP_LIST_INVALID'), heard: 2 })],
  ['timeout', 'was too slow', stdio({ failure: failure('MCP_CONNECT_TIMEOUT'), heard: 2 })],
  ['interrupted', 'before it was over', stdio({ failure: failure('MCP_ABORTED') })],
  ['unclosed', 'does not end when it is told to', stdio({ failure: failure('MCP_CLOSE_TIMEOUT') })],
  ['other', '(MCP_SESSION_LOST)', stdio({ failure: failure('MCP_SESSION_LOST') })],
  ['other', '(MCP_CONNECTION_CLOSED)', web({ failure: failure('MCP_CONNECTION_CLOSED') })],
]

describe('each kind', () => {
  it.each(CASES)('%s: %s', (kind, words, facts) => {
    const diagnoses = diagnose(facts)
    const found = diagnoses.find((diagnosis) => diagnosis.kind === kind)
    expect(diagnoses.map((diagnosis) => diagnosis.kind)).toContain(kind)
    const text = [found?.what, ...(found?.next ?? [])].join('\n')
    expect(text).toMatch(
      typeof words === 'string' ? new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : words,
    )
    expect(found?.next.length).toBeGreaterThan(0)
    // Sentences, each with its end.
    expect(found?.what).toMatch(/^[A-Z0-9"]|^\S+ /)
  })

  it('is in the table above', () => {
    const kinds = new Set(CASES.map(([kind]) => kind))
    expect([...kinds].toSorted()).toMatchInlineSnapshot(`
      [
        "auth-failed",
        "auth-missing",
        "auth-refused",
        "command-not-found",
        "command-not-runnable",
        "command-with-arguments",
        "config-refused",
        "crash",
        "credential-refused",
        "cwd-wrong",
        "dns",
        "duplicate-tools",
        "forbidden",
        "hidden-characters",
        "html-page",
        "http-server-as-stdio",
        "http-silent",
        "interrupted",
        "list-failed",
        "module-missing",
        "no-tools",
        "node-too-old",
        "other",
        "package-not-found",
        "path-not-found",
        "pattern-unused",
        "protocol",
        "proxy",
        "redirect",
        "refused",
        "schemas-rewritten",
        "script-not-found",
        "server-error",
        "silent-server",
        "stdout-noise",
        "tilde",
        "timeout",
        "tls",
        "tls-untrusted",
        "too-busy",
        "too-many-tools",
        "tools-denied",
        "tools-held",
        "tools-left-out",
        "unclosed",
        "undefined-in-value",
        "unreachable",
        "value-empty",
        "variable-missing",
        "variable-unexpanded",
        "wrong-transport",
      ]
    `)
  })
})

describe('several at once', () => {
  it('are one cause, and the warnings beside it', () => {
    const facts = web(
      {
        failure: refused(401),
        findings: { unset: [], undefinedWords: ['headers.Authorization'] },
        empty: ['headers.X'],
      },
      { reply: { status: 401, contentType: 'text/html' } },
    )
    expect(diagnose(facts).map(({ kind, severity }) => `${severity} ${kind}`)).toEqual([
      'error auth-missing',
      'warning undefined-in-value',
      'warning value-empty',
    ])
  })

  it('put warnings before notes', () => {
    const facts = listed({
      rewritten: [{ name: 'a', count: 1, rewrites: [] }],
      bytes: 200_000,
      hidden: [{ name: 'a', count: 1 }],
    })
    expect(diagnose(facts).map(({ severity }) => severity)).toEqual(['warning', 'warning', 'note'])
  })

  it('say nothing of what is well', () => {
    expect(diagnose(listed({}))).toEqual([])
    expect(diagnose(web({ catalog: LIST }))).toEqual([])
    expect(diagnose({ ...NONE })).toEqual([])
  })

  it('do not call a process that we ended a crash', () => {
    const facts = mute({ exit: 'signal SIGTERM' })
    expect(diagnose(facts).map(({ kind }) => kind)).toEqual(['silent-server'])
  })

  it('have a last word for a failure only', () => {
    expect(FALLBACK_ROWS.other(NONE)).toBeUndefined()
  })

  it('do not blame a server that answered for silence', () => {
    const facts = web({ failure: failure('MCP_CONNECT_TIMEOUT'), heard: 1 })
    expect(diagnose(facts).map(({ kind }) => kind)).toEqual(['timeout'])
  })
})
