/** Owns what the command uses of its process: the streams, and the signals that end a run. */
import { EXIT } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { runProgram } from './program.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Servers are closed within 5 s; then the process goes, whatever is left. */
const CLOSE_LIMIT_MS = 6_000
const HOLD_MS = 60_000

/** Run the command in this process. The first signal closes the servers and ends the run; a second one ends it at once. */
export async function runProcess(argv: readonly string[]): Promise<ExitCode> {
  const controller = new AbortController()
  const interrupt = (): void => {
    if (controller.signal.aborted) return process.exit(EXIT.interrupted)
    controller.abort()
    setTimeout(() => process.exit(EXIT.interrupted), CLOSE_LIMIT_MS).unref()
  }
  for (const signal of SIGNALS) process.on(signal, interrupt)
  // Timers and waiting sockets of the bridge hold no process: in a host others do, here this.
  const hold = setInterval(() => undefined, HOLD_MS)
  // A reader that went away, such as head: there is nobody left to write to.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') controller.abort()
    })
  }
  try {
    return await runProgram(argv, {
      stdout: process.stdout,
      stderr: process.stderr,
      stdin: process.stdin,
      env: process.env,
      cwd: process.cwd(),
      platform: process.platform,
      signal: controller.signal,
    })
  } finally {
    clearInterval(hold)
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }
}
