/** Owns the diagnoses of a server process, and those that fit any failure. Pure. */
import type { FallbackKind, Finding, Rows, StdioKind } from './kinds.ts'
import type { Facts, StdioFacts } from './facts.ts'

/** A row that applies to stdio servers only. */
type Test = (target: StdioFacts, facts: Facts) => Finding

function stdio(test: Test): (facts: Facts) => Finding {
  return (facts) => (facts.target?.kind === 'stdio' ? test(facts.target, facts) : undefined)
}

function error(what: string, ...next: string[]): Finding {
  return { severity: 'error', what, next }
}

const NODE_TOO_OLD =
  /Unsupported engine|EBADENGINE|requires Node|SyntaxError: (?:Unexpected token|Unexpected reserved|The requested module '(?:node:|fs|util|module))|ERR_UNKNOWN_BUILTIN_MODULE|ERR_UNKNOWN_FILE_EXTENSION|Promise\.withResolvers is not a function|does not provide an export named 'styleText'/i
const MODULE_NAMED = /Cannot find (?:module|package) '([^']+)'|ModuleNotFoundError: No module named '([^']+)'/
const MODULE_MISSING = /\bMODULE_NOT_FOUND|ERR_MODULE_NOT_FOUND/
const PACKAGE_MISSING =
  /E404[\s\S]*?'?((?:@[\w.-]+\/)?[\w.-]+)@|(?:Not found|No solution found|not found in the package registry)/i
const HTTP_WORDS =
  /listening (?:on|at)|running (?:on|at) (?:http|port)|https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0)|Uvicorn running/i
const CREDENTIAL = String.raw`[\w-]*(?:api[ _-]?key|token|credential|secret|password)s?`
const CREDENTIAL_WORDS = new RegExp(
  String.raw`\b${CREDENTIAL}\b.{0,40}\b(?:required|missing|not set|invalid|must be|needed|not found|unset|undefined)\b` +
    String.raw`|\b(?:missing|required|set|provide|no|invalid|without)\b.{0,60}\b${CREDENTIAL}\b|\bunauthori[sz]ed\b`,
  'i',
)
const VARIABLE = /\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PAT)\b/

function lastLine(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim())
  return (
    lines.findLast((line) => line !== '' && !line.startsWith('at ') && !line.startsWith('Node.js v')) ?? ''
  )
}

const ERROR_LINE = /^(?:Uncaught )?[\w.]*(?:Error|Exception)(?: \[\w+\])?: \S|^npm (?:ERR!|error) \S/

/** The line of a stack trace that names the error, else the last one. */
function tellingLine(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim())
  return lines.find((line) => ERROR_LINE.test(line)) ?? lastLine(stderr)
}

/** The process ended by itself, and that is the failure. */
function isDead({ exit, failure }: Facts): boolean {
  return exit !== undefined && failure?.code === 'MCP_CONNECTION_CLOSED'
}

