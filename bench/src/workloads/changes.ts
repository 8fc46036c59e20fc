/** Owns the workloads of change: lists read again, a storm of notifications, a crash. */
import { setTimeout as delay } from 'node:timers/promises'
import { clock, must, quiet, statsOf, stdioTarget } from '../stand.ts'
import type { Workload } from '../workload.ts'

const LIMIT_MS = 30_000

const UNCHANGED: NonNullable<Workload['targets']> = [
  { metric: 'cpuMs', of: { contender: 'raw' }, atMost: 4 },
  { metric: 'events', of: 'nothing', atMost: 0 },
]

function resync(changed: 'none' | 'one' | 'all'): Workload {
  return {
    id: `resync-${changed}`,
    title: `A list of 1 000 tools read again, ${changed} changed`,
    metrics: { cpuMs: 'ms CPU', lists: 'lists', events: 'registry events' },
    without: ['ai-sdk', 'mcp-use', 'langchain'],
    ...(changed === 'none' ? { targets: UNCHANGED } : {}),
    rounds: { own: 3, peers: 1 },
    size: { tools: 1000, rounds: 4 },
    quick: { rounds: 3 },
    async run(contender, { tools, rounds }) {
      await contender.prepare?.({})
      await contender.load()
      const connection = await contender.open([stdioTarget('s', { tools: Number(tools) })], {})
      const round = async (): Promise<void> => {
        const { lists } = await statsOf(connection, 's')
        await connection.call('s', 0, { op: 'touch', changed })
        await quiet()
        must((await statsOf(connection, 's')).lists > lists, 'the list was not read again')
      }
      await round()
      await round()
      const events = connection.events() ?? 0
      const { lists } = await statsOf(connection, 's')
      const read = clock()
      for (let at = 0; at < Number(rounds); at++) await round()
      const { cpuMs } = read()
      const after = await statsOf(connection, 's')
      await quiet()
      // What the waiting itself costs.
      const idle = clock()
      for (let at = 0; at < Number(rounds); at++) {
        await statsOf(connection, 's')
        await quiet()
      }
      const waitMs = idle().cpuMs
      must(connection.tools() === tools, `${connection.tools()} tools`)
      const perRound = {
        cpuMs: (cpuMs - waitMs) / Number(rounds),
        lists: (after.lists - lists) / Number(rounds),
      }
      const happened = connection.events()
      await connection.close()
      return happened === undefined ? perRound : { ...perRound, events: (happened - events) / Number(rounds) }
    },
  }
}

const storm: Workload = {
  id: 'storm',
  title: '100 notifications in 50 ms, 1 000 tools',
  metrics: { cpuMs: 'ms CPU', ms: 'ms until quiet', lists: 'lists', events: 'registry events' },
  without: ['ai-sdk', 'mcp-use', 'langchain'],
  targets: [
    { metric: 'lists', of: 'nothing', atMost: 2 },
    { metric: 'events', of: 'nothing', atMost: 0 },
  ],
  rounds: { own: 3, peers: 1 },
  size: { tools: 1000, notifications: 100 },
  async run(contender, { tools, notifications }) {
    await contender.prepare?.({})
    await contender.load()
    const connection = await contender.open([stdioTarget('s', { tools: Number(tools) })], {})
    await quiet()
    const events = connection.events() ?? 0
    const { lists } = await statsOf(connection, 's')
    const begun = performance.now()
    const read = clock()
    await connection.call('s', 0, { op: 'storm', size: Number(notifications) })
    const end = await quiet()
    const { cpuMs } = read()
    const after = await statsOf(connection, 's')
    must(after.lists > lists, 'the list was not read again')
    must(connection.tools() === tools, `${connection.tools()} tools`)
    const figures = { cpuMs, ms: end - begun, lists: after.lists - lists }
    const happened = connection.events()
    await connection.close()
    return happened === undefined ? figures : { ...figures, events: happened - events }
  },
}

function crash(firstDelayMs: number | undefined): Workload {
  return {
    id: firstDelayMs === undefined ? 'crash-default' : 'crash',
    title: `A crash until a call works again, ${firstDelayMs === undefined ? 'as the settings come' : 'without back-off'}`,
    metrics: { ms: 'ms' },
    without: ['sdk1', 'sdk2', 'ai-sdk', 'mcp-use', 'langchain'],
    ...(firstDelayMs === undefined
      ? {}
      : { targets: [{ metric: 'ms', of: { contender: 'raw' }, atMost: 1.2 }] as const }),
    size: { crashes: 3 },
    async run(contender, { crashes }) {
      const wishes = firstDelayMs === undefined ? {} : { firstDelayMs }
      await contender.prepare?.(wishes)
      await contender.load()
      const connection = await contender.open([stdioTarget('s', { tools: 50 })], wishes)
      const times: number[] = []
      for (let at = 0; at < Number(crashes); at++) {
        const { pid } = await statsOf(connection, 's')
        const begun = performance.now()
        await connection.call('s', 0, { op: 'crash' }).catch(() => undefined)
        let now: number | undefined
        while (now === undefined || now === pid) {
          must(performance.now() - begun < LIMIT_MS, 'it did not come back')
          now = await statsOf(connection, 's').then(
            (stats) => stats.pid,
            () => delay(2).then(() => undefined),
          )
        }
        times.push(performance.now() - begun)
      }
      await connection.close()
      return { ms: times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] as number }
    },
  }
}

export const CHANGES: readonly Workload[] = [
  resync('none'),
  resync('one'),
  resync('all'),
  storm,
  crash(1),
  crash(undefined),
]
