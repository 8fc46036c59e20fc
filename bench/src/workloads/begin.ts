/** Owns the workloads of a beginning: import, first server, twenty servers, discovery, memory, definitions. */
import { clock, must, peakMib, quiet, sinceBirth, stdioTarget } from '../stand.ts'
import type { Workload } from '../workload.ts'

const TIMES = { ms: 'ms', cpuMs: 'ms CPU' }

const importing: Workload = {
  id: 'import',
  title: 'Import of the client, over what is there without it',
  metrics: { ...TIMES, rssMib: 'MiB more' },
  without: ['raw', 'floor'],
  size: {},
  async run(contender) {
    await contender.prepare?.({})
    const rss = process.memoryUsage.rss()
    const read = clock()
    await contender.load()
    return { ...read(), rssMib: (process.memoryUsage.rss() - rss) / 1024 / 1024 }
  },
}

const start: Workload = {
  id: 'start',
  title: 'Process start to 50 tools of one server',
  metrics: TIMES,
  targets: [{ metric: 'ms', of: { contender: 'floor' }, atMost: 1.3 }],
  size: { tools: 50 },
  async run(contender, { tools }) {
    await contender.prepare?.({})
    await contender.load()
    const connection = await contender.open([stdioTarget('one', { tools: Number(tools) })], {})
    const spent = sinceBirth()
    must(connection.tools() === tools, `${connection.tools()} tools`)
    await connection.close()
    return { ...spent }
  },
}

const fleet: Workload = {
  id: 'fleet',
  title: 'Process start to 50 tools each of 20 servers that take 300 ms',
  metrics: { ...TIMES, openMs: 'ms from the first spawn' },
  targets: [{ metric: 'ms', of: { contender: 'raw' }, atMost: 1.12 }],
  rounds: { own: 3, peers: 1 },
  size: { servers: 20, tools: 50, delayMs: 300 },
  quick: { servers: 6 },
  async run(contender, { servers, tools, delayMs }) {
    await contender.prepare?.({})
    await contender.load()
    const read = clock()
    const targets = Array.from({ length: Number(servers) }, (_, at) =>
      stdioTarget(`s${at}`, { tools: Number(tools), delayMs: Number(delayMs) }),
    )
    const connection = await contender.open(targets, {})
    const openMs = read().ms
    const spent = sinceBirth()
    must(connection.tools() === Number(servers) * Number(tools), `${connection.tools()} tools`)
    await connection.close()
    return { ...spent, openMs }
  },
}

/** The second server of a process, so that loading and the first compiling are paid. */
function discovery(tools: number, outputSchemas: boolean): Workload {
  return {
    id: `discovery-${tools}${outputSchemas ? '-output' : ''}`,
    title: `Connecting to one more server of ${tools} tools${outputSchemas ? ' with output schemas' : ''}`,
    metrics: { ...TIMES, peakMib: 'MiB peak' },
    ...(outputSchemas ? {} : targetsOf(tools)),
    ...(tools > 1000 ? { rounds: { own: 3, peers: 1 } } : {}),
    size: { tools, outputSchemas },
    async run(contender) {
      await contender.prepare?.({})
      await contender.load()
      const first = await contender.open([stdioTarget('first', { tools: 1 })], {})
      const read = clock()
      const connection = await contender.open([stdioTarget('more', { tools, outputSchemas })], {})
      const spent = read()
      const found = connection.tools()
      must(found === tools || found === tools + 1, `${found} tools`)
      const { text } = await connection.call('more', tools - 1, { op: 'echo', text: 'here' })
      must(text.includes('here'), `the answer ${text}`)
      await Promise.all([connection.close(), first.close()])
      return { ...spent, peakMib: peakMib() }
    },
  }
}

function targetsOf(tools: number): Pick<Workload, 'targets'> {
  const floor = { contender: 'floor' } as const
  if (tools === 1000)
    return {
      targets: [
        { metric: 'ms', of: floor, atMost: 1.5 },
        { metric: 'cpuMs', of: floor, atMost: 1.5 },
        { metric: 'peakMib', of: floor, atMost: 1.3 },
      ],
    }
  // Ten times the tools: a fifth above ten times the cost is the collector's.
  return tools === 10_000
    ? { targets: [{ metric: 'cpuMs', of: { workload: 'discovery-1000' }, atMost: 12 }] }
    : {}
}

const memory: Workload = {
  id: 'memory',
  title: 'Memory with 20 servers of 100 tools',
  metrics: { rssMib: 'MiB', heapMib: 'MiB heap' },
  targets: [{ metric: 'rssMib', of: { contender: 'floor' }, atMost: 1.1 }],
  rounds: { own: 3, peers: 1 },
  size: { servers: 20, tools: 100 },
  quick: { servers: 6 },
  async run(contender, { servers, tools }) {
    await contender.prepare?.({})
    await contender.load()
    const targets = Array.from({ length: Number(servers) }, (_, at) =>
      stdioTarget(`s${at}`, { tools: Number(tools) }),
    )
    const connection = await contender.open(targets, {})
    must(connection.tools() === Number(servers) * Number(tools), `${connection.tools()} tools`)
    await quiet()
    globalThis.gc?.()
    await quiet()
    globalThis.gc?.()
    const { rss, heapUsed } = process.memoryUsage()
    await connection.close()
    return { rssMib: rss / 1024 / 1024, heapMib: heapUsed / 1024 / 1024 }
  },
}

const definitions: Workload = {
  id: 'definitions',
  title: 'Definitions of 1 000 tools, as a request carries them',
  metrics: { kib: 'KiB' },
  rounds: { own: 1, peers: 1 },
  size: { tools: 1000 },
  async run(contender, { tools }) {
    await contender.prepare?.({})
    await contender.load()
    const connection = await contender.open([stdioTarget('s', { tools: Number(tools) })], {})
    must(connection.tools() === tools, `${connection.tools()} tools`)
    const kib = connection.definitionBytes() / 1024
    await connection.close()
    return { kib }
  },
}

export const BEGIN: readonly Workload[] = [
  importing,
  start,
  fleet,
  ...[1, 100, 1000, 10_000].map((tools) => discovery(tools, false)),
  ...[1000, 10_000].map((tools) => discovery(tools, true)),
  memory,
  definitions,
]
