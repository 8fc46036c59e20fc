/**
 * Owns the running of a command of the row that prints something secret: without a shell, with the host's environment,
 * bounded in time and output.
 */
import { spawn } from 'node:child_process'
import type { Clock } from '../clock.ts'
import { McpError } from '../errors.ts'

export interface CommandOptions {
  readonly serverName: string
  /** Key of the row, for errors. */
  readonly key: string
  /** Program and arguments. */
  readonly argv: readonly string[]
  readonly clock: Clock
}

const LIMIT_MS = 10_000
const MAX_OUTPUT = 64 * 1024

/** What the command printed. Rejects with MCP_AUTH_FAILED, and never with a word of what it wrote: that is secret. */
export function runCommand(options: CommandOptions): Promise<string> {
  const [command = '', ...args] = options.argv
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
      shell: false,
    })
    const out = collector()
    const fail = (what: string): void => {
      cancel()
      child.kill('SIGKILL')
      // A helper of it may hold the pipe.
      child.stdout.destroy()
      reject(commandFailure(options, what))
    }
    const cancel = options.clock.after(LIMIT_MS, () => fail(`did not end within ${LIMIT_MS / 1000} s`))
    child.stdout.on('data', out.take)
    child.once('error', (error: NodeJS.ErrnoException) => fail(`cannot be started (${String(error.code)})`))
    child.once('close', (code, signal) => {
      if (code !== 0)
        return fail(`ended with ${code === null ? `signal ${String(signal)}` : `exit code ${code}`}`)
      cancel()
      resolve(out.text())
    })
  })
}

export function commandFailure({ serverName, key }: CommandOptions, what: string): McpError {
  return new McpError(`${key} ${what}`, {
    code: 'MCP_AUTH_FAILED',
    server: serverName,
    stage: 'auth',
  })
}

function collector(): { take(chunk: Buffer): void; text(): string } {
  const chunks: Buffer[] = []
  let bytes = 0
  return {
    take(chunk) {
      if (bytes < MAX_OUTPUT) chunks.push(chunk.subarray(0, MAX_OUTPUT - bytes))
      bytes += chunk.length
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
  }
}
