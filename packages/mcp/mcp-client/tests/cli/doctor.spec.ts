/** `dsh-mcp doctor` in this process, against scripted servers: every screen, piped, and the exit codes. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { startHttpServer, stdioServer, temporaryFolder } from '@dsh-mcp/testkit'
import type { HttpServer } from '@dsh-mcp/testkit'
import { commandScene, odd } from './command-scene.ts'
import { normalised, run } from './fake-io.ts'

const CRASH = join(import.meta.dirname, 'fixtures/crash.ts')

const scene = commandScene()
const { rows, here } = scene

let http: HttpServer | undefined
// Runs before the scene looks for what was left.
afterEach(async () => {
  await http?.close()
  http = undefined
})

describe('doctor', () => {
  it('finds a good server good', async () => {
    rows({ one: odd('rewritten') })
    const { code, out, err } = await here(['doctor', '--verbose'])
    expect(normalised(out)).toMatchInlineSnapshot(`
      "one  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        ok    initialize N ms  revision 2025-11-25
        ok    tools/list page 1 N ms  1 tools
        ok    close N ms

        server        testkit 1.0.0
        protocol      2025-11-25 (legacy era)
        capabilities  tools
        tools         1, 0 left out, 1 with rewritten schemas
        definitions   185 of 131072 bytes (tools.budgetBytes), about 47 tokens (estimate: bytes / 4)

        TOOL            BYTES  TOKENS
        mcp__one__pair  185    ~47

        rewritten:
          pair  /at  anyOf: union-rewritten

        note     schemas-rewritten
          The schemas of pair were rewritten for the model; --verbose lists what.
          -> Nothing to do: arguments are still checked against the schema of the server.
      "
    `)
    expect(err).toContain('one: connecting')
    expect(code).toBe(0)
  })

  it('shows the wire on request, without secrets', async () => {
    http = await startHttpServer('healthy')
    const { code, out } = await run([
      'doctor',
      '--url',
      http.url,
      '--wire',
      '--header',
      'Authorization: Bearer sk-1234567890',
    ])
    expect(code).toBe(0)
    expect(out).toMatch(/ ms -> \{.*"method":"initialize"/)
    expect(out).toMatch(/ ms <- \{.*"serverInfo"/)
    expect(out).not.toContain('sk-12345')
    const json = JSON.parse((await run(['doctor', '--url', http.url, '--wire', '--json'])).out) as {
      servers: { wire: unknown[] }[]
    }
    expect(json.servers[0]?.wire[0]).toEqual({
      atMs: expect.any(Number) as never,
      direction: 'out',
      text: expect.any(String) as never,
    })
  })

  it('says what is odd about a list', async () => {
    rows({
      refused: odd('refused'),
      many: odd('many', { pageSize: 200 }),
      twice: odd('twice'),
      none: odd('none'),
      noise: odd('noise'),
    })
    const { code, out } = await here(['doctor'])
    expect(normalised(out)).toMatchInlineSnapshot(`
      "refused  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        ok    initialize N ms  revision 2025-11-25
        ok    tools/list page 1 N ms  3 tools
        ok    close N ms

        server        testkit 1.0.0
        protocol      2025-11-25 (legacy era)
        capabilities  tools
        tools         2, 1 left out, 0 with rewritten schemas
        definitions   296 of 131072 bytes (tools.budgetBytes), about 74 tokens (estimate: bytes / 4)

        TOOL                                  BYTES  TOKENS
        mcp__refused__Reads__it_aaaf6b31d60e  159    ~40
        mcp__refused__good                    137    ~35

        warning  tools-left-out
          1 of its tools cannot be given to a model and is left out. "text_only": the input schema does not take an object.
          -> For "text_only" the keyword is type: inputSchema must say type: object.
          -> The other tools work. docs/tools-and-schemas.md has what a model can be given.

        warning  hidden-characters
          Hidden characters stand in the texts of "Reads it" (2). They are removed before a model reads them.
          -> Nobody needs them there: ask the makers of the server why, and do not trust it until you know.

      many  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        ok    initialize N ms  revision 2025-11-25
        ok    tools/list page 1 N ms  200 tools, more to come
        ok    tools/list page 2 N ms  100 tools
        ok    close N ms

        server        testkit 1.0.0
        protocol      2025-11-25 (legacy era)
        capabilities  tools
        tools         300, 0 left out, 0 with rewritten schemas
        definitions   187200 of 131072 bytes (tools.budgetBytes), about 46800 tokens (estimate: bytes / 4)

        TOOL                 BYTES  TOKENS
        mcp__many__tool_000  624    ~156
        mcp__many__tool_001  624    ~156
        mcp__many__tool_002  624    ~156
        mcp__many__tool_003  624    ~156
        mcp__many__tool_004  624    ~156
        mcp__many__tool_005  624    ~156
        mcp__many__tool_006  624    ~156
        mcp__many__tool_007  624    ~156
        mcp__many__tool_008  624    ~156
        mcp__many__tool_009  624    ~156
        and 290 smaller ones; --verbose shows all

        warning  too-many-tools
          300 tools cost 182.8 KiB in each request, about 46800 tokens (estimate: bytes / 4); the budget is 128.0 KiB. The
          model finds them with mcp_search in place of seeing them all.
          -> Keep the tools you use: tools.allow: [names or globs], or leave some out: tools.deny.
          -> Name what must stay in sight in tools.alwaysDirect, or raise tools.budgetBytes.
          -> The largest are mcp__many__tool_000 (0.6 KiB), mcp__many__tool_001 (0.6 KiB), mcp__many__tool_002 (0.6 KiB).

      twice  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        ok    initialize N ms  revision 2025-11-25
        ok    tools/list page 1 N ms  2 tools
        ok    close N ms

        server        testkit 1.0.0
        protocol      2025-11-25 (legacy era)
        capabilities  tools
        tools         0, 0 left out, 0 with rewritten schemas
        definitions   0 of 131072 bytes (tools.budgetBytes), about 0 tokens (estimate: bytes / 4)

        error    duplicate-tools
          The server lists the tool "a" more than once, so its list is not taken.
          -> Set tools.duplicates: keep-first in the row to use the first one.
          -> Report it to the makers of the server.

      none  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        ok    initialize N ms  revision 2025-11-25
        ok    tools/list page 1 N ms  0 tools
        ok    close N ms

        server        testkit 1.0.0
        protocol      2025-11-25 (legacy era)
        capabilities  tools
        tools         0, 0 left out, 0 with rewritten schemas
        definitions   0 of 131072 bytes (tools.budgetBytes), about 0 tokens (estimate: bytes / 4)

        warning  no-tools
          The server works and offers no tools.
          -> Does it need an argument or a permission before it has any? Resources and prompts are not tools.

      noise  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        ok    initialize N ms  revision 2025-11-25
        ok    tools/list page 1 N ms  1 tools
        ok    close N ms

        server        testkit 1.0.0
        protocol      2025-11-25 (legacy era)
        capabilities  tools
        tools         1, 0 left out, 0 with rewritten schemas
        definitions   135 of 131072 bytes (tools.budgetBytes), about 34 tokens (estimate: bytes / 4)

        TOOL              BYTES  TOKENS
        mcp__noise__echo  135    ~34

        warning  stdout-noise
          The server writes to standard output what is no message: Welcome to my server!
          -> It is skipped. Standard output belongs to the protocol: let the server log to standard error.

      SERVER   VERDICT          TOOLS  BYTES
      refused  ok               2      296
      many     ok               300    187200
      twice    duplicate-tools  0      0
      none     ok               0      0
      noise    ok               1      135
      "
    `)
    expect(code).toBe(1)
  })

  it('finds a command line, and a path that only a shell reads', async () => {
    rows({ line: { command: 'node -e 1' }, tilde: { command: '~/gone' } })
    const { code, out } = await here(['doctor'])
    expect(code).toBe(1)
    expect(out).toContain('-> Write command: node and args: ["-e","1"]')
    expect(out).toContain('command has the path "~/gone"')
  })

  it('says why a program does not work', async () => {
    rows({
      gone: { command: 'ndoe' },
      crash: { command: process.execPath, args: ['--disable-warning=ExperimentalWarning', CRASH] },
      mute: {
        command: process.execPath,
        args: ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'fixtures/mute.ts')],
        startup: { timeoutMs: 2600 },
        protocol: 'legacy',
        env: { TOKEN: '' },
      },
      script: { command: process.execPath, args: ['dist/none.js'] },
      folder: { command: process.execPath, cwd: join(scene.folder(), 'none') },
      file: { command: process.execPath, cwd: CRASH },
      bad: { comand: 'x' },
      unset: { command: 'x', expandVars: true, args: ['${NO_SUCH_NAME}'] },
      half: { command: 'no-such-program', args: ['${HALF}'], env: { NOTHING: null } },
    })
    const bin = temporaryFolder('cli')
    writeFileSync(join(bin, 'node'), '', { mode: 0o755 })
    // Wide: where a line with a path breaks would hang on where the repository lies.
    const env = { PATH: `/nowhere:${bin}`, COLUMNS: '1000' }
    const { code, out } = await run(['doctor'], { cwd: scene.folder(), env })
    expect(normalised(out)).toMatchInlineSnapshot(`
      "gone  stdio: ndoe

        ok    read config N ms
        FAIL  find command N ms  there is no such command
        FAIL  spawn N ms  ENOENT
        ok    close N ms

        error    command-not-found
          There is no command "ndoe" on the PATH.
          -> Did you mean "node"? It is on the PATH.
          -> Install it. The PATH of the host counts, not that of your shell: "which ndoe" in your shell gives the absolute path to write as command.

      crash  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        note  era probe N ms  the process ended with exit code 1: tried as an older server
        ok    spawn again N ms
        FAIL  initialize N ms  the process ended with exit code 1
        ok    close N ms

        last words on standard error:
          file://ROOT/packages/mcp/mcp-client/tests/cli/fixtures/crash.ts:2
          throw new TypeError('cannot read the configuration')
          ^
          TypeError: cannot read the configuration
          at file://ROOT/packages/mcp/mcp-client/tests/cli/fixtures/crash.ts:2:7
          Node.js vX

        error    crash
          The server ended with exit code 1 before it answered: TypeError: cannot read the configuration
          -> Run the command of the row in a terminal: it must stay and wait for input.

      mute  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        FAIL  initialize N ms  no answer
        ok    close N ms

        last words on standard error:
          loading the model

        error    silent-server
          The program runs, and did not answer initialize within N ms. Its last words on standard error: loading the model
          -> Is it an MCP server, and does it need an argument such as "stdio"?
          -> The first start of npx, uvx or docker downloads the server: run the command once in a terminal, or raise startup.timeoutMs in the row.

        warning  value-empty
          env.TOKEN is empty.
          -> Give it a value, or remove it: an empty credential is refused like a wrong one.

      script  stdio: …

        ok    read config N ms
        ok    find command N ms  PATH
        ok    spawn N ms
        note  era probe N ms  the process ended with exit code 1: tried as an older server
        ok    spawn again N ms
        FAIL  initialize N ms  the process ended with exit code 1
        ok    close N ms

        last words on standard error:
          node:internal/modules/cjs/loader:1433
          throw err;
          ^
          Error: Cannot find module 'ROOT/dist/none.js'
          code: 'MODULE_NOT_FOUND',
          requireStack: []
          }
          Node.js vX

        error    script-not-found
          The file "dist/none.js" in args does not exist.
          -> Mend the path. A relative one begins at cwd, and without cwd at the folder in which the host was started.
          -> Has the server been built? Many need "npm run build" first.

      folder  stdio: NODE

        ok    read config N ms
        FAIL  find command N ms  cwd is no directory
        FAIL  spawn N ms  ENOENT
        ok    close N ms

        error    cwd-wrong
          The working directory FOLDER/none" does not exist.
          -> Mend cwd in the row. A relative one begins at the folder in which the host was started.

      file  stdio: NODE

        ok    read config N ms
        FAIL  find command N ms  cwd is no directory
        FAIL  spawn N ms  ENOTDIR
        ok    close N ms

        error    cwd-wrong
          The working directory "ROOT/packages/mcp/mcp-client/tests/cli/fixtures/crash.ts" is not a directory.
          -> Mend cwd in the row. A relative one begins at the folder in which the host was started.

      bad  unknown

        FAIL  read config N ms  refused at comand

        error    config-refused
          The row is refused: comand is not a configuration key; did you mean command?
          -> Mend the row at that path. All keys are in the README, "Configuration".

      unset  unknown

        FAIL  read config N ms  refused at args[0]

        error    config-refused
          The row is refused: args[0] needs the environment variable NO_SUCH_NAME, which is not set; set it or write \${NAME:-default}
          -> Set it where the host starts: export NO_SUCH_NAME=...
          -> Or give a default in the row: \${NO_SUCH_NAME:-...}

      half  stdio: no-such-program "\${HALF}"

        ok    read config N ms
        FAIL  find command N ms  there is no such command
        FAIL  spawn N ms  ENOENT
        ok    close N ms

        error    command-not-found
          There is no command "no-such-program" on the PATH.
          -> Install it. The PATH of the host counts, not that of your shell: "which no-such-program" in your shell gives the absolute path to write as command.

        warning  variable-unexpanded
          args[0] still holds \${NAME}, and the server gets it as written.
          -> Set expandVars: true in the row, or write !!js process.env.NAME.

      SERVER  VERDICT            TOOLS  BYTES
      gone    command-not-found  -      -
      crash   crash              -      -
      mute    silent-server      -      -
      script  script-not-found   -      -
      folder  cwd-wrong          -      -
      file    cwd-wrong          -      -
      bad     config-refused     -      -
      unset   config-refused     -      -
      half    command-not-found  -      -
      "
    `)
    expect(code).toBe(1)
    const narrow = await run(['doctor', 'gone'], { cwd: scene.folder(), env: { ...env, COLUMNS: '60' } })
    expect(narrow.out).toMatch(/\n {4}-> Install it\. .*\n {7}\w/)
  })

  it('says why a server over HTTP does not work', async () => {
    http = await startHttpServer('healthy')
    const { origin } = new URL(http.url)
    const answers: Record<string, [number, Record<string, string>, string]> = {
      '/401': [401, { 'www-authenticate': 'Bearer resource_metadata="x"' }, ''],
      '/403': [403, {}, 'no scope'],
      '/page': [200, { 'content-type': 'text/html; charset=utf-8' }, '<html><title>Welcome</title></html>'],
      '/500': [500, {}, 'boom'],
      '/elsewhere': [302, { location: 'https://login.test/' }, ''],
    }
    http.intercept = (request, response) => {
      const answer = answers[String(request.url)]
      if (answer === undefined) return false
      response.writeHead(answer[0], answer[1]).end(answer[2])
      return true
    }
    rows({
      missing: { url: `${origin}/401` },
      refused: { url: `${origin}/401`, headers: { Authorization: 'Bearer sk-1234567890abcdef' } },
      forbidden: { url: `${origin}/403` },
      page: { url: `${origin}/page` },
      broken: { url: `${origin}/500` },
      elsewhere: { url: `${origin}/elsewhere` },
      path: { url: `${origin}/nothing`, transport: 'streamable-http' },
      port: { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'Bearer ' } },
      name: { url: 'http://no-such-host.invalid/mcp' },
      tls: { url: `https${origin.slice(4)}/mcp` },
    })
    const { code, out } = await here(['doctor', '--probe'])
    expect(normalised(out)).toMatchInlineSnapshot(`
      "missing  http: http://127.0.0.1:PORT/401

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        FAIL  era probe N ms  HTTP 401
        ok    close N ms

        error    auth-missing
          The server asks for authorization (HTTP 401), and the row sends none.
          -> Add it to the row: headers: { Authorization: !!js '\`Bearer \${process.env.MCP_TOKEN}\`' }
          -> If the server takes an OAuth login: dsh-mcp login missing

      refused  http: http://127.0.0.1:PORT/401

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        FAIL  era probe N ms  HTTP 401
        ok    close N ms

        error    auth-refused
          The server refuses the credential that the row sends (HTTP 401).
          -> Is it over, or for another server? Make a new one, and set it where the host starts.
          -> See that the header has the form the server wants: mostly "Authorization: Bearer TOKEN".

      forbidden  http: http://127.0.0.1:PORT/403

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        FAIL  era probe N ms  HTTP 403
        ok    close N ms

        error    forbidden
          The server knows who you are and does not let you in (HTTP 403): the server answered HTTP 403 Forbidden: no scope
          -> Give the token the scopes that the server asks for, or use an account that may use it.

      page  http: http://127.0.0.1:PORT/page

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        note  era probe N ms  HTTP 200 text/html: tried as an older server
        FAIL  initialize N ms  HTTP 200 text/html
        ok    close N ms

        error    html-page
          A web page answers at http://127.0.0.1:PORT/page, not an MCP server: the server did not answer with JSON or an
          event stream
          -> Mend the path of url: the README of the server has it, often /mcp, and /sse for an old server.
          -> An MCP server answers at /mcp with 1 tools: write that path into url, and transport: streamable-http

      broken  http: http://127.0.0.1:PORT/500

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        note  era probe N ms  HTTP 500: tried as an older server
        FAIL  initialize N ms  HTTP 500
        ok    close N ms

        error    server-error
          127.0.0.1:PORT is broken inside: the server answered HTTP 500 Internal Server Error: boom
          -> Look at the log of the server. The client tries again by itself.

      elsewhere  http: http://127.0.0.1:PORT/elsewhere

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        FAIL  era probe N ms  HTTP 302
        ok    close N ms

        error    redirect
          The url is not where the server is: the server redirects to another origin, https://login.test, which is not
          followed; if that is right, write it into url (HTTP 302).
          -> Write the address that it points to into url, if you trust it.

      path  streamable-http: http://127.0.0.1:PORT/nothing

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        ok    connect N ms
        note  era probe N ms  HTTP 404 application/json: taken for an older server
        FAIL  initialize N ms  HTTP 404 application/json
        ok    close N ms

        error    path-not-found
          127.0.0.1:PORT is there, and has no MCP server at /nothing (HTTP 404).
          -> Mend the path of url: often it is /mcp, and /sse for an old server.
          -> Leave transport out: then Streamable HTTP and HTTP+SSE are both tried.
          -> An MCP server answers at /mcp with 1 tools: write that path into url, and transport: streamable-http

      port  http: http://127.0.0.1:PORT/mcp

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        FAIL  connect N ms  ECONNREFUSED
        FAIL  era probe N ms  ECONNREFUSED
        ok    close N ms

        error    refused
          Nothing listens at 127.0.0.1:PORT.
          -> Start the server, or mend the port in url.
          -> In a container, localhost is the container itself: use the name or address of the machine.

        warning  value-empty
          headers.Authorization is empty.
          -> Give it a value, or remove it: an empty credential is refused like a wrong one.

      name  http: http://no-such-host.invalid/mcp

        ok    read config N ms
        FAIL  resolve host N ms  ENOTFOUND
        FAIL  connect N ms  ENOTFOUND
        FAIL  era probe N ms  ENOTFOUND
        ok    close N ms

        error    dns
          The host name of no-such-host.invalid cannot be resolved (ENOTFOUND).
          -> Mend the host in url. Is the machine online, and does the name need a VPN?

      tls  http: https://127.0.0.1:PORT/mcp

        ok    read config N ms
        ok    resolve host N ms  127.0.0.1
        FAIL  connect N ms  ERR_SSL_WRONG_VERSION_NUMBER
        FAIL  era probe N ms  ERR_SSL_WRONG_VERSION_NUMBER
        ok    close N ms

        error    tls
          TLS with 127.0.0.1:PORT fails: wrong version number.
          -> The port speaks plain HTTP: write http:// in url, or the port that speaks https.

      SERVER     VERDICT         TOOLS  BYTES
      missing    auth-missing    -      -
      refused    auth-refused    -      -
      forbidden  forbidden       -      -
      page       html-page       -      -
      broken     server-error    -      -
      elsewhere  redirect        -      -
      path       path-not-found  -      -
      port       refused         -      -
      name       dns             -      -
      tls        tls             -      -
      "
    `)
    expect(code).toBe(1)
  })

  it('tells of a proxy in the way, and of a server that has to be ended', async () => {
    const env = { HTTP_PROXY: 'http://proxy.invalid:3128' }
    const proxied = await run(['doctor', '--url', 'http://no-such-host.invalid/mcp'], { env })
    expect(proxied.out).toContain('through the proxy proxy.invalid:3128')
    expect(proxied.out).toContain('error    proxy')
    const { command, args } = stdioServer('stubborn')
    const stubborn = await run(['doctor', '--protocol', 'legacy', '--command', command, '--', ...args])
    expect(stubborn.out).toMatch(/note  close +\d+ ms  the server does not end when its input ends/)
  })

  it('is 2 where there is nothing to examine', async () => {
    rows({})
    expect(await here(['doctor'])).toMatchObject({
      code: 2,
      out: 'no enabled row of @deepseek-ai/dsh-mcp-client in cordis.yml\n',
    })
    writeFileSync(join(scene.folder(), 'cordis.yml'), '- { id: p, insert: [] }\n')
    const { out, err } = await here(['doctor', '--json'])
    expect(JSON.parse(out)).toMatchObject({ servers: [] })
    expect(err).toContain('note: a patch inserts')
  })
})
