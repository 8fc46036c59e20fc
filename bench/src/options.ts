/** Owns the options of the command. */
import { parseArgs } from 'node:util'
import { CONTENDERS } from './contenders/index.ts'
import type { ContenderName } from './contenders/index.ts'

export interface Options {
  readonly quick: boolean
  /** Ids, or starts of ids, of workloads; empty is all. */
  readonly only: readonly string[]
  readonly contenders: readonly ContenderName[]
  /** Measurements of each contender; without it what each workload says. */
  readonly rounds: number | undefined
  /** Entry file of another build of this client, to compare with. */
  readonly base: string | undefined
  /** Write docs/performance.md and its plot. */
  readonly publish: boolean
}

export const USAGE = `npm run bench -- [options]

  --quick            few rounds, smaller workloads: to see that it works, not to judge by
  --only a,b         workloads whose id begins so (--list shows them)
  --peers a,b        contenders besides raw, floor and ours: ${CONTENDERS.slice(3).join(', ')}; none for none
  --rounds n         measurements of each pair (default 3, other peers 1; quick 1)
  --base FILE        also measure another build of this client, by its entry file
  --publish          write docs/performance.md and its plot
  --list             show the workloads
`

/** @throws Error that says what is wrong with the arguments */
export function readOptions(args: readonly string[]): Options | 'help' | 'list' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      peers: { type: 'string' },
      rounds: { type: 'string' },
      base: { type: 'string' },
      publish: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  if (values.list) return 'list'
  const known: readonly string[] = CONTENDERS
  const peers = values.peers === 'none' ? [] : (values.peers?.split(',') ?? known.slice(3))
  const unknown = peers.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`--peers: no contender ${unknown}`)
  const given = values.rounds ?? (values.quick ? '1' : undefined)
  const rounds = given === undefined ? undefined : Number(given)
  if (rounds !== undefined && (!Number.isInteger(rounds) || rounds < 1))
    throw new Error('--rounds: a whole number from 1 on')
  return {
    quick: values.quick,
    only: values.only?.split(',') ?? [],
    contenders: [
      'raw',
      'floor',
      'ours',
      ...(values.base === undefined ? [] : (['base'] as const)),
      ...CONTENDERS.slice(3).filter((name) => peers.includes(name)),
    ],
    rounds,
    base: values.base,
    publish: values.publish,
  }
}
