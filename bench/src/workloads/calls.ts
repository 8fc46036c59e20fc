/** Owns the workloads of calls: small ones, large results, one signal for many, and a message over the cap. */
import { getEventListeners } from 'node:events'
import type { Connection } from '../contender.ts'
import { clock, httpTarget, must, peakMib, stdioTarget } from '../stand.ts'
import type { Figures, Size, Workload, Target as WorkloadTarget } from '../workload.ts'

const MIB = 1024 * 1024

function small(kind: 'stdio' | 'http', tools: number, atOnce: number): Workload {
  const id = `call-${kind}-${tools}${atOnce === 1 ? '' : `-x${atOnce}`}`
  return {
    id,
    title: `A small call over ${kind}, ${atOnce === 1 ? 'one after the other' : `${atOnce} at once`}, ${tools} tools`,
    metrics: { cpuUs: 'us CPU a call', us: 'us a call', ...(atOnce === 1 ? { p50Us: 'us p50' } : {}) },
    ...(tools === 50 && atOnce === 1
      ? { targets: [{ metric: 'cpuUs', of: { contender: 'floor' }, atMost: kind === 'stdio' ? 1.1 : 1.5 }] }
      : {}),
    rounds: { own: 3, peers: 1 },
    size: { calls: 2000, warmUp: 1000 },
    quick: { calls: 600, warmUp: 300 },
    async run(contender, size) {
      await contender.prepare?.({})
      await contender.load()
      const target = kind === 'stdio' ? stdioTarget('s', { tools }) : await httpTarget('s', { tools })
      const connection = await contender.open([target], {})
      await many(connection, { tools, atOnce, calls: Number(size['warmUp']) })
      const figures = await many(connection, { tools, atOnce, calls: Number(size['calls']) })
      await connection.close()
      return figures
    },
  }
}

/** Search keeps a long list out of the registry, whose cost of a call grows with the tools in it. */
const searched: Workload = {
  id: 'call-searched-10000',
  title: 'A small call over stdio beside 10 000 tools, of which ours are reached by search',
  metrics: { cpuUs: 'us CPU a call', us: 'us a call', p50Us: 'us p50' },
  without: ['ai-sdk', 'mcp-use', 'langchain'],
  rounds: { own: 3, peers: 1 },
  size: { calls: 500, warmUp: 200 },
  quick: { calls: 100, warmUp: 50 },
  async run(contender, size) {
    await contender.prepare?.({})
    await contender.load()
    const connection = await contender.open([stdioTarget('s', { tools: 10_000 })], { searchable: true })
    await many(connection, { tools: 1, atOnce: 1, calls: Number(size['warmUp']) })
    const figures = await many(connection, { tools: 1, atOnce: 1, calls: Number(size['calls']) })
    await connection.close()
    return figures
  },
}

interface Many {
  readonly tools: number
  readonly atOnce: number
  readonly calls: number
}

