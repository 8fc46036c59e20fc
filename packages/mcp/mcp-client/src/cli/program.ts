/** Owns the words of the command line: commands, arguments, options, and which function each runs. */
import { homedir } from 'node:os'
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { readArguments } from './arguments.ts'
import { runCall } from './call.ts'
import { addCompletion } from './completion.ts'
import { runDoctor } from './doctor/doctor.ts'
import { EXIT, UsageError } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { runImport } from './import/command.ts'
import { runList } from './list.ts'
import { runLogin } from './login.ts'
import type { LoginOptions } from './login.ts'
import { runLogout } from './logout.ts'
import { Output } from './output.ts'
import type { Io } from './output.ts'
import { PIN_ACTIONS, runPins } from './pins.ts'
import type { PinAction } from './pins.ts'
import { loadRows, selectRows } from './rows/source.ts'
import type { Row, RowSource, SourceOptions } from './rows/source.ts'
import { FLAG_SERVER } from './rows/flags.ts'
import { runTest } from './test.ts'
import { VERSION } from '../version.ts'

/** Options as commander gives them. */
interface Options extends SourceOptions {
  readonly json?: boolean
  readonly color?: boolean
  readonly verbose?: boolean
  readonly timeout?: number
  readonly connect?: boolean
  readonly wire?: boolean
  readonly probe?: boolean
}

/** One run on its way: what the parsed command decided. */
export interface Run {
  exitCode: ExitCode
}

const EXIT_HELP = `
Exit codes: 0 all is well, 1 a server or a call failed, 2 the command line or the configuration is wrong,
130 interrupted.`

const EXAMPLES = `
Examples:
  $ dsh-mcp doctor                          every server of ./cordis.yml
  $ dsh-mcp doctor github --wire            one of them, with its messages
  $ dsh-mcp test --profile web              the servers of a dsh profile
  $ dsh-mcp doctor --command npx -- -y @modelcontextprotocol/server-everything
  $ dsh-mcp call --url http://localhost:3000/mcp echo message=hello`

/** Build the command line. `rest` is what stood after \`--\` beside --command. */
export function createProgram(io: Io, run: Run, rest: readonly string[] | undefined): Command {
  const program = new Command('dsh-mcp')
    .description(
      'Look at the MCP servers of a DeepSeek Harness: list, test, call, and find out what is wrong.',
    )
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText('after', EXAMPLES + EXIT_HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
    })
    .showSuggestionAfterError(true)

  const start = (options: Options): { output: Output; source: () => RowSource } => ({
    output: new Output(io, {
      json: options.json === true,
      color: options.color !== false,
      verbose: options.verbose === true,
    }),
    source: () => loadRows({ ...options, ...(rest === undefined ? {} : { args: rest }) }, io),
  })
  const servers = () =>
    new Argument('[server...]', 'names of servers; all that are enabled where none is named')

  withSource(program.command('list').description('list the servers, with transport and target'))
    .optionsGroup('What:')
    .option('--connect', 'connect to each, and show its state and tools')
    .action(async (options: Options) => {
      const { output, source } = start(options)
      run.exitCode = await runList(source(), options, output)
    })
  withSource(program.command('test').description('connect, list the tools, disconnect: one line a server'))
    .addArgument(servers())
    .action(async (names: string[], options: Options) => {
      const { output, source } = start(options)
      run.exitCode = await runTest(source(), names, options, output)
    })
  withSource(
    program.command('doctor').description('time every step, and say what is wrong and what to do next'),
  )
    .addArgument(servers())
    .optionsGroup('What:')
    .option('--wire', 'show the JSON-RPC messages, redacted and cut')
    .option('--probe', 'where the path of a url is wrong, look at the usual paths of that origin')
    .action(async (names: string[], options: Options) => {
      const { output, source } = start(options)
      run.exitCode = await runDoctor(source(), names, options, output)
    })
  withSource(
    program.command('call').description('call one tool, and print its result as a model would see it'),
  )
    .argument('[server]', 'name of the server; left out with --command and --url')
    .argument('[tool]', 'name of the tool')
    .argument('[args...]', 'one JSON object, or words such as key=value')
    .action(
      async (server: string | undefined, tool: string | undefined, words: string[], options: Options) => {
        const { output, source } = start(options)
        const isFlags = options.command !== undefined || options.url !== undefined
        const given = [server, tool, ...words].filter((word) => word !== undefined)
        const [name = '', ...more] = isFlags ? ['server', ...given] : given
        const [wanted, ...args] = more
        if (wanted === undefined) {
          throw new UsageError(
            isFlags ? 'name the tool: call TOOL [args]' : 'name both: call SERVER TOOL [args]',
          )
        }
        const [row] = selectRows(source(), [name])
        /* v8 ignore next -- one name gives one row, or throws */
        if (row === undefined) return
        run.exitCode = await runCall({ row, tool: wanted, args: readArguments(args) }, options, output)
      },
    )
  withSource(
    program
      .command('login')
      .description('log in to a server that asks for it: shows the page, and waits for you'),
  )
    .argument('[server]', 'name of the server; left out with --url')
    .optionsGroup('What:')
    .option('--no-browser', 'print the link only; nothing is opened where no person sits at a terminal')
    .option(
      '--paste',
      'the browser is on another machine: wait for the address that it ends at on standard input',
    )
    .addOption(
      new Option('--callback-port <port>', 'port on 127.0.0.1 that the browser comes back to').argParser(
        port,
      ),
    )
    .action(async (server: string | undefined, options: Options & LoginOptions) => {
      const { output, source } = start(options)
      run.exitCode = await runLogin(oneRow(source(), server, options), options, output)
    })
  withSource(
    program.command('logout').description('give the login of a server up where it came from, and forget it'),
  )
    .argument('[server]', 'name of the server; left out with --url')
    .action(async (server: string | undefined, options: Options) => {
      const { output, source } = start(options)
      run.exitCode = await runLogout(oneRow(source(), server, options), output)
    })
  withSource(
    program.command('pins').description('what is pinned of the servers, what changed, and your word on it'),
  )
    .addArgument(new Argument('[action]', 'what to do').choices(PIN_ACTIONS).default('list'))
    .argument('[server]', 'name of a server')
    .argument('[tool]', "name of a tool; '*' for all of the server")
    .action(
      async (action: PinAction, server: string | undefined, tool: string | undefined, options: Options) => {
        const { output, source } = start(options)
        run.exitCode = await runPins(source(), { action, server, tool }, output)
      },
    )
  addImport(program, io, run)
  addCompletion(program, io)
  return program
}

