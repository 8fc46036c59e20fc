/** Owns the words for a server process that could not be started: what is missing, and what to do. */
import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { McpError, messageOf } from '../errors.ts'
import type { McpErrorCode } from '../errors.ts'

export interface SpawnRequest {
  readonly serverName: string
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>
  /** Cuts configured secrets out of the words. */
  readonly redact: (text: string) => string
}

/** The machine is short of something now: trying again may help. */
const SHORTAGES: Readonly<Record<string, string>> = {
  EAGAIN: 'too many processes',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files',
  ENOMEM: 'not enough memory',
}

/** MCP_SPAWN_FAILED, or MCP_CONNECTION_CLOSED where another try may work. Looks at the files the request names. */
export function spawnFailure(error: unknown, request: SpawnRequest): McpError {
  const cause = (error as NodeJS.ErrnoException).code
  const shortage = SHORTAGES[cause ?? '']
  const code: McpErrorCode = shortage === undefined ? 'MCP_SPAWN_FAILED' : 'MCP_CONNECTION_CLOSED'
  const reason =
    shortage === undefined ? reasonOf(error, request) : `${shortage} (${cause}); it is tried again`
  return new McpError(request.redact(`cannot start "${request.command}": ${reason}`), {
    code,
    server: request.serverName,
    stage: 'connect',
    ...(cause === undefined ? {} : { data: { cause } }),
  })
}

function reasonOf(error: unknown, { command, cwd }: SpawnRequest): string {
  // Node reports a missing directory as a missing command.
  if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return `the working directory "${cwd}" ${existsSync(cwd) ? 'is not a directory' : 'does not exist'}`
  }
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      if (/^~[\\/]/.test(command))
        return 'there is no such file (ENOENT): only a shell reads "~" as a home folder'
      if (isCommandLine(command, cwd)) return 'there is no such program (ENOENT): arguments belong into args'
      if (!/[\\/]/.test(command)) return 'there is no such command on the PATH (ENOENT); is it installed?'
      return existsSync(resolve(cwd ?? '.', command))
        ? 'the file is there, but not the interpreter that its first line names (ENOENT)'
        : 'there is no such file (ENOENT)'
    case 'EACCES':
      return 'it is not a file that may be executed (EACCES)'
    default:
      return messageOf(error)
  }
}

/** Whether it is a program with arguments: its first word is a name, or a file that is there. */
function isCommandLine(command: string, cwd: string | undefined): boolean {
  const [program = ''] = command.split(/\s/, 1)
  return program !== command && (!/[\\/]/.test(program) || existsSync(resolve(cwd ?? '.', program)))
}
