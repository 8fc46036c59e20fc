/** Owns the workloads of calls: small ones, large results, one signal for many, and a message over the cap. */
import { getEventListeners } from 'node:events'
import type { Connection } from '../contender.ts'
import { clock, httpTarget, must, peakMib, stdioTarget } from '../stand.ts'
import type { Figures, Size, Workload } from '../workload.ts'

const MIB = 1024 * 1024

function small(kind: 'stdio' | 'http', tools: number, atOnce: number): Workload {
  const id = `call-${kind}-${tools}${atOnce === 1 ? '' : `-x${atOnce}`}`
  return {
    id,
    title: `A small call over ${kind}, ${atOnce === 1 ? 'one after the other' : `${atOnce} at once`}, ${tools} tools`,
    metrics: { cpuUs: 'us CPU a call', us: 'us a call', ...(atOnce === 1 ? { p50Us: 'us p50' } : {}) },
    ...(tools === 50 && atOnce === 1
      ? { targets: [{ metric: 'cpuUs', against: 'floor' as const, atMost: kind === 'stdio' ? 1.1 : 1.5 }] }
      : {}),
    size: { calls: 3000, warmUp: 1500 },
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
    ...(op === 'image'
      ? { without: ['raw', 'sdk1', 'sdk2', 'ai-sdk', 'mcp-use', 'langchain'] as const }
      : {}),
    ...(isHeavy && mib <= 32
      ? {
          targets: [
            { metric: 'cpuMs', against: op === 'text' ? 'raw' : 'floor', atMost: op === 'text' ? 1.3 : 1.5 },
            { metric: 'peakMib', against: 'floor', atMost: 1.3 },
          ] as const,
        }
      : {}),
    size: { size: mib * MIB, repeats: isHeavy ? 3 : 10 },
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
  metrics: { own: 'own call failed', others: 'other calls that failed', later: 'a later call failed' },
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
      own: await own,
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
  ...[1, 8, 32, 64].map((mib) => large('text', mib)),
  ...[1, 4, 8].map((mib) => large('image', mib)),
  signal,
  oversize,
]
