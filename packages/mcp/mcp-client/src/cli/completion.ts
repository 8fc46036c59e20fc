/** Owns `dsh-mcp completion`: what a shell may offer at the cursor: commands, options, and the names of servers. */
import tab from '@bomb.sh/tab/commander'
import type { Command } from 'commander'
import type { Io } from './output.ts'
import { loadRows } from './rows/source.ts'
import type { SourceOptions } from './rows/source.ts'

/** Commands whose first argument names a server, with the argument's name. */
const SERVER_ARGUMENTS = {
  test: 'server',
  doctor: 'server',
  call: 'server',
  login: 'server',
  logout: 'server',
  pins: 'server',
} as const

/** Add the command `completion`, and the hidden one that its scripts ask. Last, so that it sees all commands. */
export function addCompletion(program: Command, io: Io): void {
  const completion = tab(program, { completionCommandName: 'completion' })
  for (const [command, argument] of Object.entries(SERVER_ARGUMENTS)) {
    const known = completion.commands.get(command)?.arguments.get(argument)
    if (known !== undefined) known.handler = (complete) => offerServers(complete, program, io)
  }
}

function offerServers(
  complete: (value: string, description: string) => void,
  program: Command,
  io: Io,
): void {
  try {
    const { rows } = loadRows(sourceOf(program.args), io)
    for (const { name, disabled } of rows) complete(name, disabled ? 'disabled' : 'server')
  } catch {
    // No file, or a broken one: there is nothing to offer, and a shell wants no words about it.
  }
}

/** The source that the words typed so far name. */
function sourceOf(words: readonly string[]): SourceOptions {
  const after = (flag: string): string | undefined => {
    const at = words.lastIndexOf(flag)
    return at < 0 ? undefined : words[at + 1]
  }
  const config = after('--config')
  const profile = after('--profile')
  return {
    ...(config === undefined ? {} : { config }),
    ...(profile === undefined ? {} : { profile }),
  }
}
