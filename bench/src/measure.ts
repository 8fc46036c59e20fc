/** Owns one measurement: a process of its own, given one contender and one workload; prints one line of JSON. */
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
const figures = await found.run(await contenderOf(contender, base), size)
process.stdout.write(`\nRESULT ${JSON.stringify(figures)}\n`, () => process.exit(0))
