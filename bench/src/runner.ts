/** Owns the running of measurements: one process each, one at a time, contenders in turns so that a drift hits all. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ContenderName } from './contenders/index.ts'
import type { Options } from './options.ts'
import type { Task } from './measure.ts'
import { median } from './statistics.ts'
import type { Figures, Rounds, Workload } from './workload.ts'

const LIMIT_MS = 180_000
const MEASURE = fileURLToPath(
  new URL(`./measure.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
)

/** Medians of one contender, or why there are none. */
export type Cell =
  { readonly ok: true; readonly figures: Figures } | { readonly ok: false; readonly reason: string }
export interface Row {
  readonly workload: Workload
  readonly cells: ReadonlyMap<ContenderName, Cell>
}

/** Measure one workload for all contenders. */
export async function runWorkload(workload: Workload, options: Options, onStep: () => void): Promise<Row> {
  const contenders = options.contenders.filter((name) => !(workload.without ?? []).includes(name))
  const found = new Map<ContenderName, Figures[]>(contenders.map((name) => [name, []]))
  const failed = new Map<ContenderName, string>()
  const size = { ...workload.size, ...(options.quick ? workload.quick : {}) }
  const most = Math.max(...contenders.map((name) => roundsOf(workload, name, options)))
  for (let round = 0; round < most; round++) {
    // Another one begins in each round.
    for (let at = 0; at < contenders.length; at++) {
      const contender = contenders[(at + round) % contenders.length] as ContenderName
      if (failed.has(contender) || round >= roundsOf(workload, contender, options)) continue
      const task: Task = {
        workload: workload.id,
        contender,
        size,
        ...(options.base === undefined ? {} : { base: options.base }),
      }
      const outcome = await measure(task)
      if (typeof outcome === 'string') failed.set(contender, outcome)
      else found.get(contender)?.push(outcome)
      onStep()
    }
  }
  const cells = contenders.map((name): [ContenderName, Cell] => {
    const reason = failed.get(name)
    if (reason !== undefined) return [name, { ok: false, reason }]
    return [name, { ok: true, figures: middle(found.get(name) ?? []) }]
  })
  return { workload, cells: new Map(cells) }
}

const DEFAULT_ROUNDS: Rounds = { own: 3, peers: 1 }
const OWN: ReadonlySet<ContenderName> = new Set(['raw', 'floor', 'ours', 'base', 'dsh'])

/** How often a contender is measured. */
export function roundsOf(
  { rounds = DEFAULT_ROUNDS }: Workload,
  name: ContenderName,
  options: Options,
): number {
  return options.rounds ?? (OWN.has(name) ? rounds.own : rounds.peers)
}

function middle(all: readonly Figures[]): Figures {
  const metrics = Object.keys(all[0] ?? {})
  return Object.fromEntries(
    metrics.map((metric) => [metric, median(all.map((one) => one[metric] ?? Number.NaN))]),
  )
}

/** Group of the measurement that runs; a runner that is ended takes it along. */
let running: number | undefined
process.on('exit', () => end(running))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))

/** The figures, or the last words of a measurement that failed. */
function measure(task: Task): Promise<Figures | string> {
  const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, MEASURE, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A contender may leave servers behind: they go with the group.
    detached: true,
  })
  running = child.pid
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err = (err + text).slice(-4000)))
  const timer = setTimeout(() => end(child.pid), LIMIT_MS)
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      clearTimeout(timer)
      end(child.pid)
      running = undefined
      const [, kind, line = ''] = /^(RESULT|FAILED) (.*)$/m.exec(out) ?? []
      if (kind === 'RESULT') resolve(JSON.parse(line) as Figures)
      else if (kind === 'FAILED') resolve(line)
      // Thrown past the measurement: of its last words, none that names a path.
      else resolve(/^\w*Error: .*$/m.exec(err)?.[0] ?? (code === null ? 'did not end' : `ended with ${code}`))
    })
  })
}

function end(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // nobody is left of it
  }
}
