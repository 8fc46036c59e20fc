/** Owns one measurement, a process of its own: one contender, one workload, and one line of figures or of what failed. */
import { contenderOf } from './contenders/index.ts'
import type { ContenderName } from './contenders/index.ts'
import type { Size } from './workload.ts'
import { WORKLOADS } from './workloads/index.ts'

export interface Task {
  readonly workload: string
  readonly contender: ContenderName
  readonly base?: string
  readonly size: Size
}

const { workload, contender, base, size } = JSON.parse(process.argv[2] ?? '') as Task
const found = WORKLOADS.find(({ id }) => id === workload)
if (found === undefined) throw new Error(`no workload ${workload}`)
let line: string
try {
  line = `RESULT ${JSON.stringify(await found.run(await contenderOf(contender, base), size))}`
} catch (error) {
  // One line without a stack: it goes on a page, and the paths of this machine do not.
  line = `FAILED ${String(error).split('\n', 1)[0]}`
}
process.stdout.write(`\n${line}\n`, () => process.exit(0))
