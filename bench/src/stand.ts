/** Owns what a measurement stands on: servers to reach, clocks of time and CPU, and waiting for quiet. */
import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Connection, Nature, Target } from './contender.ts'
import type { Stats } from './server/answers.ts'

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const serverFile = (kind: Target['kind']): string =>
  fileURLToPath(new URL(`./server/${kind}.${EXTENSION}`, import.meta.url))

/** A stdio server to be started by the client. */
export function stdioTarget(name: string, nature: Nature): Target {
  return {
    kind: 'stdio',
    name,
    command: process.execPath,
    args: [serverFile('stdio'), JSON.stringify(nature)],
  }
}

/** An HTTP server that runs already; it ends with this process. */
export async function httpTarget(name: string, nature: Nature): Promise<Target> {
  const child = spawn(process.execPath, [serverFile('http'), JSON.stringify(nature)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { promise, resolve } = Promise.withResolvers<string>()
  child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8').trim()))
  child.unref()
  return { kind: 'http', name, url: `http://127.0.0.1:${await promise}/mcp` }
}

export interface Spent {
  readonly ms: number
  readonly cpuMs: number
}

/** Start a clock; the returned function reads it. */
export function clock(): () => Spent {
  const cpu = process.cpuUsage()
  const start = performance.now()
  return () => {
    const { user, system } = process.cpuUsage(cpu)
    return { ms: performance.now() - start, cpuMs: (user + system) / 1000 }
  }
}

/** What this process has used since it began. */
export function sinceBirth(): Spent {
  const { user, system } = process.cpuUsage()
  return { ms: performance.now(), cpuMs: (user + system) / 1000 }
}

export async function statsOf(connection: Connection, server: string): Promise<Stats> {
  return JSON.parse((await connection.call(server, 0, { op: 'stats' })).text) as Stats
}

const QUIET_MS = 250

/** Until this process has done nearly nothing for a while. Resolves to when the work ended, by performance.now(). */
export async function quiet(): Promise<number> {
  let last = process.cpuUsage()
  let end = performance.now()
  for (let since = end; performance.now() - since < QUIET_MS;) {
    await delay(10)
    const now = process.cpuUsage()
    const usedMs = (now.user + now.system - last.user - last.system) / 1000
    last = now
    if (usedMs > 2) {
      since = performance.now()
      end = since
    }
  }
  return end
}

/** Peak resident memory of this process, in MiB. */
export function peakMib(): number {
  return process.resourceUsage().maxRSS / 1024
}

/** @throws Error that fails the measurement */
export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`not as it must be: ${what}`)
}