function addImport(program: Command, io: Io, run: Run): void {
  program
    .command('import')
    .description('make rows of the servers in the file of another client; changes nothing without --write')
    .argument('[file]', 'the file, where --from names its client')
    .optionsGroup('What:')
    .option(
      '--from <client>',
      'a client such as claude-desktop, or a file (default: the known places of all)',
    )
    .option('--to <file>', 'the file that the rows go to (default: ./cordis.yml)')
    .option('--only <names>', 'names of the servers to take, with commas between', names)
    .option('--write', 'write the rows, and keep a copy of the file as it was')
    .option('--json', 'print JSON of a stable shape on stdout')
    .action(async (file: string | undefined, options: ImportWords) => {
      const { env, cwd, platform, stdout, stderr } = io
      const given = {
        ...options,
        ...(file === undefined ? {} : { file }),
        write: options.write === true,
        json: options.json === true,
      }
      const home = env['HOME'] ?? env['USERPROFILE'] ?? homedir()
      run.exitCode = (await runImport(
        { ...given, env, cwd, home, platform },
        { out: (text) => void stdout.write(text), err: (text) => void stderr.write(text) },
      )) as ExitCode
    })
}

/** The one server that was named, or that the flags are of. */
function oneRow(source: RowSource, server: string | undefined, { command, url }: Options): Row {
  const isFlags = command !== undefined || url !== undefined
  if (server === undefined && !isFlags) throw new UsageError('name the server')
  return selectRows(source, [server ?? FLAG_SERVER])[0] as Row
}

interface ImportWords {
  readonly from?: string
  readonly to?: string
  readonly only?: readonly string[]
  readonly write?: boolean
  readonly json?: boolean
}

function names(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',').filter((name) => name !== '')]
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

function milliseconds(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0 && value < 2 ** 31) return value
  throw new InvalidArgumentError('a number of milliseconds is needed')
}

function port(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0 && value < 2 ** 16 && text.trim() !== '') return value
  throw new InvalidArgumentError('a port from 0 to 65535 is needed')
}

/** The options of every command that looks at rows. */
function withSource(command: Command): Command {
  return withOutput(
    command
      .optionsGroup('Which servers:')
      .option('--config <file>', 'a cordis.yml, or a layer of patches (default: ./cordis.yml)')
      .option('--profile <name>', 'a dsh profile under DSH_HOME')
      .option('--command <program>', 'one stdio server; its arguments stand at the end, after --')
      .option('--url <url>', 'one HTTP server')
      .optionsGroup('With --command or --url:')
      .option('--header <header>', "with --url: 'Name: value', again for each", collect)
      .option(
        '--env <variable>',
        'with --command: NAME=value, or NAME to pass ours on, again for each',
        collect,
      )
      .option('--cwd <folder>', 'with --command: working directory')
      .addOption(
        new Option('--transport <transport>', 'as in a row').choices(['stdio', 'streamable-http', 'sse']),
      )
      .option('--protocol <protocol>', 'auto, legacy, or a revision')
      .optionsGroup('How:')
      .option(
        '--timeout <ms>',
        'limit of connecting and listing, and of a call (default: that of the row); of login: of the wait for you (300000)',
        milliseconds,
      ),
  )
}

/** The options of every command that prints. */
function withOutput(command: Command): Command {
  return command
    .option('--json', 'print JSON of a stable shape on stdout')
    .option('--verbose', 'say more')
    .option('--no-color', 'no colour; NO_COLOR does the same')
}

/**
 * Run one command line to its exit code. Never rejects.
 * @param argv without the program itself
 */
export async function runProgram(argv: readonly string[], io: Io): Promise<ExitCode> {
  const run: Run = { exitCode: EXIT.ok }
  const { before, rest } = splitArguments(argv)
  const program = createProgram(io, run, rest)
  try {
    await program.parseAsync([...before], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    /* v8 ignore next -- a fault of this program: the process shows where */
    if (!(error instanceof UsageError)) throw error
    io.stderr.write(`dsh-mcp: ${error.message}\n`)
    return EXIT.usage
  }
  return io.signal.aborted ? EXIT.interrupted : run.exitCode
}

/** What stands after `--` belongs to --command, where there is one. */
function splitArguments(argv: readonly string[]): { before: readonly string[]; rest?: readonly string[] } {
  const at = argv.indexOf('--')
  const before = argv.slice(0, at)
  const isOurs = at >= 0 && before.some((word) => word === '--command' || word.startsWith('--command='))
  return isOurs ? { before, rest: argv.slice(at + 1) } : { before: argv }
}