export const STDIO_ROWS: Rows<StdioKind> = {
  tilde: stdio(({ tilde }, { failure }) => {
    if (tilde === undefined || failure === undefined) return undefined
    const { key, path, full } = tilde
    return error(
      `${key} has the path "${path}": only a shell reads "~" as a home folder, and no shell is asked.`,
      `Write the whole path: ${full}`,
    )
  }),

  'cwd-wrong': stdio(({ cwd = '', cwdState }) => {
    if (cwdState === 'none' || cwdState === 'ok') return undefined
    const state = cwdState === 'missing' ? 'does not exist' : 'is not a directory'
    return error(
      `The working directory "${cwd}" ${state}.`,
      'Mend cwd in the row. A relative one begins at the folder in which the host was started.',
    )
  }),

  'command-with-arguments': stdio(({ command, line }, { failure }) => {
    if (line === undefined || failure?.code !== 'MCP_SPAWN_FAILED') return undefined
    return error(
      `command is one program, and "${command}" is a program with arguments.`,
      `Write command: ${line.program} and args: ${JSON.stringify(line.args)}`,
    )
  }),

  'command-not-found': stdio(({ command, found, lookAlike }, { failure }) => {
    if (found !== undefined || failure?.cause !== 'ENOENT') return undefined
    if (/[\\/]/.test(command)) {
      return error(
        `There is no file "${command}".`,
        'Mend the path in command, or install the program there.',
      )
    }
    return error(
      `There is no command "${command}" on the PATH.`,
      ...(lookAlike === undefined ? [] : [`Did you mean "${lookAlike}"? It is on the PATH.`]),
      `Install it. The PATH of the host counts, not that of your shell: "which ${command}" in your shell gives the ` +
        'absolute path to write as command.',
    )
  }),

  'command-not-runnable': stdio(({ command, found }, { failure }) => {
    if (failure?.code !== 'MCP_SPAWN_FAILED') return undefined
    const isScript = failure.cause === 'ENOENT' && found !== undefined
    return error(
      isScript
        ? `"${command}" is there, but not the interpreter that its first line names.`
        : `"${command}" cannot be run: ${failure.message}`,
      isScript
        ? 'Install that interpreter, or write it as command and the file as its first argument.'
        : 'Write a program as command, and make it executable: chmod +x FILE',
    )
  }),

  'script-not-found': stdio(({ missingFiles: [file] }, facts) => {
    if (file === undefined || facts.failure === undefined) return undefined
    return error(
      `The file "${file}" in args does not exist.`,
      'Mend the path. A relative one begins at cwd, and without cwd at the folder in which the host was started.',
      'Has the server been built? Many need "npm run build" first.',
    )
  }),

  'package-not-found': stdio((_target, facts) => {
    if (!isDead(facts) || !/npm (?:ERR!|error)|uvx?|pipx?/i.test(facts.stderr)) return undefined
    const found = PACKAGE_MISSING.exec(facts.stderr)
    if (found === null) return undefined
    return error(
      found[1] === undefined
        ? 'The package of the server does not exist.'
        : `There is no package "${found[1]}" in the registry.`,
      'Mend its name in args: the README of the server has it.',
    )
  }),

  'node-too-old': stdio((_target, facts) => {
    if (!isDead(facts) || !NODE_TOO_OLD.test(facts.stderr)) return undefined
    const version = /Node\.js (v\d+[.\d]*)/.exec(facts.stderr)?.[1]
    return error(
      `The server does not run on this Node${version === undefined ? '' : ` (${version})`}: ${tellingLine(facts.stderr)}`,
      'Install the Node that the README of the server asks for, and write the path of that node as command.',
      'The PATH of the host decides which node runs, not a version manager in your shell.',
    )
  }),

  'module-missing': stdio((_target, facts) => {
    if (!isDead(facts)) return undefined
    const found = MODULE_NAMED.exec(facts.stderr)
    if (found === null && !MODULE_MISSING.test(facts.stderr)) return undefined
    const name = found?.[1] ?? found?.[2]
    return error(
      `The server misses ${name === undefined ? 'a module' : `the module "${name}"`} and ended.`,
      'Install its dependencies in its own folder (npm install, or pip install in its environment), and build it.',
      'Or check the path in args: a path to a folder without a program ends like this, too.',
    )
  }),

  'credential-refused': stdio((_target, facts) => {
    if (!isDead(facts) || !CREDENTIAL_WORDS.test(facts.stderr)) return undefined
    const name = VARIABLE.exec(facts.stderr)?.[0]
    return error(
      `The server ended because it wants a credential: ${lastLine(facts.stderr)}`,
      `Name it in env of the row: ${name ?? 'NAME'}: !!js process.env.${name ?? 'NAME'}. Variables that look like ` +
        'credentials are never inherited from the host.',
    )
  }),

  crash: stdio((_target, facts) => {
    const { exit, heard, stderr } = facts
    if (!isDead(facts) || exit === undefined) return undefined
    const words = tellingLine(stderr)
    return error(
      `The server ended with ${exit} ${heard === 0 ? 'before it answered' : 'while it was talked to'}` +
        `${words === '' ? ', and wrote nothing to standard error.' : `: ${words}`}`,
      'Run the command of the row in a terminal: it must stay and wait for input.',
      ...(stderr === '' ? ['Does it need an argument such as "stdio", or a variable in env?'] : []),
    )
  }),

  'http-server-as-stdio': stdio((_target, facts) => {
    const { failure, heard, stderr, noise = '' } = facts
    if (failure?.code !== 'MCP_CONNECT_TIMEOUT' || heard > 0) return undefined
    const said = HTTP_WORDS.test(noise) ? noise : lastLine(stderr)
    if (!HTTP_WORDS.test(said)) return undefined
    return error(
      `The program runs as an HTTP server and does not listen to its standard input: ${said}`,
      'Give it the argument that makes it a stdio server, often "stdio" or "--stdio".',
      'Or let it run by itself and write its URL into the row: url in place of command.',
    )
  }),

  'silent-server': stdio((_target, { failure, heard, stderr, timeoutMs }) => {
    if (failure?.code !== 'MCP_CONNECT_TIMEOUT' || heard > 0) return undefined
    const words = lastLine(stderr)
    return error(
      `The program runs, and did not answer initialize within ${timeoutMs} ms.` +
        (words === '' ? '' : ` Its last words on standard error: ${words}`),
      'Is it an MCP server, and does it need an argument such as "stdio"?',
      'The first start of npx, uvx or docker downloads the server: run the command once in a terminal, or raise ' +
        'startup.timeoutMs in the row.',
    )
  }),

  'stdout-noise': stdio((_target, { noise }) => {
    if (noise === undefined) return undefined
    return {
      severity: 'warning',
      what: `The server writes to standard output what is no message: ${noise}`,
      next: ['It is skipped. Standard output belongs to the protocol: let the server log to standard error.'],
    }
  }),
}

