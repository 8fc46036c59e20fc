/**
 * Owns how the repository's scripts start another program: output kept back and shown only on a failure,
 * a limit on the time, and an environment without what an outer `npm run` left in it.
 */
import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'

/** Absolute path of the repository. */
export const ROOT = join(import.meta.dirname, '..')

export interface Command {
  readonly cwd: string
  /** Wall of the whole run; the program is killed at its end. */
  readonly limitMs: number
  /** Variables over the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** `show` passes the output through; `keep` returns it. */
  readonly output: 'show' | 'keep'
}

export interface Outcome {
  /** Exit code; -1 when a signal or the limit ended the program. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** What an outer `npm run` says about its own package, which an inner npm or pnpm would take for its own. */
const OUTER_NPM = /^(npm_package_|npm_lifecycle_|npm_command$|npm_config_local_prefix$|INIT_CWD$)/i

function childEnvironment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !OUTER_NPM.test(name))
  const tools = join(ROOT, 'node_modules', '.bin')
  return {
    ...Object.fromEntries(kept),
    PATH: `${tools}${delimiter}${process.env['PATH'] ?? ''}`,
    ...extra,
  }
}

/** Run one program to its end. Rejects only when it cannot be started. */
export function run(program: string, args: readonly string[], command: Command): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
  const stdio = command.output === 'show' ? 'inherit' : 'pipe'
  const child = spawn(program, [...args], {
    cwd: command.cwd,
    env: childEnvironment(command.env),
    stdio: ['ignore', stdio, stdio],
    timeout: command.limitMs,
    killSignal: 'SIGKILL',
  })
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.once('error', reject)
  child.once('close', (code) => resolve({ code: code ?? -1, stdout, stderr }))
  return promise
}

/** Like `run` with the output kept; throws with that output unless the program ended with 0. */
export async function mustRun(
  program: string,
  args: readonly string[],
  command: Omit<Command, 'output'>,
): Promise<Outcome> {
  const outcome = await run(program, args, { ...command, output: 'keep' })
  if (outcome.code === 0) return outcome
  throw new Error(
    `${program} ${args.join(' ')} ended with ${outcome.code}\n${outcome.stdout}${outcome.stderr}`,
  )
}

/** Seconds since `start`, a `performance.now()`, as text for a person. */
export function seconds(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`
}
