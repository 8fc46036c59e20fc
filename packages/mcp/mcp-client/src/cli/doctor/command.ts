/** Owns the question what a row's command would run: the file on the PATH, a look-alike, and files that are not there. */
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { delimiter, extname, isAbsolute, join, resolve } from 'node:path'
import type { StdioTarget } from '../../types.ts'
import { nearest } from '../distance.ts'
import type { Io } from '../output.ts'
import type { StdioFacts } from './facts.ts'

/** What an argument that is a program to run ends in. */
const SCRIPT = /\.(?:[cm]?[jt]s|py|rb|sh|jar|php|pl|lua|exe|ps1)$/i
/** Programs whose first plain argument is a file to run. */
const RUNNERS = /^(?:node|bun|deno|tsx|python[\d.]*|ruby|bash|sh|php|perl|java|lua)(?:\.exe)?$/i
const MAX_NAMES = 20_000

export function commandFacts(target: StdioTarget, io: Io): StdioFacts {
  const { command, cwd } = target
  const cwdState = stateOf(cwd, io.cwd)
  const folder = cwdState === 'ok' ? resolve(io.cwd, String(cwd)) : io.cwd
  const found = locate(command, folder, target, io)
  const lookAlike =
    found === undefined && !/[\\/]/.test(command) ? nearest(command, commandsOn(target, io)) : undefined
  const line = found === undefined ? lineOf(command, folder, target, io) : undefined
  const missing = missingFiles(target, folder)
  const tilde = tildeOf({ command, ...(cwd === undefined ? {} : { cwd }), args: missing[0] ?? '' }, io)
  return {
    kind: 'stdio',
    command,
    ...(found === undefined ? {} : { found }),
    ...(lookAlike === undefined ? {} : { lookAlike }),
    ...(cwd === undefined ? {} : { cwd }),
    cwdState,
    missingFiles: missing,
    ...(line === undefined ? {} : { line }),
    ...(tilde === undefined ? {} : { tilde }),
  }
}

/** A whole command line, as a shell takes it; undefined where its first word is no program either. */
function lineOf(command: string, folder: string, target: StdioTarget, io: Io): StdioFacts['line'] {
  const [program = '', ...args] = command.trim().split(/\s+/)
  return args.length > 0 && locate(program, folder, target, io) !== undefined ? { program, args } : undefined
}

/** The first of these paths that only a shell understands. */
function tildeOf(paths: Readonly<Record<string, string>>, { env }: Io): StdioFacts['tilde'] {
  const [key, path] = Object.entries(paths).find(([, text]) => /^~(?:[\\/]|$)/.test(text)) ?? []
  if (key === undefined || path === undefined) return undefined
  return { key, path, full: (env['HOME'] ?? env['USERPROFILE'] ?? '/home/you') + path.slice(1) }
}

function stateOf(cwd: string | undefined, base: string): StdioFacts['cwdState'] {
  if (cwd === undefined) return 'none'
  const stats = statSync(resolve(base, cwd), { throwIfNoEntry: false })
  if (stats === undefined) return 'missing'
  return stats.isDirectory() ? 'ok' : 'not-a-directory'
}

/** The PATH that counts is that of the child: the row may set its own. */
function pathOf({ env }: StdioTarget, io: Io): string[] {
  const text = env['PATH'] ?? io.env['PATH'] ?? io.env['Path'] ?? ''
  return text.split(delimiter).filter((folder) => folder !== '')
}

function locate(command: string, folder: string, target: StdioTarget, io: Io): string | undefined {
  const candidates = /[\\/]/.test(command)
    ? [isAbsolute(command) ? command : resolve(folder, command)]
    : pathOf(target, io).map((place) => join(place, command))
  const endings = io.platform === 'win32' ? ['', ...(io.env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : ['']
  return candidates.flatMap((path) => endings.map((ending) => path + ending)).find((path) => isRunnable(path))
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false // not there, or not to be run
  }
}

function* commandsOn(target: StdioTarget, io: Io): Iterable<string> {
  let left = MAX_NAMES
  for (const folder of pathOf(target, io)) {
    let names: string[]
    try {
      names = readdirSync(folder)
    } catch {
      continue // a folder of the PATH that is not there
    }
    for (const name of names.slice(0, left))
      yield io.platform === 'win32' ? name.slice(0, -extname(name).length) : name
    left -= names.length
    if (left <= 0) return
  }
}

/** Plain arguments that look like a program file of a runner and are not there. */
function missingFiles({ command, args }: StdioTarget, folder: string): string[] {
  const isRunner = RUNNERS.test(String(command.split(/[\\/]/).at(-1)))
  const first = args.find((arg) => !arg.startsWith('-'))
  return args.filter((arg) => {
    if (arg.startsWith('-') || /^[a-z][\w+.-]*:\/\//i.test(arg) || arg.startsWith('@')) return false
    const isProgram = SCRIPT.test(arg) || (isRunner && arg === first && /[\\/]/.test(arg))
    return isProgram && !existsSync(resolve(folder, arg))
  })
}