export const FALLBACK_ROWS: Rows<FallbackKind> = {
  protocol({ failure }) {
    if (failure?.code !== 'MCP_PROTOCOL_UNSUPPORTED') return undefined
    return error(
      `Server and client have no protocol revision in common: ${failure.message}`,
      'Remove protocol from the row, or set it to a revision that the server names.',
      'Update the server.',
    )
  },

  'list-failed'({ failure }) {
    if (failure === undefined || !/^MCP_LIST_|^MCP_REQUEST_REJECTED$|^MCP_RESULT_INVALID$/.test(failure.code))
      return undefined
    return error(
      `The connection is good, and the server does not give its list of tools: ${failure.message}`,
      "This is the server's fault: report it there, with the messages that --wire shows.",
    )
  },

  timeout({ failure, timeoutMs }) {
    if (failure?.code !== 'MCP_CONNECT_TIMEOUT') return undefined
    return error(
      `The server was too slow: ${failure.message}`,
      `Raise startup.timeoutMs in the row (now ${timeoutMs}); the steps above show where the time went.`,
    )
  },

  interrupted({ failure }) {
    if (failure?.code !== 'MCP_ABORTED') return undefined
    return error('The examination was ended before it was over.', 'Run it again.')
  },

  unclosed({ failure }) {
    if (failure?.code !== 'MCP_CLOSE_TIMEOUT') return undefined
    return error(
      `The server does not end when it is told to: ${failure.message}`,
      'Look for the process and end it by hand. Report it to the makers of the server.',
    )
  },

  other({ failure }) {
    if (failure === undefined) return undefined
    return error(
      `The server cannot be used: ${failure.message} (${failure.code})`,
      'Look at the messages: --wire. The steps above show how far it came.',
    )
  },
}
