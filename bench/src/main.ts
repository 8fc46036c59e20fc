/** Owns the command: what is measured, in which order, and what is shown of it. */
import { loadavg } from 'node:os'
import { USAGE, readOptions } from './options.ts'
import { publish } from './page.ts'
import { runWorkload } from './runner.ts'
import type { Row } from './runner.ts'
import { workloadTable } from './table.ts'
import type { Workload } from './workload.ts'
import { WORKLOADS } from './workloads/index.ts'

const options = readOptions(process.argv.slice(2))
if (options === 'help') {
  process.stdout.write(USAGE)
} else if (options === 'list') {
  for (const { id, title } of WORKLOADS) process.stdout.write(`${id.padEnd(26)} ${title}\n`)
} else {
  const { only } = options
  const chosen = chosenOf(only)
  if (chosen.length === 0) throw new Error(`--only: no workload begins with ${only.join(' or ')}`)
  const [load = 0] = loadavg()
  if (load > 1)
    process.stdout.write(`The machine is busy (load ${load.toFixed(1)}): do not judge by these numbers.\n\n`)
  const begun = performance.now()
  const rows: Row[] = []
  for (const workload of chosen) {
    const row = await runWorkload(workload, options, () => {
      if (process.stderr.isTTY) process.stderr.write('.')
    })
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
    rows.push(row)
    process.stdout.write(`${workloadTable(row, rows)}\n\n`)
  }
  if (options.publish) publish(rows, options, (performance.now() - begun) / 60_000)
}

/** The named ones; a name that is no workload stands for all that begin so. */
function chosenOf(only: readonly string[]): readonly Workload[] {
  if (only.length === 0) return WORKLOADS
  const names = only.filter((name) => WORKLOADS.some(({ id }) => id === name))
  const starts = only.filter((name) => !names.includes(name))
  return WORKLOADS.filter(({ id }) => names.includes(id) || starts.some((start) => id.startsWith(start)))
}
