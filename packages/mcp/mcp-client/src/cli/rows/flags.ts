/** Owns the one row that the command line itself may describe. Pure. */
import { UsageError } from '../exit.ts'

/** Flags of one server. */
export interface RowFlags {
  readonly command?: string
  /** What stood after `--`: the arguments of the command. */
  readonly args?: readonly string[]
  readonly url?: string
  /** `Name: value`, one a flag. */
  readonly header?: readonly string[]
  /** `NAME=value`, one a flag; `NAME` alone takes the value of our own environment. */
  readonly env?: readonly string[]
  readonly transport?: string
  readonly protocol?: string
  readonly cwd?: string
}

/** The name of the one server of a command line: its tools are `mcp__server__...`. */
export const FLAG_SERVER = 'server'

/**
 * The row as it would stand in a cordis.yml.
 * @throws UsageError for a header or a variable that cannot be read
 */
export function rowOfFlags(
  flags: RowFlags,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, unknown> {
  const { command, args = [], url, header = [], env = [], transport, protocol, cwd } = flags
  if (command !== undefined && header.length > 0)
    throw new UsageError('--header goes with --url, not with --command')
  const row = { serverName: FLAG_SERVER, transport, protocol }
  if (command === undefined) {
    if (env.length > 0 || cwd !== undefined)
      throw new UsageError('--env and --cwd go with --command, not with --url')
    return { ...row, url, headers: Object.fromEntries(header.map((text) => pair(text, ':', '--header'))) }
  }
  const variables = env.map((text) =>
    text.includes('=') ? pair(text, '=', '--env') : [text, environment[text] ?? missing(text)],
  )
  return { ...row, command, args, cwd, env: Object.fromEntries(variables) as unknown }
}

function pair(text: string, separator: string, flag: string): [string, string] {
  const at = text.indexOf(separator)
  // The text itself may be a secret.
  if (at < 1) throw new UsageError(`${flag} needs ${flag === '--env' ? 'NAME=value' : "'Name: value'"}`)
  return [text.slice(0, at).trim(), separator === ':' ? text.slice(at + 1).trim() : text.slice(at + 1)]
}

function missing(name: string): never {
  throw new UsageError(`--env ${/^\w{1,64}$/.test(name) ? name : 'NAME'}: there is no such variable here`)
}