async function many(connection: Connection, { tools, atOnce, calls }: Many): Promise<Figures> {
  const each: number[] = []
  let next = 0
  const read = clock()
  const lane = async (): Promise<void> => {
    while (next < calls) {
      const at = next++
      const text = `call number ${at}`
      const begun = performance.now()
      const outcome = await connection.call('s', at % tools, { op: 'echo', text })
      each.push(performance.now() - begun)
      must(outcome.text.includes(text), `the answer ${outcome.text}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  const { ms, cpuMs } = read()
  const middle = each.toSorted((a, b) => a - b)[Math.floor(each.length / 2)] as number
  const figures = { cpuUs: (cpuMs / calls) * 1000, us: (ms / calls) * 1000 }
  return atOnce === 1 ? { ...figures, p50Us: middle * 1000 } : figures
}

function large(op: 'text' | 'image', mib: number): Workload {
  const isHeavy = mib >= 8
  return {
    id: `${op}-${mib}`,
    title: `One ${op === 'text' ? 'text' : 'picture'} of ${mib} MiB over stdio`,
    metrics: { ms: 'ms', cpuMs: 'ms CPU', peakMib: 'MiB peak' },
    // Its adapter gives no picture back that could be counted.
    ...(op === 'image' ? { without: ['langchain'] as const } : {}),
    ...(isHeavy ? { targets: targetsOf(op, mib) } : {}),
    ...(mib >= 32 ? { rounds: { own: mib > 32 ? 3 : 5, peers: 1 } } : {}),
    size: { size: mib * MIB, repeats: isHeavy ? (mib > 32 ? 1 : 3) : 10 },
    quick: { repeats: 1 },
    async run(contender, { size, repeats }) {
      const wishes = { messageBytes: 160 * MIB }
      await contender.prepare?.(wishes)
      await contender.load()
      const connection = await contender.open([stdioTarget('s', { tools: 1 })], wishes)
      await connection.call('s', 0, { op, size: 10_000 })
      const read = clock()
      for (let repeat = 0; repeat < Number(repeats); repeat++) {
        const { text, imageBytes } = await connection.call('s', 0, { op, size: Number(size) })
        const got = op === 'text' ? text.length : imageBytes
        must(op === 'text' ? got === size : got >= Number(size), `${got} bytes of ${size}`)
      }
      const { ms, cpuMs } = read()
      await connection.close()
      return { ms: ms / Number(repeats), cpuMs: cpuMs / Number(repeats), peakMib: peakMib() }
    },
  }
}

function targetsOf(op: 'text' | 'image', mib: number): readonly WorkloadTarget[] {
  // Eight times the text: half above eight times the cost is the collector's.
  if (mib > 32) return [{ metric: 'cpuMs', of: { workload: 'text-8' }, atMost: 12 }]
  const isText = op === 'text'
  return [
    { metric: 'cpuMs', of: { contender: isText ? 'raw' : 'floor' }, atMost: isText ? 1.3 : 1.5 },
    { metric: 'peakMib', of: { contender: 'floor' }, atMost: 1.3 },
  ]
}

const signal: Workload = {
  id: 'signal',
  title: '20 000 calls under one signal',
  metrics: {
    firstUs: 'us CPU, first tenth',
    lastUs: 'us CPU, last tenth',
    listeners: 'listeners left',
    warnings: 'warnings',
  },
  without: ['mcp-use'],
  targets: [
    { metric: 'lastUs', of: { metric: 'firstUs' }, atMost: 1.25 },
    { metric: 'listeners', of: 'nothing', atMost: 0 },
    { metric: 'warnings', of: 'nothing', atMost: 0 },
  ],
  rounds: { own: 3, peers: 1 },
  size: { calls: 20_000 },
  quick: { calls: 2000 },
  async run(contender, { calls }) {
    let warnings = 0
    process.on('warning', () => void (warnings += 1))
    await contender.prepare?.({})
    await contender.load()
    const connection = await contender.open([stdioTarget('s', { tools: 50 })], {})
    await many(connection, { tools: 50, atOnce: 1, calls: 1000 })
    const controller = new AbortController()
    const tenth = Number(calls) / 10
    let firstUs = 0
    let lastUs = 0
    for (let part = 0; part < 10; part++) {
      const read = clock()
      for (let at = 0; at < tenth; at++) {
        const { text } = await connection.call('s', at % 50, { op: 'echo', text: 'yes' }, controller.signal)
        must(text.includes('yes'), `the answer ${text}`)
      }
      lastUs = (read().cpuMs / tenth) * 1000
      if (part === 0) firstUs = lastUs
    }
    const listeners = getEventListeners(controller.signal, 'abort').length
    await connection.close()
    return { firstUs, lastUs, listeners, warnings }
  },
}

const oversize: Workload = {
  id: 'oversize',
  title: 'A text of 12 MiB where 4 MiB are allowed, beside 10 small calls',
  metrics: { own: 'own call passed', others: 'other calls that failed', later: 'a later call failed' },
  targets: (['own', 'others', 'later'] as const).map((metric) => ({ metric, of: 'nothing', atMost: 0 })),
  rounds: { own: 3, peers: 1 },
  without: ['raw', 'floor', 'ai-sdk', 'mcp-use', 'langchain'],
  size: {},
  async run(contender: Parameters<Workload['run']>[0], _size: Size) {
    const wishes = { messageBytes: 4 * MIB }
    await contender.prepare?.(wishes)
    await contender.load()
    const connection = await contender.open([stdioTarget('s', { tools: 1 })], wishes)
    const echo = (): Promise<number> => failed(connection.call('s', 0, { op: 'echo', text: 'small' }))
    const before = Array.from({ length: 5 }, echo)
    const own = failed(connection.call('s', 0, { op: 'text', size: 12 * MIB }))
    const others = [...before, ...Array.from({ length: 5 }, echo)]
    const figures = {
      own: 1 - (await own),
      others: (await Promise.all(others)).reduce((sum, one) => sum + one, 0),
      later: await echo(),
    }
    await connection.close()
    return figures
  },
}

async function failed(call: Promise<unknown>): Promise<number> {
  return call.then(
    () => 0,
    () => 1,
  )
}

export const CALLS: readonly Workload[] = [
  ...(['stdio', 'http'] as const).flatMap((kind) =>
    [50, 1000].flatMap((tools) => [1, 64].map((atOnce) => small(kind, tools, atOnce))),
  ),
  searched,
  ...[1, 8, 32, 64].map((mib) => large('text', mib)),
  ...[1, 4, 8].map((mib) => large('image', mib)),
  signal,
  oversize,
]
